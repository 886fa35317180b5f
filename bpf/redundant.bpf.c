// SPDX-License-Identifier: GPL-2.0-only
/*
 * redundant: new data on the subflow with the shortest round trip and on no
 * other, full or not; what the receiver waits for, the oldest unacknowledged
 * data, on all others as well.
 *
 * That subflow gets what it can have in flight and one burst more. With all data
 * given away, the kernel asks no scheduler any more, whatever is acknowledged
 * on the others, and what goes on with a silent subflow is left to a timer.
 *
 * Two subflows that are picked at once for new data get different data: only
 * the retransmission path duplicates. It starts at the oldest byte, so that is
 * what can be made redundant, once each time it moves on.
 */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

/* the oldest unacknowledged byte that was sent again */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u64);
} sent_again SEC(".maps");

static __always_inline bool is_full(struct mptcp_subflow_context *subflow)
{
	const struct tcp_sock *tp = subflow_tcp(subflow);

	return tp->write_seq - tp->snd_una >=
	       tp->snd_cwnd * tp->mss_cache + MPTCP_SEND_BURST;
}

static __always_inline int redundant_send(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow, *best = NULL;
	__u32 least = ~0U;
	__u64 *again;

	again = bpf_sk_storage_get(&sent_again, msk, NULL,
				   BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (again && *again != msk->snd_una && msk->snd_una != msk->snd_nxt &&
	    bpf_ksym_exists(mptcp_dpa_reinject))
		mptcp_dpa_reinject(msk);
	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk) {
		__u32 rtt = subflow_tcp(subflow)->rtt_min.s[0].v;

		/* where no round trip was measured it is as long as can be */
		if (!mptcp_subflow_active(subflow) || (best && rtt >= least))
			continue;
		least = rtt;
		best = subflow;
	}
	if (!best || is_full(best) || !subflow_has_room(best))
		return -1;
	subflow_pick(msk, best, MPTCP_SEND_BURST);
	return 0;
}

static __always_inline int redundant_retrans(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow;
	bool picked = false;
	__u64 *again;

	again = bpf_sk_storage_get(&sent_again, msk, NULL,
				   BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!again || *again == msk->snd_una)
		return sched_default_retrans(msk);
	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk) {
		if (!mptcp_subflow_active(subflow) || !subflow_is_idle(subflow))
			continue;
		mptcp_subflow_set_scheduled(subflow, true);
		picked = true;
	}
	if (!picked)
		return -1;
	*again = msk->snd_una;
	return 0;
}

MPTCP_SCHED_PROGRAMS(redundant);

SEC(".struct_ops.link")
struct mptcp_sched_ops redundant = {
	MPTCP_SCHED_CALLBACKS(redundant)
	.name = "redundant",
};
