// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of decision.h, in user space. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#include "decision.h"

#define SEC	DPA_NSEC_PER_SEC
#define MSEC	DPA_NSEC_PER_MSEC

static int failures;

#define EXPECT(cond)							\
	do {								\
		if (!(cond)) {						\
			printf("# %s:%d: %s\n", __FILE__, __LINE__,	\
			       #cond);					\
			failures++;					\
		}							\
	} while (0)

/* exact reference in a type wide enough for every product */
static __u64 bytes_in_exact(__u64 rate, __s64 ns)
{
	unsigned __int128 bytes;

	if (ns <= 0)
		return 0;
	if (rate > DPA_RATE_MAX)
		rate = DPA_RATE_MAX;
	bytes = (unsigned __int128)rate * (__u64)ns / SEC;
	return bytes > DPA_U64_MAX ? DPA_U64_MAX : (__u64)bytes;
}

static __u64 draw(void)
{
	static __u64 x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static void test_bytes_in(void)
{
	int i;

	EXPECT(dpa_bytes_in(1000000, SEC) == 1000000);
	EXPECT(dpa_bytes_in(1000000, SEC / 2) == 500000);
	EXPECT(dpa_bytes_in(1000000, 0) == 0);
	EXPECT(dpa_bytes_in(1000000, -5) == 0);
	EXPECT(dpa_bytes_in(0, 1LL << 62) == 0);
	EXPECT(dpa_bytes_in(DPA_U64_MAX, (1ULL << 63) - 1) == DPA_U64_MAX);
	for (i = 0; i < 1000000; i++) {
		__u64 rate = draw() >> (draw() % 64);
		__s64 ns = (draw() >> 1) >> (draw() % 63);
		__u64 got = dpa_bytes_in(rate, ns);
		__u64 exact = bytes_in_exact(rate, ns);

		/* beyond 2^29 s everything counts as enough */
		if (got != exact &&
		    !(got == DPA_U64_MAX && (__u64)ns / SEC >= 1 << 29)) {
			EXPECT(got == exact);
			return;
		}
	}
}

static void test_rate(void)
{
	EXPECT(dpa_rate(1000, SEC) == 1000);
	EXPECT(dpa_rate(1000, SEC / 10) == 10000);
	EXPECT(dpa_rate(1000, 0) == 0);
	EXPECT(dpa_rate(1000, 999) == 0);
	EXPECT(dpa_rate(DPA_U64_MAX, SEC) == DPA_RATE_MAX);
	EXPECT(dpa_rate(DPA_U64_MAX, 1000) == DPA_RATE_MAX);
}

/* Feeds a path that delivers at a constant rate, acknowledged in steps. */
static __u64 feed(struct dpa_path *p, __u64 *now, __u64 *acked, __u64 rate,
		  __u64 span, int busy)
{
	__u64 end = *now + span;

	while (*now < end) {
		*now += 5 * MSEC;
		if (busy)
			*acked += rate / 200;
		dpa_observe(p, *now, *acked, busy, 100 * MSEC);
	}
	return p->goodput;
}

static void test_estimate(void)
{
	struct dpa_path p = {};
	__u64 now = 7 * SEC, acked = 1, before;

	feed(&p, &now, &acked, 1000000, SEC, 1);
	EXPECT(p.samples > 0 && !p.ramping);
	EXPECT(p.goodput > 980000 && p.goodput < 1020000);

	/* silence while nothing is on its way is not slowness */
	before = p.goodput;
	feed(&p, &now, &acked, 0, 10 * SEC, 0);
	feed(&p, &now, &acked, 1000000, SEC, 1);
	EXPECT(p.goodput > before * 95 / 100);

	/* silence while bytes are on their way is */
	acked++;
	feed(&p, &now, &acked, 0, 3 * SEC, 1);
	EXPECT(p.goodput < 100000);

	/* and it recovers */
	feed(&p, &now, &acked, 2000000, 5 * SEC, 1);
	EXPECT(p.goodput > 1900000 && p.goodput < 2100000);
}

static void test_ramp(void)
{
	struct dpa_path p = {};
	int i;

	dpa_add_sample(&p, 1000);
	EXPECT(p.ramping && p.goodput == 1000);
	for (i = 0; i < 5; i++)
		dpa_add_sample(&p, p.goodput * 2);
	EXPECT(p.ramping && p.goodput == 32000);
	dpa_add_sample(&p, 33000);
	EXPECT(p.ramping);
	dpa_add_sample(&p, 33000);
	EXPECT(!p.ramping);
	dpa_add_sample(&p, 0);
	EXPECT(p.goodput > 28000 && p.goodput < 33000);
	p.samples = -1;
	dpa_add_sample(&p, 33000);
	EXPECT(p.samples == (__u16)-1);
}

static void test_virtual_deadline(void)
{
	struct dpa_state st = {
		.now_ns = 102 * SEC,
		.chunk_start_ns = 100 * SEC,
		.chunk_deadline_ns = 110 * SEC,
		.alpha_milli = 1000,
	};

	EXPECT(dpa_virtual_left_ns(&st, 0) == (__s64)(8 * SEC));
	EXPECT(dpa_virtual_left_ns(&st, 100 * MSEC) ==
	       (__s64)(8 * SEC + 50 * MSEC));
	st.alpha_milli = 800;
	EXPECT(dpa_virtual_left_ns(&st, 0) == (__s64)(6 * SEC));
	st.alpha_milli = 100;
	EXPECT(dpa_virtual_left_ns(&st, 0) == -(__s64)SEC);
	st.alpha_milli = 2000;
	EXPECT(dpa_virtual_left_ns(&st, 0) == (__s64)(18 * SEC));
	/* a chunk that became the first after its deadline */
	st.chunk_start_ns = 111 * SEC;
	EXPECT(dpa_virtual_left_ns(&st, 0) == 0);
	/* the far end of time */
	st.chunk_start_ns = 1;
	st.chunk_deadline_ns = DPA_U64_MAX >> 1;
	st.alpha_milli = MPTCP_DPA_ALPHA_MAX;
	EXPECT(dpa_virtual_left_ns(&st, DPA_U64_MAX >> 2) > 0);
}

/* One decision over paths of given cost and goodput. */
static __u32 decide(struct dpa_state *st, int n, const __u32 *cost,
		    const __u64 *goodput)
{
	int i;

	st->outlook = (struct dpa_outlook){};
	for (i = 0; i < n; i++) {
		struct dpa_path p = {
			.cost = cost[i], .goodput = goodput[i], .samples = 9,
		};

		dpa_outlook_add(&st->outlook, &p, st->cost_limit, 0);
	}
	st->cost_limit = dpa_threshold(st);
	return st->cost_limit;
}

static void test_threshold(void)
{
	const __u32 cost[] = { 5, 1, 3 };
	const __u64 fast[] = { 1000000, 1000000, 1000000 };
	const __u64 slow[] = { 100000, 100000, 100000 };
	struct dpa_state st = {
		.now_ns = SEC,
		.chunk_start_ns = SEC,
		.chunk_deadline_ns = 11 * SEC,
		.chunk_end = 9000000,
		.alpha_milli = 1000,
	};

	/* begins with the cheapest alone, and stays while it suffices */
	EXPECT(decide(&st, 3, cost, fast) == 1);
	EXPECT(decide(&st, 3, cost, fast) == 1);
	/* one cost at a time, up to the dearest */
	EXPECT(decide(&st, 3, cost, slow) == 3);
	EXPECT(decide(&st, 3, cost, slow) == 5);
	EXPECT(decide(&st, 3, cost, slow) == 5);
	/* and down again */
	EXPECT(decide(&st, 3, cost, fast) == 3);
	EXPECT(decide(&st, 3, cost, fast) == 1);
	/* a smaller alpha is more careful */
	st.alpha_milli = 800;
	EXPECT(decide(&st, 3, cost, fast) == 3);
	/* late: everything there is, or as the chunk's owner wants */
	st.alpha_milli = 1000;
	st.now_ns = 12 * SEC;
	EXPECT(decide(&st, 3, cost, fast) == 5);
	st.late_policy = MPTCP_DPA_LATE_POLICY_CHEAP;
	EXPECT(decide(&st, 3, cost, fast) == 1);
	st.late_policy = MPTCP_DPA_LATE_POLICY_SPEND;
	EXPECT(decide(&st, 3, cost, fast) == 3);
	EXPECT(decide(&st, 3, cost, fast) == 5);
	/* what is acknowledged is not left to send */
	st.acked = 9000000;
	st.now_ns = 5 * SEC;
	EXPECT(decide(&st, 3, cost, slow) == 3);
	/* the cheapest path went away: the next takes its place */
	st.cost_limit = 1;
	EXPECT(decide(&st, 1, cost, slow) == 5);
	/* no path at all */
	st.cost_limit = 0;
	EXPECT(decide(&st, 0, cost, slow) == 0);
}

static void test_forecast(void)
{
	const __u32 cost[] = { 1, 3, MPTCP_DPA_COST_FORBIDDEN };
	const __u64 goodput[] = { 100000, 500000, 1000000 };
	struct dpa_state st = {
		.now_ns = SEC,
		.chunk_start_ns = SEC,
		.chunk_deadline_ns = 11 * SEC,
		.chunk_end = 5000000,
		.alpha_milli = 1000,
		.cost_limit = 1,
	};

	EXPECT(decide(&st, 3, cost, goodput) == 3);
	dpa_forecast(&st);
	EXPECT(st.forecast == 1000000 && !st.at_risk);
	/* the forbidden path is never the next, nor counted on */
	EXPECT(decide(&st, 3, cost, goodput) == 1);
	st.chunk_end = 6500000;
	dpa_forecast(&st);
	EXPECT(st.at_risk);
	st.outlook.unsure = 1;
	dpa_forecast(&st);
	EXPECT(!st.at_risk);
}

static void test_patience(void)
{
	struct dpa_state st = {
		.now_ns = SEC,
		.chunk_start_ns = SEC,
		.chunk_deadline_ns = 9 * SEC,
		.chunk_end = 9000000,
		.alpha_milli = 1000,
		.cost_limit = 1,
		.outlook = {
			.goodput = 1000, .cheapest = 1, .above = 2,
			.ramping = 1,
		},
	};

	EXPECT(dpa_threshold(&st) == 1);
	st.now_ns += SEC;
	EXPECT(dpa_threshold(&st) == 2);
	st.now_ns -= SEC;
	st.outlook.ramping = 0;
	EXPECT(dpa_threshold(&st) == 2);
}

static const struct {
	const char	*name;
	void		(*run)(void);
} tests[] = {
	{ "what a rate carries in a time", test_bytes_in },
	{ "the rate of bytes in a time", test_rate },
	{ "goodput of a path, busy, idle and silent", test_estimate },
	{ "a path that ramps up", test_ramp },
	{ "the virtual deadline", test_virtual_deadline },
	{ "the threshold rule over three costs", test_threshold },
	{ "forecast and risk", test_forecast },
	{ "patience while a path ramps up", test_patience },
};

int main(void)
{
	size_t n = sizeof(tests) / sizeof(tests[0]), i;
	int bad = 0;

	printf("TAP version 13\n1..%zu\n", n);
	for (i = 0; i < n; i++) {
		failures = 0;
		tests[i].run();
		printf("%sok %zu %s\n", failures ? "not " : "", i + 1,
		       tests[i].name);
		bad += failures;
	}
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
