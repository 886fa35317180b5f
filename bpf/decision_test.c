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

static void test_isqrt(void)
{
	int i;

	EXPECT(dpa_isqrt(0) == 0);
	EXPECT(dpa_isqrt(1) == 1);
	EXPECT(dpa_isqrt(3) == 1);
	EXPECT(dpa_isqrt((1ULL << 62) - 1) == (1U << 31) - 1);
	EXPECT(dpa_isqrt((1ULL << 63) - 1) == 3037000499U);
	for (i = 0; i < 1000000; i++) {
		__u64 x = (draw() >> 1) >> (draw() % 63);
		__u64 root = dpa_isqrt(x);

		if (root * root > x || (root + 1) * (root + 1) <= x) {
			EXPECT(root * root <= x);
			EXPECT((root + 1) * (root + 1) > x);
			return;
		}
	}
}

#define RTT_US	100000

struct feed {
	struct dpa_path	p;
	__u64		now_ns;
	__u64		acked;
	__u32		flight;
};

/* Feeds a path that delivers at a constant rate, acknowledged in steps. */
static void feed(struct feed *f, __u64 rate, __u64 span, int busy, int limited)
{
	__u64 end = f->now_ns + span;

	while (f->now_ns < end) {
		struct dpa_observation o = {
			.rtt_ns = 100 * MSEC, .busy = busy, .limited = limited,
			.flight = f->flight,
		};

		f->now_ns += 5 * MSEC;
		if (busy)
			f->acked += rate / 200;
		o.now_ns = f->now_ns;
		o.acked = f->acked;
		dpa_observe(&f->p, &o);
	}
}

static int within(__u64 value, __u64 least, __u64 most)
{
	return value >= least && value <= most;
}

static void test_estimate(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1 };
	__u64 before;

	feed(&f, 1000000, 3 * SEC, 1, 0);
	EXPECT(f.p.samples && f.p.known && !f.p.ramping);
	EXPECT(within(f.p.goodput, 980000, 1020000));
	EXPECT(f.p.spread < 100000);

	/* silence while nothing is on its way is not slowness */
	before = f.p.goodput;
	feed(&f, 0, 10 * SEC, 0, 0);
	feed(&f, 1000000, SEC, 1, 0);
	EXPECT(f.p.goodput > before * 95 / 100);

	/* nor is what a sender holds back, but it can show more */
	feed(&f, 100000, 3 * SEC, 1, 1);
	EXPECT(f.p.goodput > before * 95 / 100);
	feed(&f, 1500000, 3 * SEC, 1, 1);
	EXPECT(f.p.goodput > 1400000);

	/* silence while bytes are on their way is, and is seen in the spread */
	f.acked++;
	feed(&f, 0, SEC, 1, 0);
	EXPECT(f.p.goodput < 200000);
	EXPECT(f.p.spread > 300000);

	/* and it recovers */
	feed(&f, 2000000, 5 * SEC, 1, 0);
	EXPECT(within(f.p.goodput, 1900000, 2100000));
	EXPECT(f.p.spread < 50000);
}

/* A queue shows that the path sets the pace, whoever seems to hold back. */
static void test_bottleneck(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1, .p.rtt_us = RTT_US };

	feed(&f, 1000000, 3 * SEC, 1, 0);
	/* in flight what the empty path holds: the sender may be the cause */
	f.flight = 10000;
	feed(&f, 100000, SEC, 1, 1);
	EXPECT(f.p.goodput > 950000 && !f.p.last);
	/* much more: the path is */
	f.flight = 100000;
	feed(&f, 100000, SEC, 1, 1);
	EXPECT(f.p.goodput < 200000);
	EXPECT(within(f.p.last, 98000, 102000));
	/* after idle time no ramp is waited for, then */
	feed(&f, 0, SEC, 0, 0);
	f.acked++;
	feed(&f, 50000, 400 * MSEC, 1, 1);
	EXPECT(!f.p.ramping);
}

static void test_gap(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1 };

	feed(&f, 1000000, 3 * SEC, 1, 0);
	/* nobody looked for a second: that time is in no sample */
	f.now_ns += SEC;
	feed(&f, 1000000, 300 * MSEC, 1, 0);
	EXPECT(f.p.goodput > 950000);
}

