// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of pick.h. */
#include "decision_test.h"

/* What all paths carry together, by a look at them. */
static __u64 total(const struct dpa_state *st)
{
	struct dpa_outlook o = {};
	__u32 i;

	for (i = 0; i < st->rows; i++)
		if (st->path[i].usable)
			dpa_take_in(st, &o, &st->path[i]);
	return o.total;
}

/* Has the first path room for more, with so much behind? */
static int has_room(struct dpa_state *st, __u32 behind, __u64 window)
{
	st->path[0].behind = behind;
	dpa_make_room(st, 0, total(st));
	return dpa_has_room(st, &st->path[0], window);
}

static int is_late(struct dpa_state *st, __u32 behind)
{
	st->path[0].behind = behind;
	dpa_make_room(st, 0, total(st));
	return dpa_is_late(st, &st->path[0]);
}

/* Would the first path's picks end where its room does, by a plan made now? */
static int is_narrow(struct dpa_state *st)
{
	dpa_make_room(st, 0, total(st));
	return st->path[0].narrow;
}

static void test_room(void)
{
	struct dpa_state st = {
		.now_ns = SEC, .next_deadline_ns = 20 * SEC, .unit = 30000,
		.cheapest = 1, .cost_limit = 1, .open_cost = 9,
		.window = DPA_U64_MAX, .rows = 2, .path[0] = {
			.cost = 1, .goodput = 1000000, .rtt_us = RTT_US,
			.srtt_us = 2 * RTT_US, .pacing = 1000000, .known = 1,
			.usable = 1, .pause_in_us = DPA_U32_MAX,
		},
	};
	struct dpa_path *p = &st.path[0];

	EXPECT(has_room(&st, 250000, 260000));
	EXPECT(!has_room(&st, 250000, 240000));
	/* not more than it needs, however large the window has become */
	p->pacing = 5000000;
	EXPECT(has_room(&st, 300000, 900000));
	EXPECT(!has_room(&st, 320000, 900000));
	/* unless nothing is known of it; then there is a unit above its window */
	p->known = 0;
	EXPECT(has_room(&st, 920000, 900000));
	EXPECT(!has_room(&st, 940000, 900000));
	p->known = 1;
	/* shorter near a deadline, before a rest, and on costlier paths */
	st.next_deadline_ns = 2 * SEC;
	EXPECT(!has_room(&st, 130000, 260000));
	EXPECT(has_room(&st, 120000, 260000));
	/* with a long round trip a quarter of that is too much, but BBR needs it */
	p->rtt_us = 3 * RTT_US;
	EXPECT(!has_room(&st, 330000, 900000));
	EXPECT(has_room(&st, 320000, 900000));
	p->flags |= DPA_PATH_PAUSES;
	EXPECT(has_room(&st, 370000, 900000));
	p->flags &= ~DPA_PATH_PAUSES;
	/* and so do others while there is time, to become faster after a loss */
	st.next_deadline_ns = 20 * SEC;
	p->cost = 9;
	EXPECT(has_room(&st, 370000, 900000));
	p->cost = 1;
	p->rtt_us = RTT_US;
	p->pause_in_us = 1500000;
	EXPECT(!has_room(&st, 130000, 260000));
	EXPECT(has_room(&st, 120000, 260000));
	p->pause_in_us = DPA_U32_MAX;
	p->cost = 9;
	EXPECT(!has_room(&st, 130000, 260000));
	EXPECT(has_room(&st, 120000, 260000));
	/* that get a share alone, and not all that they can carry */
	st.cost_limit = 9;
	EXPECT(has_room(&st, 250000, 260000));
	EXPECT(!has_room(&st, 254000, 260000));
	st.cost_limit = 1;
	/* a little more while it ramps up, from what its TCP begins with */
	p->known = 0;
	EXPECT(!has_room(&st, 155000, 260000));
	EXPECT(has_room(&st, 150000, 260000));
	/* and twice what it carried where there is little time */
	st.next_deadline_ns = 2 * SEC;
	EXPECT(has_room(&st, 200000, 900000));
	EXPECT(!has_room(&st, 205000, 900000));
	st.next_deadline_ns = 20 * SEC;
	p->goodput = 0;
	EXPECT(!has_room(&st, 505000, 600000));
	EXPECT(has_room(&st, 500000, 600000));
	p->goodput = 1000000;
	p->known = 1;
	p->cost = 1;
	/* the peer's room is shared with others in use, but it stays busy */
	st.path[1] = (struct dpa_path){
		.cost = 2, .goodput = 3000000, .usable = 1,
	};
	st.window = 800000;
	EXPECT(has_room(&st, 199000, 900000));
	EXPECT(!has_room(&st, 201000, 900000));
	st.window = 400000;
	EXPECT(has_room(&st, 120000, 900000));
	EXPECT(!has_room(&st, 130000, 900000));
	st.window = DPA_U64_MAX;
	st.cost_limit = 1;
	/* and little enough to be empty in time, with a unit above it */
	p->flight = 100000;
	p->srtt_us = RTT_US;
	p->pause_in_us = 150000;
	EXPECT(!has_room(&st, 95000, 260000));
	EXPECT(has_room(&st, 94000, 260000));
	p->resting = 1;
	EXPECT(!has_room(&st, 0, 260000));
	/* unless bytes are rescued: those, and no more */
	st.again = 30000;
	EXPECT(has_room(&st, 94000, 260000));
	dpa_make_room(&st, 0, p->goodput);
	EXPECT(p->room == 124000);
	st.again = 0;
	p->resting = 0;
	p->pause_in_us = DPA_U32_MAX;
	p->srtt_us = 2 * RTT_US;

	st.next_deadline_ns = 2 * SEC;
	EXPECT(!is_late(&st, 900000));
	EXPECT(!is_late(&st, 1038000));
	EXPECT(is_late(&st, 1039000));
	/* unless that is all there is */
	st.unit = 3000;
	EXPECT(!is_late(&st, 1039000));
	st.unit = 30000;
	st.next_deadline_ns = 0;
	EXPECT(!is_late(&st, 1039000));
}

