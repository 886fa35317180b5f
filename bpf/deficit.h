/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The deficit rule: costlier paths carry what the cheaper ones, in all
 * likelihood, will not deliver in time, and no more; as late as is safe.
 * Documentation/algorithm.md derives it.
 */
#ifndef _DPA_DEFICIT_H
#define _DPA_DEFICIT_H

#include "estimate.h"
#include "pick.h"

/* standard deviations that a forecast is lowered by, in 16ths */
#define DPA_CAUTION_MIN		40	/* 2.5 */
#define DPA_CAUTION_MAX		80	/* 5 */
#define DPA_CAUTION_MORE	8	/* for an avoidable miss */
#define DPA_CAUTION_LESS	1	/* for a chunk that was met */

/* goodput varies over this time; its average over a longer one varies less */
#define DPA_VARIES_US		300000ULL
/* a path that was not used for so long is trusted half as much */
#define DPA_FORGET_MS		60000ULL

/*
 * A costlier path is opened when the shortfall reaches this share of what it
 * can carry in the time T that is left: T / (T + 2 s), but at most 2/5. From then
 * on it carries what is beyond 3/4 of that, and of the rest what cheaper paths
 * would not make up for if they were as fast as they have been. When it has
 * carried that, it rests until another 1/2 has come together. One that is in use
 * just to get to know it, or the cheapest, stays for 3/4 of what would open it.
 */
#define DPA_OPEN_LAG_MS		2000ULL
/* less and less may wait, in so much time before the deadline */
#define DPA_WAIT_MS		1000ULL
#define DPA_OPEN_SHARE		410	/* 1024ths */
#define DPA_OPEN_LESS		4	/* 1/4 */
#define DPA_OPEN_AGAIN		2	/* 1/2 */

/*
 * For so many round trips, or samples, a chunk waits for the cheapest paths to
 * show what they can carry, but not for more than half of the time that they may
 * take. While they have not, this share of it may be put on others: 1 / 2^4. If
 * by then they cannot have shown that they are fast enough, having begun with
 * DPA_FIRST_BYTES, 1 / 2^5 may be put there at once, so that their slow
 * start is over when they are needed; and all of the share if there is not
 * even time for a round trip. Not if that is much less than a fragment.
 */
#define DPA_LEARN_RTTS		4
#define DPA_LEARN_SHIFT		4
#define DPA_LEARN_FIRST_SHIFT	5

/* The rate that a path keeps up in all likelihood. */
static __always_inline __u64 dpa_sure_rate(const struct dpa_path *p,
					   const struct dpa_reach *r,
					   __u64 now_ns)
{
	__u64 rate = p->goodput, less, idle_ms;

	if (r->alpha_milli) {
		rate = rate * r->alpha_milli / 1000;
		return rate < DPA_RATE_MAX ? rate : DPA_RATE_MAX;
	}
	if (p->sampling && p->rises >= DPA_RISES_SURE)
		return rate;
	less = ((__u64)p->spread * r->caution >> 4) * r->steady >> 10;
	rate = dpa_minus(rate, less);
	if (p->sampling)
		return rate;
	idle_ms = dpa_sample_age_ns(p, now_ns) / DPA_NSEC_PER_MSEC;
	return rate * DPA_FORGET_MS / (DPA_FORGET_MS + idle_ms);
}

/*
 * Of what a rate brings, what counts: the operator may want costlier paths used
 * above a rate that the path could exceed, and what is lost has to come in time, too.
 */
static __always_inline __u64 dpa_counting(const struct dpa_path *p, __u64 rate,
					  __u64 left_ns)
{
	if (p->rate_max && rate > p->rate_max)
		rate = p->rate_max;
	left_ns = dpa_before_ns(left_ns, dpa_repair_ns(p));
	return dpa_arriving(p, rate, left_ns);
}

/* Bytes that a path brings in all likelihood. */
dpa_function __u64 dpa_surely(const struct dpa_path *p,
			      const struct dpa_reach *r, __u64 now_ns)
{
	if (!p || !r)
		return 0;
	return dpa_counting(p, dpa_sure_rate(p, r, now_ns), r->left_ns);
}

/* Bytes that it is expected to bring: as long as it is not known, no less than others get. */
dpa_function __u64 dpa_probably(const struct dpa_path *p, __u64 left_ns)
{
	if (!p)
		return 0;
	return dpa_counting(p, p->known ? p->goodput : dpa_fair_goodput(p), left_ns);
}

/* And whether that counts or not. */
dpa_function __u64 dpa_comes(const struct dpa_path *p, __u64 left_ns)
{
	return p ? dpa_arriving(p, p->goodput, left_ns) : 0;
}

/*
 * And if it is as fast as it has been. What is the best of a mean over a rate that
 * just varies around it is more than that by about 3/4 of a standard deviation:
 * such a mean has sqrt(g / (2 - g)) = 0.42 of that, and its best of some twenty
 * samples is 1.8 of its own above.
 */