static void test_ramp(void)
{
	struct dpa_path p = {};
	int i;

	dpa_add_sample(&p, 1000, 0);
	EXPECT(p.ramping && !p.known && p.goodput == 1000);
	for (i = 0; i < 5; i++)
		dpa_add_sample(&p, p.goodput * 2, 0);
	EXPECT(p.ramping && p.goodput == 32000);
	dpa_add_sample(&p, 33000, 0);
	EXPECT(p.ramping);
	dpa_add_sample(&p, 33000, 0);
	EXPECT(!p.ramping && p.known);
	dpa_add_sample(&p, 0, 0);
	EXPECT(within(p.goodput, 23000, 23200));
	p.samples = -1;
	dpa_add_sample(&p, 33000, 0);
	EXPECT(p.samples == (__u8)-1);
	/* the far ends */
	p.goodput = 0;
	dpa_add_sample(&p, DPA_RATE_MAX, 0);
	EXPECT(p.spread > p.goodput / 2);
	dpa_add_sample(&p, 0, 0);
	dpa_add_sample(&p, DPA_RATE_MAX, 0);
	EXPECT(p.goodput <= DPA_RATE_MAX);
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
	st.alpha_milli = 0;
	EXPECT(dpa_virtual_left_ns(&st, 0) == (__s64)(8 * SEC));
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

/* Paths that have carried so much for long. */
static void set_paths(struct dpa_state *st, int n, const __u32 *cost,
		      const __u32 *goodput)
{
	int i;

	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++) {
		st->path[i] = (struct dpa_path){};
		if (i >= n)
			continue;
		st->path[i] = (struct dpa_path){
			.cost = cost[i], .goodput = goodput[i],
			.samples = 99, .known = 1, .sampling = 1,
			.rtt_us = RTT_US,
		};
	}
}

static __u64 look_rtt;

static void look(struct dpa_state *st, struct dpa_scratch *s, int n)
{
	int i;

	dpa_look_begin(st, s);
	for (i = 0; i < n; i++)
		dpa_look_at(st, s, &st->path[i], look_rtt);
}

/* One decision of the threshold rule over paths of given cost and goodput. */
static __u32 decide(struct dpa_state *st, int n, const __u32 *cost,
		    const __u32 *goodput)
{
	struct dpa_scratch s;

	set_paths(st, n, cost, goodput);
	look(st, &s, n);
	dpa_decide_begin(st, &s);
	dpa_decide_threshold(st, &s);
	return st->cost_limit;
}

static void test_threshold(void)
{
	const __u32 cost[] = { 5, 1, 3 };
	const __u32 fast[] = { 1000000, 1000000, 1000000 };
	const __u32 slow[] = { 100000, 100000, 100000 };
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
	const __u32 goodput[] = { 100000, 500000, 1000000 };
	struct dpa_state st = {
		.now_ns = SEC,
		.chunk_start_ns = SEC,
		.chunk_deadline_ns = 11 * SEC,
		.chunk_end = 5000000,
		.alpha_milli = 1000,
		.cost_limit = 1,
	};
	struct dpa_scratch s;

	EXPECT(decide(&st, 3, cost, goodput) == 3);
	EXPECT(st.forecast == 1000000 && !st.at_risk);
	/* the forbidden path is never the next, nor counted on */
	EXPECT(decide(&st, 3, cost, goodput) == 1);
	st.chunk_end = 6500000;
	decide(&st, 3, cost, goodput);
	EXPECT(st.at_risk);
	/* there is hope while a path has not shown what it can carry */
	st.path[1].known = 0;
	look(&st, &s, 3);
	dpa_decide_begin(&st, &s);
	EXPECT(!st.at_risk);
}

static void test_patience(void)
{
	struct dpa_scratch s = {
		.outlook = {
			.goodput = 1000, .cheapest = 1, .above = 2,
			.ramping = 1,
		},
	};
	struct dpa_state st = {
		.now_ns = SEC,
		.chunk_start_ns = SEC,
		.chunk_deadline_ns = 9 * SEC,
		.chunk_end = 9000000,
		.alpha_milli = 1000,
		.cost_limit = 1,
	};

	EXPECT(dpa_threshold(&st, &s) == 1);
	st.now_ns += SEC;
	EXPECT(dpa_threshold(&st, &s) == 2);
	st.now_ns -= SEC;
	s.outlook.ramping = 0;
	EXPECT(dpa_threshold(&st, &s) == 2);
}

