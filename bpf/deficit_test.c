// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of deficit.h. */
#include "decision_test.h"

static void test_deficit(void)
{
	const __u32 cost[] = { 9, 1 };
	const __u32 goodput[] = { 1000000, 1000000 };
	__u64 chunk[][2] = { { 9000000, 11 * SEC } };
	struct dpa_state st = { .now_ns = SEC, .chunk_start_ns = SEC };
	struct dpa_scratch s;

	set_paths(&st, 2, cost, goodput);
	/* the cheap path suffices: 10 s less a half round trip, and the margin */
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && !st.open_cost && !st.budget);
	EXPECT(dpa_is_held(&st, 9) && !dpa_is_held(&st, 1));
	/* a shortfall far ahead can wait */
	chunk[0][0] = 12000000;
	plan(&st, &s, 1, chunk);
	EXPECT(!st.open_cost);
	/* one of 2/5 of what the costly path can do cannot; that path gets it */
	chunk[0][0] = 13800000;
	plan(&st, &s, 1, chunk);
	EXPECT(!st.open_cost);
	chunk[0][0] = 15200000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && st.open_cost == 9);
	EXPECT(within(st.budget, 5260000, 5270000));
	EXPECT(!dpa_is_held(&st, 9));
	/* once open it stays so until nothing is short */
	chunk[0][0] = 12000000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9 && within(st.budget, 2060000, 2070000));
	chunk[0][0] = 9900000;
	plan(&st, &s, 1, chunk);
	EXPECT(!st.open_cost);
	/* all of it is needed */
	chunk[0][0] = 19895000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 9);
	/* bytes already given to the cheap path go before new ones */
	st.path[1].behind = 1000000;
	chunk[0][0] = 9900000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9);
	EXPECT(within(st.budget, 860000, 870000));
	/* neither may be used now: none is kept back for the other */
	st.cost_limit = 9;
	st.path[0].flags &= ~DPA_PATH_ACTIVE;
	st.path[1].flags &= ~DPA_PATH_ACTIVE;
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 9 && !dpa_is_held(&st, 9));
}

/* The mean of a link that gets faster is not doubted, while samples say so. */
static void test_deficit_rises(void)
{
	const struct dpa_reach r = {
		.left_ns = SEC, .caution = 40, .steady = 1024,
	};
	struct dpa_path p = {
		.goodput = 1000000, .spread = 100000, .sampling = 1,
		.rises = DPA_RISES_SURE - 1,
	};

	/* but for 2.5 standard deviations */
	EXPECT(dpa_surely(&p, &r, 0) == 750000);
	p.rises = DPA_RISES_SURE;
	EXPECT(dpa_surely(&p, &r, 0) == 1000000);
	p.sampling = 0;
	EXPECT(dpa_surely(&p, &r, 0) == 750000);
}

/* A path that has been faster may be so again: some of the shortfall waits. */
static void test_deficit_upside(void)
{
	const __u32 cost[] = { 9, 1 };
	const __u32 goodput[] = { 1000000, 1000000 };
	__u64 chunk[][2] = { { 15200000, 11 * SEC } };
	struct dpa_state st = { .now_ns = SEC, .chunk_start_ns = SEC };
	struct dpa_scratch s;

	set_paths(&st, 2, cost, goodput);
	st.path[1].best = 1100000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9 && within(st.budget, 4260000, 4280000));
	/* not more than 3/4 of what opens the costly path */
	st.path[1].best = 3000000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9 && within(st.budget, 2270000, 2300000));
	/* which stays open for less, and gets nothing for now */
	chunk[0][0] = 12000000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9 && !st.budget);
	EXPECT(!dpa_may_send(&st, &st.path[0]));
	/* until another half has come together */
	chunk[0][0] = 14800000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9 && !st.budget);
	chunk[0][0] = 15000000;
	plan(&st, &s, 1, chunk);
	EXPECT(within(st.budget, 2070000, 2090000));
	/* then for as long as there is some */
	chunk[0][0] = 13700000;
	plan(&st, &s, 1, chunk);
	EXPECT(within(st.budget, 770000, 790000));
	/* nor is one that is held opened for what waits, though there is enough */
	st.open_cost = 0;
	st.budget = 0;
	chunk[0][0] = 14500000;
	plan(&st, &s, 1, chunk);
	EXPECT(!st.open_cost && dpa_is_held(&st, 9));
	chunk[0][0] = 13700000;
	/* less of it shortly before the deadline */
	st.now_ns = 11 * SEC - 515 * MSEC;
	chunk[0][0] = 600000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9 && within(st.budget, 114000, 119000));
	st.now_ns = SEC;
	/* a best that is no more than its rate varies by is none */
	st.path[1].best = 1075000;
	st.path[1].spread = 100000;
	st.alpha_milli = 1000;
	chunk[0][0] = 15200000;
	plan(&st, &s, 1, chunk);
	EXPECT(within(st.budget, 5260000, 5270000));
}

