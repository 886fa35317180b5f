// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of what many connections know together of a path that they share. */
#include "decision_test.h"

#define SHARE	100	/* units */
#define RATE	(SHARE * DPA_SHARE_UNIT)

/* What one shows that begins among many is chance: it will get what each of them gets. */
static void test_first_sample(void)
{
	struct dpa_path p = { .share = SHARE, .rtt_us = 50000, .srtt_us = 50000 };

	dpa_add_sample(&p, RATE / 8, 1);
	EXPECT(p.goodput == RATE && p.known && !p.ramping);
	EXPECT(p.spread == dpa_first_spread(RATE) && p.last == RATE);
	/* and if it shows nothing later on */
	dpa_add_sample(&p, 0, 0);
	EXPECT(within(p.goodput, RATE - 1, RATE));
	/* what is faster has its own rate */
	dpa_add_sample(&p, 2 * RATE, 0);
	EXPECT(within(p.goodput, RATE * 5 / 4, RATE * 3 / 2));
	/* with others gone it shows by itself what it brings */
	p.share = 0;
	dpa_add_sample(&p, 0, 0);
	EXPECT(p.goodput < RATE);
}

/* One that brings more than each of them still ramps up, and does not when it falls behind. */
static void test_ramp_among_many(void)
{
	struct dpa_path p = { .share = SHARE, .rtt_us = 50000, .srtt_us = 50000 };

	dpa_add_sample(&p, 2 * RATE, 0);
	EXPECT(p.goodput == 2 * RATE && !p.known && p.ramping);
	dpa_add_sample(&p, RATE / 2, 0);
	EXPECT(p.goodput == 2 * RATE && p.known && !p.ramping);
}

/* Among many a known path's BBR sends a quarter more than each gets, as it probes a link. */
static void test_pace_among_many(void)
{
	struct dpa_state st = {};
	struct dpa_path p = {
		.flags = DPA_PATH_PAUSES, .known = 1, .goodput = RATE / 2,
		.best = 8 * RATE, .share = SHARE,
	};

	EXPECT(dpa_pace(&st, &p) == RATE * 5 / 4);
	p.goodput = 2 * RATE;
	EXPECT(dpa_pace(&st, &p) == 2 * RATE * 5 / 4);
	/* more than can be told is any */
	p.goodput = DPA_U32_MAX;
	EXPECT(!dpa_pace(&st, &p));
	p.share = 0;
	EXPECT(dpa_pace(&st, &p) == 12 * RATE);
	p.share = SHARE;
	p.known = 0;
	EXPECT(!dpa_pace(&st, &p));
}

/* Before a path has shown what it carries it is expected to give what others get. */
static void test_expected_among_many(void)
{
	struct dpa_path p = { .rtt_us = 50000, .srtt_us = 50000, .share = SHARE };
	__u64 fair = dpa_probably(&p, SEC);

	EXPECT(fair > RATE / 2 && fair <= RATE + RATE / 10);
	p.goodput = RATE / 8;
	EXPECT(dpa_probably(&p, SEC) == fair);
	p.known = 1;
	EXPECT(dpa_probably(&p, SEC) < fair / 4);
	/* with nobody beside it nothing is */
	p = (struct dpa_path){ .rtt_us = 50000, .srtt_us = 50000 };
	EXPECT(!dpa_probably(&p, SEC));
}

/* A path that a chunk has gone by is not for it. */
static void test_long_line(void)
{
	struct dpa_path p = { .flags = DPA_PATH_USED | DPA_PATH_ACTIVE, .cost = 1 };

	EXPECT(dpa_is_usable(&p));
	p.flags |= DPA_PATH_QUEUED;
	EXPECT(!dpa_is_usable(&p));
}

const struct dpa_test share_tests[] = {
	{ "a first sample among many", test_first_sample },
	{ "a ramp among many", test_ramp_among_many },
	{ "a pace among many", test_pace_among_many },
	{ "expected among many", test_expected_among_many },
	{ "a line that is too long", test_long_line },
	{}
};
