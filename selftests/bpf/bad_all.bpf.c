// SPDX-License-Identifier: GPL-2.0-only
/* Picks every subflow each time, whether it can send or not. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int pick_all(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow;

	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk)
		mptcp_subflow_set_scheduled(subflow, true);
	return 0;
}

static __always_inline int bad_all_send(struct mptcp_sock *msk)
{
	return pick_all(msk);
}

static __always_inline int bad_all_retrans(struct mptcp_sock *msk)
{
	return pick_all(msk);
}

MPTCP_SCHED_PROGRAMS(bad_all);

SEC(".struct_ops.link")
struct mptcp_sched_ops bad_all = {
	MPTCP_SCHED_CALLBACKS(bad_all)
	.name		= "bad_all",
};