/* One decision of the deficit rule for chunks given as (end, deadline). */
static void plan(struct dpa_state *st, struct dpa_scratch *s, int paths,
		 int chunks, const __u64 (*chunk)[2])
{
	int i;

	look(st, s, paths);
	st->chunk_end = chunk[0][0];
	st->chunk_deadline_ns = chunk[0][1];
	dpa_decide_begin(st, s);
	dpa_plan_begin(st, s);
	for (i = 0; i < chunks; i++) {
		s->horizon = (struct dpa_horizon){
			.end = chunk[i][0], .deadline_ns = chunk[i][1],
			.alpha_milli = st->alpha_milli,
			.late_policy = st->late_policy,
		};
		dpa_plan_chunk(st, s);
	}
	dpa_plan_end(st, s);
}

static void test_deficit(void)
{
	const __u32 cost[] = { 9, 1 };
	const __u32 goodput[] = { 1000000, 1000000 };
	__u64 chunk[][2] = { { 9000000, 11 * SEC } };
	struct dpa_state st = { .now_ns = SEC, .chunk_start_ns = SEC };
	struct dpa_scratch s;

	set_paths(&st, 2, cost, goodput);
	/* the cheap path suffices: 10 s less a half round trip, and the margin */
	plan(&st, &s, 2, 1, chunk);
	EXPECT(st.cost_limit == 1 && !st.open_cost && !st.budget);
	EXPECT(dpa_is_held(&st, 9) && !dpa_is_held(&st, 1));
	/* a shortfall far ahead can wait */
	chunk[0][0] = 12000000;
	plan(&st, &s, 2, 1, chunk);
	EXPECT(!st.open_cost);
	/* one that is half of what the costly path can do cannot; it gets that */
	chunk[0][0] = 15200000;
	plan(&st, &s, 2, 1, chunk);
	EXPECT(st.cost_limit == 1 && st.open_cost == 9);
	EXPECT(within(st.budget, 5260000, 5270000));
	EXPECT(!dpa_is_held(&st, 9));
	/* once open it stays so until nothing is short */
	chunk[0][0] = 12000000;
	plan(&st, &s, 2, 1, chunk);
	EXPECT(st.open_cost == 9 && within(st.budget, 2060000, 2070000));
	chunk[0][0] = 9900000;
	plan(&st, &s, 2, 1, chunk);
	EXPECT(!st.open_cost);
	/* all of it is needed */
	chunk[0][0] = 19895000;
	plan(&st, &s, 2, 1, chunk);
	EXPECT(st.cost_limit == 9);
	/* bytes already given to the cheap path go before new ones */
	st.path[1].behind = 1000000;
	chunk[0][0] = 9900000;
	plan(&st, &s, 2, 1, chunk);
	EXPECT(st.open_cost == 9);
	EXPECT(within(st.budget, 860000, 870000));
}

static void test_deficit_caution(void)
{
	const __u32 cost[] = { 1, 9 };
	const __u32 goodput[] = { 1000000, 1000000 };
	const __u64 chunk[][2] = { { 900000, 2 * SEC } };
	struct dpa_state st = { .now_ns = SEC, .chunk_start_ns = SEC };
	struct dpa_scratch s;

	set_paths(&st, 2, cost, goodput);
	plan(&st, &s, 2, 1, chunk);
	EXPECT(!st.open_cost);
	/* a path whose goodput varies is trusted less */
	st.path[0].spread = 400000;
	plan(&st, &s, 2, 1, chunk);
	EXPECT(st.open_cost == 9);
	/* unless alpha says by how much */
	st.alpha_milli = 1000;
	plan(&st, &s, 2, 1, chunk);
	EXPECT(!st.open_cost);
	st.alpha_milli = 500;
	plan(&st, &s, 2, 1, chunk);
	EXPECT(st.open_cost == 9);
	/* and one that was not used for long, too */
	st.alpha_milli = 0;
	st.path[0].spread = 0;
	st.path[0].sampling = 0;
	st.path[0].sample_tick = dpa_tick(SEC) - dpa_tick(60 * SEC);
	plan(&st, &s, 2, 1, chunk);
	EXPECT(st.open_cost == 9);
	EXPECT(within(st.budget, 400000, 450000));
}

