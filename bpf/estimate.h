/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a path can carry: arithmetic of rates, and the estimate of one path.
 * Numbers in, numbers out: no kernel types, no division by zero, no overflow
 * for any input.
 *
 * Rates are bytes a second, times nanoseconds.
 */
#ifndef _DPA_ESTIMATE_H
#define _DPA_ESTIMATE_H

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#define DPA_NSEC_PER_SEC	1000000000ULL
#define DPA_NSEC_PER_MSEC	1000000ULL
#define DPA_NSEC_PER_USEC	1000ULL
#define DPA_U64_MAX		(~0ULL)
#define DPA_U32_MAX		(~0U)

/* more than any path carries; sums of 8 stay below 2^63 */
#define DPA_BYTES_MAX		(1ULL << 60)

/* no rate is taken to be higher: 34 Gbit/s, what 32 bits hold */
#define DPA_RATE_MAX		((__u64)DPA_U32_MAX)

/* goodput is sampled over this time, or over one round trip if that is longer */
#define DPA_SAMPLE_NS		(100 * DPA_NSEC_PER_MSEC)
/* the weight of a new sample, in 256ths: about 0.3 */
#define DPA_SAMPLE_GAIN		77
/* the spread that is assumed at first, as a share of the first sample: 0.3 */
#define DPA_FIRST_SPREAD	77
/* a path still ramps up until so many samples in a row grew less than 1/4 */
#define DPA_RAMP_SAMPLES	2
/* after idle time a congestion window may have to grow again */
#define DPA_RESTART_SAMPLES	4
/* so many times that span without a look, or without a byte, end a sample */
#define DPA_GAP_SPANS		4

/* so much more than the pipe holds, and a quarter of it, is a queue */
#define DPA_QUEUE_BYTES		3000

/* samples are dated in units of 2^16 ns; 32 bits of them wrap after 78 hours */
#define DPA_TICK_SHIFT		16

/* what dpa_observe() is told of a subflow */
struct dpa_observation {
	__u64	now_ns;
	__u64	rtt_ns;
	__u32	acked;		/* payload known to have arrived, low half */
	__u32	busy;		/* bytes are on their way */
	__u32	flight;		/* of them, sent and not acknowledged */
	__u32	limited;	/* it sends less than it could */
	__u32	pausing;	/* of them, because it measures an empty path */
};

static __always_inline __u64 dpa_minus(__u64 a, __u64 b)
{
	return a > b ? a - b : 0;
}

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
static __always_inline __u32 dpa_rate(__u64 bytes, __u64 ns)
{
	__u64 us = ns / 1000;

	if (!us)
		return 0;
	if (bytes > DPA_U64_MAX / 1000000)
		return DPA_RATE_MAX;
	bytes = bytes * 1000000 / us;
	return bytes < DPA_RATE_MAX ? bytes : DPA_RATE_MAX;
}

/* a function that the verifier is to look at once, whoever calls it */
#ifndef dpa_function
#define dpa_function	static inline
#endif

/* The integer part of a square root: Newton's method from a power of two. */
dpa_function __u32 dpa_isqrt(__u64 x)
{
	__u64 rest = x, root = 2;
	int i;

	if (!x)
		return 0;
	for (i = 32; i >= 2; i /= 2) {
		if (rest >> i) {
			rest >>= i;
			root <<= i / 2;
		}
	}
	/* now root^2 >= x / 4 and from above it only falls */
	for (i = 0; i < 6; i++)
		root = (root + x / root) / 2;
	return root * root > x ? root - 1 : root;
}

/* Mean and standard deviation, both exponentially weighted. */
static __always_inline void dpa_smooth(struct dpa_path *p, __u32 rate)
{
	__u32 was = p->goodput;
	__u64 d = rate > was ? rate - was : was - rate;
	__u64 step = d * DPA_SAMPLE_GAIN >> 8;
	/* (1 - g) * (var + g * d^2) */
	__u64 g_d2 = (d * d >> 8) * DPA_SAMPLE_GAIN;
	__u64 sum = ((__u64)p->spread * p->spread >> 8) + (g_d2 >> 8);

	p->goodput = rate > was ? was + step : was - step;
	p->spread = dpa_isqrt(sum * (256 - DPA_SAMPLE_GAIN));
}

