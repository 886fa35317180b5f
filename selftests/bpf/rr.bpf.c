// SPDX-License-Identifier: GPL-2.0-only
/* A decent scheduler: every subflow that can send, one after another. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

/* picks so far, by the low bits of subflow_id; the least goes first */
#define SUBFLOWS_MAX	8

__u64 picked[SUBFLOWS_MAX];
/* that have this scheduler */
__u64 sockets;

static __always_inline __u64 *picks_of(struct mptcp_subflow_context *subflow)
{
	return &picked[subflow->subflow_id % SUBFLOWS_MAX];
}

static __always_inline int rr_send(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow, *best = NULL;
	__u64 least = ~0ULL;

	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk) {
		__u64 picks = *picks_of(subflow);

		if (!mptcp_subflow_active(subflow) ||
		    !subflow_has_room(subflow) || picks >= least)
			continue;
		least = picks;
		best = subflow;
	}
	if (!best)
		return -1;
	(*picks_of(best))++;
	subflow_pick(msk, best, MPTCP_SEND_BURST);
	return 0;
}

SEC("struct_ops")
void BPF_PROG(rr_init, struct mptcp_sock *msk)
{
	__sync_fetch_and_add(&sockets, 1);
}

SEC("struct_ops")
void BPF_PROG(rr_release, struct mptcp_sock *msk)
{
	__sync_fetch_and_sub(&sockets, 1);
}

MPTCP_SCHED_SEND_PROGRAMS(rr);

SEC(".struct_ops.link")
struct mptcp_sched_ops rr = {
	MPTCP_SCHED_SEND_CALLBACKS(rr)
	.init		= (void *)rr_init,
	.release	= (void *)rr_release,
	.name		= "rr",
};