static void test_deficit_outcomes(void)
{
	const __u32 cost[] = { 1, 9 };
	const __u32 goodput[] = { 1000000, 1000000 };
	const __u64 chunk[][2] = { { 500000, 2 * SEC } };
	struct dpa_state st = { .now_ns = SEC, .chunk_start_ns = SEC };
	struct dpa_scratch s;
	int i;

	set_paths(&st, 2, cost, goodput);
	plan(&st, &s, 2, 1, chunk);
	EXPECT(st.caution == DPA_CAUTION_MIN && st.saved);
	/* a miss although a path was held makes it more careful, up to a bound */
	st.missed++;
	plan(&st, &s, 2, 1, chunk);
	EXPECT(st.caution == DPA_CAUTION_MIN + DPA_CAUTION_MORE);
	for (i = 0; i < 100; i++) {
		st.missed++;
		plan(&st, &s, 2, 1, chunk);
	}
	EXPECT(st.caution == DPA_CAUTION_MAX);
	/* chunks that are met make it bolder, down to a bound */
	for (i = 0; i < 100; i++) {
		st.met++;
		plan(&st, &s, 2, 1, chunk);
	}
	EXPECT(st.caution == DPA_CAUTION_MIN);
	/* a miss at full speed teaches nothing */
	st.saved = 0;
	st.missed++;
	plan(&st, &s, 2, 1, chunk);
	EXPECT(st.caution == DPA_CAUTION_MIN);
}

static void test_deficit_levels(void)
{
	const __u32 cost[] = { 7, 3, 1, 3 };
	const __u32 goodput[] = { 1000000, 400000, 1000000, 600000 };
	__u64 chunk[][2] = { { 1500000, 2 * SEC } };
	struct dpa_state st = { .now_ns = SEC, .chunk_start_ns = SEC };
	struct dpa_scratch s;

	set_paths(&st, 4, cost, goodput);
	/* equal costs are one level */
	plan(&st, &s, 4, 1, chunk);
	EXPECT(st.cost_limit == 1 && st.open_cost == 3);
	chunk[0][0] = 2500000;
	plan(&st, &s, 4, 1, chunk);
	EXPECT(st.cost_limit == 3 && st.open_cost == 7);
	EXPECT(within(st.budget, 600000, 700000));
	/* a forbidden path is none */
	st.path[0].cost = MPTCP_DPA_COST_FORBIDDEN;
	chunk[0][0] = 1880000;
	plan(&st, &s, 4, 1, chunk);
	EXPECT(st.cost_limit <= 3);
}

static void test_deficit_chunks(void)
{
	const __u32 cost[] = { 1, 9 };
	const __u32 goodput[] = { 1000000, 1000000 };
	/* the second is due soon after the first, and larger */
	__u64 chunk[][2] = { { 500000, 2 * SEC }, { 2200000, 2 * SEC + SEC / 2 } };
	struct dpa_state st = { .now_ns = SEC, .chunk_start_ns = SEC };
	struct dpa_scratch s;

	set_paths(&st, 2, cost, goodput);
	plan(&st, &s, 2, 1, chunk);
	EXPECT(!st.open_cost);
	plan(&st, &s, 2, 2, chunk);
	EXPECT(st.open_cost == 9);
	EXPECT(within(st.budget, 740000, 770000));
	/* what cannot be met is given up where its owner wants, the rest not */
	chunk[0][0] = 9000000;
	chunk[1][0] = 9000000;
	chunk[1][1] = 20 * SEC;
	st.late_policy = MPTCP_DPA_LATE_POLICY_CHEAP;
	plan(&st, &s, 2, 2, chunk);
	EXPECT(st.cost_limit == 1 && !st.open_cost && st.at_risk);
	st.late_policy = MPTCP_DPA_LATE_POLICY_SPEND;
	plan(&st, &s, 2, 2, chunk);
	EXPECT(st.cost_limit == 9);
}

static void test_deficit_learning(void)
{
	const __u32 cost[] = { 1, 9 };
	const __u32 goodput[] = { 0, 0 };
	const __u64 chunk[][2] = { { 1600000, 9 * SEC } };
	struct dpa_state st = { .now_ns = SEC, .chunk_start_ns = SEC };
	struct dpa_scratch s;

	set_paths(&st, 2, cost, goodput);
	st.path[0].known = 0;
	st.path[0].samples = 0;
	st.path[1].known = 0;
	st.path[1].samples = 0;
	/* nothing is known, and it is too early to ask */
	st.path[0].rtt_us = 0;
	look_rtt = 200 * MSEC;
	plan(&st, &s, 2, 1, chunk);
	EXPECT(st.cost_limit == 1 && !st.open_cost);
	/* later a sixteenth of the chunk may go the costly way */
	st.now_ns += 800 * MSEC;
	plan(&st, &s, 2, 1, chunk);
	look_rtt = 0;
	EXPECT(st.cost_limit == 1 && st.open_cost == 9 && st.budget == 100000);
	st.unit = 30000;
	st.least_cost = 1;
	s.best = 1;
	EXPECT(dpa_picked(&st, &s, 65000) == 30000);
	EXPECT(st.budget == 70000 && st.spent == 30000);
	plan(&st, &s, 2, 1, chunk);
	EXPECT(st.budget == 70000);
	/* what is known then decides */
	st.path[0].known = 1;
	st.path[0].goodput = 1000000;
	plan(&st, &s, 2, 1, chunk);
	EXPECT(st.cost_limit == 1 && !st.open_cost);
}