/* At 1 s, when the chunk begins: a cheap and a costly path, 1 MB/s each. */
static struct dpa_state two_paths(void)
{
	const __u32 cost[] = { 1, 9 };
	const __u32 goodput[] = { 1000000, 1000000 };
	struct dpa_state st = { .now_ns = SEC, .chunk_start_ns = SEC };

	set_paths(&st, 2, cost, goodput);
	return st;
}

static void test_deficit_doubt(void)
{
	__u64 chunk[][2] = { { 10500000, 11 * SEC } };
	struct dpa_state st = two_paths();
	struct dpa_scratch s;

	st.path[0].spread = 200000;
	/* too little to open the costly path, enough for one in use */
	plan(&st, &s, 1, chunk);
	EXPECT(!st.open_cost);
	st.open_cost = 9;
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9 && !st.budget);
	/* that is just likely to be needed, so the doubt waits */
	st.budget = 1;
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9 && within(st.budget, 560000, 570000));
	/* which a shortfall that is not even likely is not */
	chunk[0][0] = 9500000;
	plan(&st, &s, 1, chunk);
	EXPECT(!st.open_cost);
	/* unless alpha says so */
	st.open_cost = 9;
	st.alpha_milli = 900;
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9);
}

/* A shortfall of less than half a fragment. */
static void test_deficit_little(void)
{
	__u64 chunk[][2] = { { 9949000, 11 * SEC } };
	struct dpa_state st = two_paths();
	struct dpa_scratch s;

	st.unit = 30000;
	st.open_cost = 9;
	/* far ahead it may come to nothing */
	plan(&st, &s, 1, chunk);
	EXPECT(!st.open_cost);
	/* just before it is too late, it is worth a fragment */
	st.now_ns = 11 * SEC - 80 * MSEC;
	chunk[0][0] = 29000;
	st.open_cost = 9;
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9 && within(st.budget, 13500, 14500));
	/* but not what the cheap path brings within half the margin */
	chunk[0][0] = 16500;
	st.open_cost = 9;
	plan(&st, &s, 1, chunk);
	EXPECT(!st.open_cost);
	/* that the cheap path was fast once lets it wait no longer than larger ones */
	st.path[0].goodput = 1250;
	st.path[0].best = 1000000;
	st.path[0].spread = 100000;
	chunk[0][0] = 10000;
	st.open_cost = 0;
	st.now_ns = 11 * SEC - 300 * MSEC;
	plan(&st, &s, 1, chunk);
	EXPECT(!st.open_cost);
	st.now_ns = 11 * SEC - 150 * MSEC;
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9);
}

static void test_deficit_caution(void)
{
	const __u64 chunk[][2] = { { 900000, 2 * SEC } };
	struct dpa_state st = two_paths();
	struct dpa_scratch s;

	plan(&st, &s, 1, chunk);
	EXPECT(!st.open_cost);
	/* a path whose goodput varies is trusted less */
	st.path[0].spread = 400000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9);
	/* unless alpha says by how much */
	st.alpha_milli = 1000;
	plan(&st, &s, 1, chunk);
	EXPECT(!st.open_cost);
	st.alpha_milli = 500;
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9);
	/* and one that was not used for long, too */
	st.alpha_milli = 0;
	st.path[0].spread = 0;
	st.path[0].sampling = 0;
	st.path[0].sample_tick = dpa_tick(SEC) - dpa_tick(60 * SEC);
	plan(&st, &s, 1, chunk);
	EXPECT(st.open_cost == 9);
	EXPECT(within(st.budget, 170000, 230000));
}

