/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a path can carry: the estimate of one path, and what arrives in time. */
#ifndef _DPA_ESTIMATE_H
#define _DPA_ESTIMATE_H

#include "pause.h"
#include "queue.h"

/* goodput is sampled over this time, or over one round trip if that is longer */
#define DPA_SAMPLE_NS		(100 * DPA_NSEC_PER_MSEC)
/* one that ends early counts as no less than that: looks may be a jiffy late */
#define DPA_SAMPLE_LEAST_NS	(20 * DPA_NSEC_PER_MSEC)
/* the weight of a new sample, in 256ths: about 0.3 */
#define DPA_SAMPLE_GAIN		77
/* and of one above the mean, if the one before was: half */
#define DPA_RISING_GAIN		128
/*
 * So many in a row above the mean are a link that gets faster: by chance they would be
 * one time in 64. Then the mean is less than it brings, and deviations are the trend's.
 */
#define DPA_RISES_SURE		6
/* of what a path once did better, so much is forgotten with each sample: 1 / 2^9 */
#define DPA_BEST_SHIFT		9
/* the spread that is assumed at first, as a share of the first sample: 0.3 */
#define DPA_FIRST_SPREAD	77
/* a path still ramps up until so many samples in a row grew less than 1/4 */
#define DPA_RAMP_SAMPLES	2
/* after idle time a congestion window may have to grow again */
#define DPA_RESTART_SAMPLES	4
/* so many times that span without a look, or without a byte, end a sample */
#define DPA_GAP_SPANS		4

/* that a path brings too little is believed for so long, and then it is tried again */
#define DPA_DOUBT_NS		DPA_NSEC_PER_SEC
/* if so much is left, that others could help out in */
#define DPA_TRY_NS		(500 * DPA_NSEC_PER_MSEC)
/* what it may have become faster by, when all it got has come: a quarter */
#define DPA_TRUST_MORE		4

/* a queue that was too full has lost an eighth of a sample, and so many packets at least */
#define DPA_OVERRUN_PART	8
#define DPA_OVERRUN_LEAST	8

/* the weight of a new sample in the share of those with losses: 1 / 2^3 */
#define DPA_LOSSY_SHIFT		3
#define DPA_LOSSY_MAX		255
/* from this share on, a quarter, the last round trip is taken to lose something */
#define DPA_LOSSY_SURE		64

/* how a loop is written, where the verifier must be able to follow */
#ifndef dpa_for
#define dpa_for(i, n)	for ((i) = 0; (i) < (n); (i)++)
#endif

static __always_inline struct dpa_path *dpa_row(struct dpa_state *st, int i)
{
	if (i < 0 || i >= MPTCP_DPA_PATHS_MAX)
		return (struct dpa_path *)0;
	return &st->path[i];
}

static __always_inline __u32 dpa_rows(const struct dpa_state *st)
{
	return st->rows < MPTCP_DPA_PATHS_MAX ? st->rows : MPTCP_DPA_PATHS_MAX;
}

/* The spread after a sample that was so far off the mean. */
static __always_inline void dpa_spread(struct dpa_path *p, __u64 off)
{
	/* (1 - g) * (var + g * off^2) */
	__u64 g_off2 = (off * off >> 8) * DPA_SAMPLE_GAIN;
	__u64 sum = ((__u64)p->spread * p->spread >> 8) + (g_off2 >> 8);

	p->spread = dpa_isqrt(sum * (256 - DPA_SAMPLE_GAIN));
}

/*
 * Mean and standard deviation, both exponentially weighted. A link that gets
 * faster is followed more closely than one that gets slower: congestion control
 * has found it out late already, and does not send more than the path carries.
 */
static __always_inline void dpa_smooth(struct dpa_path *p, __u32 rate)
{
	__u32 was = p->goodput;
	int rises = rate > was;
	__u64 d = rises ? rate - was : was - rate;
	__u64 step = d * (rises && p->rises ? DPA_RISING_GAIN :
					      DPA_SAMPLE_GAIN) >> 8;

	/* never 0, since a step is less than a third of what there is */
	p->goodput = rises ? was + step : was - step;
	p->rises = rises ? p->rises + (p->rises < DPA_RISES_SURE) : 0;
	dpa_spread(p, d);
}

