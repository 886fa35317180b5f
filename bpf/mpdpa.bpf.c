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

#if DPA_BURST_MAX != MPTCP_SEND_BURST
#error "arith.h: DPA_BURST_MAX: expected MPTCP_SEND_BURST, as unit tests and simulator have it"
#endif

/* The guard lets no two decisions run at a time on one CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dpa_scratch);
} scratch SEC(".maps");

char _license[] SEC("license") = "GPL";

/* NULL: no chunk is in force, and nothing overflows. */
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

/*
 * Takes the chunk in s->horizon in: a function that the verifier looks at once,
 * for any input. It would look at a loop's body again for every state that the
 * rounds before can have left.
 */
__noinline int plan_chunk(struct dpa_state *st, struct dpa_scratch *s)
{
	if (st && s)
		dpa_plan_chunk(st, s);
	return 0;
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
	dpa_look(st, s);
	if (!dpa_is_due(st, s))
		return;
	dpa_decide_begin(st, s);
	if (st->policy == MPTCP_DPA_POLICY_THRESHOLD)
		dpa_decide_threshold(st, s);
	else
		plan(msk, st, s);
}

static __always_inline int mpdpa_send(struct mptcp_sock *msk)
{
	struct dpa_state *st = state_of(msk);
	struct dpa_scratch *s = scratch_memory();

	if (!st || !s)
		return mptcp_dpa_default_send(msk);
	decide(msk, st, s);
	dpa_stand(st, s, MPTCP_SEND_BURST);
	return mptcp_dpa_send(msk);
}

/*
 * What is stuck on a path goes where it arrives first, whatever that
 * costs: bytes behind it are of no use without it. But not to a path that may get
 * nothing, or no more, nor does anything else that MPTCP's timer repeats. And only
 * to a path that has nothing, as the kernel's own scheduler has it: others
 * may hold the very bytes, and Linux 7.3 repeats until it is told to stop. Nothing is
 * repeated while no path is stuck, and one has bytes: MPTCP's timer runs out whenever a
 * hole is not mended for so long, and would have an open path that has nothing carry
 * what comes on another.
 */
static __always_inline int rescue(struct mptcp_sock *msk, struct dpa_state *st,
				  struct dpa_scratch *s)
{
	struct mptcp_subflow_context *subflow, *best = NULL;

	s->best_linger = DPA_U64_MAX;
	s->stuck = 0;
	s->spent = 0;
	s->watched = st->window >= DPA_WATCHED_WINDOW;
	s->under_way = 0;
	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk) {
		struct dpa_path *row = dpa_row(st, mptcp_dpa_path(subflow));
		__u64 time;

		if (!mptcp_subflow_active(subflow))
			continue;
		/* one without a row may be forbidden, and nobody counts what it gets */
		if (!row) {
			s->watched = 0;
			s->spent = 1;
			continue;
		}
		if (dpa_is_stuck(row))
			s->stuck = 1;
		else if (row->behind)
			s->under_way = 1;
		if (row->cost == MPTCP_DPA_COST_FORBIDDEN ||
		    dpa_is_spent(st, row, st->oldest)) {
			s->spent = 1;
			continue;
		}
		if (dpa_is_stuck(row))
			continue;
		time = subflow_linger(subflow);
		if (time < s->best_linger) {
			s->best_busy = !!row->behind;
			s->best_linger = time;
			best = subflow;
		}
	}
	if (!s->stuck && s->watched && s->under_way)
		return -1;
	if (!(best && s->stuck) && !s->spent)
		return mptcp_dpa_default_retrans(msk);
	if (!best || s->best_busy)
		return -1;
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
