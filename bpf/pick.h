/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A plan is carried out: which path may have the next bytes, and how many of
 * them. The module does so (kernel/plan.c), and the simulator.
 */
#ifndef _DPA_PICK_H
#define _DPA_PICK_H

#include "estimate.h"
#include "stuck.h"

/* May it carry data at all? */
static __always_inline int dpa_is_usable(const struct dpa_path *p)
{
	const __u16 all = DPA_PATH_USED | DPA_PATH_ACTIVE;

	return (p->flags & (all | DPA_PATH_SILENT | DPA_PATH_QUEUED)) == all &&
	       p->cost != MPTCP_DPA_COST_FORBIDDEN;
}

/* Is a path of this cost to be kept back? */
static __always_inline int dpa_is_held(const struct dpa_state *st, __u32 cost)
{
	return cost > st->cost_limit && cost != st->open_cost;
}

/* Nothing is to be sent by a plan; the next one begins with all paths kept back. */
static __always_inline void dpa_forget_plan(struct dpa_state *st)
{
	st->plan_until_ns = 0;
	st->cost_limit = 0;
	st->open_cost = 0;
	st->budget = 0;
	st->trial = 0;
}

/*
 * A peer with so little room gets what it has room for on one path. Linux since
 * 7.0 counts what came out of order against the receive buffer, and when that
 * is full takes no more, not even the bytes that are missing; a packet or two
 * fill a small one, and the connection stands still for ever.
 */
#define DPA_NARROW_BYTES	16384

/*
 * May the next bytes go another way than those before them? Not while a path has them
 * that may get no more, its quota being spent: they come.
 */
static __always_inline int dpa_may_follow(const struct dpa_state *st,
					  __u32 path)
{
	__u32 before = st->last - 1U;
	const struct dpa_path *last;

	if (st->window >= DPA_NARROW_BYTES || st->acked == st->sent ||
	    before >= MPTCP_DPA_PATHS_MAX || before == path)
		return 1;
	last = &st->path[before];
	return (last->flags & DPA_PATH_SILENT) ||
	       (!last->usable &&
		(last->quota || !(last->flags & DPA_PATH_QUOTA)));
}

/* May it get the next bytes? */
static __always_inline int dpa_may_send(const struct dpa_state *st,
					const struct dpa_path *p)
{
	if (!p->usable || dpa_is_stuck(p) || dpa_is_spent(st, p, st->unit))
		return 0;
	return p->cost <= st->cost_limit ||
	       (p->cost == st->open_cost && st->budget);
}

/*
 * Has it to wait until the cheapest have no room? While the application has not written
 * all of a chunk, though it could, it may do so at a pace that those keep up with. (The
 * threshold rule is as it was published.)
 */
static __always_inline int dpa_is_spare(const struct dpa_state *st,
					const struct dpa_path *p)
{
	return p->cost > st->cheapest && st->written < st->chunk_end &&
	       st->policy != MPTCP_DPA_POLICY_THRESHOLD;
}

/* the last round trips before a deadline, in which queues are kept short */
#define DPA_TAIL_RTTS	8
/* and, of a path without BBR, take no longer than that to drain */
#define DPA_TAIL_QUEUE_NS	(25 * DPA_NSEC_PER_MSEC)
/* with fewer round trips left, the cheapest paths ramp up as fast as their TCP does */
#define DPA_HURRY_RTTS	32
/* what a path may have beyond twice what it holds without a queue, */
#define DPA_SPARE_BYTES	(1 << 16)
/* but little more than it carries in this part of a second: a tenth */
#define DPA_SPARE_PART		10

/* a queue covers what a rate varies by: so many standard deviations */
#define DPA_VARIES_BY	4

/* Is what comes in @left_ns less than so many round trips away? */
static __always_inline int dpa_is_near(const struct dpa_path *p, __u64 left_ns,
				       __u32 rtts)
{
	return left_ns < (__u64)rtts * p->srtt_us * DPA_NSEC_PER_USEC;
}

/* Is what is sent next due within the last round trips? */
static __always_inline int dpa_ends_soon(const struct dpa_state *st,
					 const struct dpa_path *p)
{
	__u64 left_ns = dpa_minus(st->next_deadline_ns, st->now_ns);

	return left_ns && dpa_is_near(p, left_ns, DPA_TAIL_RTTS);
}