static void test_deficit_outcomes(void)
{
	const __u64 chunk[][2] = { { 500000, 2 * SEC } };
	struct dpa_state st = two_paths();
	struct dpa_scratch s;
	int i;

	plan(&st, &s, 1, chunk);
	EXPECT(st.caution == DPA_CAUTION_MIN && st.saved);
	/* a miss although a path was held makes it more careful, up to a bound */
	st.missed++;
	plan(&st, &s, 1, chunk);
	EXPECT(st.caution == DPA_CAUTION_MIN + DPA_CAUTION_MORE);
	for (i = 0; i < 100; i++) {
		st.missed++;
		plan(&st, &s, 1, chunk);
	}
	EXPECT(st.caution == DPA_CAUTION_MAX);
	/* chunks that are met make it bolder, down to a bound */
	for (i = 0; i < 100; i++) {
		st.met++;
		plan(&st, &s, 1, chunk);
	}
	EXPECT(st.caution == DPA_CAUTION_MIN);
	/* a miss at full speed teaches nothing */
	st.saved = 0;
	st.missed++;
	plan(&st, &s, 1, chunk);
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
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && st.open_cost == 3);
	chunk[0][0] = 2500000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 3 && st.open_cost == 7);
	EXPECT(within(st.budget, 600000, 700000));
	/* a forbidden path is none */
	st.path[0].cost = MPTCP_DPA_COST_FORBIDDEN;
	chunk[0][0] = 1880000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit <= 3);
}

static void test_deficit_chunks(void)
{
	/* the second is due soon after the first, and larger */
	__u64 chunk[][2] = { { 500000, 2 * SEC }, { 2200000, 2 * SEC + SEC / 2 } };
	struct dpa_state st = two_paths();
	struct dpa_scratch s;

	plan(&st, &s, 1, chunk);
	EXPECT(!st.open_cost);
	plan(&st, &s, 2, chunk);
	EXPECT(st.open_cost == 9);
	EXPECT(within(st.budget, 740000, 770000));
	/* what cannot be met is given up where its owner wants, the rest not */
	chunk[0][0] = 9000000;
	chunk[1][0] = 9000000;
	chunk[1][1] = 20 * SEC;
	st.late_policy = MPTCP_DPA_LATE_POLICY_CHEAP;
	plan(&st, &s, 2, chunk);
	EXPECT(st.cost_limit == 1 && !st.open_cost && st.at_risk);
	st.late_policy = MPTCP_DPA_LATE_POLICY_SPEND;
	plan(&st, &s, 2, chunk);
	EXPECT(st.cost_limit == 9);
}

/* A round trip that is as long as ever. */
static void bare_rtt(struct dpa_state *st, __u64 ns)
{
	look_rtt = ns;
	st->path[0].rtt_us = ns / 1000;
	st->path[1].rtt_us = ns / 1000;
}

/* Nothing is learnt of a path over which nothing comes in time, however long it is tried. */
static void test_deficit_far(void)
{
	const __u32 cost[] = { 1, 9 };
	const __u32 goodput[] = { 0, 500000 };
	const __u64 chunk[][2] = { { 80000, SEC + 280 * MSEC } };
	struct dpa_state st = { .now_ns = SEC, .chunk_start_ns = SEC };
	struct dpa_scratch s;

	set_paths(&st, 2, cost, goodput);
	st.unit = 30000;
	st.path[0].known = 0;
	st.path[0].rtt_us = 500000;
	st.path[1].rtt_us = 40000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.learning && st.cost_limit == 1);
	st.path[0].rtt_us = 600000;
	plan(&st, &s, 1, chunk);
	EXPECT(!st.learning && st.open_cost == 9 && st.budget == 80000);
}

