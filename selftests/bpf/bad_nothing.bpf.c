// SPDX-License-Identifier: GPL-2.0-only
/* Says that it picked, and picked nothing: locks an unguarded kernel up. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops")
int BPF_PROG(bad_nothing_send, struct mptcp_sock *msk)
{
	return 0;
}

SEC("struct_ops")
int BPF_PROG(bad_nothing_retrans, struct mptcp_sock *msk)
{
	return 0;
}

SEC(".struct_ops.link")
struct mptcp_sched_ops bad_nothing = {
	.get_send	= (void *)bad_nothing_send,
	.get_retrans	= (void *)bad_nothing_retrans,
	.name		= "bad_nothing",
};
