/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How long a path's way is, and what of that is a queue: its own, or that of others. */
#ifndef _DPA_QUEUE_H
#define _DPA_QUEUE_H

#include "pause.h"

/* what a path sends first, before an acknowledgment; RFC 6928 */
#define DPA_FIRST_BYTES		14480ULL
/* of it, a packet is a tenth */
#define DPA_PACKET_BYTES	(DPA_FIRST_BYTES / 10)

/* so much more than the pipe holds, and a quarter of it, is a queue */
#define DPA_QUEUE_BYTES		3000

/*
 * An eighth less, on the mean of two samples, and three packets, is a rate that has become
 * less: when acknowledgements come is chance, and what one sample gets of that the next lacks.
 */
#define DPA_LESS_PART		8
#define DPA_LESS_BYTES		(3 * DPA_PACKET_BYTES)
/* dpa_path::less is in parts of the rate, of which there are so many */
#define DPA_LESS_UNITS		4096
/* round trips that differ by no more than a sixteenth are the same */
#define DPA_SAME_PART		16
/* but what was acknowledged last, one of a few packets, by an eighth */
#define DPA_FRESH_PART		8

/* One way of a path, queues aside. */
static __always_inline __u64 dpa_way_ns(const struct dpa_path *p)
{
	return (__u64)p->rtt_us * DPA_NSEC_PER_USEC / 2;
}

/* A path's round trip without a queue of its own, but with what others keep there. */
static __always_inline __u64 dpa_bare_us(const struct dpa_path *p)
{
	return (__u64)p->rtt_us + p->others * DPA_RTT_UNIT_US;
}

/* What the path holds at a rate without a queue of its own. */
static __always_inline __u64 dpa_pipe(const struct dpa_path *p, __u64 rate)
{
	return dpa_bytes_in(rate, dpa_bare_us(p) * DPA_NSEC_PER_USEC);
}

/*
 * Was there a queue of more than so many quarters of the pipe all the time? More
 * was on its way than the path would hold with that at this rate.
 */
static __always_inline int dpa_was_queued(const struct dpa_path *p, __u32 rate,
					  __u32 quarters)
{
	__u64 pipe = dpa_pipe(p, rate);

	return p->sample_flight > pipe + pipe * quarters / 4 + DPA_QUEUE_BYTES;
}

/* Does the smoothed round trip tell of a queue that takes longer than that? */
static __always_inline int dpa_shows_queue(const struct dpa_path *p,
					   __u32 queue_us)
{
	return p->srtt_us > dpa_bare_us(p) + queue_us;
}

/*
 * Did the path set the pace? Then half of that queue shows in the smoothed round trip,
 * too. A window that grows, sent in bursts, is more than the rate of the round trip
 * before would have on its way, but waits for nothing.
 */
static __always_inline int dpa_is_bottleneck(const struct dpa_path *p,
					     __u32 rate)
{
	return dpa_was_queued(p, rate, 1) &&
	       dpa_shows_queue(p, dpa_bare_us(p) / 8);
}

/*
 * Was what is found lost now lost at random, and not by a queue that was full? Losses
 * are found a round trip after they were sent, when that queue may be gone. The smoothed
 * round trip still tells of it then: it is half as long again as the bare one.
 */
static __always_inline int dpa_lost_at_random(const struct dpa_path *p,
					      const struct dpa_observation *o)
{
	return o->lost && !dpa_shows_queue(p, dpa_bare_us(p) / 2);
}

/*
 * A round trip was that long without a queue of this connection's. What is more than the
 * least one is a queue that others keep, or a longer way. Not a quarter, which rooms allow
 * for, nor the time of the two packets that an acknowledgement is of, nor that of a look:
 * so late it may be seen, and what has come by then waited for it.
 */
static __always_inline void dpa_note_bare(struct dpa_path *p, __u16 rtt)
{
	__u32 others = dpa_minus(rtt, dpa_rtt_units(p->rtt_us));
	__u64 short_us = p->rtt_us / 4 + DPA_LOOK_NS / DPA_NSEC_PER_USEC;

	if (p->goodput)
		short_us += dpa_time_ns(2 * DPA_PACKET_BYTES, p->goodput) /
			    DPA_NSEC_PER_USEC;
	p->others = others > dpa_rtt_units(short_us) ? others : 0;
}

/* Whatever there was in a round trip, without a queue it is no longer. */
static __always_inline void dpa_note_fresh(struct dpa_path *p)
{
	if (p->fresh && p->fresh < dpa_rtt_units(dpa_bare_us(p)))
		dpa_note_bare(p, p->fresh);
}

/* What is acknowledged first, after the path was empty, has waited behind others alone. */
static __always_inline void dpa_note_first(struct dpa_path *p)
{
	if (p->fresh)
		dpa_note_bare(p, p->fresh);
}

/*
 * Are round trips what they were when samples began to bring less? The smoothed one follows
 * what happens some packets later.
 */
static __always_inline int dpa_is_same_way(const struct dpa_path *p, __u32 now)
{
	__u32 was = p->was_rtt;

	return now >= was - was / DPA_SAME_PART &&
	       now <= was + was / DPA_SAME_PART &&
	       p->fresh <= was + was / DPA_FRESH_PART;
}

/* How much more than now a path brought at first, in DPA_LESS_UNITS, up to twice as much. */
static __always_inline __u16 dpa_less(const struct dpa_path *p, __u32 rate)
{
	__u64 first = (__u64)p->last * (DPA_LESS_UNITS + p->less);
	__u64 less = dpa_minus(first / (rate + 1ULL), DPA_LESS_UNITS);

	return less < DPA_LESS_UNITS ? less : DPA_LESS_UNITS;
}

/*
 * A sample of so long is over. If the path brings less and less, having less on its way,
 * and round trips did not become shorter by that, its queue is that of others. If it was
 * its own they would be; and if the path has become slower they would be longer.
 */
static __always_inline void dpa_note_others(struct dpa_path *p, __u32 rate,
					    __u64 age)
{
	__u32 now = dpa_rtt_units(p->srtt_us), before = p->less, less;
	int goes_on = p->last && dpa_is_same_way(p, now);

	p->less = goes_on ? dpa_less(p, rate) : 0;
	less = (__u64)rate * p->less / DPA_LESS_UNITS;
	if (before + p->less > 2 * DPA_LESS_UNITS / DPA_LESS_PART &&
	    dpa_bytes_in(less, age) > DPA_LESS_BYTES &&
	    dpa_shows_queue(p, dpa_bare_us(p) / 4)) {
		dpa_note_bare(p, now);
		p->less = 0;
		goes_on = 0;
	}
	if (!goes_on)
		p->was_rtt = now;
}

#endif