dpa_function __u64 dpa_at_best(const struct dpa_path *p, __u64 left_ns)
{
	__u32 best;

	if (!p)
		return 0;
	best = dpa_minus(p->best, p->spread - p->spread / 4);
	return dpa_counting(p, best > p->goodput ? best : p->goodput, left_ns);
}

/* How far paths reach until a deadline. */
static __always_inline void dpa_set_reach(struct dpa_state *st,
					  struct dpa_scratch *s, __u64 left_ns,
					  __u32 alpha_milli)
{
	struct dpa_reach *r = &s->reach;
	__u64 left_us = left_ns / DPA_NSEC_PER_USEC;
	__u64 left_ms = dpa_before_ns(left_ns, s->outlook.repair_ns) /
			DPA_NSEC_PER_MSEC;
	__u64 share = left_ms * 1024 / (left_ms + DPA_OPEN_LAG_MS);

	r->left_ns = left_ns;
	r->alpha_milli = alpha_milli;
	r->caution = st->caution ?: DPA_CAUTION_MIN;
	r->steady = dpa_isqrt((DPA_VARIES_US << 20) /
			      (left_us + DPA_VARIES_US));
	r->share = share < DPA_OPEN_SHARE ? share : DPA_OPEN_SHARE;
	r->waits = left_ms < DPA_WAIT_MS ? left_ms * 1024 / DPA_WAIT_MS : 1024;
}

/* All usable paths of the least cost above @above, as s->level. */
static __always_inline void dpa_gather(struct dpa_state *st,
				       struct dpa_scratch *s, __u32 above)
{
	struct dpa_level *level = &s->level;
	int i;

	*level = (struct dpa_level){};
	dpa_for(i, dpa_rows(st)) {
		const struct dpa_path *p = dpa_row(st, i);

		if (!p)
			break;
		if (!p->usable || p->cost <= above ||
		    (level->cost && p->cost > level->cost))
			continue;
		if (p->cost != level->cost)
			*level = (struct dpa_level){ .cost = p->cost };
		if (dpa_may_surprise(p, s->reach.left_ns) ||
		    dpa_is_doubtful(p, s->reach.left_ns, st->now_ns))
			level->unknown = 1;
		level->sure += dpa_surely(p, &s->reach, st->now_ns);
		/* of the dearest nothing else is asked for, if it brings anything */
		if (level->sure && p->cost == s->outlook.dearest &&
		    p->cost > s->outlook.cheapest)
			continue;
		level->rate += p->goodput;
		level->likely += dpa_probably(p, s->reach.left_ns);
		level->best += dpa_at_best(p, s->reach.left_ns);
	}
}

/* Does nothing that goes there now come in time, as far as is known? */
static __always_inline int dpa_is_useless(const struct dpa_level *level)
{
	return !level->unknown && !level->sure && !level->likely;
}

/* A shortfall that paths which carry so much are to be used for now, rather than later. */
static __always_inline __u64 dpa_enough(const struct dpa_scratch *s,
					__u64 carry)
{
	/* in parts that do not overflow */
	return (carry >> 10) * s->reach.share +
	       ((carry & 1023) * s->reach.share >> 10);
}

static __always_inline __u64 dpa_nearly(__u64 enough)
{
	return enough - enough / DPA_OPEN_LESS;
}

/* What of a shortfall may not wait, where @enough of it opens a path. */
static __always_inline __u64 dpa_pressing(const struct dpa_scratch *s,
					  __u64 enough, __u64 left)
{
	__u64 wait = (dpa_nearly(enough) >> 10) * s->reach.waits;

	return dpa_minus(left, wait < s->upside ? wait : s->upside);
}

/* What of a shortfall is for s->level now; the rest may wait. */
static __always_inline __u64 dpa_for_now(const struct dpa_state *st,
					 const struct dpa_scratch *s,
					 __u64 left)
{
	__u64 enough = dpa_enough(s, s->level.sure);

	left = dpa_pressing(s, enough, left);
	if (!st->budget && st->cost_limit < s->level.cost &&
	    left < enough / DPA_OPEN_AGAIN)
		return 0;
	return left;
}

/*
 * Is a shortfall not worth a fragment on s->level? Less than half of one waits
 * while two would still come in time and the cheapest paths have one to carry
 * yet, since it may come to nothing; if what of it may not wait is no more than
 * those bring within half the margin, it is none.
 */
static __always_inline int dpa_is_little(const struct dpa_scratch *s,
					 __u64 left)
{
	const struct dpa_level *level = &s->level;
	__u64 carries;

	if (left > DPA_FRAGMENT_MAX / 2)
		return 0;
	carries = level->unknown ? s->first_likely : level->sure;
	return (carries > 2ULL * DPA_FRAGMENT_MAX &&
		s->first_likely > DPA_FRAGMENT_MAX) ||
	       dpa_pressing(s, dpa_enough(s, carries), left) <= s->first_margin;
}

