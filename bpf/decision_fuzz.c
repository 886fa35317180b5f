// SPDX-License-Identifier: GPL-2.0-only
/*
 * decision.h under libFuzzer and UBSAN: any connection, any paths, over a
 * course of decisions. The input is read as the state, then as a list of steps;
 * where it ends, zeros follow. bpf/corpus has inputs that reach what there is.
 */
#include <stdlib.h>
#include <string.h>

#include "state.h"

#include "decision.h"

#define STEPS_MAX	64

struct input {
	const unsigned char *at;
	size_t left;
};

/* what happened to one path until the next decision, and a queued chunk */
struct step {
	__u64 passed_ns;
	__u64 chunk_end;
	__u64 chunk_deadline_ns;
	__u32 srtt_us;
	__u32 pacing;
	__u32 window;
	__u32 acked;
	__u32 behind;
	__u32 flight;
	__u32 cost;
	__u32 alpha_milli;
	__u16 flags;
	__u8 path;
	__u8 late_policy;
	__u8 decides;
	__u8 pad;
	__u16 fresh;
	__u32 rtt_age_ms;
};

static void take(struct input *in, void *to, size_t size)
{
	size_t n = size < in->left ? size : in->left;

	memset(to, 0, size);
	memcpy(to, in->at, n);
	in->at += n;
	in->left -= n;
}

static void need(int good)
{
	if (!good)
		abort();
}

static void look(struct dpa_state *st, struct dpa_scratch *s)
{
	int i;

	/* the module gives every path a cost */
	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++)
		if (!st->path[i].cost)
			st->path[i].cost = MPTCP_DPA_COST_DEFAULT;
	dpa_look(st, s);
}

/* The threshold rule, and what it promises. */
static void decide_threshold(struct dpa_state *st, struct dpa_scratch *s)
{
	const struct dpa_outlook *o = &s->outlook;
	__u32 was = st->cost_limit;

	dpa_decide_threshold(st, s);
	/* some path is within the limit, if there is one at all */
	need(st->cost_limit >= o->cheapest);
	/* one cost at a time, never past what there is */
	need(st->cost_limit == was || st->cost_limit == o->below ||
	     st->cost_limit == o->above || st->cost_limit == o->cheapest);
}

/* The deficit rule for one chunk, and what it promises. */
static void decide_deficit(struct dpa_state *st, struct dpa_scratch *s,
			   const struct step *step)
{
	const struct dpa_outlook *o = &s->outlook;
	__u32 was = st->cost_limit;

	dpa_plan_begin(st, s);
	s->horizon = (struct dpa_horizon){
		.end = step->chunk_end,
		.deadline_ns = step->chunk_deadline_ns,
		.alpha_milli = step->alpha_milli % (MPTCP_DPA_ALPHA_MAX + 1),
		.late_policy = step->late_policy % 3,
	};
	dpa_plan_chunk(st, s);
	dpa_plan_end(st, s);
	/* where there is no path it stays as it was */
	if (o->cheapest)
		need(st->cost_limit >= o->cheapest && st->cost_limit <= o->dearest);
	else
		need(st->cost_limit == was);
	need(!st->open_cost || (st->open_cost > st->cost_limit &&
				st->open_cost <= o->dearest));
	need(st->open_cost || !st->budget);
	/* no more than the shortfall, and nothing for what is sent */
	need(st->budget <= dpa_unsent(st, step->chunk_end));
	need(st->caution >= DPA_CAUTION_MIN && st->caution <= DPA_CAUTION_MAX);
}

/* A pick is accounted for, and never beyond the budget's end. */
static void pick(struct dpa_state *st, const struct step *step)
{
	__u32 path = step->path % MPTCP_DPA_PATHS_MAX;
	const struct dpa_path *p = dpa_row(st, path);
	__u64 was = st->budget;

	dpa_may_follow(st, path);
	if (path >= dpa_rows(st) || !dpa_may_send(st, p))
		return;
	need(!dpa_is_held(st, p->cost));
	/* a path that has nothing gets something, or rests, or will soon */
	need(p->behind || p->room || p->resting ||
	     dpa_rest_room(p, st->next_deadline_ns, st->now_ns) <= st->unit);
	need(!p->resting || !p->room || st->again);
	dpa_picked(st, path);
	need(st->budget <= was);
}

static void run_step(struct dpa_state *st, const struct step *step)
{
	struct dpa_path *row = &st->path[step->path % MPTCP_DPA_PATHS_MAX];
	struct dpa_horizon due;
	struct dpa_scratch s;

	st->now_ns += step->passed_ns;
	row->flags = step->flags | DPA_PATH_USED;
	if (step->cost)
		row->cost = step->cost;
	row->acked = step->acked;
	row->behind = step->behind;
	row->flight = step->flight;
	row->srtt_us = step->srtt_us;
	row->fresh = step->fresh;
	row->pacing = step->pacing;
	row->window = step->window;
	row->rtt_age_ms = step->rtt_age_ms;
	look(st, &s);
	if (!step->decides)
		return;
	dpa_decide_begin(st, &s);
	if (st->policy == MPTCP_DPA_POLICY_THRESHOLD)
		decide_threshold(st, &s);
	else
		decide_deficit(st, &s, step);
	dpa_stand(st, &s, 65536);
	need(st->plan_until_ns - st->now_ns <= DPA_LOOK_NS);
	pick(st, step);
	due = dpa_in_force(st);
	/* of two paths at most one outruns the other, if none is at rest */
	if (st->path[0].behind && st->path[1].behind)
		need(!dpa_outruns(st, &due, &st->path[0], &st->path[1]) ||
		     !dpa_outruns(st, &due, &st->path[1], &st->path[0]));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct input in = { data, size };
	struct dpa_state st;
	struct step step;
	int i;

	take(&in, &st, sizeof(st));
	/* what the options let through */
	if (st.alpha_milli > MPTCP_DPA_ALPHA_MAX)
		st.alpha_milli = MPTCP_DPA_ALPHA_MAX;
	for (i = 0; i < STEPS_MAX && in.left; i++) {
		take(&in, &step, sizeof(step));
		run_step(&st, &step);
	}
	return 0;
}
