/* SPDX-License-Identifier: GPL-2.0-only */
/* What TCP knows of the paths, as their rows say it. */
#ifndef _MPTCP_DPA_LOOK_H
#define _MPTCP_DPA_LOOK_H

#include <linux/types.h>

struct conn;
struct mptcp_subflow_context;
struct sock;
struct tcp_sock;

bool look_is_starved(const struct tcp_sock *tp);
bool look_is_grounded(const struct sock *ssk);
void look_refresh(struct conn *c, bool count);
void look_count(struct conn *c);
bool look_touch(struct conn *c, int i, struct mptcp_subflow_context *sf,
		const struct sock *ssk);
void look_share(struct conn *c);
void look_watch(struct conn *c);

#endif
