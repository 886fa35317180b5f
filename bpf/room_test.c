// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of pick.h: how much a path may hold. */
#include "decision_test.h"

/* Has the first path room for more, with so much behind? */
static int has_room(struct dpa_state *st, __u32 behind, __u64 window)
{
	st->path[0].behind = behind;
	make_room(st);
	return dpa_has_room(st, &st->path[0], window);
}

/* Would the first path's picks end where its room does, by a plan made now? */
static int is_narrow(struct dpa_state *st)
{
	make_room(st);
	return st->path[0].narrow;
}

/* The cheapest path, which has a queue of its own round trip, and time. */
static struct dpa_state cheap_path(void)
{
	return (struct dpa_state){
		.now_ns = SEC, .next_deadline_ns = 20 * SEC, .unit = 30000,
		.cheapest = 1, .cost_limit = 1, .open_cost = 9,
		.window = DPA_U64_MAX, .rows = 2, .path[0] = {
			.cost = 1, .goodput = 1000000, .rtt_us = RTT_US,
			.srtt_us = 2 * RTT_US, .pacing = 1000000, .known = 1,
			.usable = 1, .pause_in_us = DPA_U32_MAX,
		},
	};
}

static void test_room(void)
{
	struct dpa_state st = cheap_path();
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
}

/* It is shorter near a deadline, before a rest, and on costlier paths. */
static void test_less_room(void)
{
	struct dpa_state st = cheap_path();
	struct dpa_path *p = &st.path[0];

	st.next_deadline_ns = 2 * SEC;
	EXPECT(!has_room(&st, 130000, 260000));
	EXPECT(has_room(&st, 120000, 260000));

	st = cheap_path();
	p->pause_in_us = 1500000;
	EXPECT(!has_room(&st, 130000, 260000));
	EXPECT(has_room(&st, 120000, 260000));

	st = cheap_path();
	p->cost = 9;
	EXPECT(!has_room(&st, 130000, 260000));
	EXPECT(has_room(&st, 120000, 260000));
	/* that get a share alone, and not all that they can carry */
	st.cost_limit = 9;
	EXPECT(has_room(&st, 250000, 260000));
	EXPECT(!has_room(&st, 254000, 260000));
}

/* A queue of others does not become shorter by that, but what the path gets less. */
static void test_room_beside_others(void)
{
	struct dpa_state st = cheap_path();
	struct dpa_path *p = &st.path[0];

	p->cost = 9;
	p->others = RTT_US / DPA_RTT_UNIT_US;
	st.next_deadline_ns = 2 * SEC;
	EXPECT(has_room(&st, 500000, 900000));
	EXPECT(!has_room(&st, 504000, 900000));
	/* where it is to be empty soon that is as short as ever */
	p->pause_in_us = 1500000;
	EXPECT(!has_room(&st, 254000, 900000));
}

/* A quarter of a long round trip is too much, but BBR needs it. */
static void test_long_room(void)
{
	struct dpa_state st = cheap_path();
	struct dpa_path *p = &st.path[0];

	st.next_deadline_ns = 2 * SEC;
	p->pacing = 5000000;
	p->rtt_us = 3 * RTT_US;
	EXPECT(!has_room(&st, 330000, 900000));
	EXPECT(has_room(&st, 320000, 900000));
	p->flags = DPA_PATH_PAUSES;
	EXPECT(has_room(&st, 370000, 900000));
	p->flags = 0;
	/* and so do others while there is time, to become faster after a loss */
	st.next_deadline_ns = 20 * SEC;
	p->cost = 9;
	EXPECT(has_room(&st, 370000, 900000));
}

/* A costlier path that ramps up has a little more, from what its TCP begins with. */
static void test_ramp_room(void)
{
	struct dpa_state st = cheap_path();
	struct dpa_path *p = &st.path[0];

	p->cost = 9;
	p->known = 0;
	p->pacing = 5000000;
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
}

/* The peer's room is shared with others in use, but a path stays busy. */
static void test_window_room(void)
{
	struct dpa_state st = cheap_path();

	st.path[0].pacing = 5000000;
	st.path[1] = (struct dpa_path){
		.cost = 2, .goodput = 3000000, .usable = 1,
	};
	st.window = 800000;
	EXPECT(has_room(&st, 199000, 900000));
	EXPECT(!has_room(&st, 201000, 900000));
	st.window = 400000;
	EXPECT(has_room(&st, 120000, 900000));
	EXPECT(!has_room(&st, 130000, 900000));
}

/* Before a rest there is little enough to be empty in time, with a unit above it. */
static void test_rest_room(void)
{
	struct dpa_state st = cheap_path();
	struct dpa_path *p = &st.path[0];

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
}

/* What is behind is late by when it comes, unless that is all there is. */
static void test_late(void)
{
	struct dpa_state st = cheap_path();

	st.next_deadline_ns = 2 * SEC;
	EXPECT(!is_late(&st, 900000));
	EXPECT(!is_late(&st, 1038000));
	EXPECT(is_late(&st, 1039000));
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

const struct dpa_test room_tests[] = {
	{ "room on a path", test_room },
	{ "less room near a deadline, a rest, and where it costs", test_less_room },
	{ "room beside others", test_room_beside_others },
	{ "room for a long round trip", test_long_room },
	{ "room of a costlier path that ramps up", test_ramp_room },
	{ "room of the peer, shared", test_window_room },
	{ "room before a rest, and in it", test_rest_room },
	{ "what is behind, and lateness", test_late },
	{ "the queue of a costlier path", test_costlier_queue },
	{ "a small window, shared by two paths", test_small_window },
	{ "short queues before a deadline", test_short_queue },
	{}
};