/* Is it so far that nothing comes in so much time, however fast it is? */
static __always_inline int dpa_is_too_far(const struct dpa_path *p,
					  __u64 left_ns)
{
	/* where no round trip was measured nobody knows */
	return p->rtt_us != DPA_U32_MAX && left_ns <= dpa_way_ns(p);
}

/* Is its rate not known, and may it bring something in so much time? */
static __always_inline int dpa_may_surprise(const struct dpa_path *p,
					    __u64 left_ns)
{
	return !p->known && !dpa_is_too_far(p, left_ns);
}

/* A sample in which nothing was lost. */
static __always_inline void dpa_note_whole(struct dpa_path *p)
{
	p->lossy -= (p->lossy + (1 << DPA_LOSSY_SHIFT) - 1) >> DPA_LOSSY_SHIFT;
}

/*
 * The share of a path's samples that see packets lost. Before a deadline queues are
 * kept short, so those with a queue do not count.
 */
static __always_inline void dpa_note_loss(struct dpa_path *p, __u32 rate)
{
	if (!p->goodput || p->ramping || dpa_was_queued(p, rate, 2))
		return;
	if (p->lost)
		p->lossy += (DPA_LOSSY_MAX - p->lossy) >> DPA_LOSSY_SHIFT;
	else
		dpa_note_whole(p);
}

/*
 * What the last round trip loses comes another one later. An eighth is for the queue
 * on its way: dpa_room() allows for a quarter at most.
 */
static __always_inline __u64 dpa_repair_ns(const struct dpa_path *p)
{
	__u64 rtt_ns = dpa_bare_us(p) * DPA_NSEC_PER_USEC;
	__u32 share = p->lossy < DPA_LOSSY_SURE ? p->lossy : DPA_LOSSY_SURE;

	return (rtt_ns + rtt_ns / 8) * share / DPA_LOSSY_SURE;
}

/* Of a time, what is left when so much is kept free at its end; half of one that is short. */
static __always_inline __u64 dpa_before_ns(__u64 left_ns, __u64 free_ns)
{
	return left_ns - (free_ns < left_ns / 2 ? free_ns : left_ns / 2);
}

/* How fast a path has been of late: in about 50 s two thirds are forgotten. */
static __always_inline void dpa_note_best(struct dpa_path *p)
{
	if (p->goodput >= p->best)
		p->best = p->goodput;
	else if (!p->ramping)
		p->best -= (p->best - p->goodput) >> DPA_BEST_SHIFT;
}

/* The spread of a rate of which nothing else is known. */
static __always_inline __u32 dpa_first_spread(__u32 rate)
{
	return (__u64)rate * DPA_FIRST_SPREAD >> 8;
}

/*
 * A path brought so much, and the sender had no more for it. It could have been faster,
 * so it is off the mean by no more than that: where that is less than the spread, the
 * mean proves true.
 */
static __always_inline void dpa_confirm(struct dpa_path *p, __u32 rate)
{
	__u32 off = p->goodput - rate;

	if (off < p->spread)
		dpa_spread(p, off);
}

/* What each of many connections gets of the path, in bytes a second; 0: they are few. */
static __always_inline __u32 dpa_share(const struct dpa_path *p)
{
	return p->share * DPA_SHARE_UNIT;
}

/* A path's goodput, and no less than what each of many connections gets. */
static __always_inline __u32 dpa_fair_goodput(const struct dpa_path *p)
{
	__u32 share = dpa_share(p);

	return share > p->goodput ? share : p->goodput;
}

