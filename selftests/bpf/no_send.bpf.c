// SPDX-License-Identifier: GPL-2.0-only
/* A scheduler that cannot send. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops")
void BPF_PROG(no_send_init, struct mptcp_sock *msk)
{
}

SEC(".struct_ops.link")
struct mptcp_sched_ops no_send = {
	.init	= (void *)no_send_init,
	.name	= "no_send",
};
