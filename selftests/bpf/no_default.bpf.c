// SPDX-License-Identifier: GPL-2.0-only
/* The name that the kernel has a scheduler of already. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int no_default_send(struct mptcp_sock *msk)
{
	return mptcp_dpa_default_send(msk);
}

MPTCP_SCHED_SEND_PROGRAMS(no_default);

SEC(".struct_ops.link")
struct mptcp_sched_ops no_default = {
	MPTCP_SCHED_SEND_CALLBACKS(no_default)
	.name		= "default",
};