/* One more sample for a path's goodput. */
dpa_function int dpa_add_sample(struct dpa_path *p, __u32 rate, int limited)
{
	__u32 was;
	int shares;

	if (!p)
		return 0;
	was = p->goodput;
	shares = rate < dpa_share(p);
	if (shares) {
		rate = dpa_share(p);
		limited = 0;
	}
	if (dpa_is_bottleneck(p, rate)) {
		limited = 0;
		if (was && p->ramping) {
			p->ramping = 0;
			p->known = 1;
		}
	}
	p->last = limited ? 0 : rate;
	if (limited && rate <= was) {
		dpa_confirm(p, rate);
		return 0;
	}
	if (!was) {
		p->goodput = rate ?: 1;
		p->spread = dpa_first_spread(rate);
		p->ramping = DPA_RAMP_SAMPLES;
	} else if (p->ramping) {
		if (rate > was + was / 4ULL)
			p->ramping = DPA_RAMP_SAMPLES;
		else
			p->ramping--;
		if (rate > was)
			p->goodput = rate;
		else
			p->rises = 0;
		p->known |= !p->ramping;
	} else {
		dpa_smooth(p, rate);
	}
	if (shares) {
		p->ramping = 0;
		p->known = 1;
	}
	dpa_note_best(p);
	return 0;
}

/* The time since a path's running or last sample began. */
static __always_inline __u64 dpa_sample_age_ns(const struct dpa_path *p,
					       __u64 now_ns)
{
	return dpa_ns_since(p->sample_tick, now_ns);
}

/*
 * Is a known path that was too slow to be worth anything to be tried again? What gets
 * no bytes shows no rate, however fast it has become. Others could still help out.
 */
static __always_inline int dpa_is_doubtful(const struct dpa_path *p,
					   __u64 left_ns, __u64 now_ns)
{
	/* most paths are faster than that would be within so little time */
	if (p->goodput >= DPA_FIRST_BYTES * DPA_NSEC_PER_SEC / DPA_TRY_NS)
		return 0;
	return !p->sampling && !p->behind && left_ns > DPA_TRY_NS &&
	       dpa_sample_age_ns(p, now_ns) > DPA_DOUBT_NS &&
	       dpa_bytes_in(p->goodput, left_ns) < DPA_FIRST_BYTES;
}

/* How long samples of a path take. */
static __always_inline __u64 dpa_span_ns(__u64 rtt_ns)
{
	return rtt_ns > DPA_SAMPLE_NS ? rtt_ns : DPA_SAMPLE_NS;
}

/* The least time that counts for one that ends because the path is empty. */
static __always_inline __u64 dpa_least_span_ns(__u64 rtt_ns, __u64 span)
{
	__u64 least = 2 * rtt_ns;

	if (least < DPA_SAMPLE_LEAST_NS)
		least = DPA_SAMPLE_LEAST_NS;
	return least < span ? least : span;
}

/* enough for any window to fill any path */
#define DPA_RAMP_ROUNDS	16

/*
 * What a path does not carry until its slow start is over: the window doubles
 * with each round trip, until it fills the path.
 */
static __always_inline __u64 dpa_ramp_bytes(const struct dpa_path *p,
					    __u64 pipe)
{
	__u64 window = p->window, bytes = 0;
	int i;

	if (!window)
		return 0;
	for (i = 0; i < DPA_RAMP_ROUNDS && window < pipe; i++) {
		bytes += pipe - window;
		window *= 2;
	}
	return bytes;
}

/*
 * What new bytes come after at a rate: those that the path has, or what it holds
 * when it is busy, and what its slow start leaves out.
 */
static __always_inline __u64 dpa_ahead(const struct dpa_path *p, __u64 rate)
{
	__u64 pipe = dpa_pipe(p, rate);

	return (p->behind > pipe ? p->behind : pipe) + dpa_ramp_bytes(p, pipe);
}

/* Bytes that a rate brings to the far end in time, after those before them. */
static __always_inline __u64 dpa_arriving(const struct dpa_path *p, __u64 rate,
					  __u64 left_ns)
{
	__u64 bytes;

	left_ns = dpa_minus(left_ns, dpa_paused_ns(p, left_ns));
	bytes = dpa_bytes_in(rate, left_ns + dpa_way_ns(p));
	bytes = dpa_minus(bytes, dpa_ahead(p, rate));
	if ((p->flags & DPA_PATH_QUOTA) && p->quota != DPA_U32_MAX &&
	    bytes > p->quota)
		bytes = p->quota;
	return bytes < DPA_BYTES_MAX ? bytes : DPA_BYTES_MAX;
}

