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
			.known = 1, .sampling = 1,
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

/* Room on the first path, by what all carry together. */
void make_room(struct dpa_state *st)
{
	struct dpa_outlook o = {};
	__u32 i;

	for (i = 0; i < st->rows; i++)
		if (st->path[i].usable)
			dpa_take_in(st, &o, &st->path[i]);
	dpa_make_room(st, 0, o.total);
}

/* Is the next byte late on the first path, with so much behind? */
bool is_late(struct dpa_state *st, __u32 behind)
{
	st->path[0].behind = behind;
	make_room(st);
	return dpa_is_late(st, &st->path[0]);
}

/* One decision of the deficit rule for chunks given as (end, deadline). */
void plan(struct dpa_state *st, struct dpa_scratch *s, int chunks,
	  const __u64 (*chunk)[2])
{
	int i;

	st->chunk_end = chunk[0][0];
	st->chunk_deadline_ns = chunk[0][1];
	look(st, s);
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

/* A second before the deadline, 1 MB of the chunk in force is not acknowledged. */
static const struct dpa_state second_left = {
	.now_ns = SEC, .chunk_deadline_ns = 2 * SEC,
	.acked = 1000000, .chunk_end = 2000000,
	.late_policy = MPTCP_DPA_LATE_POLICY_CHEAP,
};

/* For the chunk in force: */
static int outruns(const struct dpa_state *st, const struct dpa_path *p,
		   const struct dpa_path *q)
{
	struct dpa_horizon due = dpa_in_force(st);

	return dpa_outruns(st, &due, p, q);
}

static __u64 in_time(const struct dpa_state *st, const struct dpa_path *p)
{
	struct dpa_horizon due = dpa_in_force(st);

	return dpa_in_time(st, &due, p);
}

static __u64 held_now(const struct dpa_state *st, const struct dpa_path *p)
{
	struct dpa_horizon due = dpa_in_force(st);

	return dpa_held_now(st, &due, p);
}

static void test_outruns(void)
{
	struct dpa_state st = second_left;
	struct dpa_path p = {
		.cost = 1, .goodput = 1000000, .rtt_us = RTT_US,
		.behind = 500000, .known = 1,
	}, q = { .cost = 9, .goodput = 1000000, .rtt_us = RTT_US };

	/* in time where it is */
	EXPECT(!outruns(&st, &p, &q));
	/* the last sample tells of a fall; the mean does not yet */
	p.last = 100000;
	EXPECT(outruns(&st, &p, &q));
	/* the other is to be empty for a while */
	q.resting = 1;
	EXPECT(!outruns(&st, &p, &q));
	q.resting = 0;
	/* what it has of later chunks is not due yet */
	st.chunk_end = 1100000;
	st.sent = 2000000;
	EXPECT(!outruns(&st, &p, &q));
	st.chunk_end = 1110000;
	EXPECT(outruns(&st, &p, &q));
	/* if that is not all of them, the rest goes before */
	st.chunk_end = 1100000;
	st.sent = 1450000;
	EXPECT(held_now(&st, &p) == 150000 && outruns(&st, &p, &q));
	st.chunk_end = 2000000;
	/* neither is in time: cheap is */
	q.behind = 1000000;
	EXPECT(!outruns(&st, &p, &q));
	st.late_policy = MPTCP_DPA_LATE_POLICY_SPEND;
	EXPECT(outruns(&st, &p, &q));
	st.late_policy = MPTCP_DPA_LATE_POLICY_CHEAP;
	q.cost = 1;
	EXPECT(outruns(&st, &p, &q));
	/* but not for less than half the time */
	q.behind = 2500000;
	EXPECT(!outruns(&st, &p, &q));
	/* after the deadline the same */
	st.now_ns = 3 * SEC;
	EXPECT(!outruns(&st, &p, &q));
	q.behind = 0;
	EXPECT(outruns(&st, &p, &q));
	/* one that has shown nothing is in slow start: two round trips */
	q.goodput = 0;
	p.behind = 100000;
	p.last = 1000000;
	EXPECT(!outruns(&st, &p, &q));
	p.last = 100000;
	EXPECT(outruns(&st, &p, &q));
	/* a path that has shown nothing is not called slow */
	p.goodput = 0;
	EXPECT(!outruns(&st, &p, &q));
}

/* A chunk behind the one in force has less time than that. */
static void test_urgent_behind(void)
{
	struct dpa_state st = second_left;
	struct dpa_path p = {
		.cost = 1, .goodput = 600000, .rtt_us = RTT_US, .behind = 500000,
		.known = 1,
	}, q = { .cost = 9, .goodput = 2000000, .rtt_us = RTT_US };
	struct dpa_horizon due = { .deadline_ns = st.now_ns + SEC / 2 };

	st.sent = 1500000;
	st.chunk_end = 1400000;
	EXPECT(!outruns(&st, &p, &q));
	/* all that the path holds goes before it, or is a part of it */
	due.end = 1500000;
	EXPECT(dpa_held_now(&st, &due, &p) == 500000);
	EXPECT(dpa_in_time(&st, &due, &p) == 600000 / 20 * 11);
	EXPECT(dpa_outruns(&st, &due, &p, &q));
	/* or 200 KB, which come there in time */
	due.end = 1200000;
	EXPECT(dpa_held_now(&st, &due, &p) == 200000);
	EXPECT(!dpa_outruns(&st, &due, &p, &q));
}

/* What comes in time stays; only the rest has to come in time elsewhere. */
static void test_late_part(void)
{
	struct dpa_state st = second_left;
	struct dpa_path p = {
		.cost = 1, .goodput = 400000, .rtt_us = RTT_US, .behind = 500000,
		.known = 1,
	}, q = { .cost = 9, .goodput = 100000, .rtt_us = RTT_US };

	/* a second, and the way back of what has arrived */
	EXPECT(in_time(&st, &p) == 400000 / 20 * 21);
	/* 80 KB take 0.85 s there, and 500 KB would take 5 s */
	EXPECT(outruns(&st, &p, &q));
	/* 20 KB that were not sent yet go first, unless they have time: twice 1.2 s */
	st.sent = 1980000;
	st.written = 2000000;
	st.next_deadline_ns = st.chunk_deadline_ns;
	EXPECT(!outruns(&st, &p, &q));
	st.next_deadline_ns = st.now_ns + 2399 * MSEC;
	EXPECT(!outruns(&st, &p, &q));
	st.next_deadline_ns = st.now_ns + 2401 * MSEC;
	EXPECT(outruns(&st, &p, &q));
	/* or there is room for them, too */
	st.next_deadline_ns = st.chunk_deadline_ns;
	st.sent = 1990000;
	EXPECT(outruns(&st, &p, &q));
	st.sent = 1980000;
	/* or no deadline */
	st.next_deadline_ns = 0;
	EXPECT(outruns(&st, &p, &q));
	st.sent = st.written;
	st.next_deadline_ns = st.chunk_deadline_ns;
	EXPECT(outruns(&st, &p, &q));
	/* what varies brings less for sure */
	p.spread = 50000;
	EXPECT(in_time(&st, &p) == 350000 / 20 * 21);
	EXPECT(!outruns(&st, &p, &q));
	p.spread = 500000;
	EXPECT(in_time(&st, &p) == 0);
	/* after the deadline that is what has arrived by then */
	p.spread = 0;
	st.now_ns = 3 * SEC;
	EXPECT(in_time(&st, &p) == 20000);
}

/* What a path shows in slow start does not call it slow; it doubles. */
static void test_ramp_is_not_slow(void)
{
	struct dpa_state st = second_left;
	struct dpa_path p = {
		.cost = 1, .goodput = 50000, .rtt_us = RTT_US, .srtt_us = RTT_US,
		.behind = 100000, .known = 1,
	}, q = { .cost = 9, .goodput = 1000000, .rtt_us = RTT_US };

	EXPECT(dpa_held_ns(&p, 100000) == 2 * SEC);
	EXPECT(outruns(&st, &p, &q));
	p.known = 0;
	p.ramping = DPA_RAMP_SAMPLES - 1;
	EXPECT(dpa_held_ns(&p, 100000) == 2 * SEC);
	p.ramping = DPA_RAMP_SAMPLES;
	/* 5, 10, 20, 40 and 25 KB, of which the first take a round trip as well */
	EXPECT(dpa_held_ns(&p, 100000) == 5 * RTT_US * 1000ULL);
	EXPECT(!outruns(&st, &p, &q));
	/* a packet at least, and no longer than at the rate there is */
	p.goodput = 100;
	EXPECT(dpa_held_ns(&p, 3 * DPA_PACKET_BYTES) == 2 * RTT_US * 1000ULL);
	p.goodput = 1000000;
	EXPECT(dpa_held_ns(&p, 10000) == 10 * MSEC);
}

/* The silence of a path of a packet in 15 ms. */
static void test_between_acks(void)
{
	struct dpa_path p = { .goodput = 96533, .srtt_us = 50000 };
	struct dpa_state st = { .now_ns = 1 * SEC };

	EXPECT(dpa_between_acks_ns(&st, &p) / MSEC == 30);
	/* never longer than a round trip */
	p.srtt_us = 20000;
	EXPECT(dpa_between_acks_ns(&st, &p) == 20 * MSEC);
	/* and no longer than what counts as silence, where round trips are bogus */
	p.goodput = 100;
	p.srtt_us = 20000000;
	EXPECT(dpa_between_acks_ns(&st, &p) == 1 * SEC);
	/* before it has shown anything nobody knows: half of the time that is left */
	p.goodput = 0;
	EXPECT(dpa_between_acks_ns(&st, &p) == 0);
	st.chunk_deadline_ns = 1500 * MSEC;
	EXPECT(dpa_between_acks_ns(&st, &p) == 250 * MSEC);
	st.chunk_deadline_ns = 60 * SEC;
	EXPECT(dpa_between_acks_ns(&st, &p) == 1 * SEC);
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
	{ "how long a plan stands", test_stand },
	{ "a look at the paths", test_look },
	{ "what is stuck, and where it would be sooner", test_outruns },
	{ "slow start is not slow", test_ramp_is_not_slow },
	{ "a chunk behind that has less time", test_urgent_behind },
	{ "what of it comes too late", test_late_part },
	{ "how far acknowledgments are apart", test_between_acks },
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
		estimate_tests, rest_tests, queue_tests, pause_tests, threshold_tests,
		deficit_tests, pick_tests, room_tests, late_tests, share_tests, decision_tests,
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
