// SPDX-License-Identifier: GPL-2.0-only
/* Picks what cannot carry data, say a subflow in SYN_SENT, if there is any. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int pick_inactive(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow;
	bool picked = false;

	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk) {
		if (mptcp_subflow_active(subflow))
			continue;
		mptcp_subflow_set_scheduled(subflow, true);
		picked = true;
	}
	return picked ? 0 : mptcp_dpa_default_send(msk);
}

static __always_inline int bad_inactive_send(struct mptcp_sock *msk)
{
	return pick_inactive(msk);
}

static __always_inline int bad_inactive_retrans(struct mptcp_sock *msk)
{
	return pick_inactive(msk);
}

MPTCP_SCHED_PROGRAMS(bad_inactive);

SEC(".struct_ops.link")
struct mptcp_sched_ops bad_inactive = {
	MPTCP_SCHED_CALLBACKS(bad_inactive)
	.name		= "bad_inactive",
};
