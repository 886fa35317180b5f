// SPDX-License-Identifier: GPL-2.0-only
/* Has the oldest data sent again, on every subflow, whenever it is asked. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int bad_again_send(struct mptcp_sock *msk)
{
	mptcp_dpa_reinject(msk);
	return mptcp_dpa_default_send(msk);
}

static __always_inline int bad_again_retrans(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow;

	mptcp_dpa_reinject(msk);
	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk)
		mptcp_subflow_set_scheduled(subflow, true);
	return 0;
}

MPTCP_SCHED_PROGRAMS(bad_again);

SEC(".struct_ops.link")
struct mptcp_sched_ops bad_again = {
	MPTCP_SCHED_CALLBACKS(bad_again)
	.name		= "bad_again",
};
