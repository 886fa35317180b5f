// SPDX-License-Identifier: GPL-2.0-only
/* A scheduler without a name. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int no_name_send(struct mptcp_sock *msk)
{
	return mptcp_dpa_default_send(msk);
}

MPTCP_SCHED_SEND_PROGRAMS(no_name);

SEC(".struct_ops.link")
struct mptcp_sched_ops no_name = {
	MPTCP_SCHED_SEND_CALLBACKS(no_name)
};
