/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is what a path was given stuck there, and would another bring it sooner? The
 * module asks between decisions, see kernel/rescue.c.
 */
#ifndef _DPA_STUCK_H
#define _DPA_STUCK_H

#include "estimate.h"

/* What a peer with less room than this was given is not looked after. */
#define DPA_WATCHED_WINDOW	(1 << 16)

/* Is what a path was given to come another way? Then it gets nothing more. */
static __always_inline int dpa_is_stuck(const struct dpa_path *p)
{
	return !!(p->flags & (DPA_PATH_SILENT | DPA_PATH_STUCK));
}

/* The rate a path shows now: a fall counts at once, a rise when it lasts. */
static __always_inline __u32 dpa_rate_now(const struct dpa_path *p)
{
	return p->last && p->last < p->goodput ? p->last : p->goodput;
}

/* How long a path takes to acknowledge so many bytes, one after the other. */
static __always_inline __u64 dpa_drain_ns(const struct dpa_path *p, __u64 bytes)
{
	return dpa_time_ns(bytes, dpa_rate_now(p));
}

/* And how long one in slow start does that has a @window of them on their way. */
static __always_inline __u64 dpa_ramp_ns(const struct dpa_path *p, __u64 window,
					 __u64 bytes)
{
	__u64 ns = 0;

	for (; bytes > window; window *= 2) {
		bytes -= window;
		ns += dpa_bare_us(p) * DPA_NSEC_PER_USEC;
	}
	return ns;
}

/*
 * How long a path takes for what it holds. One in slow start has twice as much on its way
 * with each round trip, and is not called slow by what it has shown so far, until a sample
 * shows no more than the one before.
 */
static __always_inline __u64 dpa_held_ns(const struct dpa_path *p, __u64 bytes)
{
	__u64 rtt_ns = p->srtt_us * DPA_NSEC_PER_USEC;
	__u64 steady_ns = dpa_drain_ns(p, bytes), ramp_ns, window;

	if (p->known || p->ramping < DPA_RAMP_SAMPLES)
		return steady_ns;
	window = dpa_bytes_in(dpa_rate_now(p), rtt_ns);
	if (window < DPA_PACKET_BYTES)
		window = DPA_PACKET_BYTES;
	ramp_ns = rtt_ns + dpa_ramp_ns(p, window, bytes);
	return ramp_ns < steady_ns ? ramp_ns : steady_ns;
}

/*
 * Would so many bytes be more than costlier paths may get, or than its quota?
 * When a pick is carried out by a subflow's own softirq and the socket's owner
 * as well, the kernel sends one fragment more than was picked.
 */
static __always_inline int dpa_is_spent(const struct dpa_state *st,
					const struct dpa_path *p, __u32 bytes)
{
	if ((p->flags & DPA_PATH_QUOTA) &&
	    p->granted < (__u64)bytes + DPA_FRAGMENT_MAX)
		return 1;
	return p->cost > st->least_cost && st->costly_left < bytes;
}

/* What is due first, unless a chunk behind the one in force has less time. */
static __always_inline struct dpa_horizon dpa_in_force(const struct dpa_state *st)
{
	return (struct dpa_horizon){
		.end = st->chunk_end, .deadline_ns = st->chunk_deadline_ns,
		.alpha_milli = st->alpha_milli, .late_policy = st->late_policy,
	};
}

/*
 * Of what a path holds, that which is @due and what goes before it, which may be bytes
 * that came another way. What it holds of later chunks has more time: no more than was
 * sent of them, and not what is due and not there.
 */
static __always_inline __u64 dpa_held_now(const struct dpa_state *st,
					  const struct dpa_horizon *due,
					  const struct dpa_path *p)
{
	__u64 held = dpa_minus(p->behind, dpa_minus(st->sent, due->end));
	__u64 lacks = dpa_minus(due->end, st->acked);

	if (lacks > p->behind)
		lacks = p->behind;
	return held > lacks ? held : lacks;
}

/*
 * Of what a path holds for that, the bytes that come in time, one after the other. A
 * standard deviation is taken off, so that the last of them do.
 */
static __always_inline __u64 dpa_in_time(const struct dpa_state *st,
					 const struct dpa_horizon *due,
					 const struct dpa_path *p)
{
	__u64 left_ns = dpa_minus(due->deadline_ns, st->now_ns);

	return dpa_bytes_in(dpa_minus(dpa_rate_now(p), p->spread),
			    left_ns + dpa_way_ns(p));
}

/*
 * What lasts for so much longer than a round trip is a silence. A path that takes as
 * long for two packets is as good as silent.
 */
#define DPA_SILENCE_NS		DPA_NSEC_PER_SEC

/* Of the time that is left, as much may pass before it is seen that a path is dead at first. */
#define DPA_FIRST_ACK_PART	2

/*
 * How far acknowledgments may be apart: there is one for every second packet at least
 * (RFC 5681), and a slow path takes its time for two. That is part of its round trip, but
 * for the first ones: what there was of that is of a handshake, whose packets are small.
 */
static __always_inline __u64 dpa_between_acks_ns(const struct dpa_state *st,
						 const struct dpa_path *p)
{
	__u64 ns = DPA_SILENCE_NS, most;

	if (p->goodput) {
		ns = dpa_time_ns(2 * DPA_PACKET_BYTES, p->goodput);
		most = p->srtt_us * DPA_NSEC_PER_USEC;
	} else {
		most = dpa_minus(st->chunk_deadline_ns, st->now_ns) /
		       DPA_FIRST_ACK_PART;
	}
	if (most > DPA_SILENCE_NS)
		most = DPA_SILENCE_NS;
	return ns < most ? ns : most;
}

/*
 * The bytes that have not been sent at all, if they are due in less than twice the time.
 * What goes twice must not take their place, and make them late in turn.
 */
static __always_inline __u64 dpa_waiting(const struct dpa_state *st, __u64 ns)
{
	if (!st->next_deadline_ns ||
	    dpa_minus(st->next_deadline_ns, st->now_ns) >= 2 * ns)
		return 0;
	return dpa_minus(st->written, st->sent);
}

/*
 * Is what comes too late on @p to be sent again on @q? If it is in time there, with
 * what waits for its turn, or, where nothing brings it in time, there in half the time:
 * but then a costlier path is used only if the chunk's late policy is to spend. Not
 * while @q rests: it would not be empty in time, and make a longer pause as well.
 */
static __always_inline int dpa_outruns(const struct dpa_state *st,
				       const struct dpa_horizon *due,
				       const struct dpa_path *p,
				       const struct dpa_path *q)
{
	__u64 left_ns = dpa_minus(due->deadline_ns, st->now_ns);
	__u64 held = dpa_held_now(st, due, p);
	__u64 there_ns = dpa_minus(dpa_held_ns(p, held), dpa_way_ns(p));
	__u64 here_ns = dpa_way_ns(q), bytes;

	if (!p->goodput || there_ns <= left_ns || q->resting)
		return 0;
	bytes = dpa_minus(held, dpa_in_time(st, due, p)) + q->behind +
		dpa_waiting(st, there_ns);
	here_ns += q->goodput ? dpa_drain_ns(q, bytes) :
		   dpa_ramp_ns(q, q->window ?: DPA_FIRST_BYTES, bytes);
	if (here_ns < left_ns)
		return 1;
	return 2 * here_ns < there_ns &&
	       (q->cost <= p->cost ||
		due->late_policy == MPTCP_DPA_LATE_POLICY_SPEND);
}

#endif
