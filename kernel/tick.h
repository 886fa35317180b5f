/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looking after a connection when no acknowledgement calls the scheduler: a
 * timer judges chunks, and if there is more to do queues a work item, which owns
 * the msk while it tells the peer about priorities, has data sent again that is
 * stuck, and pending data pushed.
 */
#ifndef _MPTCP_DPA_TICK_H
#define _MPTCP_DPA_TICK_H

struct conn;

void tick_setup(struct conn *c);
bool tick_is_due(const struct conn *c);
void tick_soon(struct conn *c);
void tick_within(struct conn *c, u64 ns);
void tick_stop(struct conn *c);

int tick_init(void);
void tick_exit(void);

#endif
