// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of decision.h and stuck.h, in user space; all of them are run here. */
#include "decision_test.h"

int failures;

__u64 draw(void)
{
	static __u64 x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

bool within(__u64 value, __u64 least, __u64 most)
{
	return value >= least && value <= most;
}

/* Paths that have carried so much for long. */
void set_paths(struct dpa_state *st, int n, const __u32 *cost,
	       const __u32 *goodput)
{
	int i;

	st->rows = n;
	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++) {
		st->path[i] = (struct dpa_path){};
		if (i >= n)
			continue;
		st->path[i] = (struct dpa_path){
			.cost = cost[i], .goodput = goodput[i],
			.sampled = 1, .known = 1, .sampling = 1,
			.rtt_us = RTT_US, .pause_in_us = DPA_U32_MAX,
			.flags = DPA_PATH_USED | DPA_PATH_ACTIVE |
				 DPA_PATH_BUSY,
		};
	}
}

__u64 look_rtt;

/* A look that finds nothing new, but for the round trip. */
void look(struct dpa_state *st, struct dpa_scratch *s)
{
	int i;

	s->outlook = (struct dpa_outlook){};
	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++) {
		struct dpa_path *p = &st->path[i];

		p->srtt_us = look_rtt / 1000;
		p->usable = dpa_is_usable(p);
		if (p->usable)
			dpa_take_in(st, &s->outlook, p);
	}
	st->cheapest = s->outlook.cheapest;
}

/* One decision of the deficit rule for chunks given as (end, deadline). */
void plan(struct dpa_state *st, struct dpa_scratch *s, int chunks,
	  const __u64 (*chunk)[2])
{
	int i;

	look(st, s);
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

/* What the paths in use carry together, by a look at them. */
static __u64 in_use(const struct dpa_state *st)
{
	struct dpa_outlook o = {};
	__u32 i;

	for (i = 0; i < st->rows; i++)
		if (st->path[i].usable)
			dpa_take_in(st, &o, &st->path[i]);
	return o.in_use;
}

/* Has the first path room for more, with so much behind? */
static int has_room(struct dpa_state *st, __u32 behind, __u64 window)
{
	st->path[0].behind = behind;
	dpa_make_room(st, 0, in_use(st));
	return dpa_has_room(st, &st->path[0], window);
}

static int is_late(struct dpa_state *st, __u32 behind)
{
	st->path[0].behind = behind;
	dpa_make_room(st, 0, in_use(st));
	return dpa_is_late(st, &st->path[0]);
}

static void test_room(void)
{
	struct dpa_state st = {
		.now_ns = SEC, .next_deadline_ns = 20 * SEC, .unit = 30000,
		.cheapest = 1, .cost_limit = 1, .window = DPA_U64_MAX,
		.rows = 2, .path[0] = {
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
	EXPECT(has_room(&st, 310000, 900000));
	st.cost_limit = 2;
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
	/* unless bytes are rescued */
	st.again = 30000;
	EXPECT(has_room(&st, 94000, 260000));
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
		}, { .cost = 9, .fits = DPA_FITS_MANY } },
	};
	struct dpa_path *p = &st.path[0];

	EXPECT(dpa_picked(&st, 1) == 30000);
	EXPECT(dpa_picked(&st, 1) == 10000);
	EXPECT(!st.budget && st.spent == 40000);
	/* not while it is to show what it can carry */
	st.budget = 10000;
	st.trial = 1;
	EXPECT(dpa_picked(&st, 1) == 30000);
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
	dpa_make_room(&st, 0, in_use(&st));
	EXPECT(p->fits == DPA_FITS_MANY);
	p->behind = 960000;
	dpa_make_room(&st, 0, in_use(&st));
	EXPECT(p->fits == 82500 >> DPA_FITS_SHIFT);
	EXPECT(dpa_picked(&st, 0) == BURST);
	EXPECT(within(p->fits << DPA_FITS_SHIFT, 16000, 17072));
	EXPECT(within(dpa_picked(&st, 0), 16000, 17072) && !p->fits);
	/* the last resort */
	EXPECT(dpa_picked(&st, 0) == BURST);
	/* one whose speed is not known gets what it is given */
	p->known = 0;
	dpa_make_room(&st, 0, in_use(&st));
	EXPECT(p->fits == DPA_FITS_MANY && dpa_picked(&st, 0) == 30000);
	EXPECT(p->fits == DPA_FITS_MANY);
	/* nor is more than a fragment given in the last round trips before a deadline */
	p->known = 1;
	EXPECT(dpa_picked(&st, 0) == BURST);
	st.next_deadline_ns = SEC + 7 * (SEC / 10);
	EXPECT(dpa_picked(&st, 0) == 30000);
	st.next_deadline_ns = 0;
	EXPECT(dpa_picked(&st, 0) == BURST);
}

