// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpdpa: meets the deadlines of chunks and puts on the costlier subflows only
 * what the cheaper ones cannot deliver in time. Without a chunk in force it is
 * the kernel's default scheduler.
 */
#include "mptcp_sched.bpf.h"

#include "state.h"

#include "decision.h"

char _license[] SEC("license") = "GPL";

static __always_inline struct dpa_path *row_of(struct dpa_state *st, int i)
{
	if (i < 0 || i >= MPTCP_DPA_PATHS_MAX)
		return NULL;
	return &st->path[i];
}

static __always_inline __u64 rtt_ns(const struct tcp_sock *tp)
{
	return (__u64)(tp->srtt_us >> 3) * 1000;
}

/*
 * Brings the estimates up to date and takes stock of the paths. Whatever is
 * added up lives in the state: the verifier would follow every value that a
 * variable can take through the loop.
 */
static __always_inline void look(struct mptcp_sock *msk, struct dpa_state *st)
{
	struct mptcp_subflow_context *subflow;

	st->outlook = (struct dpa_outlook){};
	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk) {
		const struct tcp_sock *tp = subflow_tcp(subflow);
		struct dpa_path *row = row_of(st, mptcp_dpa_path(subflow));

		if (!row)
			continue;
		dpa_observe(row, st->now_ns, tp->bytes_acked,
			    tp->write_seq != tp->snd_una, rtt_ns(tp));
		if (mptcp_subflow_active(subflow))
			dpa_outlook_add(&st->outlook, row, st->cost_limit,
					rtt_ns(tp));
	}
}

static __always_inline void decide(struct mptcp_sock *msk,
				   struct dpa_state *st)
{
	look(msk, st);
	if (st->cost_limit >= st->outlook.cheapest && st->decided_ns &&
	    st->now_ns < st->decided_ns + (__u64)st->interval_us * 1000)
		return;
	dpa_forecast(st);
	st->cost_limit = dpa_threshold(st);
	st->decided_ns = st->now_ns;
}

/*
 * What was given to a subflow cannot be recalled, so it gets no more than its
 * window and one burst: a decision stays revocable.
 */
static __always_inline bool has_room(const struct tcp_sock *tp)
{
	__u64 window = (__u64)tp->snd_cwnd * tp->mss_cache;

	return tp->write_seq - tp->snd_una < window + MPTCP_SEND_BURST;
}

/* When the subflow would have sent what it has, as the default scheduler asks. */
static __always_inline __u64 linger(struct mptcp_subflow_context *subflow,
				    const struct sock *ssk)
{
	__u64 pace = subflow->avg_pacing_rate ?: ssk->sk_pacing_rate;

	return pace ? ((__u64)ssk->sk_wmem_queued << 32) / pace : DPA_U64_MAX;
}

static __always_inline int pick(struct mptcp_sock *msk, struct dpa_state *st)
{
	struct mptcp_subflow_context *subflow, *best = NULL;

	st->best_linger = DPA_U64_MAX;
	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk) {
		struct dpa_path *row = row_of(st, mptcp_dpa_path(subflow));
		const struct tcp_sock *tp = subflow_tcp(subflow);
		const struct sock *ssk = (const struct sock *)tp;
		bool held;
		__u64 time;

		if (!row)
			continue;
		held = row->cost > st->cost_limit;
		if (!(row->flags & DPA_PATH_STEERED) ||
		    held != !!(row->flags & DPA_PATH_HELD))
			mptcp_dpa_hold(subflow, held);
		if (held || !mptcp_subflow_active(subflow) ||
		    !subflow_has_room(subflow) || !has_room(tp))
			continue;
		time = linger(subflow, ssk);
		if (time < st->best_linger) {
			st->best_linger = time;
			best = subflow;
		}
	}
	if (!best)
		return -1;
	subflow_pick(msk, best, MPTCP_SEND_BURST);
	return 0;
}

static __always_inline int mpdpa_send(struct mptcp_sock *msk)
{
	struct dpa_state *st;

	st = (void *)mptcp_dpa_conn((struct sock *)msk, sizeof(*st));
	if (!st)
		return mptcp_dpa_default_send(msk);
	decide(msk, st);
	return pick(msk, st);
}

static __always_inline int mpdpa_retrans(struct mptcp_sock *msk)
{
	return mptcp_dpa_default_retrans(msk);
}

MPTCP_SCHED_PROGRAMS(mpdpa);

SEC(".struct_ops.link")
struct mptcp_sched_ops mpdpa = {
	MPTCP_SCHED_CALLBACKS(mpdpa)
	.name = "mpdpa",
};
