// SPDX-License-Identifier: GPL-2.0-only
/* Says that it picked, and picked nothing: locks an unguarded kernel up. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int bad_nothing_send(struct mptcp_sock *msk)
{
	return 0;
}

static __always_inline int bad_nothing_retrans(struct mptcp_sock *msk)
{
	return 0;
}

MPTCP_SCHED_PROGRAMS(bad_nothing);

SEC(".struct_ops.link")
struct mptcp_sched_ops bad_nothing = {
	MPTCP_SCHED_CALLBACKS(bad_nothing)
	.name		= "bad_nothing",
};
