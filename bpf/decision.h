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

/* how a loop is written, where the verifier must be able to follow */
#ifndef dpa_for
#define dpa_for(i, n)	for ((i) = 0; (i) < (n); (i)++)
#endif

/* The usable paths, as one look at all of them finds them. */
struct dpa_outlook {
	__u64	goodput;	/* of those within the limit, added up */
	__u64	rtt_ns;		/* the longest smoothed round trip */
	__u32	cheapest;	/* cost; 0: there is no path */
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
	__u32	share;		/* 1024ths of a path's reach that open it */
};

/* All usable paths of one cost, and what they carry until a deadline. */
struct dpa_level {
	__u64	sure;		/* bytes that they carry in all likelihood */
	__u64	likely;		/* bytes that they are expected to carry */
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
	__u64	best_linger;
	__s32	best;		/* row; -1: none */
	__u8	learning;	/* the cheapest paths are not known yet */
	__u8	patience_over;	/* though they had some round trips' time */
	__u8	trial;		/* a path is used to get to know it */
	__u8	stuck;		/* a path is, while data is rescued */
	__u8	spent;		/* and one has had all it may get */
};

static __always_inline struct dpa_path *dpa_row(struct dpa_state *st, int i)
{
	if (i < 0 || i >= MPTCP_DPA_PATHS_MAX)
		return (struct dpa_path *)0;
	return &st->path[i];
}

#include "threshold.h"
#include "deficit.h"
#include "stuck.h"

/* Begins a look at all paths. */
static __always_inline void dpa_look_begin(struct dpa_state *st,
					   struct dpa_scratch *s)
{
	int i;

	s->outlook = (struct dpa_outlook){};
	dpa_for(i, MPTCP_DPA_PATHS_MAX) {
		struct dpa_path *p = dpa_row(st, i);

		if (!p)
			break;
		p->usable = 0;
	}
}

/* Takes one path that may carry data into the outlook. */
static __always_inline void dpa_look_at(struct dpa_state *st,
					struct dpa_scratch *s,
					struct dpa_path *p, __u64 rtt_ns)
{
	struct dpa_outlook *o = &s->outlook;
	int unsure = !p->known;

	if (p->cost == MPTCP_DPA_COST_FORBIDDEN || (p->flags & DPA_PATH_SILENT))
		return;
	p->usable = 1;
	if (rtt_ns > o->rtt_ns)
		o->rtt_ns = rtt_ns;
	if (p->cost > o->dearest)
		o->dearest = p->cost;
	if (!o->cheapest || p->cost < o->cheapest) {
		o->cheapest = p->cost;
		o->cheapest_unsure = 0;
	}
	if (p->cost == o->cheapest && unsure)
		o->cheapest_unsure = 1;
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
	dpa_set_reach(st, s, dpa_minus(st->chunk_deadline_ns, st->now_ns), 0);
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

/* Is a path of this cost to be kept back? */
static __always_inline int dpa_is_held(const struct dpa_state *st, __u32 cost)
{
	return cost > st->cost_limit && cost != st->open_cost;
}

/*
 * A peer with so little room gets what it has room for on one path. Linux since
 * 7.0 counts what came out of order against the receive buffer, and when that
 * is full takes no more, not even the bytes that are missing; a packet or two
 * fill a small one, and the connection stands still for ever.
 */
#define DPA_NARROW_BYTES	16384

/* May the next bytes go another way than those before them? */
static __always_inline int dpa_may_follow(const struct dpa_state *st,
					  __u32 path)
{
	__u32 before = st->last - 1U;
	const struct dpa_path *last;

	if (st->window >= DPA_NARROW_BYTES || st->acked == st->sent ||
	    before >= MPTCP_DPA_PATHS_MAX || before == path)
		return 1;
	last = &st->path[before];
	return !last->usable || (last->flags & DPA_PATH_SILENT);
}

/* May it get the next bytes? */
static __always_inline int dpa_may_send(const struct dpa_state *st,
					const struct dpa_path *p)
{
	if (!p->usable || (p->flags & (DPA_PATH_SILENT | DPA_PATH_STUCK)) ||
	    dpa_is_spent(st, p))
		return 0;
	return p->cost <= st->cost_limit ||
	       (p->cost == st->open_cost && st->budget);
}

/* the last round trips before a deadline, in which queues are kept short */
#define DPA_TAIL_RTTS	8
/* what a path may have beyond twice what it holds without a queue */
#define DPA_SPARE_BYTES	(1 << 16)

/*
 * What was given to a path cannot be recalled: it gets no more than its window
 * and one burst. In the last round trips before a deadline, and on costlier
 * paths, it gets just what keeps it busy, one unit above what is in flight
 * without a queue: a queue at the bottleneck may overflow, and what is lost
 * comes too late, or costs twice.
 */
static __always_inline int dpa_has_room(const struct dpa_state *st,
					const struct dpa_scratch *s,
					const struct dpa_path *p, __u64 pacing,
					__u64 srtt_ns, __u64 window)
{
	__u64 left_ns = dpa_minus(st->next_deadline_ns, st->now_ns);
	__u64 rate = pacing > p->goodput ? pacing : p->goodput;
	int tail = left_ns && left_ns < DPA_TAIL_RTTS * srtt_ns;
	__u64 pipe, busy;

	if (p->known)
		rate = p->goodput + p->goodput / 4;
	pipe = dpa_pipe(p, rate);
	busy = pipe + st->unit;
	if ((tail || p->cost > s->outlook.cheapest) && busy < window)
		return p->behind < busy;
	if (p->known && 2 * pipe + DPA_SPARE_BYTES < window)
		return p->behind < 2 * pipe + DPA_SPARE_BYTES;
	return p->behind < window;
}

/* Would the next bytes come too late on this path? Unknown ones are not. */
static __always_inline int dpa_is_late(const struct dpa_state *st,
				       const struct dpa_path *p)
{
	__u64 left_ns = dpa_minus(st->next_deadline_ns, st->now_ns);

	return st->next_deadline_ns && p->known &&
	       dpa_arriving(p, p->goodput, left_ns) < st->unit;
}

/*
 * Accounts for having picked the path s->best, and says how many bytes it
 * gets: a full burst, but on costlier paths no more than it must.
 */
static __always_inline __u32 dpa_picked(struct dpa_state *st,
					const struct dpa_scratch *s,
					__u32 burst)
{
	const struct dpa_path *p = dpa_row(st, s->best);

	st->last = s->best + 1;
	if (!p)
		return burst;
	if (p->flags & DPA_PATH_QUOTA)
		burst = st->unit;
	if (p->cost <= st->least_cost)
		return burst;
	st->spent += st->unit;
	if (p->cost == st->open_cost)
		st->budget = dpa_minus(st->budget, st->unit);
	return st->unit;
}

#endif