/* What the empty path holds at a rate. */
static __always_inline __u64 dpa_pipe(const struct dpa_path *p, __u64 rate)
{
	return dpa_bytes_in(rate, (__u64)p->rtt_us * DPA_NSEC_PER_USEC);
}

/*
 * Was there a queue on the path all the time? More was on its way than the
 * empty path would hold at this rate.
 */
static __always_inline int dpa_is_bottleneck(const struct dpa_path *p,
					     __u32 rate)
{
	__u64 pipe = dpa_pipe(p, rate);

	return p->sample_flight > pipe + pipe / 4 + DPA_QUEUE_BYTES;
}

/* One more sample for a path's goodput. */
static __always_inline void dpa_add_sample(struct dpa_path *p, __u32 rate,
					   int limited)
{
	__u32 was = p->goodput;

	if (dpa_is_bottleneck(p, rate)) {
		limited = 0;
		if (p->samples && p->ramping) {
			p->ramping = 0;
			p->known = 1;
		}
	}
	p->last = limited ? 0 : rate;
	if (limited && rate <= was)
		return;
	if (!p->samples) {
		p->goodput = rate;
		p->spread = (__u64)rate * DPA_FIRST_SPREAD >> 8;
		p->ramping = DPA_RAMP_SAMPLES;
	} else if (p->ramping) {
		if (rate > was + was / 4)
			p->ramping = DPA_RAMP_SAMPLES;
		else
			p->ramping--;
		if (rate > was)
			p->goodput = rate;
		p->known |= !p->ramping;
	} else {
		dpa_smooth(p, rate);
	}
	if (p->samples != (__u8)-1)
		p->samples++;
}

static __always_inline __u32 dpa_tick(__u64 ns)
{
	return ns >> DPA_TICK_SHIFT;
}

static __always_inline __u64 dpa_ns_since(__u32 tick, __u64 now_ns)
{
	return (__u64)(dpa_tick(now_ns) - tick) << DPA_TICK_SHIFT;
}

/* The time since a path's running or last sample began. */
static __always_inline __u64 dpa_sample_age_ns(const struct dpa_path *p,
					       __u64 now_ns)
{
	return dpa_ns_since(p->sample_tick, now_ns);
}

/* How long samples of a path take. */
static __always_inline __u64 dpa_span_ns(__u64 rtt_ns)
{
	return rtt_ns > DPA_SAMPLE_NS ? rtt_ns : DPA_SAMPLE_NS;
}

/*
 * BBR empties the path when it has not seen the least round trip for ten
 * seconds: for 200 ms it keeps four packets on their way, and then takes a
 * round trip to fill the path again. (N. Cardwell et al., BBR: congestion-based
 * congestion control, ACM Queue 14(5), 2016)
 */
#define DPA_PAUSE_EVERY_MS	10000U
#define DPA_PAUSE_MS		200U
/* one that is late by more will not come */
#define DPA_PAUSE_LATE_MS	1000U

static __always_inline __u32 dpa_pause_us(const struct dpa_path *p)
{
	__u64 us = DPA_PAUSE_MS * 1000ULL + p->rtt_us;

	return us < DPA_U32_MAX ? us : DPA_U32_MAX;
}

/* When is the next pause, and how long is it? */
static __always_inline void dpa_foresee_pause(struct dpa_path *p,
					      const struct dpa_observation *o)
{
	int pausing = o->pausing && p->flags & DPA_PATH_PAUSES;
	__u32 age_ms = p->rtt_age_ms, since_ms = age_ms;

	if (p->pausing != pausing) {
		p->pausing = pausing;
		p->has_paused = 1;
		p->pause_tick = dpa_tick(o->now_ns);
	}
	if (p->has_paused)
		since_ms = dpa_ns_since(p->pause_tick, o->now_ns) /
			   DPA_NSEC_PER_MSEC;
	p->pause_us = dpa_pause_us(p);
	if (p->pausing) {
		p->pause_in_us = 0;
		p->pause_us = since_ms < p->pause_us / 1000 ?
			      p->pause_us - since_ms * 1000 : 0;
		return;
	}
	if (age_ms < since_ms)
		since_ms = age_ms;
	p->pause_in_us = DPA_U32_MAX;
	if (!(p->flags & DPA_PATH_PAUSES) || !o->busy ||
	    since_ms > DPA_PAUSE_EVERY_MS + DPA_PAUSE_LATE_MS)
		return;
	p->pause_in_us = since_ms < DPA_PAUSE_EVERY_MS ?
			 (DPA_PAUSE_EVERY_MS - since_ms) * 1000 : 0;
}

