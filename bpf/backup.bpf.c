// SPDX-License-Identifier: GPL-2.0-only
/*
 * backup: the first subflow that is not flagged as backup; one that is, only
 * when no other is left.
 */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int backup_send(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow, *best = NULL, *spare = NULL;

	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk) {
		if (!mptcp_subflow_active(subflow))
			continue;
		if (!subflow_is_backup(subflow))
			best = best ?: subflow;
		else
			spare = spare ?: subflow;
	}
	best = best ?: spare;
	if (!best || !subflow_has_room(best))
		return -1;
	subflow_pick(msk, best, MPTCP_SEND_BURST);
	return 0;
}

static __always_inline int backup_retrans(struct mptcp_sock *msk)
{
	return sched_default_retrans(msk);
}

MPTCP_SCHED_PROGRAMS(backup);

SEC(".struct_ops.link")
struct mptcp_sched_ops backup = {
	MPTCP_SCHED_CALLBACKS(backup)
	.name = "backup",
};