static __always_inline int dpa_rests_soon(const struct dpa_path *p)
{
	return dpa_rests(p) &&
	       dpa_is_near(p, p->pause_in_us * DPA_NSEC_PER_USEC,
			   DPA_TAIL_RTTS);
}

/*
 * A path's part of the room that the peer has, by rates: what waits on one path
 * takes up room that others need, for bytes before it as well as behind.
 */
static __always_inline __u64 dpa_window_share(const struct dpa_state *st,
					      const struct dpa_path *p,
					      __u64 total)
{
	__u64 window = st->window < DPA_U32_MAX ? st->window : DPA_U32_MAX;

	return total ? window * p->goodput / total : window;
}

/*
 * So fast a path has to be filled. While it ramps up, BBR would send three times
 * what it has carried, and lose what is too much: of costlier paths no more than
 * twice that, and half as much again where there is time.
 */
static __always_inline __u64 dpa_room_rate(const struct dpa_state *st,
					   const struct dpa_path *p)
{
	__u64 left_ns = dpa_minus(st->next_deadline_ns, st->now_ns);
	__u64 rate = p->pacing > p->goodput ? p->pacing : p->goodput;
	__u64 twice = 2ULL * p->goodput;

	if (p->known)
		return p->goodput + p->goodput / 4ULL;
	if (!p->goodput)
		return rate;
	if (!dpa_is_near(p, left_ns, DPA_HURRY_RTTS))
		return p->goodput + p->goodput / 2ULL;
	return p->cost > st->cheapest && rate > twice ? twice : rate;
}

/*
 * What a path may hold in the last round trips before a deadline. A quarter of a long
 * one is more than a queue takes; BBR needs it to find out that a link has become
 * faster. Before that others need it, too: a window that is not used does not grow.
 */
static __always_inline __u64 dpa_tail_pipe(const struct dpa_path *p, __u64 pipe)
{
	__u64 most = dpa_pipe(p, p->goodput) +
		     dpa_bytes_in(p->goodput, DPA_TAIL_QUEUE_NS);

	return p->known && !(p->flags & DPA_PATH_PAUSES) && most < pipe ?
	       most : pipe;
}

/* What keeps a path of the least cost busy, come what may; on a slow one that is less. */
static __always_inline __u32 dpa_spare(const struct dpa_path *p)
{
	__u32 bytes = p->goodput / DPA_SPARE_PART + DPA_QUEUE_BYTES;

	return bytes < DPA_SPARE_BYTES ? bytes : DPA_SPARE_BYTES;
}

/*
 * What was given to a path cannot be recalled, so a path whose speed is known
 * gets twice what it holds without a queue: then it stays busy when its TCP
 * halves the window after a loss. In the last round trips before a deadline, or
 * a rest, and on paths that just a shortfall is put on, it gets just what keeps
 * it busy: a queue at the bottleneck may overflow, and what is lost comes too
 * late, or costs twice; a queue at the sender takes its time to drain. One that
 * others keep becomes no shorter by that, and who asks for less of it gets less.
 */
static __always_inline __u64 dpa_room(const struct dpa_state *st,
				      const struct dpa_path *p, __u64 share)
{
	__u64 rate = dpa_room_rate(st, p);
	int costlier = p->cost > st->cheapest;
	__u64 pipe = dpa_pipe(p, rate);
	__u64 least, most, varies;

	if (!p->others && dpa_ends_soon(st, p))
		return dpa_tail_pipe(p, pipe) + DPA_QUEUE_BYTES;
	least = pipe + DPA_QUEUE_BYTES;
	if (dpa_rests_soon(p) || (!p->others && p->cost > st->cost_limit))
		return least;
	if (!p->known)
		return costlier ? least : DPA_U32_MAX;
	most = 2 * pipe + (costlier ? DPA_QUEUE_BYTES : dpa_spare(p));
	if (costlier && p->flags & DPA_PATH_PAUSES) {
		varies = dpa_pipe(p, rate + DPA_VARIES_BY * (__u64)p->spread) +
			 DPA_QUEUE_BYTES;
		most = varies < most ? varies : most;
	}
	if (share < least)
		share = least;
	return most < share ? most : share;
}

/*
 * In the last round trips, is a fragment more than a quarter of what the path holds? Without
 * BBR it would be lost at the end of the queue, and found missing a round trip later. Where
 * there is no queue, losses keep the window small, and all of it has to be used for it to
 * grow; so has that of a long path.
 */
