// SPDX-License-Identifier: GPL-2.0-only
/* Never picks, whatever happens: a connection that makes no progress. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops")
int BPF_PROG(bad_refuses_send, struct mptcp_sock *msk)
{
	return -1;
}

SEC(".struct_ops.link")
struct mptcp_sched_ops bad_refuses = {
	.get_send	= (void *)bad_refuses_send,
	.name		= "bad_refuses",
};
