/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decisions: numbers in, numbers out. The BPF scheduler, the unit tests and
 * the simulator are compiled from these files.
 */
#ifndef _DPA_DECISION_H
#define _DPA_DECISION_H

#include "estimate.h"

/* for so much of the time it has, a chunk waits for its paths to ramp up */
#define DPA_RAMP_PATIENCE	8

/* The usable paths, as one look at all of them finds them. */
struct dpa_outlook {
	__u64	goodput;	/* of those within the limit, added up */
	__u64	total;		/* and of all */
	__u64	rtt_ns;		/* the longest smoothed round trip */
	__u64	repair_ns;	/* that what was lost takes, at most */
	__u32	cheapest;	/* cost; 0: there is no path */
	__u32	bare_rtt_us;	/* of its unsure paths the longest, without a queue */
	__u32	dearest;	/* cost */
	__u32	below;		/* the dearest cost under the limit, 0: none */
	__u32	above;		/* the cheapest cost over the limit, 0: none */
	__u8	ramping;	/* one within the limit still ramps up */
	__u8	cheapest_unsure; /* so does one of the cheapest */
};

/* How far paths reach until a deadline. */
struct dpa_reach {
	__u64	left_ns;
	__u32	alpha_milli;	/* 0: the standard deviation counts */
	__u16	caution;	/* 16ths of a standard deviation */
	__u16	steady;		/* of it remains over that time, 1024ths */
	__u16	share;		/* 1024ths of a path's reach that open it */
	__u16	waits;		/* 1024ths of what may wait with time enough */
};

/* All usable paths of one cost, and what they carry until a deadline. */
struct dpa_level {
	__u64	sure;		/* bytes that they carry in all likelihood */
	__u64	likely;		/* bytes that they are expected to carry */
	__u64	best;		/* and if they are as fast as they have been */
	__u64	rate;		/* at which they are expected to */
	__u32	cost;		/* 0: there is none */
	__u32	unknown;	/* one of them has shown nothing yet */
};

/* Which costs may be used, and how far. */
struct dpa_plan {
	__u64	budget;		/* bytes for paths that cost just @open */
	__u32	limit;		/* paths up to this cost are used freely */
	__u32	open;		/* the next cost, for @budget; 0: none */
};

/* What lives for one decision only. */
struct dpa_scratch {
	struct dpa_outlook outlook;
	struct dpa_plan	plan;
	struct dpa_reach reach;
	struct dpa_level level;
	struct dpa_horizon horizon;
	struct dpa_observation seen; /* of the path that is looked at */
	__u64	first_likely;	/* dpa_level::likely of the cheapest paths */
	__u64	first_margin;	/* what those bring within half of the margin */
	__u64	likely_left;	/* bytes that those are not expected to bring */
	__u64	upside;		/* that paths of less cost may bring beyond what is sure */
	__u64	learn_bytes;	/* for others while the cheapest paths are unknown */
	__u64	best_linger;
	__u8	trial;		/* a path is used to get to know it */
	__u8	stuck;		/* a path is, while data is rescued */
	__u8	spent;		/* and one has had all it may get */
	__u8	watched;	/* the module looks after what is stuck, on any path */
	__u8	under_way;	/* a path that is not stuck has bytes */
	__u8	best_busy;	/* the path that is best has bytes under way */
};

#include "threshold.h"
#include "deficit.h"
#include "pick.h"

