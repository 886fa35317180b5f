// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of queue.h: whose the queue before a path is. */
#include "decision_test.h"

#define LEAST_US	50000

static bool others_ms(const struct dpa_path *p, __u32 ms)
{
	return within(p->others, UNITS(ms) - 2, UNITS(ms) + 2);
}

/* A path that carries 1 MB/s, with 150 ms of round trip, and then nothing. */
static struct feed begun(void)
{
	struct feed f = {
		.now_ns = 7 * SEC, .acked = 1, .rtt_ns = 150 * MSEC,
		.flight = 150000, .p.rtt_us = LEAST_US,
	};

	feed(&f, 1000000, 3 * SEC, 1, 0);
	EXPECT(within(f.p.goodput, 980000, 1020000) && f.p.known);
	EXPECT(!f.p.others);
	return f;
}

/* It is empty for a while, and what it gets then is acknowledged after that time. */
static void begin_anew(struct feed *f, __u32 ms)
{
	feed(f, 0, 300 * MSEC, 0, 0);
	f->p.fresh = UNITS(ms);
	feed(f, 1000000, 10 * MSEC, 1, 0);
}

/* What has nothing of its own to wait for waits for others. */
static void test_first(void)
{
	struct feed f = begun();

	begin_anew(&f, 150);
	EXPECT(others_ms(&f.p, 100));
	EXPECT(within(dpa_pipe(&f.p, 1000000), 149000, 151000));
	/* one way is what it is without them */
	EXPECT(dpa_way_ns(&f.p) == LEAST_US * 500);
	/* less is known at once, and more not before it is empty again */
	f.p.fresh = UNITS(120);
	feed(&f, 1000000, 10 * MSEC, 1, 0);
	EXPECT(others_ms(&f.p, 70));
	f.p.fresh = UNITS(150);
	feed(&f, 1000000, 10 * MSEC, 1, 0);
	EXPECT(others_ms(&f.p, 70));
	begin_anew(&f, 150);
	EXPECT(others_ms(&f.p, 100));
	/* a quarter of the least round trip, a look and two packets are none */
	begin_anew(&f, 50 + 12 + 10 + 2);
	EXPECT(!f.p.others);
	begin_anew(&f, 50 + 12 + 10 + 5);
	EXPECT(others_ms(&f.p, 27));
	/* and on a slow path two packets take long */
	f.p.goodput = 100000;
	f.p.fresh = UNITS(76);
	feed(&f, 100000, 10 * MSEC, 1, 0);
	EXPECT(!f.p.others);
}

/* Nothing was measured yet: nothing is known of others. */
static void test_none(void)
{
	struct dpa_path p = { .rtt_us = DPA_U32_MAX };

	dpa_note_first(&p);
	dpa_note_fresh(&p);
	EXPECT(!p.others);
	p.fresh = UNITS(80);
	dpa_note_first(&p);
	EXPECT(!p.others && dpa_bare_us(&p) == DPA_U32_MAX);
}

/*
 * As much as the last round trips before a deadline allow for is on its way, where the
 * rate is that of a path which others fill, or of one that became slower.
 */
static void hold(struct feed *f, __u32 others, __u32 carries)
{
	__u64 flight = dpa_pipe(&f->p, f->p.goodput) +
		       dpa_bytes_in(f->p.goodput, DPA_TAIL_QUEUE_NS) +
		       DPA_QUEUE_BYTES;
	__u64 way_ns = (LEAST_US + others * 1000ULL) * 1000;
	__u64 rtt_ns = dpa_time_ns(flight, carries);

	f->flight = flight;
	f->rtt_ns = rtt_ns > way_ns ? rtt_ns : way_ns;
	feed(f, dpa_rate(flight, f->rtt_ns), f->rtt_ns + 5 * MSEC, 1, 1);
}

/* Who shares a queue with others gets less if he puts less there, without end. */
static void test_shared(void)
{
	struct feed f = begun();
	int i;

	for (i = 0; i < 40; i++)
		hold(&f, 100, 4000000);
	EXPECT(others_ms(&f.p, 100));
	EXPECT(f.p.goodput > 500000);
}

/*
 * With each sample a fortieth less is on its way, and is brought; packets take so long. The
 * rate at which others are seen, or little.
 */
static __u32 dwindle(struct feed *f, __u32 fresh_ms)
{
	__u32 rate = 1000000;

	f->p.fresh = UNITS(fresh_ms);
	while (!f->p.others && rate > 100000) {
		rate -= rate / 40;
		f->flight = rate / 1000 * 150;
		feed(f, rate, 155 * MSEC, 1, 0);
	}
	return rate;
}

static void test_dwindling(void)
{
	struct feed f = begun();

	EXPECT(within(dwindle(&f, 150), 750000, 900000));
	EXPECT(others_ms(&f.p, 100));
}

/* One sample got what the next one lacks: that is chance, unless it goes on. */
static void test_chance(void)
{
	static const __u32 rates[] = { 1000000, 1120000, 880000, 1120000, 880000, 1000000, 0 };
	struct feed f = begun();
	int i;

	f.p.fresh = UNITS(150);
	f.flight = 150000;
	for (i = 0; rates[i]; i++) {
		feed(&f, rates[i], 155 * MSEC, 1, 0);
		EXPECT(!f.p.others);
	}
	f.flight = 120000;
	feed(&f, 800000, 155 * MSEC, 1, 0);
	feed(&f, 800000, 155 * MSEC, 1, 0);
	EXPECT(others_ms(&f.p, 100));
}

/* Nobody else is there where packets take longer now, whatever the mean says. */
static void test_longer_now(void)
{
	struct feed f = begun();

	EXPECT(dwindle(&f, 175) <= 100000 && !f.p.others);
}

/* But a path that became slower is known to be, and its queue is its own. */
static void test_slower(void)
{
	struct feed f = begun();
	int i;

	for (i = 0; i < 40; i++)
		hold(&f, 0, 250000);
	EXPECT(!f.p.others);
	EXPECT(within(f.p.goodput, 240000, 270000));
}

/* Nor is one that others have left what it was before. */
static void test_left_alone(void)
{
	struct feed f = begun();

	begin_anew(&f, 150);
	EXPECT(others_ms(&f.p, 100));
	f.p.fresh = UNITS(52);
	feed(&f, 1000000, 10 * MSEC, 1, 0);
	EXPECT(!f.p.others);
}

/* For a second, without a byte to show it, a queue is believed to be there. */
static void test_long_ago(void)
{
	struct feed f = begun();

	begin_anew(&f, 3150);
	EXPECT(others_ms(&f.p, 3100));
	feed(&f, 0, 900 * MSEC, 0, 0);
	EXPECT(others_ms(&f.p, 3100));
	feed(&f, 0, 200 * MSEC, 0, 0);
	EXPECT(!f.p.others);
}

const struct dpa_test queue_tests[] = {
	{ "the first of an empty path waits for others", test_first },
	{ "of an unknown path nothing is known", test_none },
	{ "a queue shared with others", test_shared },
	{ "a share that dwindles", test_dwindling },
	{ "less by chance", test_chance },
	{ "a way that is longer now", test_longer_now },
	{ "a queue of its own", test_slower },
	{ "others have left", test_left_alone },
	{ "others were there long ago", test_long_ago },
	{}
};