/* Is it time to use s->level for a shortfall of so many bytes? */
static __always_inline int dpa_is_time(const struct dpa_state *st,
				       const struct dpa_scratch *s, __u64 left)
{
	const struct dpa_level *level = &s->level;
	__u64 enough;

	if (dpa_is_little(s, left))
		return 0;
	if (st->learning)
		return s->learn_bytes || st->open_cost == level->cost;
	if (level->unknown)
		return 1;
	enough = dpa_enough(s, level->sure);
	if (!s->likely_left || dpa_is_held(st, level->cost))
		return left >= enough;
	return !st->trial || left >= dpa_nearly(enough);
}

/* One more wish joins the plan; the dearest and largest is kept. */
static __always_inline void dpa_wish(struct dpa_plan *plan, __u32 limit,
				     __u32 open, __u64 budget)
{
	if (limit > plan->limit)
		plan->limit = limit;
	if (open > plan->open) {
		plan->open = open;
		plan->budget = budget;
	} else if (open == plan->open && budget > plan->budget) {
		plan->budget = budget;
	}
}

/*
 * Takes the paths of s->level into use for a shortfall of @left bytes, above
 * those that cost @below. Returns what they will not carry either.
 */
static __always_inline __u64 dpa_use_level(struct dpa_state *st,
					   struct dpa_scratch *s, __u64 left,
					   __u32 below)
{
	const struct dpa_level *level = &s->level;
	__u64 carried = level->sure, now;

	if (st->learning) {
		left = left < s->learn_bytes ? left : s->learn_bytes;
		dpa_wish(&s->plan, below, level->cost, left);
		s->trial = 1;
		return 0;
	}
	/* until it shows what it is, a path is taken for one like the first */
	if (level->unknown) {
		carried = s->first_likely;
		s->trial = 1;
	}
	if (left >= carried) {
		dpa_wish(&s->plan, level->cost, 0, 0);
		return left - carried;
	}
	now = dpa_for_now(st, s, left);
	/* one that is held is taken into use when there is something for it */
	if (now || !dpa_is_held(st, level->cost))
		dpa_wish(&s->plan, below, level->cost, now);
	return 0;
}

/* Covers so many unsent bytes until s->reach.left_ns, cheapest paths first. */
static __always_inline void dpa_cover(struct dpa_state *st,
				      struct dpa_scratch *s, __u64 left)
{
	__u32 below = 0, above = 0;
	int i;

	s->upside = 0;
	s->likely_left = left;
	dpa_for(i, dpa_rows(st)) {
		dpa_gather(st, s, above);
		if (!s->level.cost)
			break;
		above = s->level.cost;
		if (below && dpa_is_useless(&s->level))
			continue;
		if (!below) {
			s->first_likely = s->level.likely;
			s->first_margin = dpa_bytes_in(s->level.rate,
						       dpa_margin_ns(st) / 2);
			dpa_wish(&s->plan, s->level.cost, 0, 0);
			/* a goodput that still grows is no less than it is */
			left = dpa_minus(left, st->learning ? s->level.likely :
							      s->level.sure);
		} else {
			if (!dpa_is_time(st, s, left))
				break;
			left = dpa_use_level(st, s, left, below);
		}
		if (!left)
			break;
		s->upside += dpa_minus(s->level.best, s->level.sure);
		/* a given alpha is all the doubt there is */
		s->likely_left = dpa_minus(s->likely_left,
					   s->reach.alpha_milli ? s->level.sure :
								  s->level.likely);
		below = s->level.cost;
	}
}

/* Is there no hope for so many bytes, with every path at its likely rate? */
static __always_inline int dpa_hopeless(struct dpa_state *st,
					struct dpa_scratch *s, __u64 left)
{
	int i;

	dpa_for(i, dpa_rows(st)) {
		const struct dpa_path *p = dpa_row(st, i);

		if (!p)
			break;
		if (!p->usable)
			continue;
		if (dpa_may_surprise(p, s->reach.left_ns))
			return 0;
		left = dpa_minus(left, dpa_comes(p, s->reach.left_ns));
		if (!left)
			return 0;
	}
	return 1;
}

/*
 * Can the cheapest paths have shown by then that they are fast enough? In a slow
 * start the window doubles with each round trip; a queue shows more, not less.
 */
static __always_inline int dpa_can_show(__u64 bytes, __u64 whole_ns,
					__u64 patience_ns, __u64 rtt_ns)
{
	__u64 rounds;

	if (!rtt_ns)
		return 1;
	rounds = patience_ns / rtt_ns;
	if (!rounds)
		return 0;
	if (rounds > DPA_RAMP_ROUNDS)
		rounds = DPA_RAMP_ROUNDS;
	return dpa_rate(DPA_FIRST_BYTES << (rounds - 1), rtt_ns) >=
	       dpa_rate(bytes, whole_ns);
}

