/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arithmetic of rates and times. Numbers in, numbers out: no kernel types, no
 * division by zero, no overflow for any input.
 *
 * Rates are bytes a second, times nanoseconds.
 */
#ifndef _DPA_ARITH_H
#define _DPA_ARITH_H

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#define DPA_NSEC_PER_SEC	1000000000ULL
#define DPA_NSEC_PER_MSEC	1000000ULL
#define DPA_NSEC_PER_USEC	1000ULL
#define DPA_U64_MAX		(~0ULL)
#define DPA_U32_MAX		(~0U)

/* more than any path carries; sums of 8 are 2^63 at most */
#define DPA_BYTES_MAX		(1ULL << 60)

/* what MPTCP sends on one path once it has begun with it, at most */
#define DPA_FRAGMENT_MAX	32768

/* and with one pick: what a full GSO packet can carry, with every option */
#define DPA_BURST_MAX		((1 << 16) - 20 - 40 - 40 - 8)

/* no rate is taken to be higher: 34 Gbit/s, what 32 bits hold */
#define DPA_RATE_MAX		((__u64)DPA_U32_MAX)

/* samples are dated in units of 2^16 ns; 32 bits of them wrap after 78 hours */
#define DPA_TICK_SHIFT		16

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

/* The time that a rate takes for so many bytes; an hour stands for ever. */
static __always_inline __u64 dpa_time_ns(__u64 bytes, __u32 rate)
{
	if (!rate || bytes / rate >= 3600)
		return 3600 * DPA_NSEC_PER_SEC;
	return bytes / rate * DPA_NSEC_PER_SEC +
	       bytes % rate * DPA_NSEC_PER_SEC / rate;
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

static __always_inline __u32 dpa_tick(__u64 ns)
{
	return ns >> DPA_TICK_SHIFT;
}

/* The time from one to another, not more than 78 hours later. */
static __always_inline __u64 dpa_ticks_ns(__u32 from, __u32 to)
{
	return (__u64)(to - from) << DPA_TICK_SHIFT;
}

static __always_inline __u64 dpa_ns_since(__u32 tick, __u64 now_ns)
{
	return dpa_ticks_ns(tick, dpa_tick(now_ns));
}

#endif
