// SPDX-License-Identifier: GPL-2.0-only
/* The verifier does not take it: writes where nobody may. */
#include "sched.h"

LEAVE_RETRANS

SEC("struct_ops")
int BPF_PROG(scribble, struct mptcp_sock *msk)
{
	msk->write_seq = 0;
	return 0;
}

SEC(".struct_ops.link")
struct mptcp_sched_ops refused = {
	.get_send	= (void *)scribble,
	.get_retrans	= (void *)leave_retrans,
	.name		= "refused",
};
