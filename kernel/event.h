/* SPDX-License-Identifier: GPL-2.0-only */
/* Telling user space: multicast group "events", and a socket's eventfd. */
#ifndef _MPTCP_DPA_EVENT_H
#define _MPTCP_DPA_EVENT_H

#include <linux/types.h>

struct chunk;
struct conn;

void event_chunk(struct conn *c, u8 cmd, const struct chunk *chunk);
void event_path(struct conn *c, u8 cmd, u32 subflow_id);

#endif
