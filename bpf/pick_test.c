// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of pick.h. */
#include "decision_test.h"

/* The cheaper of them in use, for a shortfall of 40 KB and a deadline in a second. */
static struct dpa_state two_paths(void)
{
	return (struct dpa_state){
		.now_ns = SEC, .next_deadline_ns = 2 * SEC, .unit = 30000,
		.burst = BURST, .cheapest = 1, .least_cost = 1,
		.cost_limit = 1, .open_cost = 9, .budget = 40000,
		.window = DPA_U64_MAX,
		.path = { {
			.cost = 1, .goodput = 1000000, .rtt_us = RTT_US,
			.srtt_us = RTT_US, .known = 1, .usable = 1,
			.pause_in_us = DPA_U32_MAX,
		}, { .cost = 9, .goodput = 1000000, .fits = DPA_FITS_MANY } },
	};
}

/* Picks end where a shortfall does. */
static void test_cut(void)
{
	struct dpa_state st = two_paths();

	EXPECT(dpa_picked(&st, 1) == 30000);
	EXPECT(dpa_picked(&st, 1) == 10000);
	EXPECT(!st.budget && st.spent == 40000);
	/* once it has shown something that holds while it is to show more, too */
	st.budget = 10000;
	st.trial = 1;
	EXPECT(dpa_picked(&st, 1) == 10000);
	st.budget = 10000;
	st.path[1].goodput = 0;
	EXPECT(dpa_picked(&st, 1) == 30000);
	st.path[1].goodput = 1000000;
	/* nor while the cheapest paths are not known */
	st.budget = 10000;
	st.learning = 1;
	EXPECT(dpa_picked(&st, 1) == 30000);
	st.learning = 0;
	st.trial = 0;
	/* not in pieces that are too small, nor where bytes are repeated */
	st.budget = 100;
	st.again = 1;
	EXPECT(dpa_picked(&st, 1) == 30000);
	st.again = 0;
	st.budget = 100;
	EXPECT(dpa_picked(&st, 1) == DPA_PICK_MIN && !st.budget);
	st.unit = 3000;
	st.budget = 100;
	EXPECT(dpa_picked(&st, 1) == 3000);
	st.unit = 30000;
}

/* And where they would come too late. */
static void test_cut_late(void)
{
	struct dpa_state st = two_paths();
	struct dpa_path *p = &st.path[0];

	/* 1.0425 s of the path, less what it has */
	p->behind = 900000;
	make_room(&st);
	EXPECT(p->fits == 142500 >> DPA_FITS_SHIFT);
	p->behind = 960000;
	make_room(&st);
	EXPECT(p->fits == 82500 >> DPA_FITS_SHIFT);
	EXPECT(dpa_picked(&st, 0) == BURST);
	EXPECT(within(p->fits << DPA_FITS_SHIFT, 16000, 17072));
	EXPECT(within(dpa_picked(&st, 0), 16000, 17072) && !p->fits);
	/* the last resort */
	EXPECT(dpa_picked(&st, 0) == BURST);
	/* one whose speed is not known gets what it is given */
	p->known = 0;
	make_room(&st);
	EXPECT(p->fits == DPA_FITS_MANY && dpa_picked(&st, 0) == 30000);
	EXPECT(p->fits == DPA_FITS_MANY);
	/* but nothing where one way alone takes too long */
	st.next_deadline_ns = SEC + 57 * MSEC;
	make_room(&st);
	EXPECT(dpa_is_late(&st, p));
	st.next_deadline_ns = SEC + 58 * MSEC;
	make_room(&st);
	EXPECT(!dpa_is_late(&st, p));
	p->rtt_us = DPA_U32_MAX;
	st.next_deadline_ns = SEC + MSEC;
	make_room(&st);
	EXPECT(!dpa_is_late(&st, p));
	p->rtt_us = RTT_US;
	st.next_deadline_ns = 2 * SEC;
	/* nor is more than a fragment given in the last round trips before a deadline */
	p->known = 1;
	EXPECT(dpa_picked(&st, 0) == BURST);
	st.next_deadline_ns = SEC + 7 * (SEC / 10);
	EXPECT(dpa_picked(&st, 0) == 30000);
	st.next_deadline_ns = 0;
	EXPECT(dpa_picked(&st, 0) == BURST);
}

