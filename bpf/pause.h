/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When BBR empties a path, and how a path rests instead. */
#ifndef _DPA_PAUSE_H
#define _DPA_PAUSE_H

#include "arith.h"

/* a look at the paths counts for so long, unless one changes, or its sample ends */
#define DPA_LOOK_NS		(10 * DPA_NSEC_PER_MSEC)

/* what dpa_observe() is told of a subflow */
struct dpa_observation {
	__u64	now_ns;
	__u64	rtt_ns;
	__u64	due_ns;		/* the deadline of what would be sent next; 0: none */
	__u32	acked;		/* payload known to have arrived, low half */
	__u32	busy;		/* bytes are on their way */
	__u32	flight;		/* of them, sent and not acknowledged */
	__u32	lost;		/* packets were found lost since the last look */
	__u32	limited;	/* it sends less than it could */
	__u32	pausing;	/* of them, because it measures an empty path */
	__u32	drained;	/* paths have all there is: it can only get faster */
};

/*
 * BBR empties the path when it has not measured the least round trip for ten
 * seconds: for 200 ms it keeps four packets on their way, and then takes a
 * round trip to fill the path again. (N. Cardwell et al., BBR: congestion-based
 * congestion control, ACM Queue 14(5), 2016.) It does without if it finds the
 * path empty at that time anyway, after the sender had nothing to send. So a path
 * rests just before that time: it gets nothing until all that it had is
 * acknowledged. That takes the round trip, and not the 200 ms.
 */
#define DPA_PAUSE_EVERY_MS	10000U
#define DPA_PAUSE_MS		200U
/* one that is late by more will not come */
#define DPA_PAUSE_LATE_MS	1000U
/*
 * Looks are up to 10 ms apart, too much for a round trip that is shorter than
 * twice that; of a long one the 200 ms are little. So they are where a fragment,
 * which is what a path is given at once, takes as long.
 */
#define DPA_REST_RTT_MIN_US	20000U
#define DPA_REST_RTT_MAX_US	500000U
#define DPA_REST_RATE_MIN	160000U

static __always_inline int dpa_rests(const struct dpa_path *p)
{
	return p->rtt_us >= DPA_REST_RTT_MIN_US &&
	       p->rtt_us <= DPA_REST_RTT_MAX_US &&
	       p->goodput >= DPA_REST_RATE_MIN;
}

/* A time in DPA_RTT_UNIT_US; what does not fit is the most that does. */
static __always_inline __u16 dpa_rtt_units(__u64 us)
{
	us /= DPA_RTT_UNIT_US;
	return us < 65535 ? us : 65535;
}

/* How long BBR's pauses are. */
static __always_inline __u32 dpa_pause_us(const struct dpa_path *p)
{
	__u64 us = DPA_PAUSE_MS * 1000ULL + p->rtt_us;

	return us < DPA_U32_MAX ? us : DPA_U32_MAX;
}

/* And what is lost if they are foreseen. */
static __always_inline __u32 dpa_rest_us(const struct dpa_path *p)
{
	return dpa_rests(p) ? p->rtt_us : dpa_pause_us(p);
}

static __always_inline __u32 dpa_since_pause_ms(const struct dpa_path *p,
						__u64 now_ns)
{
	return dpa_ns_since(p->pause_tick, now_ns) / DPA_NSEC_PER_MSEC;
}

/* BBR's ten seconds begin anew. */
static __always_inline void dpa_paused(struct dpa_path *p, __u64 now_ns)
{
	p->has_paused = 1;
	p->pause_tick = dpa_tick(now_ns);
}

/*
 * The time until all that a path was given is acknowledged, with so many more
 * bytes. What waits at the sender takes a round trip once it is sent.
 */
static __always_inline __u64 dpa_drain_us(const struct dpa_path *p, __u32 more)
{
	__u64 waits = dpa_minus(p->behind, p->flight) + more;
	__u64 all_us = dpa_time_ns((__u64)p->behind + more, p->goodput) /
		       DPA_NSEC_PER_USEC;
	__u64 waits_us = dpa_time_ns(waits, p->goodput) / DPA_NSEC_PER_USEC +
			 p->rtt_us;

	return waits && waits_us > all_us ? waits_us : all_us;
}

/* What would be sent next is due before BBR's pause. */
static __always_inline int dpa_is_due_before(const struct dpa_path *p,
					     __u64 due_ns, __u64 now_ns)
{
	return due_ns && dpa_minus(due_ns, now_ns) <=
			 p->pause_in_us * DPA_NSEC_PER_USEC;
}

/*
 * Is it time for a path to rest? It is if it would not be empty in time with one
 * more fragment; not if it will not be as it is.
 */
static __always_inline int dpa_must_rest(const struct dpa_path *p)
{
	__u64 margin_us = p->rtt_us / 4;

	return p->pause_in_us <= dpa_drain_us(p, DPA_FRAGMENT_MAX) +
				 2 * margin_us &&
	       p->pause_in_us >= dpa_minus(dpa_drain_us(p, 0), margin_us);
}

/* Bytes that a path may have and still be empty in time. */
static __always_inline __u64 dpa_rest_room(const struct dpa_path *p,
					   __u64 due_ns, __u64 now_ns)
{
	__u64 ns = dpa_minus(p->pause_in_us, p->rtt_us / 4 * 5ULL) *
		   DPA_NSEC_PER_USEC;

	if (p->resting)
		return 0;
	if (!ns || p->pause_in_us == DPA_U32_MAX || !dpa_rests(p) ||
	    dpa_is_due_before(p, due_ns, now_ns))
		return DPA_U64_MAX;
	return p->flight + dpa_bytes_in(p->goodput, ns);
}

