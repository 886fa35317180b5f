/* SPDX-License-Identifier: GPL-2.0-only */
/* How fast a subflow's TCP may send, as the plan has it. */
#ifndef _MPTCP_DPA_PACE_H
#define _MPTCP_DPA_PACE_H

struct conn;

void pace_apply(struct conn *c);
void pace_lift(struct conn *c);

#endif