static void test_costly_bound(void)
{
	struct dpa_state st = {
		.cost_limit = 9, .least_cost = 2, .unit = 1000,
		.costly_left = 1000,
	};
	struct dpa_path p = { .usable = 1, .cost = 9 };

	EXPECT(!dpa_is_spent(&st, &p, st.unit) && dpa_may_send(&st, &p));
	st.costly_left = 999;
	EXPECT(dpa_is_spent(&st, &p, st.unit) && !dpa_may_send(&st, &p));
	/* the cheapest path has no bound */
	p.cost = 2;
	EXPECT(!dpa_is_spent(&st, &p, st.unit) && dpa_may_send(&st, &p));
}

static void test_quota(void)
{
	struct dpa_state st = { .cost_limit = 9, .unit = 1000, .burst = BURST };
	struct dpa_path *p = &st.path[0];

	*p = (struct dpa_path){
		.usable = 1, .cost = 9, .goodput = 1000000, .rtt_us = RTT_US,
		.flags = DPA_PATH_QUOTA, .quota = 50000,
		.granted = DPA_FRAGMENT_MAX + 1000,
		.pause_in_us = DPA_U32_MAX,
	};
	st.least_cost = 9;
	EXPECT(dpa_may_send(&st, p));
	EXPECT(dpa_arriving(p, p->goodput, SEC) == 50000);
	/* a burst is no more than is sure to be there */
	EXPECT(dpa_picked(&st, 0) == 1000);
	p->granted--;
	EXPECT(!dpa_may_send(&st, p));
	p->flags = 0;
	EXPECT(dpa_may_send(&st, p));
	EXPECT(dpa_picked(&st, 0) == 1000);
	p->known = 1;
	EXPECT(dpa_picked(&st, 0) == BURST);
	EXPECT(within(dpa_arriving(p, p->goodput, SEC), 949000, 951000));
	/* what counts at most is not what comes at most */
	p->rate_max = 500000;
	EXPECT(within(dpa_counting(p, p->goodput, SEC), 474000, 476000));
	EXPECT(within(dpa_arriving(p, p->goodput, SEC), 949000, 951000));
	/* a quota without an end */
	p->flags = DPA_PATH_QUOTA;
	p->goodput = 100000000;
	p->quota = DPA_U32_MAX;
	EXPECT(within(dpa_arriving(p, p->goodput, 1000 * SEC),
		      99990000000, 100000000000));
	p->quota--;
	EXPECT(dpa_arriving(p, p->goodput, 1000 * SEC) == p->quota);
}

static void test_spare(void)
{
	struct dpa_state st = {
		.cheapest = 1, .written = 1000, .chunk_end = 2000, .path = {
			{ .cost = 1 }, { .cost = 2 },
		},
	};

	/* half of the chunk is not written */
	EXPECT(!dpa_is_spare(&st, &st.path[0]) && dpa_is_spare(&st, &st.path[1]));
	st.policy = MPTCP_DPA_POLICY_THRESHOLD;
	EXPECT(!dpa_is_spare(&st, &st.path[1]));
	st.policy = MPTCP_DPA_POLICY_DEFICIT;
	st.written = 2000;
	EXPECT(!dpa_is_spare(&st, &st.path[1]));
	/* nothing is declared beyond what is written */
	st.written = 3000;
	EXPECT(!dpa_is_spare(&st, &st.path[1]));
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
	/* it may get no more, its quota is spent; but what it has comes */
	st.path[0].usable = 0;
	st.path[0].flags = DPA_PATH_QUOTA;
	EXPECT(!dpa_may_follow(&st, 1));
	/* nothing comes that way */
	st.path[0].flags |= DPA_PATH_SILENT;
	EXPECT(dpa_may_follow(&st, 1));
	st.path[0].flags = 0;
	EXPECT(dpa_may_follow(&st, 1));
	st.path[0].flags = DPA_PATH_QUOTA;
	st.path[0].quota = 1;
	EXPECT(dpa_may_follow(&st, 1));
}

