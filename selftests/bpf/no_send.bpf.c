// SPDX-License-Identifier: GPL-2.0-only
/* A scheduler that cannot send. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops")
int BPF_PROG(no_send_retrans, struct mptcp_sock *msk)
{
	return mptcp_dpa_default_retrans(msk);
}

SEC(".struct_ops.link")
struct mptcp_sched_ops no_send = {
	.get_retrans	= (void *)no_send_retrans,
	.name		= "no_send",
};
