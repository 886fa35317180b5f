// SPDX-License-Identifier: GPL-2.0-only
/* The name that our own scheduler has. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int no_mpdpa_send(struct mptcp_sock *msk)
{
	return mptcp_dpa_default_send(msk);
}

MPTCP_SCHED_SEND_PROGRAMS(no_mpdpa);

SEC(".struct_ops.link")
struct mptcp_sched_ops no_mpdpa = {
	MPTCP_SCHED_SEND_CALLBACKS(no_mpdpa)
	.name		= "mpdpa",
};
