/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rule of MP-DPA (A. Nota, "Implementation and Evaluation of Multipath TCP
 * Schedulers for Reliable and Low-latency Car-to-Cloud Communication",
 * Politecnico di Torino 2020, algorithm 1), for any number of costs: the
 * baseline that others are compared with.
 */
#ifndef _DPA_THRESHOLD_H
#define _DPA_THRESHOLD_H

#include "estimate.h"

/* alpha where none is set */
#define DPA_ALPHA_PRESET	1000
/* a chunk with more time has no hurry: 36 years, of which alpha makes up to 4 times */
#define DPA_WHOLE_MAX		(1ULL << 60)

/*
 * What is left of alpha x D. An acknowledged byte arrived half a round trip
 * ago, so that much is added to the time.
 */
static __always_inline __s64 dpa_virtual_left_ns(const struct dpa_state *st,
						 __u64 rtt_ns)
{
	__u32 alpha_milli = st->alpha_milli ?: DPA_ALPHA_PRESET;
	__u64 whole, spent;

	if (st->chunk_deadline_ns <= st->chunk_start_ns)
		return 0;
	whole = st->chunk_deadline_ns - st->chunk_start_ns;
	if (whole > DPA_WHOLE_MAX)
		whole = DPA_WHOLE_MAX;
	spent = st->now_ns > st->chunk_start_ns ?
		st->now_ns - st->chunk_start_ns : 0;
	/* alpha / 1000 of it, in parts that do not overflow */
	whole = whole / 1000 * alpha_milli + whole % 1000 * alpha_milli / 1000;
	whole += rtt_ns / 2;
	if (whole >> 63)
		whole = DPA_U64_MAX >> 1;
	if (spent >> 63)
		spent = DPA_U64_MAX >> 1;
	return (__s64)whole - (__s64)spent;
}

/* Past its deadline a chunk is treated as its owner wants. */
static __always_inline __u32 dpa_late_limit(const struct dpa_state *st,
					    const struct dpa_scratch *s)
{
	const struct dpa_outlook *o = &s->outlook;

	if (st->late_policy != MPTCP_DPA_LATE_POLICY_SPEND)
		return o->cheapest ?: st->cost_limit;
	return o->above ? o->above : st->cost_limit;
}

/*
 * The costlier paths stop while (alpha x D - spent) x goodput exceeds what is
 * left to send, and start when it is less; one cost at a time. Returns the new
 * limit.
 */
static __always_inline __u32 dpa_threshold(const struct dpa_state *st,
					   const struct dpa_scratch *s)
{
	const struct dpa_outlook *o = &s->outlook;
	__s64 left_ns = dpa_virtual_left_ns(st, o->rtt_ns);
	__u32 limit = st->cost_limit;
	__u64 remaining, whole_ns, spent_ns;

	if (limit < o->cheapest)
		return o->cheapest;
	if (st->now_ns > st->chunk_deadline_ns)
		return dpa_late_limit(st, s);
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