/* Takes one path that may carry data into the outlook. */
static __always_inline void dpa_take_in(const struct dpa_state *st,
					struct dpa_outlook *o,
					const struct dpa_path *p)
{
	__u64 rtt_ns = p->srtt_us * DPA_NSEC_PER_USEC;
	__u64 repair_ns = dpa_repair_ns(p), bare_us = dpa_bare_us(p);
	int unsure = dpa_may_surprise(p, dpa_minus(st->chunk_deadline_ns, st->now_ns));

	if (rtt_ns > o->rtt_ns)
		o->rtt_ns = rtt_ns;
	if (repair_ns > o->repair_ns)
		o->repair_ns = repair_ns;
	if (p->cost > o->dearest)
		o->dearest = p->cost;
	if (!o->cheapest || p->cost < o->cheapest) {
		o->cheapest = p->cost;
		o->cheapest_unsure = 0;
		o->bare_rtt_us = 0;
	}
	if (p->cost == o->cheapest && unsure) {
		o->cheapest_unsure = 1;
		if (bare_us > o->bare_rtt_us)
			o->bare_rtt_us = bare_us;
	}
	o->total += p->goodput;
	if (p->cost > st->cost_limit) {
		if (!o->above || p->cost < o->above)
			o->above = p->cost;
		return;
	}
	o->goodput += p->goodput;
	if (unsure)
		o->ramping = 1;
	if (p->cost < st->cost_limit && p->cost > o->below)
		o->below = p->cost;
}

/* Brings one path's estimate up to date and takes it into the outlook. */
dpa_function int dpa_look_at(struct dpa_state *st, struct dpa_scratch *s,
			     __u32 path)
{
	struct dpa_path *p;

	if (!st || !s || path >= MPTCP_DPA_PATHS_MAX)
		return 0;
	p = &st->path[path];
	p->usable = dpa_is_usable(p);
	if (!(p->flags & DPA_PATH_USED))
		return 0;
	dpa_see(p, &s->seen, st->now_ns);
	s->seen.due_ns = st->next_deadline_ns;
	p->flags &= ~DPA_PATH_SEEN;
	dpa_observe(p, &s->seen);
	if (p->usable)
		dpa_take_in(st, &s->outlook, p);
	return 0;
}

/* Looks at all paths, as the module found them. */
static __always_inline void dpa_look(struct dpa_state *st,
				     struct dpa_scratch *s)
{
	int i;

	s->outlook = (struct dpa_outlook){};
	dpa_for(i, dpa_rows(st))
		dpa_look_at(st, s, i);
	st->cheapest = s->outlook.cheapest;
}

/* What the paths in use will carry until the deadline of the chunk in force. */
static __always_inline void dpa_forecast(struct dpa_state *st,
					 const struct dpa_scratch *s)
{
	const struct dpa_outlook *o = &s->outlook;
	__s64 left_ns = st->chunk_deadline_ns + o->rtt_ns / 2 - st->now_ns;

	st->forecast = dpa_bytes_in(o->goodput, left_ns);
}

/* Is it time for a decision? */
static __always_inline int dpa_is_due(const struct dpa_state *st,
				      const struct dpa_scratch *s)
{
	return st->cost_limit < s->outlook.cheapest || !st->decided_ns ||
	       st->now_ns >= st->decided_ns +
			     st->interval_us * DPA_NSEC_PER_USEC;
}

/* Begins a decision of either rule, after a look. */
static __always_inline void dpa_decide_begin(struct dpa_state *st,
					     struct dpa_scratch *s)
{
	dpa_forecast(st, s);
	s->reach.left_ns = dpa_minus(st->chunk_deadline_ns, st->now_ns);
	st->at_risk = dpa_hopeless(st, s, dpa_unsent(st, st->chunk_end));
	st->decided_ns = st->now_ns;
}

static __always_inline void dpa_decide_threshold(struct dpa_state *st,
						 const struct dpa_scratch *s)
{
	st->cost_limit = dpa_threshold(st, s);
	st->open_cost = 0;
	st->budget = 0;
}

/* Lets the plan stand, for it to be carried out. */
static __always_inline void dpa_stand(struct dpa_state *st,
				      const struct dpa_scratch *s, __u32 burst)
{
	__u64 ns = st->interval_us * DPA_NSEC_PER_USEC;
	int i, late = 0;

	st->burst = burst;
	st->plan_until_ns = st->now_ns + (ns < DPA_LOOK_NS ? ns : DPA_LOOK_NS);
	dpa_for(i, dpa_rows(st))
		late |= dpa_make_room(st, i, s->outlook.total);
	st->fits_ns = st->next_deadline_ns;
	if (late)
		dpa_hurry(st);
}

#endif
