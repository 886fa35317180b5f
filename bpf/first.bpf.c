// SPDX-License-Identifier: GPL-2.0-only
/* first: all data on the first subflow, as long as it is there. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int first_send(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow, *first = NULL;

	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk)
		if (!first && mptcp_subflow_active(subflow))
			first = subflow;
	if (!first || !subflow_has_room(first))
		return -1;
	subflow_pick(msk, first, MPTCP_SEND_BURST);
	return 0;
}

static __always_inline int first_retrans(struct mptcp_sock *msk)
{
	return sched_default_retrans(msk);
}

MPTCP_SCHED_PROGRAMS(first);

SEC(".struct_ops.link")
struct mptcp_sched_ops first = {
	MPTCP_SCHED_CALLBACKS(first)
	.name = "first",
};