/* What is late anyway does not become more so by a path with a long round trip. */
static void test_hurry(void)
{
	struct dpa_state st = {
		.now_ns = SEC, .next_deadline_ns = SEC + SEC / 10, .unit = 30000,
		.chunk_end = 1060000, .sent = 1000000, .written = 1060000,
		.costly_left = DPA_U64_MAX,
		.cheapest = 1, .cost_limit = 9, .window = DPA_U64_MAX, .rows = 2,
		.path = { {
			.cost = 1, .goodput = 1000000, .rtt_us = 20000,
			.srtt_us = 20000, .known = 1, .usable = 1,
			.behind = 50000, .pause_in_us = DPA_U32_MAX,
			.flags = DPA_PATH_USED | DPA_PATH_ACTIVE,
		}, {
			.cost = 9, .goodput = 1000000, .rtt_us = 300000,
			.srtt_us = 300000, .known = 1, .usable = 1,
			.pause_in_us = DPA_U32_MAX,
			.flags = DPA_PATH_USED | DPA_PATH_ACTIVE,
		} },
	};
	const struct dpa_path *fast = &st.path[0], *slow = &st.path[1];
	const struct dpa_scratch s = {};

	/* the fast one alone takes 100 ms: 7.5 ms too long, but the other 150 at least */
	dpa_stand(&st, &s, BURST);
	EXPECT(within(fast->fits << DPA_FITS_SHIFT, 67000, 67500));
	EXPECT(!dpa_is_late(&st, fast) && dpa_is_late(&st, slow));
	/* what has been written of the next chunk is not in a hurry */
	st.written = 2000000;
	dpa_stand(&st, &s, BURST);
	EXPECT(dpa_is_late(&st, slow));
	/* of more the other brings some by the time that the fast one would take */
	st.chunk_end = 1300000;
	dpa_stand(&st, &s, BURST);
	EXPECT(!dpa_is_late(&st, fast) && fast->fits == DPA_FITS_MANY);
	EXPECT(slow->fits == DPA_FITS_MANY);
	st.chunk_end = 1200000;
	dpa_stand(&st, &s, BURST);
	EXPECT(within(slow->fits << DPA_FITS_SHIFT, 97000, 97500));
	/* not one that may get nothing */
	st.chunk_end = 1060000;
	st.path[0].flags |= DPA_PATH_SILENT;
	dpa_stand(&st, &s, BURST);
	EXPECT(!dpa_is_late(&st, slow));
}

/* A plan stands for as long as a look counts, or until the next is due. */
static void test_stand(void)
{
	struct dpa_state st = { .now_ns = SEC, .interval_us = 25000 };
	const struct dpa_scratch s = {};

	dpa_stand(&st, &s, BURST);
	EXPECT(st.plan_until_ns == SEC + DPA_LOOK_NS && st.burst == BURST);
	st.interval_us = 1000;
	dpa_stand(&st, &s, BURST);
	EXPECT(st.plan_until_ns == SEC + MSEC);
	/* a sample ends when it should */
	st.interval_us = 25000;
	st.rows = 1;
	st.path[0] = (struct dpa_path){
		.usable = 1, .sampling = 1,
		.sample_tick = dpa_tick(SEC - 98 * MSEC),
	};
	dpa_stand(&st, &s, BURST);
	EXPECT(within(st.plan_until_ns, SEC + 19 * MSEC / 10,
		      SEC + 21 * MSEC / 10));
	st.path[0].srtt_us = 2 * RTT_US;
	dpa_stand(&st, &s, BURST);
	EXPECT(st.plan_until_ns == SEC + DPA_LOOK_NS);
}