static __always_inline int dpa_keeps_short(const struct dpa_state *st,
					   const struct dpa_path *p)
{
	return !(p->flags & DPA_PATH_PAUSES) && dpa_ends_soon(st, p) &&
	       dpa_shows_queue(p, DPA_TAIL_QUEUE_NS / DPA_NSEC_PER_USEC / 2) &&
	       dpa_pipe(p, p->goodput) < 4 * DPA_FRAGMENT_MAX;
}

/* what is decided about arrives by then before its deadline */
#define DPA_MARGIN_NS	(15 * DPA_NSEC_PER_MSEC)

/* That, or half of the time that the chunk in force has in all, if it is less. */
static __always_inline __u64 dpa_margin_ns(const struct dpa_state *st)
{
	__u64 whole_ns = dpa_minus(st->chunk_deadline_ns, st->chunk_start_ns);

	return whole_ns && whole_ns / 2 < DPA_MARGIN_NS ? whole_ns / 2 :
							  DPA_MARGIN_NS;
}

/* a pick ends no earlier within a fragment: after three full segments */
#define DPA_PICK_MIN	4096

/* no path's TCP is slowed down to less than this: ten first windows a second */
#define DPA_PACE_LEAST	(10 * DPA_FIRST_BYTES)

/* dpa_path::fits is in units of 512 bytes; 65535: that many, or more */
#define DPA_FITS_SHIFT	9
#define DPA_FITS_MANY	65535

/* Of the next bytes, those that would come on a path in so much time. */
static __always_inline __u16 dpa_fits(const struct dpa_path *p, __u64 left_ns,
				      __u64 now_ns)
{
	__u64 bytes;

	if (dpa_is_too_far(p, left_ns))
		return 0;
	if (!p->known)
		return DPA_FITS_MANY;
	if (dpa_is_doubtful(p, left_ns, now_ns))
		return DPA_FIRST_BYTES >> DPA_FITS_SHIFT;
	bytes = dpa_arriving(p, p->goodput, left_ns) >> DPA_FITS_SHIFT;
	return bytes < DPA_FITS_MANY ? bytes : DPA_FITS_MANY;
}

/* The time in which the next bytes have to come; DPA_U64_MAX: there is none. */
static __always_inline __u64 dpa_fits_in_ns(const struct dpa_state *st)
{
	return st->next_deadline_ns ?
		dpa_minus(st->next_deadline_ns,
			  st->now_ns + dpa_margin_ns(st) / 2) : DPA_U64_MAX;
}

/* Do a path's bytes, and so many more, not tell of a queue, since it holds more than each? */
static __always_inline int dpa_is_within_pipe(const struct dpa_path *p,
					      __u64 bytes)
{
	__u64 pipe = dpa_pipe(p, p->goodput);

	return p->known && p->behind < pipe && bytes < pipe;
}

/*
 * Counts what fits. What a path was given a moment ago still waits at the bottleneck, but
 * where it holds more than it has that is not seen. As long as something waits there as
 * much fits as did before, less what was given since; and if nothing does, less by the
 * time that has passed: so for one deadline it never grows.
 */
static __always_inline void dpa_count_fits(const struct dpa_state *st,
					   struct dpa_path *p)
{
	__u64 left_ns = dpa_fits_in_ns(st);
	__u16 fits = DPA_FITS_MANY;

	if (left_ns != DPA_U64_MAX)
		fits = dpa_fits(p, left_ns, st->now_ns);
	if (fits < p->fits || left_ns == DPA_U64_MAX ||
	    st->fits_ns != st->next_deadline_ns ||
	    !dpa_is_within_pipe(p, (__u64)fits << DPA_FITS_SHIFT) ||
	    dpa_is_doubtful(p, left_ns, st->now_ns))
		p->fits = fits;
}

/* Would the next bytes come too late on this path? */
static __always_inline int dpa_is_late(const struct dpa_state *st,
				       const struct dpa_path *p)
{
	__u32 bytes = (__u32)p->fits << DPA_FITS_SHIFT;

	return bytes < DPA_PICK_MIN && bytes < st->unit;
}

/* The time until a path's running sample ends; DPA_U64_MAX: there is none. */
static __always_inline __u64 dpa_sample_left_ns(const struct dpa_state *st,
						const struct dpa_path *p)
{
	__u64 span = dpa_span_ns(p->srtt_us * DPA_NSEC_PER_USEC);

	if (!p->sampling)
		return DPA_U64_MAX;
	return dpa_minus(span, dpa_sample_age_ns(p, st->now_ns));
}

