/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a decision sees of a connection, conn::state: positions in the stream,
 * verdicts on chunks, the chunk in force. All under the msk lock.
 */
#ifndef _MPTCP_DPA_VIEW_H
#define _MPTCP_DPA_VIEW_H

#include <linux/types.h>

struct conn;
struct dpa_horizon;

void view_refresh(struct conn *c);
bool view_touch(struct conn *c);
u32 view_syn_bytes(const struct conn *c);
int view_chunk(const struct conn *c, u32 i, struct dpa_horizon *horizon);
void view_most_urgent(const struct conn *c, struct dpa_horizon *due);

#endif