/* What a look takes from the module's facts. */
static void test_look(void)
{
	static const __u32 cost[] = { 1, 5, 9, 12 }, goodput[] = { 7, 7, 7, 7 };
	struct dpa_state st = { .now_ns = SEC, .cost_limit = 5 };
	struct dpa_scratch s;

	set_paths(&st, 4, cost, goodput);
	st.path[0].flags |= DPA_PATH_SILENT | DPA_PATH_LIMITED;
	st.path[0].sample_tick = dpa_tick(SEC);
	st.path[2].flags &= ~DPA_PATH_ACTIVE;
	st.path[3].cost = MPTCP_DPA_COST_FORBIDDEN;
	st.path[1].srtt_us = 300;
	dpa_look(&st, &s);
	EXPECT(!st.path[0].usable && st.path[1].usable && !st.path[2].usable &&
	       !st.path[3].usable && !st.path[4].usable);
	EXPECT(st.cheapest == 5 && s.outlook.dearest == 5);
	EXPECT(s.outlook.rtt_ns == 300000 && s.outlook.goodput == 7);
	/* taken account of */
	EXPECT(st.path[0].limited && !(st.path[0].flags & DPA_PATH_LIMITED));
	/* a sample ends where the path had nothing to carry */
	EXPECT(st.path[0].sampling);
	st.path[0].flags |= DPA_PATH_RESTED;
	dpa_look(&st, &s);
	EXPECT(!st.path[0].sampling && !(st.path[0].flags & DPA_PATH_RESTED));
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
	/* one that has shown nothing is in slow start: two round trips */
	q.goodput = 0;
	p.behind = 100000;
	p.last = 1000000;
	EXPECT(!dpa_outruns(&st, &p, &q));
	p.last = 100000;
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
		plan(&st, &s, 2, chunk);
		dpa_look(&st, &s);
		dpa_stand(&st, &s, BURST);
		EXPECT(!st.open_cost || st.open_cost > st.cost_limit);
		EXPECT(st.open_cost || !st.budget);
		EXPECT(st.caution <= DPA_CAUTION_MAX);
		dpa_decide_threshold(&st, &s);
		if (failures)
			return;
	}
}

static const struct dpa_test decision_tests[] = {
	{ "room on a path, and lateness", test_room },
	{ "the queue of a costlier path", test_costlier_queue },
	{ "picks end within a fragment", test_cut },
	{ "late bytes take the path that is soonest", test_hurry },
	{ "how long a plan stands", test_stand },
	{ "a look at the paths", test_look },
	{ "a bound on what deadlines cost", test_costly_bound },
	{ "a quota, and a rate at most", test_quota },
	{ "one path for a peer with little room", test_narrow },
	{ "what is stuck, and where it would be sooner", test_outruns },
	{ "bytes to be sent, and to be sent again", test_unsent },
	{ "any input", test_any_input },
	{}
};

static int run(const struct dpa_test *test, int number)
{
	failures = 0;
	test->run();
	printf("%sok %d %s\n", failures ? "not " : "", number, test->name);
	return failures;
}

int main(void)
{
	static const struct dpa_test *const all[] = {
		estimate_tests, pause_tests, threshold_tests, deficit_tests,
		decision_tests,
	};
	size_t n = sizeof(all) / sizeof(all[0]), i;
	const struct dpa_test *test;
	int number = 0, bad = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n");
	for (i = 0; i < n; i++)
		for (test = all[i]; test->name; test++)
			bad += run(test, ++number);
	printf("1..%d\n", number);
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