/* What was too slow once is tried again, while others could still help out. */
static void test_try(void)
{
	struct dpa_state st = {
		.now_ns = 20 * SEC, .next_deadline_ns = 22 * SEC, .unit = 30000,
		.burst = BURST, .cheapest = 1, .least_cost = 1, .cost_limit = 1,
		.window = DPA_U64_MAX,
		.path[0] = {
			.cost = 1, .goodput = 3, .rtt_us = RTT_US,
			.srtt_us = RTT_US, .known = 1, .usable = 1,
			.pause_in_us = DPA_U32_MAX,
			.sample_tick = dpa_tick(20 * SEC - DPA_DOUBT_NS / 2),
		},
	};
	struct dpa_path *p = &st.path[0];

	EXPECT(is_late(&st, 0));
	st.now_ns += DPA_DOUBT_NS;
	EXPECT(!is_late(&st, 0));
	EXPECT(within(dpa_picked(&st, 0), DPA_FIRST_BYTES - 512, DPA_FIRST_BYTES));
	/* but for the rest */
	EXPECT(dpa_is_late(&st, p));
	EXPECT(is_late(&st, 1));
	p->sampling = 1;
	EXPECT(is_late(&st, 0));
	p->sampling = 0;
	EXPECT(!is_late(&st, 0));
	st.now_ns = st.next_deadline_ns - DPA_TRY_NS;
	EXPECT(is_late(&st, 0));
}

/* A TCP that would overfill a known path is slowed down, and no other. */
static void test_pace(void)
{
	struct dpa_state st = {
		.now_ns = 20 * SEC, .next_deadline_ns = 22 * SEC, .unit = 30000,
		.burst = BURST, .cheapest = 1, .least_cost = 1, .cost_limit = 1,
		.window = DPA_U64_MAX,
		.path[0] = {
			.cost = 1, .goodput = 1000000, .best = 1200000,
			.rtt_us = RTT_US, .srtt_us = RTT_US, .known = 1,
			.usable = 1, .flags = DPA_PATH_PAUSES,
			.pause_in_us = DPA_U32_MAX,
		},
	};
	struct dpa_path *p = &st.path[0];

	dpa_make_room(&st, 0, 0);
	EXPECT(p->pace == 1800000);
	p->best = 10000;
	EXPECT(dpa_pace(&st, p) == DPA_PACE_LEAST);
	p->best = 1U << 31;
	EXPECT(dpa_pace(&st, p) == 3U << 30);
	p->best = 3U << 30;
	EXPECT(!dpa_pace(&st, p));
	p->best = 1200000;
	p->flags = 0;
	EXPECT(!dpa_pace(&st, p));
	p->flags = DPA_PATH_PAUSES;
	EXPECT(dpa_pace(&st, p));
	st.policy = MPTCP_DPA_POLICY_THRESHOLD;
	EXPECT(!dpa_pace(&st, p));
	st.policy = MPTCP_DPA_POLICY_DEFICIT;
	p->known = 0;
	dpa_make_room(&st, 0, 0);
	EXPECT(!p->pace);
}

const struct dpa_test pick_tests[] = {
	{ "picks end where a shortfall does", test_cut },
	{ "picks end where they would be late", test_cut_late },
	{ "a path that was too slow is tried again", test_try },
	{ "a pace that fills no queue", test_pace },
	{ "a bound on what deadlines cost", test_costly_bound },
	{ "a quota, and a rate at most", test_quota },
	{ "the cheapest paths first while a chunk is written", test_spare },
	{ "one path for a peer with little room", test_narrow },
	{}
};
