// SPDX-License-Identifier: GPL-2.0-only
/* A name without an end: it takes all of its room. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int no_end_send(struct mptcp_sock *msk)
{
	return mptcp_dpa_default_send(msk);
}

MPTCP_SCHED_SEND_PROGRAMS(no_end);

SEC(".struct_ops.link")
struct mptcp_sched_ops no_end = {
	MPTCP_SCHED_SEND_CALLBACKS(no_end)
	.name		= "sixteen_letters_",
};