static void test_room(void)
{
	struct dpa_state st = {
		.now_ns = SEC, .next_deadline_ns = 20 * SEC, .unit = 30000,
	};
	struct dpa_scratch s = { .outlook = { .cheapest = 1 } };
	struct dpa_path p = {
		.cost = 1, .goodput = 1000000, .rtt_us = RTT_US, .known = 1,
	};

	p.behind = 250000;
	EXPECT(dpa_has_room(&st, &s, &p, 1000000, 200 * MSEC, 260000));
	EXPECT(!dpa_has_room(&st, &s, &p, 1000000, 200 * MSEC, 240000));
	/* not more than it needs, however large the window has become */
	p.behind = 300000;
	EXPECT(dpa_has_room(&st, &s, &p, 5000000, 200 * MSEC, 900000));
	p.behind = 320000;
	EXPECT(!dpa_has_room(&st, &s, &p, 5000000, 200 * MSEC, 900000));
	/* shorter near a deadline, and on costlier paths */
	st.next_deadline_ns = 2 * SEC;
	EXPECT(!dpa_has_room(&st, &s, &p, 1000000, 200 * MSEC, 260000));
	p.behind = 150000;
	EXPECT(dpa_has_room(&st, &s, &p, 1000000, 200 * MSEC, 260000));
	st.next_deadline_ns = 20 * SEC;
	p.behind = 250000;
	p.cost = 9;
	EXPECT(!dpa_has_room(&st, &s, &p, 1000000, 200 * MSEC, 260000));

	p.behind = 900000;
	st.next_deadline_ns = 2 * SEC;
	EXPECT(!dpa_is_late(&st, &p));
	p.behind = 1030000;
	EXPECT(dpa_is_late(&st, &p));
	st.next_deadline_ns = 0;
	EXPECT(!dpa_is_late(&st, &p));
}

static void test_costly_bound(void)
{
	struct dpa_state st = {
		.cost_limit = 9, .least_cost = 2, .unit = 1000,
		.costly_left = 1000,
	};
	struct dpa_path p = { .usable = 1, .cost = 9 };

	EXPECT(!dpa_is_spent(&st, &p) && dpa_may_send(&st, &p));
	st.costly_left = 999;
	EXPECT(dpa_is_spent(&st, &p) && !dpa_may_send(&st, &p));
	/* the cheapest path has no bound */
	p.cost = 2;
	EXPECT(!dpa_is_spent(&st, &p) && dpa_may_send(&st, &p));
}

static void test_narrow(void)
{
	struct dpa_state st = {
		.window = DPA_NARROW_BYTES - 1, .sent = 5000, .acked = 4000,
		.path = { { .usable = 1 }, { .usable = 1 } },
	};

	/* nothing was picked before */
	EXPECT(dpa_may_follow(&st, 0) && dpa_may_follow(&st, 1));
	st.last = 1;
	EXPECT(dpa_may_follow(&st, 0) && !dpa_may_follow(&st, 1));
	/* nothing is on its way */
	st.acked = st.sent;
	EXPECT(dpa_may_follow(&st, 1));
	st.acked = 4000;
	/* there is room for what comes out of order */
	st.window = DPA_NARROW_BYTES;
	EXPECT(dpa_may_follow(&st, 1));
	st.window = 0;
	EXPECT(!dpa_may_follow(&st, 1));
	/* nothing comes that way */
	st.path[0].flags = DPA_PATH_SILENT;
	EXPECT(dpa_may_follow(&st, 1));
	st.path[0].flags = 0;
	st.path[0].usable = 0;
	EXPECT(dpa_may_follow(&st, 1));
}

