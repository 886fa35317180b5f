/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The arithmetic of decisions: numbers in, numbers out. No kernel types, no
 * division by zero, no overflow for any input. The BPF scheduler and the unit
 * tests are compiled from this one file.
 *
 * Rates are bytes a second, times nanoseconds, prices per byte.
 */
#ifndef _DPA_DECISION_H
#define _DPA_DECISION_H

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#define DPA_NSEC_PER_SEC	1000000000ULL
#define DPA_NSEC_PER_MSEC	1000000ULL
#define DPA_U64_MAX		(~0ULL)

/* goodput is sampled over this time, or over one round trip if that is longer */
#define DPA_SAMPLE_NS		(100 * DPA_NSEC_PER_MSEC)
/* a new sample weighs 1 / 2^3 */
#define DPA_SAMPLE_SHIFT	3
/* a path still ramps up until this many samples in a row grew less than 1/4 */
#define DPA_RAMP_SAMPLES	2

/* for so much of the time it has, a chunk waits for its paths to ramp up */
#define DPA_RAMP_PATIENCE	8

/* no rate is taken to be higher: 64 Gbit/s */
#define DPA_RATE_MAX		(1ULL << 33)

/* What a rate carries in a time; DPA_U64_MAX stands for more than fits. */
static __always_inline __u64 dpa_bytes_in(__u64 rate, __s64 ns)
{
	__u64 secs, rest;

	if (ns <= 0)
		return 0;
	if (rate > DPA_RATE_MAX)
		rate = DPA_RATE_MAX;
	secs = (__u64)ns / DPA_NSEC_PER_SEC;
	rest = (__u64)ns % DPA_NSEC_PER_SEC;
	if (secs >= 1ULL << 29)
		return rate ? DPA_U64_MAX : 0;
	return rate * secs + rate * rest / DPA_NSEC_PER_SEC;
}

/* The rate of so many bytes in a time. */
static __always_inline __u64 dpa_rate(__u64 bytes, __u64 ns)
{
	__u64 us = ns / 1000;

	if (!us)
		return 0;
	if (bytes > DPA_U64_MAX / 1000000)
		return DPA_RATE_MAX;
	bytes = bytes * 1000000 / us;
	return bytes < DPA_RATE_MAX ? bytes : DPA_RATE_MAX;
}

/* One more sample for a path's goodput. */
static __always_inline void dpa_add_sample(struct dpa_path *p, __u64 rate)
{
	__u64 was = p->goodput;

	if (!p->samples) {
		p->goodput = rate;
		p->ramping = DPA_RAMP_SAMPLES;
	} else if (p->ramping) {
		if (rate > was + was / 4)
			p->ramping = DPA_RAMP_SAMPLES;
		else
			p->ramping--;
		if (rate > was)
			p->goodput = rate;
	} else if (rate > was) {
		p->goodput = was + ((rate - was) >> DPA_SAMPLE_SHIFT);
	} else {
		p->goodput = was - ((was - rate) >> DPA_SAMPLE_SHIFT);
	}
	if (p->samples != (__u16)-1)
		p->samples++;
}

/*
 * What the peer has acknowledged on a path by now. Time without a byte on its
 * way says nothing about the path, so a sample begins with the first
 * acknowledgement of a busy time and is dropped when that ends.
 */
static __always_inline void dpa_observe(struct dpa_path *p, __u64 now_ns,
					__u64 acked, int busy, __u64 rtt_ns)
{
	__u64 span = rtt_ns > DPA_SAMPLE_NS ? rtt_ns : DPA_SAMPLE_NS;

	if (!busy) {
		p->sample_ns = 0;
		p->sample_acked = acked;
		return;
	}
	if (!p->sample_ns) {
		if ((__u32)acked != p->sample_acked)
			p->sample_ns = now_ns;
		p->sample_acked = acked;
		return;
	}
	if (now_ns < p->sample_ns + span)
		return;
	dpa_add_sample(p, dpa_rate((__u32)acked - p->sample_acked,
				   now_ns - p->sample_ns));
	p->sample_ns = now_ns;
	p->sample_acked = acked;
}

/*
 * Source 0's virtual deadline: what is left of alpha x D. An acknowledged byte
 * arrived half a round trip ago, so that much is added to the time.
 */
