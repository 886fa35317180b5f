/* SPDX-License-Identifier: GPL-2.0-only */
/* How fast a subflow's TCP may send, as the plan has it. */
#ifndef _MPTCP_DPA_PACE_H
#define _MPTCP_DPA_PACE_H

struct conn;
struct sock;

void pace_apply(struct conn *c);
void pace_lift(struct conn *c);
void pace_give_back(struct conn *c, int i, struct sock *ssk);

#endif
