/* SPDX-License-Identifier: GPL-2.0-only */
/* How fast a subflow's TCP may send, as the plan has it. */
#ifndef _MPTCP_DPA_PACE_H
#define _MPTCP_DPA_PACE_H

#include "conn.h"

/* Does the plan say another rate than the last one that was applied? */
static inline bool pace_changes(const struct conn *c, int i)
{
	return c->state.path[i].pace != c->path[i].pace;
}

void pace_apply(struct conn *c, int i, struct sock *ssk);
void pace_lift(struct conn *c, int i, struct sock *ssk);

#endif