/* How much of the time in which a path can be given bytes is pauses? */
static __always_inline __u64 dpa_paused_ns(const struct dpa_path *p, __u64 ns)
{
	__u64 begin_ns = p->pause_in_us * DPA_NSEC_PER_USEC;
	__u64 pause_ns = p->pause_us * DPA_NSEC_PER_USEC;
	__u64 after_ns, more;

	if (p->pause_in_us == DPA_U32_MAX || ns <= begin_ns)
		return 0;
	after_ns = ns - begin_ns;
	if (after_ns <= pause_ns)
		return after_ns;
	more = (after_ns - pause_ns) /
	       ((DPA_PAUSE_EVERY_MS + DPA_PAUSE_MS) * DPA_NSEC_PER_MSEC);
	if (more > 1000)
		more = 1000;
	return pause_ns + more * dpa_pause_us(p) * DPA_NSEC_PER_USEC;
}

/* Bytes that a rate brings to the far end in time, after those before them. */
static __always_inline __u64 dpa_arriving(const struct dpa_path *p, __u64 rate,
					  __u64 left_ns)
{
	__u64 half_rtt = (__u64)p->rtt_us * DPA_NSEC_PER_USEC / 2;
	__u64 pipe, behind, bytes;

	if (p->rate_max && rate > p->rate_max)
		rate = p->rate_max;
	pipe = dpa_pipe(p, rate);
	behind = p->behind > pipe ? p->behind : pipe;
	left_ns -= dpa_paused_ns(p, dpa_minus(left_ns, half_rtt));
	bytes = dpa_bytes_in(rate, left_ns + half_rtt);
	bytes = dpa_minus(bytes, behind);
	if ((p->flags & DPA_PATH_QUOTA) && bytes > p->quota)
		bytes = p->quota;
	return bytes < DPA_BYTES_MAX ? bytes : DPA_BYTES_MAX;
}

/* The first acknowledgement of a busy time begins a sample. */
static __always_inline void dpa_begin_sample(struct dpa_path *p,
					     const struct dpa_observation *o)
{
	p->sampling = 1;
	p->limited = o->limited;
	p->sample_tick = dpa_tick(o->now_ns);
	p->sample_acked = o->acked;
	p->sample_flight = o->flight;
}

/*
 * What the peer has acknowledged on a path by now. Time without a byte on its
 * way says nothing about the path, nor does time without a look, so a sample
 * ends with either; one in which the sender held itself back can only show
 * that the path is faster.
 */
static __always_inline void dpa_observe(struct dpa_path *p,
					const struct dpa_observation *o)
{
	__u64 span = dpa_span_ns(o->rtt_ns);
	__u64 age = dpa_sample_age_ns(p, o->now_ns);

	dpa_foresee_pause(p, o);
	if (!o->busy || age > DPA_GAP_SPANS * span) {
		p->sampling = 0;
		if (!o->busy)
			p->sample_acked = o->acked;
	}
	if (!o->busy)
		return;
	if (!p->sampling) {
		if (o->acked == p->sample_acked)
			return;
		if (p->samples && age > DPA_GAP_SPANS * span)
			p->ramping = DPA_RESTART_SAMPLES;
		p->was_limited = 0;
		dpa_begin_sample(p, o);
		return;
	}
	p->limited |= o->limited;
	if (o->flight < p->sample_flight)
		p->sample_flight = o->flight;
	if (age < span)
		return;
	dpa_add_sample(p, dpa_rate(o->acked - p->sample_acked, age),
		       p->limited || p->was_limited);
	p->was_limited = p->limited;
	dpa_begin_sample(p, o);
}

#endif