/*
 * How fast its TCP may send on a known path, while it counts as application-limited:
 * half as much again as it has been. BBR's start sends at 2.9 times its estimate, and only
 * ends where the sender always has something. Chunk after chunk that would fill a
 * queue, and lose what does not fit into it. What is slow fills none that counts.
 */
static __always_inline __u32 dpa_pace(const struct dpa_state *st,
				      const struct dpa_path *p)
{
	__u64 pace;

	if (!(p->flags & DPA_PATH_PAUSES) || !p->known ||
	    st->policy == MPTCP_DPA_POLICY_THRESHOLD)
		return 0;
	/* among many, with all that each has: the queue is theirs together */
	if (p->share) {
		pace = dpa_fair_goodput(p);
		pace += pace / 4;
	} else {
		pace = (__u64)p->best + p->best / 2;
		if (pace < DPA_PACE_LEAST)
			return DPA_PACE_LEAST;
	}
	return pace < DPA_U32_MAX ? pace : 0;
}

/*
 * Says how much a path may have while the plan stands, and how fast its TCP may send
 * that, and lets it end in time.
 * Returns whether the next bytes come too late on it.
 */
dpa_function int dpa_make_room(struct dpa_state *st, __u32 path, __u64 total)
{
	struct dpa_path *p;
	__u64 share, room, rest, left_ns;

	if (!st || path >= MPTCP_DPA_PATHS_MAX)
		return 0;
	p = &st->path[path];
	if (!p->usable) {
		p->fits = DPA_FITS_MANY;
		return 0;
	}
	left_ns = dpa_sample_left_ns(st, p);
	if (left_ns < st->plan_until_ns - st->now_ns)
		st->plan_until_ns = st->now_ns + left_ns;
	/* it gets nothing by this plan */
	if (dpa_is_held(st, p->cost)) {
		p->fits = DPA_FITS_MANY;
		return 0;
	}
	p->pace = dpa_pace(st, p);
	share = dpa_window_share(st, p, total);
	room = dpa_room(st, p, share);
	p->narrow = p->known && (share < room + DPA_FRAGMENT_MAX ||
				 dpa_keeps_short(st, p));
	/* a pick may put it over that by a unit; what is rescued does not wait, but no more */
	rest = dpa_minus(dpa_rest_room(p, st->next_deadline_ns, st->now_ns),
			 st->unit);
	if (st->again && rest < p->behind + st->again)
		rest = p->behind + st->again;
	if (room > rest)
		room = rest;
	p->room = room < DPA_U32_MAX ? room : DPA_U32_MAX;
	dpa_count_fits(st, p);
	return dpa_is_late(st, p) && dpa_may_send(st, p);
}

/* What of the chunk that the next bytes are of still goes to paths. */
static __always_inline __u64 dpa_to_send(const struct dpa_state *st)
{
	__u64 end = st->written;

	if (st->sent < st->chunk_end && st->chunk_end < end)
		end = st->chunk_end;
	return dpa_minus(end, st->sent) + st->again;
}

/*
 * When that would have come to the far end over one path alone; DPA_U64_MAX: nobody
 * knows, or it may get nothing.
 */
dpa_function __u64 dpa_alone_ns(const struct dpa_state *st, __u32 path)
{
	const struct dpa_path *p;
	__u64 bytes, ns;

	if (!st || path >= MPTCP_DPA_PATHS_MAX)
		return DPA_U64_MAX;
	p = &st->path[path];
	if (!p->known || !dpa_may_send(st, p))
		return DPA_U64_MAX;
	bytes = dpa_ahead(p, p->goodput) + dpa_to_send(st);
	ns = dpa_minus(dpa_time_ns(bytes, p->goodput), dpa_way_ns(p));
	return ns + dpa_paused_ns(p, ns);
}

/* Of the next bytes, those that a path is known to bring in time, if it may get them. */
dpa_function __u64 dpa_comes_in_time(const struct dpa_state *st, __u32 path)
{
	const struct dpa_path *p;

	if (!st || path >= MPTCP_DPA_PATHS_MAX)
		return 0;
	p = &st->path[path];
	if (!dpa_may_send(st, p))
		return 0;
	return dpa_arriving(p, p->goodput, dpa_fits_in_ns(st));
}