/* What costlier paths may carry now while the cheapest are not known yet. */
static __always_inline __u64 dpa_learning_bytes(const struct dpa_state *st,
						const struct dpa_outlook *o,
						__u64 whole_ns, __u64 spent_ns)
{
	__u64 chunk = dpa_minus(st->chunk_end, st->chunk_begin);
	__u64 patience_ns = DPA_LEARN_RTTS * dpa_span_ns(o->rtt_ns);
	__u64 bare_ns = o->bare_rtt_us * DPA_NSEC_PER_USEC;
	__u64 most_ns = whole_ns / DPA_RAMP_PATIENCE / 2;
	__u64 bytes = chunk >> DPA_LEARN_SHIFT;

	if (patience_ns > most_ns)
		patience_ns = most_ns;
	if (spent_ns < patience_ns) {
		if (patience_ns >= bare_ns)
			bytes = chunk >> DPA_LEARN_FIRST_SHIFT;
		if (bytes < st->unit / 2 ||
		    dpa_can_show(chunk, whole_ns, patience_ns, bare_ns))
			return 0;
	}
	return dpa_minus(bytes, st->spent);
}

/*
 * Begins a plan: st->path and s->outlook are as a look at all paths found
 * them. An avoidable miss makes the forecasts more cautious, success less.
 */
static __always_inline void dpa_plan_begin(struct dpa_state *st,
					   struct dpa_scratch *s)
{
	const struct dpa_outlook *o = &s->outlook;
	__u64 whole_ns = dpa_minus(st->chunk_deadline_ns, st->chunk_start_ns);
	__u64 spent_ns = dpa_minus(st->now_ns, st->chunk_start_ns);
	__u32 caution = st->caution > DPA_CAUTION_MIN ? st->caution :
							DPA_CAUTION_MIN;

	if (st->missed != st->missed_seen && st->saved)
		caution += DPA_CAUTION_MORE;
	else if (st->met != st->met_seen && caution > DPA_CAUTION_MIN)
		caution -= DPA_CAUTION_LESS;
	st->caution = caution < DPA_CAUTION_MAX ? caution : DPA_CAUTION_MAX;
	if (st->met != st->met_seen || st->missed != st->missed_seen) {
		st->saved = 0;
		st->spent = 0;
	}
	st->missed_seen = st->missed;
	st->met_seen = st->met;

	st->learning = o->cheapest_unsure &&
		       spent_ns < whole_ns / DPA_RAMP_PATIENCE;
	s->learn_bytes = st->learning ? dpa_learning_bytes(st, o, whole_ns,
							   spent_ns) : 0;
	/* where no path is usable, none is kept back for another */
	s->plan = (struct dpa_plan){ .limit = o->cheapest ?: st->cost_limit };
	s->trial = 0;
}

/* Bytes up to a position that are still to be sent, or to be sent again. */
static __always_inline __u64 dpa_unsent(const struct dpa_state *st, __u64 end)
{
	__u64 again = st->again < st->sent ? st->again : st->sent;
	__u64 unacked = dpa_minus(end, st->acked);
	__u64 unsent = dpa_minus(end, st->sent) + again;

	return unsent < unacked ? unsent : unacked;
}

/* Takes the chunk in s->horizon into the plan. */
static __always_inline void dpa_plan_chunk(struct dpa_state *st,
					   struct dpa_scratch *s)
{
	const struct dpa_horizon *h = &s->horizon;
	__u64 unsent = dpa_unsent(st, h->end);
	__u64 left_ns = dpa_minus(h->deadline_ns, st->now_ns);
	int hopeless;

	if (!unsent)
		return;
	left_ns = dpa_minus(left_ns, dpa_margin_ns(st));
	dpa_set_reach(st, s, left_ns, h->alpha_milli);
	hopeless = !left_ns || dpa_hopeless(st, s, unsent);
	if (!hopeless)
		dpa_cover(st, s, unsent);
	else if (h->late_policy == MPTCP_DPA_LATE_POLICY_SPEND)
		dpa_wish(&s->plan, s->outlook.dearest, 0, 0);
}

/* Puts the plan in force. */
static __always_inline void dpa_plan_end(struct dpa_state *st,
					 struct dpa_scratch *s)
{
	struct dpa_plan *plan = &s->plan;

	if (plan->open <= plan->limit)
		plan->open = 0;
	st->cost_limit = plan->limit;
	st->open_cost = plan->open;
	st->budget = plan->open ? plan->budget : 0;
	st->trial = s->trial;
	if (plan->limit < s->outlook.dearest)
		st->saved = 1;
}

#endif
