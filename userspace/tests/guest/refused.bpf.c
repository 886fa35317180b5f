// SPDX-License-Identifier: GPL-2.0-only
/* The verifier does not take it: writes where nobody may. */
#include "sched.h"

static __always_inline int scribble_send(struct mptcp_sock *msk)
{
	msk->write_seq = 0;
	return 0;
}

MPTCP_SCHED_SEND_PROGRAMS(scribble);

SEC(".struct_ops.link")
struct mptcp_sched_ops refused = {
	MPTCP_SCHED_SEND_CALLBACKS(scribble)
	.name		= "refused",
};