/* A queue no longer than a rate needs that varies so much. */
static void test_costlier_queue(void)
{
	struct dpa_state st = {
		.now_ns = SEC, .next_deadline_ns = 20 * SEC, .unit = 30000,
		.cheapest = 1, .cost_limit = 9, .window = DPA_U64_MAX,
		.path[0] = {
			.cost = 9, .goodput = 1000000, .rtt_us = RTT_US,
			.srtt_us = RTT_US, .known = 1, .usable = 1,
			.pause_in_us = DPA_U32_MAX, .flags = DPA_PATH_PAUSES,
		},
	};

	EXPECT(has_room(&st, 127000, 900000));
	EXPECT(!has_room(&st, 129000, 900000));
	st.path[0].spread = 100000;
	EXPECT(has_room(&st, 167000, 900000));
	EXPECT(!has_room(&st, 169000, 900000));
	/* at most that of congestion control by loss */
	st.path[0].spread = 900000;
	EXPECT(has_room(&st, 252000, 900000));
	EXPECT(!has_room(&st, 254000, 900000));
	st.path[0].spread = 0;
	st.path[0].flags = 0;
	EXPECT(has_room(&st, 252000, 900000));
}

/* Picks end where a shortfall does, and where they would come too late. */
static void test_cut(void)
{
	struct dpa_state st = {
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
	struct dpa_path *p = &st.path[0];

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

	/* 1.0425 s of the path, less what it has */
	p->behind = 900000;
	dpa_make_room(&st, 0, total(&st));
	EXPECT(p->fits == 142500 >> DPA_FITS_SHIFT);
	p->behind = 960000;
	dpa_make_room(&st, 0, total(&st));
	EXPECT(p->fits == 82500 >> DPA_FITS_SHIFT);
	EXPECT(dpa_picked(&st, 0) == BURST);
	EXPECT(within(p->fits << DPA_FITS_SHIFT, 16000, 17072));
	EXPECT(within(dpa_picked(&st, 0), 16000, 17072) && !p->fits);
	/* the last resort */
	EXPECT(dpa_picked(&st, 0) == BURST);
	/* one whose speed is not known gets what it is given */
	p->known = 0;
	dpa_make_room(&st, 0, total(&st));
	EXPECT(p->fits == DPA_FITS_MANY && dpa_picked(&st, 0) == 30000);
	EXPECT(p->fits == DPA_FITS_MANY);
	/* but nothing where one way alone takes too long */
	st.next_deadline_ns = SEC + 57 * MSEC;
	dpa_make_room(&st, 0, total(&st));
	EXPECT(dpa_is_late(&st, p));
	st.next_deadline_ns = SEC + 58 * MSEC;
	dpa_make_room(&st, 0, total(&st));
	EXPECT(!dpa_is_late(&st, p));
	p->rtt_us = DPA_U32_MAX;
	st.next_deadline_ns = SEC + MSEC;
	dpa_make_room(&st, 0, total(&st));
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

/* A path that has got its part of a small window gets no whole fragments. */
static void test_small_window(void)
{
	struct dpa_state st = {
		.now_ns = SEC, .next_deadline_ns = 20 * SEC, .unit = 30000,
		.burst = BURST, .cheapest = 1, .least_cost = 1, .cost_limit = 9,
		.rows = 2, .window = DPA_U64_MAX,
		.path = { {
			.cost = 1, .goodput = 100000, .rtt_us = RTT_US,
			.srtt_us = RTT_US, .known = 1, .usable = 1,
			.pause_in_us = DPA_U32_MAX,
		}, { .cost = 9, .goodput = 900000, .usable = 1 } },
	};
	struct dpa_path *p = &st.path[0];

	/* twice what it holds, and what takes a tenth of a second */
	EXPECT(has_room(&st, 37000, BURST) && !has_room(&st, 39000, BURST));
	p->behind = 10000;
	EXPECT(!p->narrow && dpa_picked(&st, 0) == 30000);
	/* a tenth of the window, whether the other path is kept back or not */
	st.cost_limit = 1;
	st.window = 600000;
	EXPECT(!has_room(&st, 39000, BURST) && p->narrow);
	p->behind = 10000;
	EXPECT(dpa_picked(&st, 0) == 28000);
	/* whatever is left of a fragment while it is planned: the next one is whole */
	st.unit = 3000;
	EXPECT(is_narrow(&st));
	st.unit = 30000;
	EXPECT(dpa_picked(&st, 0) == 28000);
	st.window = 200000;
	EXPECT(has_room(&st, 19000, BURST) && !has_room(&st, 21000, BURST));
	p->behind = 10000;
	EXPECT(dpa_picked(&st, 0) == 10000);
	p->behind = 19000;
	EXPECT(dpa_picked(&st, 0) == DPA_PICK_MIN);
	/* what is rescued goes as it is, and one that shows what it is gets more */
	st.again = 30000;
	EXPECT(dpa_picked(&st, 0) == 30000);
	st.again = 0;
	p->known = 0;
	EXPECT(has_room(&st, 19000, BURST) && !p->narrow);
	EXPECT(dpa_picked(&st, 0) == 30000);
}

/* Before a deadline, a pick puts a slow path's queue no further than it may be. */
static void test_short_queue(void)
{
	struct dpa_state st = {
		.now_ns = SEC, .next_deadline_ns = SEC + SEC / 2, .unit = 10000,
		.burst = BURST, .cheapest = 1, .least_cost = 1, .cost_limit = 1,
		.rows = 1, .window = DPA_U64_MAX,
		.path = { {
			.cost = 1, .goodput = 1000000, .rtt_us = RTT_US,
			.srtt_us = RTT_US + 25000, .known = 1, .usable = 1,
			.pause_in_us = DPA_U32_MAX,
		} },
	};
	struct dpa_path *p = &st.path[0];

	/* what it holds, 25 ms and two packets; fragments may become larger than this one */
	EXPECT(is_narrow(&st) && p->room == 128000);
	st.unit = 30000;
	p->behind = 120000;
	EXPECT(dpa_picked(&st, 0) == 8000);
	p->behind = 127000;
	EXPECT(dpa_picked(&st, 0) == DPA_PICK_MIN);
	/* what is sent again goes as it is; BBR fills no queue to its end */
	st.again = 30000;
	EXPECT(dpa_picked(&st, 0) == 30000);
	st.again = 0;
	p->flags = DPA_PATH_PAUSES;
	EXPECT(!is_narrow(&st));
	p->flags = 0;
	/* nor does what loses at random; its window is to grow */
	p->srtt_us = RTT_US + 12000;
	EXPECT(!is_narrow(&st));
	/* nor has one that holds four fragments such a queue; its window is to grow, too */
	p->rtt_us = 2 * RTT_US;
	p->srtt_us = 2 * RTT_US + 25000;
	EXPECT(!is_narrow(&st));
	p->rtt_us = RTT_US;
	p->srtt_us = RTT_US + 25000;
	/* where there is time to repair */
	st.next_deadline_ns = 20 * SEC;
	EXPECT(!is_narrow(&st));
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
	{ "room on a path, and lateness", test_room },
	{ "the queue of a costlier path", test_costlier_queue },
	{ "a small window, shared by two paths", test_small_window },
	{ "picks end within a fragment", test_cut },
	{ "a path that was too slow is tried again", test_try },
	{ "a pace that fills no queue", test_pace },
	{ "a bound on what deadlines cost", test_costly_bound },
	{ "a quota, and a rate at most", test_quota },
	{ "the cheapest paths first while a chunk is written", test_spare },
	{ "one path for a peer with little room", test_narrow },
	{ "short queues before a deadline", test_short_queue },
	{}
};