/*
 * What was acknowledged in a sample. Of packets that came out of order TCP knows
 * the number alone, so when those before them have come it can be less again.
 */
static __always_inline __u32 dpa_sample_bytes(const struct dpa_path *p,
					      __u32 acked)
{
	__u32 bytes = acked - p->sample_acked;

	return bytes <= DPA_U32_MAX / 2 ? bytes : 0;
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
	p->sample_losses = p->losses;
	p->lost = 0;
}

/*
 * A path has delivered all it got before that made a sample. What is believed of it
 * decides how much it gets, so one that was slow for a while would never show that it
 * is fast again: each time it is taken to be a quarter faster, as BBR probes a link,
 * up to what it has been of late, and its spread shrinks by as much. What brings next
 * to nothing counts as a first window a second.
 */
static __always_inline void dpa_trust_more(struct dpa_path *p)
{
	__u32 whole = p->goodput > DPA_FIRST_BYTES ? p->goodput :
						     DPA_FIRST_BYTES;
	__u32 more = dpa_minus(p->best, p->goodput);

	if (p->shown || !more)
		return;
	p->goodput += (more < whole ? more : whole) / DPA_TRUST_MORE;
	p->spread -= dpa_minus(p->spread, dpa_first_spread(p->goodput)) /
		     DPA_TRUST_MORE;
}

/*
 * One that loses so much was given more than it and its queue hold: it is as fast as
 * it will be. Chunk after chunk of a few round trips shows that in no other way, since
 * what is queued is not there for all of a sample.
 */
static __always_inline void dpa_note_overrun(struct dpa_path *p, __u32 bytes)
{
	__u32 lost = (__u16)(p->losses - p->sample_losses);

	if (!p->goodput || !p->ramping || lost < DPA_OVERRUN_LEAST ||
	    lost * DPA_PACKET_BYTES < bytes / DPA_OVERRUN_PART)
		return;
	p->ramping = 0;
	p->known = 1;
}

/*
 * How fast an empty path is at least, by what it brought in a sample that ends so, with the
 * time that this took, but no less than two round trips, since less may be one burst, or
 * than a sample takes, if that is less. 0: that is not known.
 *
 * Where all that it got was on its way at once nobody looks until it has come, and no sample
 * begins. It was empty before, and the first acknowledgement, of two packets, came a round
 * trip later.
 */
static __always_inline __u32 dpa_rest_rate(const struct dpa_path *p, __u32 bytes,
					   __u64 least)
{
	__u64 took = dpa_ticks_ns(p->sample_tick, p->acked_tick);

	if (!p->sampling) {
		if (!p->goodput || !p->empty_tick)
			return 0;
		bytes = dpa_minus(bytes, 2 * DPA_PACKET_BYTES);
		took = dpa_minus(dpa_ticks_ns(p->empty_tick, p->acked_tick),
				 dpa_bare_us(p) * DPA_NSEC_PER_USEC);
	}
	return dpa_rate(bytes, took > least ? took : least);
}

/*
 * All that a path had has come: until then it was in use. If nothing of it was lost that
 * counts as a sample, since a path that gets short chunks alone makes no other.
 */
static __always_inline void dpa_note_rest(struct dpa_path *p,
					  const struct dpa_observation *o)
{
	p->sample_tick = p->acked_tick;
	if (!p->lost && !o->lost)
		dpa_note_whole(p);
	p->lost = 0;
}

/* A path is found empty. */
static __always_inline void dpa_sample_rest(struct dpa_path *p,
					    const struct dpa_observation *o,
					    __u64 span)
{
	__u32 bytes = dpa_sample_bytes(p, o->acked), rate;

	if (bytes) {
		rate = dpa_rest_rate(p, bytes, dpa_least_span_ns(o->rtt_ns, span));
		/* nothing is queued that would show that the path set the pace */
		p->sample_flight = 0;
		if (p->sampling || rate)
			dpa_add_sample(p, rate, 1);
		if (p->sampling)
			dpa_note_overrun(p, bytes);
		dpa_trust_more(p);
		dpa_note_rest(p, o);
	}
	/* what seems to bring nothing in time, for what was before it once, is to be tried */
	if (dpa_sample_age_ns(p, o->now_ns) > DPA_DOUBT_NS)
		p->others = 0;
	p->sampling = 0;
	p->shown = 0;
	p->sample_acked = o->acked;
	p->empty_tick = p->behind ? 0 : dpa_tick(o->now_ns);
}

