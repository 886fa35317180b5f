// SPDX-License-Identifier: GPL-2.0-only
/* Callbacks run with spinlocks held: a sleepable one has to be refused. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops.s")
int BPF_PROG(no_sleep_send, struct mptcp_sock *msk)
{
	return mptcp_dpa_default_send(msk);
}

SEC(".struct_ops.link")
struct mptcp_sched_ops no_sleep = {
	.get_send	= (void *)no_sleep_send,
	.name		= "no_sleep",
};
