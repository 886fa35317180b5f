// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of pause.h. */
#include "decision_test.h"

#define NEVER	DPA_U32_MAX

/* as long as 16 bits tell it */
#define PAUSE_NS(ms)	(UNITS(ms) * DPA_RTT_UNIT_US * DPA_NSEC_PER_USEC)

static void test_pause(void)
{
	struct dpa_observation o = {
		.now_ns = SEC, .rtt_ns = 100 * MSEC, .busy = 1,
	};
	struct dpa_path p = {
		.rtt_us = RTT_US, .goodput = 1000000, .rtt_age_ms = 4000,
	};

	/* not every congestion control makes any */
	dpa_foresee_pause(&p, &o);
	EXPECT(p.pause_in_us == NEVER && !dpa_paused_ns(&p, 99 * SEC));
	/* ten seconds after the least round trip */
	p.flags = DPA_PATH_PAUSES;
	dpa_foresee_pause(&p, &o);
	EXPECT(p.pause_in_us == 6000000 && p.pause == UNITS(100));
	/* it is on for 200 ms and a round trip */
	o.now_ns += 6 * SEC;
	o.pausing = 1;
	dpa_foresee_pause(&p, &o);
	EXPECT(p.pausing && !p.pause_in_us && p.pause == UNITS(300));
	o.now_ns += 200 * MSEC;
	dpa_foresee_pause(&p, &o);
	EXPECT(p.pausing && !p.pause_in_us && p.pause == UNITS(100));
	/* it is over */
	o.pausing = 0;
	p.rtt_age_ms = 65535;
	dpa_foresee_pause(&p, &o);
	EXPECT(p.pause_in_us == 10000000);
	o.now_ns += SEC;
	dpa_foresee_pause(&p, &o);
	EXPECT(within(p.pause_in_us, 8999000, 9001000));
	/* any moment now, and at last not at all */
	o.now_ns += 9500 * MSEC;
	dpa_foresee_pause(&p, &o);
	EXPECT(p.pause_in_us == 0);
	o.now_ns += SEC;
	dpa_foresee_pause(&p, &o);
	EXPECT(p.pause_in_us == NEVER);
	/* a shorter round trip puts it off */
	p.rtt_age_ms = 1000;
	dpa_foresee_pause(&p, &o);
	EXPECT(p.pause_in_us == 9000000);
}

/* The first acknowledgement after idle time measures the path, if it is due. */
static void test_idle(void)
{
	struct dpa_observation o = {
		.now_ns = SEC, .rtt_ns = 100 * MSEC, .acked = 7,
	};
	struct dpa_path p = {
		.rtt_us = RTT_US, .rtt_age_ms = 9000, .sample_acked = 7,
		.flags = DPA_PATH_PAUSES | DPA_PATH_TOLD,
	};

	dpa_foresee_pause(&p, &o);
	EXPECT(p.pause_in_us == 1000000);
	p.rtt_age_ms = 10100;
	dpa_foresee_pause(&p, &o);
	EXPECT(p.pause_in_us == NEVER);
	/* busy again, and nothing came back yet */
	o.busy = 1;
	p.flags = DPA_PATH_PAUSES;
	dpa_foresee_pause(&p, &o);
	EXPECT(p.pause_in_us == NEVER);
	o.acked = 8;
	dpa_foresee_pause(&p, &o);
	EXPECT(p.pause_in_us == 10000000);
	/* if BBR was not told, it empties the path all the same */
	p = (struct dpa_path){
		.rtt_us = RTT_US, .rtt_age_ms = 10100, .sample_acked = 7,
		.flags = DPA_PATH_PAUSES,
	};
	o.busy = 0;
	dpa_foresee_pause(&p, &o);
	o.busy = 1;
	dpa_foresee_pause(&p, &o);
	EXPECT(!p.pause_in_us);
}

static void test_rest(void)
{
	struct dpa_observation o = {};
	struct dpa_path p = {
		.rtt_us = RTT_US, .srtt_us = RTT_US, .goodput = 1000000,
		.behind = 200000, .flight = 100000, .pause_in_us = 300000,
	};

	/* 200 ms until it is empty, and that shall be some time before the pause */
	EXPECT(dpa_drain_us(&p, 0) == 200000);
	EXPECT(dpa_drain_us(&p, 10000) == 210000);
	dpa_rest(&p, &o);
	EXPECT(!p.resting);
	EXPECT(dpa_rest_room(&p, 0, 0) == 275000);
	p.pause_in_us = 275000;
	dpa_rest(&p, &o);
	EXPECT(p.resting && !dpa_rest_room(&p, 0, 0));
	/* it is empty, then it is time, then its TCP knows */
	p.behind = 0;
	p.flight = 0;
	EXPECT(dpa_has_rested(&p));
	p.flags = DPA_PATH_TOLD;
	p.pause_in_us = 90000;
	dpa_rest(&p, &o);
	EXPECT(p.resting && within(dpa_waits_ns(&p), 2500000, 2501000));
	p.flags = 0;
	p.pause_in_us = 80000;
	dpa_rest(&p, &o);
	EXPECT(p.resting);
	p.flags = DPA_PATH_TOLD;
	dpa_rest(&p, &o);
	EXPECT(!p.resting && dpa_waits_ns(&p) == DPA_U64_MAX);
	/* with bytes on their way again it goes on until the next time */
	p.behind = 100000;
	dpa_rest(&p, &o);
	EXPECT(!p.resting && dpa_rest_room(&p, 0, 0) == DPA_U64_MAX);
}