/* Has as many bytes count as being in time as come in so much of it. */
dpa_function int dpa_fit(struct dpa_state *st, __u32 path, __u64 left_ns)
{
	if (!st || path >= MPTCP_DPA_PATHS_MAX)
		return 0;
	st->path[path].fits = dpa_fits(&st->path[path], left_ns, st->now_ns);
	return 0;
}

/*
 * Where a path is late the next bytes go to one that is not, even if they have to
 * wait for it. If not all are in time on any of them, nor on all together, those are late
 * on which they would come after one alone could have brought the last of them (an idea
 * of ECF, Y. Lim et al., CoNEXT 2017): what is late anyway is not to become more so.
 */
static __always_inline void dpa_hurry(struct dpa_state *st)
{
	__u64 least_ns = DPA_U64_MAX, in_time = 0, ns;
	int i;

	dpa_for(i, dpa_rows(st)) {
		ns = dpa_alone_ns(st, i);
		least_ns = ns < least_ns ? ns : least_ns;
		in_time += dpa_comes_in_time(st, i);
	}
	if (least_ns == DPA_U64_MAX || in_time >= dpa_to_send(st))
		return;
	least_ns += dpa_margin_ns(st) / 2;
	if (least_ns <= dpa_fits_in_ns(st))
		return;
	dpa_for(i, dpa_rows(st))
		dpa_fit(st, i, least_ns);
	st->fits_ns = 0;
}

/* Is it empty, as it was to be? */
static __always_inline int dpa_has_rested(const struct dpa_path *p)
{
	return p->resting && !p->behind;
}

/*
 * Has it room for more? Never for more than its window and one burst; until its
 * speed is known, a unit: a small chunk would be all on a path before that shows
 * how slow it is, with many others beside it.
 */
static __always_inline int dpa_has_room(const struct dpa_state *st,
					const struct dpa_path *p, __u64 window)
{
	return p->behind < p->room &&
	       p->behind < window + (p->known ? st->burst : st->unit);
}

/* What of the next fragment is sent for a need of so many bytes? */
static __always_inline __u32 dpa_cut(const struct dpa_state *st, __u64 need)
{
	if (need >= st->unit || st->again)
		return st->unit;
	if (need >= DPA_PICK_MIN)
		return need;
	return st->unit < DPA_PICK_MIN ? st->unit : DPA_PICK_MIN;
}

/* a path that takes longer for a burst than what waits may is slow: bytes a second */
#define DPA_BURST_RATE	(DPA_SPARE_BYTES * DPA_SPARE_PART)

/*
 * May a pick be more than a fragment? Not on costlier or slow paths, nor while its speed
 * is not known; nor in the last round trips before a rest or a deadline, in which a
 * decision is to stay revocable.
 */
static __always_inline int dpa_may_burst(const struct dpa_state *st,
					 const struct dpa_path *p)
{
	return p->cost <= st->least_cost && p->known &&
	       p->goodput >= DPA_BURST_RATE &&
	       !(p->flags & DPA_PATH_QUOTA) && !dpa_rests_soon(p) &&
	       !dpa_ends_soon(st, p);
}

/*
 * Accounts for having picked a path, and says how many bytes it gets: a full
 * burst, or a fragment; and of that no more than the shortfall, nor than comes in time.
 * One that has shown nothing yet gets a whole one to do so; so do all while the cheapest
 * are not known, since they start early to be there when they are needed.
 */
static __always_inline __u32 dpa_picked(struct dpa_state *st, __u32 path)
{
	struct dpa_path *p = &st->path[path % MPTCP_DPA_PATHS_MAX];
	int costlier = p->cost > st->least_cost;
	__u32 bytes = dpa_may_burst(st, p) ? st->burst : st->unit, fits;

	st->last = path + 1;
	if (p->narrow)
		bytes = dpa_cut(st, dpa_minus(p->room, p->behind));
	if (p->cost == st->open_cost && !st->learning && p->goodput)
		bytes = dpa_cut(st, st->budget < bytes ? st->budget : bytes);
	if (p->fits != DPA_FITS_MANY) {
		fits = (__u32)p->fits << DPA_FITS_SHIFT;
		if (fits < bytes && !dpa_is_late(st, p))
			bytes = dpa_cut(st, fits);
		p->fits = dpa_minus(fits, bytes) >> DPA_FITS_SHIFT;
	}
	if (!costlier)
		return bytes;
	st->spent += bytes;
	if (p->cost == st->open_cost)
		st->budget = dpa_minus(st->budget, bytes);
	return bytes;
}

#endif
