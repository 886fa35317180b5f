// SPDX-License-Identifier: GPL-2.0-only
/* One scheduler twice: for this kernel, and for one with other callbacks. */
#include "sched.h"

MPTCP_SCHED_PROGRAMS(leave);

struct mptcp_sched_ops___other {
	int (*get_something)(struct mptcp_sock *msk);
	char name[16];
};

SEC("struct_ops")
int BPF_PROG(other_something, struct mptcp_sock *msk)
{
	return 0;
}

SEC("?.struct_ops.link")
struct mptcp_sched_ops___other other = {
	.get_something	= (void *)other_something,
	.name		= "flavour",
};

SEC("?.struct_ops.link")
struct mptcp_sched_ops fitting = {
	MPTCP_SCHED_CALLBACKS(leave)
	.name		= "flavour",
};