/* What has less time in all than the margin has half of that. */
static void test_deficit_short(void)
{
	const __u32 cost[] = { 1, 9 };
	const __u32 goodput[] = { 12500000, 12500000 };
	const __u64 chunk[][2] = { { 2000, SEC + 14 * MSEC } };
	struct dpa_state st = { .now_ns = SEC, .chunk_start_ns = SEC };
	struct dpa_scratch s;

	set_paths(&st, 2, cost, goodput);
	st.path[0].rtt_us = 1000;
	st.path[1].rtt_us = 1000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && !st.open_cost);
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
	st.path[1].known = 0;
	/* nothing is known, but four round trips may show that it is enough */
	st.unit = 30000;
	bare_rtt(&st, 100 * MSEC);
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && !st.open_cost);
	/* nor does a queue that has built up change that */
	look_rtt = 200 * MSEC;
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && !st.open_cost);
	/* two cannot, so some goes the costly way at once */
	bare_rtt(&st, 200 * MSEC);
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && st.open_cost == 9 && st.budget == 50000);
	/* what is open stays open, and rests */
	st.spent = 60000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && st.open_cost == 9 && !st.budget);
	st.spent = 0;
	/* of a small chunk that would be less than half a fragment */
	st.open_cost = 0;
	st.unit = 100002;
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && !st.open_cost);
	/* later a sixteenth of the chunk may go the costly way */
	st.unit = 30000;
	st.now_ns += 800 * MSEC;
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && st.open_cost == 9 && st.budget == 100000);
	/* or at once where that is before anything can be known */
	st.now_ns = SEC;
	bare_rtt(&st, 600 * MSEC);
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && st.open_cost == 9 && st.budget == 100000);
	st.open_cost = 0;
	st.unit = 200002;
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && !st.open_cost);
	st.now_ns += 800 * MSEC;
	st.unit = 30000;
	bare_rtt(&st, 200 * MSEC);
	plan(&st, &s, 1, chunk);
	bare_rtt(&st, 0);
	st.least_cost = 1;
	EXPECT(dpa_picked(&st, 1) == 30000);
	EXPECT(st.budget == 70000 && st.spent == 30000);
	plan(&st, &s, 1, chunk);
	EXPECT(st.budget == 70000);
	/* what is known then decides */
	st.path[0].known = 1;
	st.path[0].goodput = 1000000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && !st.open_cost);
}

/* What cannot come in time on a path is not put there, and others are looked at. */
static void test_deficit_useless(void)
{
	const __u32 cost[] = { 1, 9, 20 };
	const __u32 goodput[] = { 1000000, 1000000, 1000000 };
	__u64 chunk[][2] = { { 130000, SEC + 200 * MSEC } };
	struct dpa_state st = { .now_ns = SEC, .chunk_start_ns = SEC };
	struct dpa_scratch s;

	set_paths(&st, 2, cost, goodput);
	st.path[1].rtt_us = 600000;
	/* in all likelihood the cheap path is too slow, and may not be */
	st.path[0].spread = 300000;
	plan(&st, &s, 1, chunk);
	EXPECT(s.reach.left_ns && !dpa_hopeless(&st, &s, 130000));
	EXPECT(st.cost_limit == 1 && !st.open_cost);
	/* nor is one hoped for that is not known, but is as far */
	st.path[1].known = 0;
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && !st.open_cost);
	EXPECT(dpa_hopeless(&st, &s, 1000000));
	st.path[1].rtt_us = RTT_US;
	EXPECT(!dpa_hopeless(&st, &s, 1000000));
	st.path[1].known = 1;
	/* with a shorter way it is used */
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && st.open_cost == 9);
	set_paths(&st, 3, cost, goodput);
	st.path[1].rtt_us = 600000;
	st.path[0].spread = 300000;
	plan(&st, &s, 1, chunk);
	EXPECT(st.cost_limit == 1 && st.open_cost == 20);
}

/* A rate that counts at most is the operator's, and no reason to give up. */
static void test_deficit_counting(void)
{
	const __u32 cost[] = { 1 };
	const __u32 goodput[] = { 943000 };
	__u64 chunk[][2] = { { 2000000, SEC + 4 * SEC } };
	struct dpa_state st = { .now_ns = SEC, .chunk_start_ns = SEC };
	struct dpa_scratch s;

	set_paths(&st, 1, cost, goodput);
	st.path[0].rate_max = 300000;
	st.unit = 30000;
	st.next_deadline_ns = chunk[0][1];
	plan(&st, &s, 1, chunk);
	EXPECT(!dpa_hopeless(&st, &s, 2000000));
	dpa_make_room(&st, 0, 0);
	EXPECT(!dpa_is_late(&st, &st.path[0]));
}

const struct dpa_test deficit_tests[] = {
	{ "the deficit rule opens late, and for the shortfall", test_deficit },
	{ "a link that gets faster", test_deficit_rises },
	{ "a path that has been faster", test_deficit_upside },
	{ "doubt alone", test_deficit_doubt },
	{ "less than half a fragment", test_deficit_little },
	{ "caution, alpha and age", test_deficit_caution },
	{ "outcomes make it careful or bold", test_deficit_outcomes },
	{ "levels of cost", test_deficit_levels },
	{ "chunks together", test_deficit_chunks },
	{ "learning about unknown paths", test_deficit_learning },
	{ "a path that is too far", test_deficit_far },
	{ "a deadline within the margin", test_deficit_short },
	{ "paths that bring nothing in time", test_deficit_useless },
	{ "a rate that counts at most", test_deficit_counting },
	{}
};
