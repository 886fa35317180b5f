// SPDX-License-Identifier: GPL-2.0-only
/*
 * mpdpa: meets the deadlines of chunks and puts on the costlier subflows only
 * what the cheaper ones cannot deliver in time. Without a chunk in force it is
 * the kernel's default scheduler.
 */
#include "mptcp_sched.bpf.h"

#include "state.h"

/*
 * Whatever a loop adds up lives in the state or in the scratch memory: the
 * verifier would follow every value that a variable can take through it.
 */
#define dpa_for(i, n)	bpf_for(i, 0, n)
#define dpa_function	__noinline

#include "decision.h"

/* The guard lets no two decisions run at a time on one CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dpa_scratch);
} scratch SEC(".maps");

char _license[] SEC("license") = "GPL";

#define TCP_CA_OPEN	0
/* congestion controls that measure an empty path go down to this window */
#define PROBE_CWND	4

/* NULL: no chunk is in force. */
static __always_inline struct dpa_state *state_of(struct mptcp_sock *msk)
{
	return (void *)mptcp_dpa_conn((struct sock *)msk,
				      sizeof(struct dpa_state));
}

static __always_inline struct dpa_scratch *scratch_memory(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratch, &zero);
}

static __always_inline __u64 srtt_ns(const struct tcp_sock *tp)
{
	return (__u64)(tp->srtt_us >> 3) * DPA_NSEC_PER_USEC;
}

/* Does congestion control keep it from sending, to measure the path? */
static __always_inline bool pauses(const struct tcp_sock *tp)
{
	const struct inet_connection_sock *icsk =
		bpf_core_cast(tp, struct inet_connection_sock);

	return tp->snd_cwnd <= PROBE_CWND &&
	       BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state) == TCP_CA_OPEN;
}

/*
 * Has it sent all it was given, with room in its window for more? (TCP's own
 * mark of that, app_limited, is never set on subflows.)
 */
static __always_inline bool is_starved(const struct tcp_sock *tp)
{
	__u32 out = tp->packets_out - tp->sacked_out - tp->lost_out +
		    tp->retrans_out;

	return tp->write_seq - tp->snd_nxt < tp->mss_cache &&
	       out < tp->snd_cwnd;
}

/* What the peer has beyond a hole; both ends of the stream count it as there. */
static __always_inline __u32 sacked(const struct tcp_sock *tp)
{
	return tp->sacked_out * tp->mss_cache;
}

/*
 * For Linux 6.12's verifier, which would look at a loop's body again for every
 * state that the rounds before can have left: functions that it looks at once,
 * for any input, and, for the bodies themselves, static ones, whose stack is
 * gone when they return.
 */

/* Takes s->seen of a path in. */
__noinline int observe(struct dpa_state *st, struct dpa_scratch *s, __u32 path,
		       __u32 active)
{
	struct dpa_path *row;

	if (!st || !s || path >= MPTCP_DPA_PATHS_MAX)
		return 0;
	row = &st->path[path];
	dpa_observe(row, &s->seen);
	if (active)
		dpa_look_at(st, s, row, s->seen.rtt_ns);
	return 0;
}

/* Takes the chunk in s->horizon in. */
__noinline int plan_chunk(struct dpa_state *st, struct dpa_scratch *s)
{
	if (st && s)
		dpa_plan_chunk(st, s);
	return 0;
}

#define ROOM	1
#define LATER	2	/* than the next bytes are due */

/* What can a path do? ROOM and LATER, with s->seen of it. */
__noinline int judge(struct dpa_state *st, struct dpa_scratch *s, __u32 path,
		     __u64 pacing, __u64 window)
{
	const struct dpa_path *row;

	if (!st || !s || path >= MPTCP_DPA_PATHS_MAX)
		return 0;
	row = &st->path[path];
	if (!dpa_may_send(st, row) || !dpa_may_follow(st, path) ||
	    !dpa_has_room(st, s, row, pacing, s->seen.rtt_ns, window))
		return 0;
	return dpa_is_late(st, row) ? ROOM | LATER : ROOM;
}

/* Brings one path's estimate up to date and takes it into the outlook. */
static __noinline void look_at(struct mptcp_subflow_context *subflow,
			       struct dpa_state *st, struct dpa_scratch *s)
{
	const struct tcp_sock *tp = subflow_tcp(subflow);
	int path = mptcp_dpa_path(subflow);
	struct dpa_path *row = dpa_row(st, path);

	if (!row)
		return;
	s->seen = (struct dpa_observation){
		.now_ns = st->now_ns,
		.rtt_ns = srtt_ns(tp),
		.acked = tp->bytes_acked + sacked(tp),
		.busy = tp->write_seq != tp->snd_una,
		.flight = dpa_minus(tp->snd_nxt - tp->snd_una, sacked(tp)),
		.pausing = pauses(tp),
	};
	s->seen.limited = s->seen.pausing || is_starved(tp);
	row->behind = dpa_minus(tp->write_seq - tp->snd_una, sacked(tp));
	row->rtt_us = tp->rtt_min.s[0].v;
	observe(st, s, path, mptcp_subflow_active(subflow));
}

static __always_inline void look(struct mptcp_sock *msk, struct dpa_state *st,
				 struct dpa_scratch *s)
{
	struct mptcp_subflow_context *subflow;

