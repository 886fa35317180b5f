// SPDX-License-Identifier: GPL-2.0-only
/* The name that our own scheduler has. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops")
int BPF_PROG(no_mpdpa_send, struct mptcp_sock *msk)
{
	return mptcp_dpa_default_send(msk);
}

SEC(".struct_ops.link")
struct mptcp_sched_ops no_mpdpa = {
	.get_send	= (void *)no_mpdpa_send,
	.name		= "mpdpa",
};
