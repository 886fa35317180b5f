// SPDX-License-Identifier: GPL-2.0-only
/* The name that the kernel has a scheduler of already. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops")
int BPF_PROG(no_default_send, struct mptcp_sock *msk)
{
	return mptcp_dpa_default_send(msk);
}

SEC(".struct_ops.link")
struct mptcp_sched_ops no_default = {
	.get_send	= (void *)no_default_send,
	.name		= "default",
};
