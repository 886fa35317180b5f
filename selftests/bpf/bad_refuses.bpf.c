// SPDX-License-Identifier: GPL-2.0-only
/* Never picks, whatever happens: a connection that makes no progress. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int bad_refuses_send(struct mptcp_sock *msk)
{
	return -1;
}

MPTCP_SCHED_SEND_PROGRAMS(bad_refuses);

SEC(".struct_ops.link")
struct mptcp_sched_ops bad_refuses = {
	MPTCP_SCHED_SEND_CALLBACKS(bad_refuses)
	.name		= "bad_refuses",
};
