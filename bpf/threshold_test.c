// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of threshold.h, and of looks and forecasts. */
#include "decision_test.h"

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
	/* of which alpha makes just as much as fits */
	st.chunk_deadline_ns = (1ULL << 62) + 1;
	EXPECT(dpa_virtual_left_ns(&st, 0) > 0);
}

/* One decision of the threshold rule over paths of given cost and goodput. */
static __u32 decide(struct dpa_state *st, int n, const __u32 *cost,
		    const __u32 *goodput)
{
	struct dpa_scratch s;

	set_paths(st, n, cost, goodput);
	look(st, &s);
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
	/* nor any that may be used now: what was kept back stays so, and no more */
	st.cost_limit = 3;
	EXPECT(decide(&st, 0, cost, slow) == 3);
	st.now_ns = 12 * SEC;
	st.late_policy = MPTCP_DPA_LATE_POLICY_CHEAP;
	EXPECT(decide(&st, 0, cost, slow) == 3);
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
	look(&st, &s);
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

const struct dpa_test threshold_tests[] = {
	{ "the virtual deadline", test_virtual_deadline },
	{ "the threshold rule over three costs", test_threshold },
	{ "forecast and risk", test_forecast },
	{ "patience while a path ramps up", test_patience },
	{}
};