static void test_no_rest(void)
{
	struct dpa_observation o = {};
	struct dpa_path p = {
		.rtt_us = RTT_US, .srtt_us = RTT_US, .goodput = 1000000,
		.behind = 200000, .flight = 100000, .pause_in_us = 270000,
	}, q = p;

	/* what comes next is due before the pause */
	o.due_ns = 270 * MSEC;
	dpa_rest(&q, &o);
	EXPECT(!q.resting &&
	       dpa_rest_room(&q, o.due_ns, 0) == DPA_U64_MAX);
	o.due_ns = 271 * MSEC;
	dpa_rest(&q, &o);
	EXPECT(q.resting);
	/* too late to be empty in time */
	q = p;
	q.pause_in_us = 170000;
	dpa_rest(&q, &o);
	EXPECT(!q.resting);
	/* an empty one waits, if not for too long */
	o.due_ns = 0;
	q.behind = 0;
	q.flight = 0;
	q.pause_in_us = 183000;
	dpa_rest(&q, &o);
	EXPECT(!q.resting);
	q.pause_in_us = 182000;
	dpa_rest(&q, &o);
	EXPECT(q.resting);
	/* it did not get empty: the pause comes, or it does not */
	q = p;
	dpa_rest(&q, &o);
	EXPECT(q.resting);
	q.pause_in_us = 0;
	dpa_rest(&q, &o);
	EXPECT(!q.resting);
	/* it was measured while it drained */
	q = p;
	dpa_rest(&q, &o);
	EXPECT(q.resting);
	q.pause_in_us = 9990000;
	dpa_rest(&q, &o);
	EXPECT(!q.resting);
	/* too slow, too short a round trip, too long a one */
	q = p;
	q.goodput = DPA_REST_RATE_MIN - 1;
	q.pause_in_us = 1500000;
	dpa_rest(&q, &o);
	EXPECT(!q.resting && dpa_rest_room(&q, 0, 0) == DPA_U64_MAX);
	q = p;
	q.rtt_us = DPA_REST_RTT_MIN_US - 1;
	q.pause_in_us = 200000;
	dpa_rest(&q, &o);
	EXPECT(!q.resting);
	q.rtt_us = DPA_REST_RTT_MAX_US + 1;
	q.pause_in_us = 500000;
	dpa_rest(&q, &o);
	EXPECT(!q.resting);
}

static void test_pauses_in_time(void)
{
	struct dpa_path p = {
		.goodput = 1000000, .rtt_us = RTT_US, .pause_in_us = 400000,
		.pause = UNITS(100),
	};

	/* bytes are given until half a round trip before, less the rest */
	EXPECT(within(dpa_arriving(&p, 1000000, 2 * SEC), 1849000, 1851000));
	EXPECT(dpa_paused_ns(&p, 2 * SEC) == PAUSE_NS(100));
	EXPECT(dpa_paused_ns(&p, 12 * SEC) == PAUSE_NS(100) + 100 * MSEC);
	EXPECT(dpa_paused_ns(&p, DPA_U64_MAX / 2) < 150 * SEC);
	/* none before a deadline that is earlier, nor without a pause */
	EXPECT(!dpa_paused_ns(&p, 400 * MSEC));
	p.pause_in_us = NEVER;
	EXPECT(within(dpa_arriving(&p, 1000000, 2 * SEC), 1949000, 1951000));
	/* it rests now */
	p.pause_in_us = 150000;
	p.resting = 1;
	EXPECT(dpa_paused_ns(&p, 130 * MSEC) == 80 * MSEC);
	EXPECT(dpa_paused_ns(&p, SEC) == PAUSE_NS(100));
	/* one that does not rest makes BBR's pause, when that comes */
	p = (struct dpa_path){
		.rtt_us = 10000, .pause_in_us = 400000, .pause = UNITS(210),
	};
	EXPECT(dpa_paused_ns(&p, 500 * MSEC) == 95 * MSEC);
	EXPECT(dpa_paused_ns(&p, SEC) == PAUSE_NS(210));
}

const struct dpa_test pause_tests[] = {
	{ "pauses foreseen", test_pause },
	{ "pauses put off by idle time", test_idle },
	{ "a path rests before a pause", test_rest },
	{ "or does not", test_no_rest },
	{ "pauses until a deadline", test_pauses_in_time },
	{}
};