static void test_outruns(void)
{
	struct dpa_state st = {
		.now_ns = SEC, .chunk_deadline_ns = 2 * SEC,
		.late_policy = MPTCP_DPA_LATE_POLICY_CHEAP,
	};
	struct dpa_path p = {
		.cost = 1, .goodput = 1000000, .rtt_us = RTT_US,
		.behind = 500000,
	}, q = { .cost = 9, .goodput = 1000000, .rtt_us = RTT_US };

	/* in time where it is */
	EXPECT(!dpa_outruns(&st, &p, &q));
	/* the last sample tells of a fall; the mean does not yet */
	p.last = 100000;
	EXPECT(dpa_outruns(&st, &p, &q));
	/* neither is in time: cheap is */
	q.behind = 1000000;
	EXPECT(!dpa_outruns(&st, &p, &q));
	st.late_policy = MPTCP_DPA_LATE_POLICY_SPEND;
	EXPECT(dpa_outruns(&st, &p, &q));
	st.late_policy = MPTCP_DPA_LATE_POLICY_CHEAP;
	q.cost = 1;
	EXPECT(dpa_outruns(&st, &p, &q));
	/* but not for less than half the time */
	q.behind = 2500000;
	EXPECT(!dpa_outruns(&st, &p, &q));
	/* after the deadline the same */
	st.now_ns = 3 * SEC;
	EXPECT(!dpa_outruns(&st, &p, &q));
	q.behind = 0;
	EXPECT(dpa_outruns(&st, &p, &q));
	/* a path that has shown nothing is not called slow */
	p.goodput = 0;
	EXPECT(!dpa_outruns(&st, &p, &q));
}

static void test_unsent(void)
{
	struct dpa_state st = { .sent = 1000, .acked = 400 };

	EXPECT(dpa_unsent(&st, 1500) == 500);
	EXPECT(dpa_unsent(&st, 900) == 0);
	st.again = 300;
	EXPECT(dpa_unsent(&st, 1500) == 800);
	EXPECT(dpa_unsent(&st, 900) == 300);
	EXPECT(dpa_unsent(&st, 600) == 200);
	EXPECT(dpa_unsent(&st, 300) == 0);
}

/* Whatever it is given, it neither traps nor breaks its word. */
static void test_any_input(void)
{
	struct dpa_state st = {};
	struct dpa_scratch s;
	int i, k;

	for (i = 0; i < 200000; i++) {
		__u64 chunk[2][2];
		unsigned char *byte = (unsigned char *)&st;
		size_t n;

		for (n = 0; n < sizeof(st); n++)
			byte[n] = draw() >> (draw() % 64);
		for (k = 0; k < 2; k++) {
			chunk[k][0] = draw() >> (draw() % 64);
			chunk[k][1] = draw() >> (draw() % 64);
		}
		plan(&st, &s, MPTCP_DPA_PATHS_MAX, 2, chunk);
		EXPECT(!st.open_cost || st.open_cost > st.cost_limit);
		EXPECT(st.open_cost || !st.budget);
		EXPECT(st.caution <= DPA_CAUTION_MAX);
		dpa_decide_threshold(&st, &s);
		if (failures)
			return;
	}
}

static const struct {
	const char	*name;
	void		(*run)(void);
} tests[] = {
	{ "what a rate carries in a time", test_bytes_in },
	{ "the rate of bytes in a time", test_rate },
	{ "square roots", test_isqrt },
	{ "goodput of a path, busy, idle, silent, held back", test_estimate },
	{ "a queue shows who sets the pace", test_bottleneck },
	{ "time without a look", test_gap },
	{ "a path that ramps up", test_ramp },
	{ "the virtual deadline", test_virtual_deadline },
	{ "the threshold rule over three costs", test_threshold },
	{ "forecast and risk", test_forecast },
	{ "patience while a path ramps up", test_patience },
	{ "the deficit rule opens late, and for the shortfall", test_deficit },
	{ "caution, alpha and age", test_deficit_caution },
	{ "outcomes make it careful or bold", test_deficit_outcomes },
	{ "levels of cost", test_deficit_levels },
	{ "chunks together", test_deficit_chunks },
	{ "learning about unknown paths", test_deficit_learning },
	{ "room on a path, and lateness", test_room },
	{ "a bound on what deadlines cost", test_costly_bound },
	{ "one path for a peer with little room", test_narrow },
	{ "what is stuck, and where it would be sooner", test_outruns },
	{ "bytes to be sent, and to be sent again", test_unsent },
	{ "any input", test_any_input },
};

int main(void)
{
	size_t n = sizeof(tests) / sizeof(tests[0]), i;
	int bad = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
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