/*
 * What the peer has acknowledged on a path by now. Time without a byte on its
 * way says nothing about the path, nor does time without a look, so a sample
 * ends with either; one in which the sender held itself back can only show
 * that the path is faster. So can the end of what paths have all got.
 */
static __always_inline void dpa_sample(struct dpa_path *p,
				       const struct dpa_observation *o)
{
	__u64 span = dpa_span_ns(o->rtt_ns);
	__u64 age = dpa_sample_age_ns(p, o->now_ns);
	__u32 bytes, rate;

	if (!o->busy) {
		dpa_sample_rest(p, o, span);
		return;
	}
	/* but the first one goes on until there is a packet, as long as that may take */
	if (p->sampling && p->goodput && age > DPA_GAP_SPANS * span) {
		p->sampling = 0;
		p->empty_tick = 0;
	}
	if (!p->sampling) {
		if (o->acked == p->sample_acked)
			return;
		if (p->goodput && age > DPA_GAP_SPANS * span)
			p->ramping = DPA_RESTART_SAMPLES;
		if (p->empty_tick)
			dpa_note_first(p);
		p->was_rtt = 0;
		p->was_limited = 0;
		dpa_begin_sample(p, o);
		return;
	}
	p->limited |= o->limited;
	if (dpa_lost_at_random(p, o))
		p->lost = 1;
	if (o->flight < p->sample_flight)
		p->sample_flight = o->flight;
	if (age < span)
		return;
	bytes = dpa_sample_bytes(p, o->acked);
	if (!bytes && !p->goodput)
		return;
	rate = dpa_rate(bytes, age);
	if (o->drained && rate <= p->goodput)
		return;
	dpa_note_others(p, rate, age);
	dpa_note_loss(p, rate);
	dpa_add_sample(p, rate, p->limited || p->was_limited);
	dpa_note_overrun(p, bytes);
	p->was_limited = p->limited;
	p->shown = 1;
	dpa_begin_sample(p, o);
}

static __always_inline void dpa_observe(struct dpa_path *p,
					const struct dpa_observation *o)
{
	dpa_foresee_pause(p, o);
	dpa_rest(p, o);
	dpa_note_fresh(p);
	dpa_sample(p, o);
}

/* what the module found since the last look, and each look begins anew */
#define DPA_PATH_SEEN	(DPA_PATH_LIMITED | DPA_PATH_RESTED | DPA_PATH_LOST)

/* That, as an observation. */
static __always_inline void dpa_see(const struct dpa_path *p,
				    struct dpa_observation *o, __u64 now_ns)
{
	*o = (struct dpa_observation){
		.now_ns = now_ns,
		.rtt_ns = p->srtt_us * DPA_NSEC_PER_USEC,
		.acked = p->acked,
		.busy = (p->flags & (DPA_PATH_BUSY | DPA_PATH_RESTED)) ==
			DPA_PATH_BUSY,
		.flight = p->flight,
		.limited = !!(p->flags & (DPA_PATH_LIMITED | DPA_PATH_PAUSING)),
		.lost = !!(p->flags & DPA_PATH_LOST),
		.pausing = !!(p->flags & DPA_PATH_PAUSING),
	};
}

/*
 * Looks at a path that has got all there is, if it is not known yet. A known one
 * gets no more than it has room for, so that decisions see enough of it.
 */
static __always_inline void dpa_watch(struct dpa_path *p, __u64 now_ns)
{
	struct dpa_observation o;

	if (!(p->flags & DPA_PATH_USED) || p->known)
		return;
	dpa_see(p, &o, now_ns);
	o.drained = 1;
	dpa_sample(p, &o);
	p->flags &= ~DPA_PATH_SEEN;
}

#endif