	dpa_look_begin(st, s);
	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk)
		look_at(subflow, st, s);
}

/* All queued chunks are judged together. */
static __always_inline void plan(struct mptcp_sock *msk, struct dpa_state *st,
				 struct dpa_scratch *s)
{
	int i;

	dpa_plan_begin(st, s);
	bpf_for(i, 0, MPTCP_DPA_CHUNKS_MAX) {
		if (mptcp_dpa_chunk((struct sock *)msk, i, &s->horizon))
			break;
		plan_chunk(st, s);
	}
	dpa_plan_end(st, s);
}

static __always_inline void decide(struct mptcp_sock *msk, struct dpa_state *st,
				   struct dpa_scratch *s)
{
	look(msk, st, s);
	if (!dpa_is_due(st, s))
		return;
	dpa_decide_begin(st, s);
	if (st->policy == MPTCP_DPA_POLICY_THRESHOLD)
		dpa_decide_threshold(st, s);
	else
		plan(msk, st, s);
}

/* A path on which the next bytes come too late is the last resort. */
#define LATE	(1ULL << 63)

static __always_inline void hold(struct mptcp_subflow_context *subflow,
				 const struct dpa_state *st,
				 const struct dpa_path *row)
{
	bool held = dpa_is_held(st, row->cost);

	if (!(row->flags & DPA_PATH_STEERED) ||
	    held != !!(row->flags & DPA_PATH_HELD))
		mptcp_dpa_hold(subflow, held);
}

/* Is this the best subflow so far? Then s->best is its row. */
static __noinline int consider(struct mptcp_subflow_context *subflow,
			       struct dpa_state *st, struct dpa_scratch *s)
{
	const struct tcp_sock *tp = subflow_tcp(subflow);
	int path = mptcp_dpa_path(subflow), can;
	struct dpa_path *row = dpa_row(st, path);
	__u64 time;

	if (!row)
		return 0;
	hold(subflow, st, row);
	s->seen.rtt_ns = srtt_ns(tp);
	can = judge(st, s, path, ((const struct sock *)tp)->sk_pacing_rate,
		    (__u64)tp->snd_cwnd * tp->mss_cache + MPTCP_SEND_BURST);
	if (!(can & ROOM) || !subflow_has_room(subflow))
		return 0;
	time = subflow_linger(subflow) >> 1;
	if (can & LATER)
		time |= LATE;
	if (time >= s->best_linger)
		return 0;
	s->best_linger = time;
	s->best = path;
	return 1;
}

static __always_inline int pick(struct mptcp_sock *msk, struct dpa_state *st,
				struct dpa_scratch *s)
{
	struct mptcp_subflow_context *subflow, *best = NULL;

	s->best_linger = DPA_U64_MAX;
	s->best = -1;
	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk)
		if (consider(subflow, st, s))
			best = subflow;
	if (!best)
		return -1;
	subflow_pick(msk, best, dpa_picked(st, s, MPTCP_SEND_BURST));
	return 0;
}

static __always_inline int mpdpa_send(struct mptcp_sock *msk)
{
	struct dpa_state *st = state_of(msk);
	struct dpa_scratch *s = scratch_memory();

	if (!st || !s)
		return mptcp_dpa_default_send(msk);
	decide(msk, st, s);
	return pick(msk, st, s);
}

/*
 * What is stuck on a path goes where it arrives first, whatever that
 * costs: bytes behind it are of no use without it. But not to a path that has
 * had all it may get, nor does anything else that MPTCP's timer repeats.
 */
static __always_inline int rescue(struct mptcp_sock *msk, struct dpa_state *st,
				  struct dpa_scratch *s)
{
	struct mptcp_subflow_context *subflow, *best = NULL;

	s->best_linger = DPA_U64_MAX;
	s->stuck = 0;
	s->spent = 0;
	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk) {
		struct dpa_path *row = dpa_row(st, mptcp_dpa_path(subflow));
		__u64 time;

		if (!row || row->cost == MPTCP_DPA_COST_FORBIDDEN ||
		    !mptcp_subflow_active(subflow))
			continue;
		if (dpa_is_spent(st, row)) {
			s->spent = 1;
			continue;
		}
		if (row->flags & (DPA_PATH_SILENT | DPA_PATH_STUCK)) {
			s->stuck = 1;
			continue;
		}
		time = subflow_linger(subflow);
		if (time < s->best_linger) {
			s->best_linger = time;
			best = subflow;
		}
	}
	if (!best && s->spent)
		return -1;
	if (!best || !(s->stuck || s->spent))
		return mptcp_dpa_default_retrans(msk);
	mptcp_subflow_set_scheduled(best, true);
	return 0;
}

static __always_inline int mpdpa_retrans(struct mptcp_sock *msk)
{
	struct dpa_state *st = state_of(msk);
	struct dpa_scratch *s = scratch_memory();

	if (!st || !s)
		return mptcp_dpa_default_retrans(msk);
	return rescue(msk, st, s);
}

MPTCP_SCHED_PROGRAMS(mpdpa);

SEC(".struct_ops.link")
struct mptcp_sched_ops mpdpa = {
	MPTCP_SCHED_CALLBACKS(mpdpa)
	.name = "mpdpa",
};