static __always_inline __s64 dpa_virtual_left_ns(const struct dpa_state *st,
						 __u64 rtt_ns)
{
	__u64 whole, spent;

	if (st->chunk_deadline_ns <= st->chunk_start_ns)
		return 0;
	whole = st->chunk_deadline_ns - st->chunk_start_ns;
	spent = st->now_ns > st->chunk_start_ns ?
		st->now_ns - st->chunk_start_ns : 0;
	/* alpha / 1000 of it, in halves that do not overflow */
	whole = whole / 1000 * st->alpha_milli +
		whole % 1000 * st->alpha_milli / 1000;
	whole += rtt_ns / 2;
	if (whole >> 63)
		whole = DPA_U64_MAX >> 1;
	if (spent >> 63)
		spent = DPA_U64_MAX >> 1;
	return (__s64)whole - (__s64)spent;
}

/* Takes one usable path into the outlook. */
static __always_inline void dpa_outlook_add(struct dpa_outlook *o,
					    const struct dpa_path *p,
					    __u32 limit, __u64 rtt_ns)
{
	__u64 goodput = p->goodput < DPA_RATE_MAX ? p->goodput : DPA_RATE_MAX;

	if (p->cost == MPTCP_DPA_COST_FORBIDDEN)
		return;
	o->goodput_all += goodput;
	if (!p->samples || p->ramping)
		o->unsure = 1;
	if (rtt_ns > o->rtt_ns)
		o->rtt_ns = rtt_ns;
	if (!o->cheapest || p->cost < o->cheapest)
		o->cheapest = p->cost;
	if (p->cost > limit) {
		if (!o->above || p->cost < o->above)
			o->above = p->cost;
		return;
	}
	o->goodput += goodput;
	if (!p->samples || p->ramping)
		o->ramping = 1;
	if (p->cost < limit && p->cost > o->below)
		o->below = p->cost;
}

/*
 * What the paths in use will carry until the deadline itself, and whether all
 * of them would be too slow, as far as that is known of each.
 */
static __always_inline void dpa_forecast(struct dpa_state *st)
{
	const struct dpa_outlook *o = &st->outlook;
	__s64 left_ns = st->chunk_deadline_ns + o->rtt_ns / 2 - st->now_ns;
	__u64 remaining = st->chunk_end > st->acked ?
			  st->chunk_end - st->acked : 0;

	st->forecast = dpa_bytes_in(o->goodput, left_ns);
	st->at_risk = !o->unsure &&
		      dpa_bytes_in(o->goodput_all, left_ns) < remaining;
}

/* Past its deadline a chunk is treated as its owner wants. */
static __always_inline __u32 dpa_late_limit(const struct dpa_state *st)
{
	const struct dpa_outlook *o = &st->outlook;

	if (st->late_policy != MPTCP_DPA_LATE_POLICY_SPEND)
		return o->cheapest;
	return o->above ? o->above : st->cost_limit;
}

/*
 * Source 0's rule (MP-DPA, algorithm 1) for any number of costs: the costlier
 * paths stop while (alpha x D - spent) x goodput exceeds what is left to send,
 * and start when it is less; one cost at a time. Returns the new limit.
 */
static __always_inline __u32 dpa_threshold(const struct dpa_state *st)
{
	const struct dpa_outlook *o = &st->outlook;
	__s64 left_ns = dpa_virtual_left_ns(st, o->rtt_ns);
	__u32 limit = st->cost_limit;
	__u64 remaining, whole_ns, spent_ns;

	if (limit < o->cheapest)
		return o->cheapest;
	if (st->now_ns > st->chunk_deadline_ns)
		return dpa_late_limit(st);
	remaining = st->chunk_end > st->acked ? st->chunk_end - st->acked : 0;
	if (dpa_bytes_in(o->goodput, left_ns) > remaining)
		return o->below ? o->below : limit;

	whole_ns = st->chunk_deadline_ns - st->chunk_start_ns;
	spent_ns = st->now_ns - st->chunk_start_ns;
	if (o->ramping && spent_ns < whole_ns / DPA_RAMP_PATIENCE)
		return limit;
	return o->above ? o->above : limit;
}

#endif
