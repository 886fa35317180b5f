// SPDX-License-Identifier: GPL-2.0-only
/*
 * burst: the subflow that would be the first to have sent what it has, a burst
 * at a time; backups when there is nothing else. The kernel's default scheduler
 * works like this.
 */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int burst_send(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow, *best = NULL, *spare = NULL;
	__u64 best_linger = ~0ULL, spare_linger = ~0ULL;

	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk) {
		__u64 linger = subflow_linger(subflow);

		if (!mptcp_subflow_active(subflow))
			continue;
		if (!subflow_is_backup(subflow)) {
			if (linger < best_linger) {
				best_linger = linger;
				best = subflow;
			}
		} else if (linger < spare_linger) {
			spare_linger = linger;
			spare = subflow;
		}
	}
	best = best ?: spare;
	if (!best || !subflow_has_room(best))
		return -1;
	subflow_pick(msk, best, MPTCP_SEND_BURST);
	return 0;
}

static __always_inline int burst_retrans(struct mptcp_sock *msk)
{
	return sched_default_retrans(msk);
}

MPTCP_SCHED_PROGRAMS(burst);

SEC(".struct_ops.link")
struct mptcp_sched_ops burst = {
	MPTCP_SCHED_CALLBACKS(burst)
	.name = "burst",
};