/* So long before the pause a first byte is acknowledged after it. */
static __always_inline __u32 dpa_rest_end_us(const struct dpa_path *p)
{
	return p->rtt_us / 8 * 7;
}

/* How long an empty path waits; DPA_U64_MAX: it does not, as of the last look. */
static __always_inline __u64 dpa_waits_ns(const struct dpa_path *p)
{
	if (!p->resting || p->behind)
		return DPA_U64_MAX;
	return (dpa_minus(p->pause_in_us, dpa_rest_end_us(p)) + 1) *
	       DPA_NSEC_PER_USEC;
}

/*
 * The acknowledgement that measures the empty path has to come after the ten
 * seconds, and those of all before it within. An empty path waits rather than
 * to begin, and rest at once. An acknowledgement of less than the least round
 * trip puts the pause off, and ends the rest.
 */
static __always_inline void dpa_rest(struct dpa_path *p,
				     const struct dpa_observation *o)
{
	int empty = !p->behind && p->flags & DPA_PATH_TOLD;
	__u32 latest_us = dpa_rest_end_us(p);

	if (p->pause_in_us == DPA_U32_MAX || p->pausing) {
		p->resting = 0;
	} else if (!p->resting) {
		p->resting = dpa_rests(p) &&
			     p->pause_in_us > latest_us &&
			     !dpa_is_due_before(p, o->due_ns, o->now_ns) &&
			     dpa_must_rest(p);
	} else if (!p->pause_in_us ||
		   p->pause_in_us > DPA_PAUSE_EVERY_MS * 1000 / 2 ||
		   (empty && p->pause_in_us < latest_us)) {
		p->resting = 0;
	}
}

/*
 * When was the empty path last measured, as far as BBR counts it? By the first
 * acknowledgement after the path was empty, and BBR knew that it had nothing to
 * send; if it was due.
 */
static __always_inline __u32 dpa_measured_ms(struct dpa_path *p,
					     const struct dpa_observation *o)
{
	__u32 age_ms = p->rtt_age_ms, since_ms = age_ms;

	if (p->has_paused)
		since_ms = dpa_since_pause_ms(p, o->now_ns);
	if (age_ms < since_ms)
		since_ms = age_ms;
	if (!o->busy) {
		p->restarts = !!(p->flags & DPA_PATH_TOLD);
	} else if (p->restarts && o->acked != p->sample_acked) {
		p->restarts = 0;
		if (since_ms >= DPA_PAUSE_EVERY_MS) {
			dpa_paused(p, o->now_ns);
			return 0;
		}
	}
	return since_ms;
}

/* When is the next pause, and how long is it? */
static __always_inline void dpa_foresee_pause(struct dpa_path *p,
					      const struct dpa_observation *o)
{
	int pausing = o->pausing && p->flags & DPA_PATH_PAUSES;
	__u32 since_ms;

	if (p->pausing != pausing) {
		p->pausing = pausing;
		dpa_paused(p, o->now_ns);
	}
	since_ms = dpa_measured_ms(p, o);
	if (p->pausing) {
		p->pause_in_us = 0;
		since_ms = dpa_since_pause_ms(p, o->now_ns);
		p->pause = dpa_rtt_units(dpa_minus(dpa_pause_us(p),
						   since_ms * 1000ULL));
		return;
	}
	p->pause = dpa_rtt_units(dpa_rest_us(p));
	p->pause_in_us = DPA_U32_MAX;
	if (!(p->flags & DPA_PATH_PAUSES) ||
	    since_ms > DPA_PAUSE_EVERY_MS + DPA_PAUSE_LATE_MS)
		return;
	if (since_ms < DPA_PAUSE_EVERY_MS)
		p->pause_in_us = (DPA_PAUSE_EVERY_MS - since_ms) * 1000;
	else if ((o->busy && !p->restarts) || p->resting)
		p->pause_in_us = 0;
}

/*
 * How much of the time until a deadline, less half a round trip, is pauses? The
 * path rests from two round trips before one, or from now.
 */
static __always_inline __u64 dpa_paused_ns(const struct dpa_path *p,
					   __u64 left_ns)
{
	__u64 rtt_ns = p->rtt_us * DPA_NSEC_PER_USEC;
	__u64 begin_ns = p->pause_in_us * DPA_NSEC_PER_USEC;
	__u64 pause_ns = p->pause * DPA_RTT_UNIT_US * DPA_NSEC_PER_USEC;
	__u64 after_ns, more;

	if (p->pause_in_us == DPA_U32_MAX)
		return 0;
	if (p->resting)
		begin_ns = 0;
	else if (left_ns > begin_ns && dpa_rests(p))
		begin_ns = dpa_minus(begin_ns, 2 * rtt_ns);
	left_ns = dpa_minus(left_ns, rtt_ns / 2);
	if (left_ns <= begin_ns)
		return 0;
	after_ns = left_ns - begin_ns;
	if (after_ns <= pause_ns)
		return after_ns;
	more = (after_ns - pause_ns) /
	       (DPA_PAUSE_EVERY_MS * DPA_NSEC_PER_MSEC);
	if (more > 1000)
		more = 1000;
	return pause_ns + more * dpa_rest_us(p) * DPA_NSEC_PER_USEC;
}

#endif
