// SPDX-License-Identifier: GPL-2.0-only
/* Many of these, under other names, to fill all slots. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops")
int BPF_PROG(slot00_send, struct mptcp_sock *msk)
{
	return mptcp_dpa_default_send(msk);
}

SEC(".struct_ops.link")
struct mptcp_sched_ops slot00 = {
	.get_send	= (void *)slot00_send,
	.name		= "slot00",
};
