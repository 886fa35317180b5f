// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of arith.h and estimate.h. */
#include "decision_test.h"

/* exact reference in a type wide enough for every product */
static __u64 bytes_in_exact(__u64 rate, __s64 ns)
{
	unsigned __int128 bytes;

	if (ns <= 0)
		return 0;
	if (rate > DPA_RATE_MAX)
		rate = DPA_RATE_MAX;
	bytes = (unsigned __int128)rate * (__u64)ns / SEC;
	return bytes > DPA_U64_MAX ? DPA_U64_MAX : (__u64)bytes;
}

static void test_bytes_in(void)
{
	int i;

	EXPECT(dpa_bytes_in(1000000, SEC) == 1000000);
	EXPECT(dpa_bytes_in(1000000, SEC / 2) == 500000);
	EXPECT(dpa_bytes_in(1000000, 0) == 0);
	EXPECT(dpa_bytes_in(1000000, -5) == 0);
	EXPECT(dpa_bytes_in(0, 1LL << 62) == 0);
	EXPECT(dpa_bytes_in(DPA_U64_MAX, (1ULL << 63) - 1) == DPA_U64_MAX);
	for (i = 0; i < 1000000; i++) {
		__u64 rate = draw() >> (draw() % 64);
		__s64 ns = (draw() >> 1) >> (draw() % 63);
		__u64 got = dpa_bytes_in(rate, ns);
		__u64 exact = bytes_in_exact(rate, ns);

		/* beyond 2^29 s everything counts as enough */
		if (got != exact &&
		    !(got == DPA_U64_MAX && (__u64)ns / SEC >= 1 << 29)) {
			EXPECT(got == exact);
			return;
		}
	}
}

static void test_rate(void)
{
	EXPECT(dpa_rate(1000, SEC) == 1000);
	EXPECT(dpa_rate(1000, SEC / 10) == 10000);
	EXPECT(dpa_rate(1000, 0) == 0);
	EXPECT(dpa_rate(1000, 999) == 0);
	EXPECT(dpa_rate(DPA_U64_MAX, SEC) == DPA_RATE_MAX);
	EXPECT(dpa_rate(DPA_U64_MAX, 1000) == DPA_RATE_MAX);
}

static void test_isqrt(void)
{
	int i;

	EXPECT(dpa_isqrt(0) == 0);
	EXPECT(dpa_isqrt(1) == 1);
	EXPECT(dpa_isqrt(3) == 1);
	EXPECT(dpa_isqrt((1ULL << 62) - 1) == (1U << 31) - 1);
	EXPECT(dpa_isqrt((1ULL << 63) - 1) == 3037000499U);
	for (i = 0; i < 1000000; i++) {
		__u64 x = (draw() >> 1) >> (draw() % 63);
		__u64 root = dpa_isqrt(x);

		if (root * root > x || (root + 1) * (root + 1) <= x) {
			EXPECT(root * root <= x);
			EXPECT((root + 1) * (root + 1) > x);
			return;
		}
	}
}

void acknowledge(struct feed *f, __u64 bytes)
{
	f->acked += bytes;
	if (bytes)
		f->p.acked_tick = dpa_tick(f->now_ns);
}

/* Feeds a path that delivers at a constant rate, acknowledged in steps. */
void feed(struct feed *f, __u64 rate, __u64 span, int busy, int limited)
{
	__u64 end = f->now_ns + span;

	while (f->now_ns < end) {
		struct dpa_observation o = {
			.rtt_ns = f->rtt_ns ?: 100 * MSEC,
			.busy = busy, .limited = limited,
			.flight = f->flight, .drained = f->drained,
		};

		f->p.srtt_us = o.rtt_ns / 1000;
		f->now_ns += 5 * MSEC;
		if (busy)
			acknowledge(f, rate / 200);
		o.now_ns = f->now_ns;
		o.acked = f->acked;
		dpa_observe(&f->p, &o);
	}
}

static void test_estimate(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1 };
	__u64 before;

	feed(&f, 1000000, 3 * SEC, 1, 0);
	EXPECT(f.p.known && !f.p.ramping);
	EXPECT(within(f.p.goodput, 980000, 1020000));
	EXPECT(f.p.spread < 100000);

	/* silence while nothing is on its way is not slowness */
	before = f.p.goodput;
	feed(&f, 0, 10 * SEC, 0, 0);
	feed(&f, 1000000, SEC, 1, 0);
	EXPECT(f.p.goodput > before * 95 / 100);

	/* nor is what a sender holds back, but it can show more */
	feed(&f, 100000, 3 * SEC, 1, 1);
	EXPECT(f.p.goodput > before * 95 / 100);
	feed(&f, 1500000, 3 * SEC, 1, 1);
	EXPECT(f.p.goodput > 1400000);

	/* silence while bytes are on their way is, and is seen in the spread */
	f.acked++;
	feed(&f, 0, SEC, 1, 0);
	EXPECT(f.p.goodput < 200000);
	EXPECT(f.p.spread > 300000);

	/* and it recovers */
	feed(&f, 2000000, 5 * SEC, 1, 0);
	EXPECT(within(f.p.goodput, 1900000, 2100000));
	EXPECT(f.p.spread < 50000);

	/* an acknowledgment that was counted for too much is not a fast path */
	f.acked -= 100;
	feed(&f, 0, SEC, 1, 0);
	EXPECT(f.p.goodput < 200000);
}

/* Feeds a rate that changes by @step ten times a second; returns what it ends at. */
static __u64 feed_slope(struct feed *f, __u64 rate, int step)
{
	int i;

	for (i = 0; i < 50; i++) {
		rate += step;
		feed(f, rate, 100 * MSEC, 1, 0);
	}
	return rate;
}

/* what gets faster is followed closely, what just varies is not taken for it */
static void test_slope(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1 };
	__u64 rate = 1000000, sum = 0;
	int i;

	feed(&f, rate, 3 * SEC, 1, 0);
	rate = feed_slope(&f, rate, 8000);
	EXPECT(within(f.p.goodput, rate - 16000, rate - 8000));
	EXPECT(f.p.rises == DPA_RISES_SURE);
	rate = feed_slope(&f, rate, -8000);
	EXPECT(within(f.p.goodput, rate + 16000, rate + 32000));
	EXPECT(!f.p.rises);

	for (i = 0; i < 2000; i++) {
		feed(&f, 900000 + draw() % 200000, 100 * MSEC, 1, 0);
		sum += f.p.goodput;
	}
	EXPECT(within(sum / 2000, 1002000, 1010000));
}

/* How fast it has been is remembered for a while. */
static void test_best(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1 };

	feed(&f, 2000000, 3 * SEC, 1, 0);
	EXPECT(within(f.p.best, 1980000, 2020000));
	feed(&f, 500000, 10 * SEC, 1, 0);
	EXPECT(f.p.goodput < 520000);
	EXPECT(within(f.p.best, 1600000, 1800000));
	feed(&f, 500000, 190 * SEC, 1, 0);
	EXPECT(within(f.p.best, 500000, 560000));
	feed(&f, 1000000, 3 * SEC, 1, 0);
	EXPECT(within(f.p.best, 980000, 1020000));
}

/* Once paths have all there is they can show that they are faster, no more. */
static void test_drained(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1, .p.rtt_us = RTT_US };
	__u32 last;

	feed(&f, 1000000, 3 * SEC, 1, 0);
	last = f.p.last;
	f.drained = 1;
	f.flight = 100000;
	feed(&f, 100000, SEC, 1, 0);
	EXPECT(within(f.p.goodput, 980000, 1020000));
	EXPECT(f.p.last == last);
	feed(&f, 1500000, SEC, 1, 0);
	EXPECT(f.p.goodput > 1300000);
}

/* The timer looks at a path that delivers at a rate, for half a second. */
static void watch(struct dpa_path *p, __u64 *now_ns, __u32 rate)
{
	int i;

	for (i = 0; i < 100; i++) {
		p->acked += rate / 200;
		*now_ns += 5 * MSEC;
		dpa_watch(p, *now_ns);
	}
}

/* The timer's looks are for a path that is not known yet. */
static void test_watch(void)
{
	struct dpa_path p = {
		.flags = DPA_PATH_USED | DPA_PATH_BUSY, .rtt_us = RTT_US,
		.srtt_us = RTT_US, .goodput = 100000,
		.ramping = DPA_RAMP_SAMPLES,
	};
	__u64 now_ns = 7 * SEC;

	watch(&p, &now_ns, 1000000);
	EXPECT(within(p.goodput, 980000, 1020000));
	p.known = 1;
	watch(&p, &now_ns, 2000000);
	EXPECT(within(p.goodput, 980000, 1020000));
	/* nor does one have to have shown anything before */
	p.known = 0;
	p.goodput = 0;
	p.sampling = 0;
	watch(&p, &now_ns, 1000000);
	EXPECT(within(p.goodput, 980000, 1020000));
	/* it was empty when it was given what comes now: that was before */
	p.goodput = 0;
	p.sampling = 0;
	p.flags |= DPA_PATH_RESTED;
	watch(&p, &now_ns, 1000000);
	EXPECT(within(p.goodput, 980000, 1020000));
}

/* What the sender held back from it does not make a path's mean doubtful, but sure. */
static void test_confirm(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1 };
	__u32 mean, spread;
	int i;

	for (i = 0; i < 50; i++)
		feed(&f, 600000 + draw() % 800000, 100 * MSEC, 1, 0);
	mean = f.p.goodput;
	spread = f.p.spread;
	EXPECT(spread > 150000);
	/* far below it says nothing */
	feed(&f, mean - 2 * spread, SEC, 1, 1);
	EXPECT(f.p.goodput == mean && f.p.spread == spread);
	/* not so far, it could not be far off */
	feed(&f, mean - spread / 4, 2 * SEC, 1, 1);
	EXPECT(f.p.goodput == mean);
	EXPECT(within(f.p.spread, spread / 8, spread / 2));
}

/* A queue shows that the path sets the pace, whoever seems to hold back. */
static void test_bottleneck(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1, .p.rtt_us = RTT_US };

	feed(&f, 1000000, 3 * SEC, 1, 0);
	/* in flight what the empty path holds: the sender may be the cause */
	f.flight = 10000;
	feed(&f, 100000, SEC, 1, 1);
	EXPECT(f.p.goodput > 950000 && !f.p.last);
	/* much more, but nothing waits: bursts of a window that grows */
	f.flight = 100000;
	f.rtt_ns = 112 * MSEC;
	feed(&f, 100000, SEC, 1, 1);
	EXPECT(f.p.goodput > 950000 && !f.p.last);
	/* and round trips that show where it is: the path is */
	f.rtt_ns = 113 * MSEC;
	feed(&f, 100000, SEC, 1, 1);
	EXPECT(f.p.goodput < 200000);
	EXPECT(within(f.p.last, 98000, 102000));
	/* after idle time no ramp is waited for, then */
	feed(&f, 0, SEC, 0, 0);
	f.acked++;
	feed(&f, 50000, 400 * MSEC, 1, 1);
	EXPECT(!f.p.ramping);
}

static void test_gap(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1 };

	feed(&f, 1000000, 3 * SEC, 1, 0);
	/* nobody looked for a second: that time is in no sample */
	f.now_ns += SEC;
	feed(&f, 1000000, 300 * MSEC, 1, 0);
	EXPECT(f.p.goodput > 950000);
}

static void test_ramp(void)
{
	struct dpa_path p = {};
	int i;

	dpa_add_sample(&p, 1000, 0);
	EXPECT(p.ramping && !p.known && p.goodput == 1000);
	for (i = 0; i < 5; i++)
		dpa_add_sample(&p, p.goodput * 2, 0);
	EXPECT(p.ramping && p.goodput == 32000);
	/* what rose before it began says nothing once a sample does not */
	p.rises = DPA_RISES_SURE;
	dpa_add_sample(&p, 33000, 0);
	EXPECT(p.ramping && p.rises == DPA_RISES_SURE);
	dpa_add_sample(&p, 33000, 0);
	EXPECT(!p.rises);
	EXPECT(!p.ramping && p.known);
	dpa_add_sample(&p, 0, 0);
	EXPECT(within(p.goodput, 23000, 23200));
	/* the far ends */
	for (i = 0; i < 40; i++)
		dpa_add_sample(&p, 0, 0);
	EXPECT(within(p.goodput, 1, 3));
	dpa_add_sample(&p, DPA_RATE_MAX, 0);
	EXPECT(p.spread > p.goodput / 2);
	dpa_add_sample(&p, 0, 0);
	dpa_add_sample(&p, DPA_RATE_MAX, 0);
	EXPECT(p.goodput <= DPA_RATE_MAX);
}

/* A pipe of 100 KB is full after three round trips from 12.5 KB. */
static void test_slow_start(void)
{
	struct dpa_path p = {
		.goodput = 1000000, .rtt_us = RTT_US, .pause_in_us = DPA_U32_MAX,
	};
	__u64 full = dpa_arriving(&p, p.goodput, SEC);

	EXPECT(within(full, 949000, 951000));
	p.window = 12500;
	EXPECT(within(full - dpa_arriving(&p, p.goodput, SEC), 212400, 212600));
	/* an unused one sends 12.5, 25 and 50 of 80 KB */
	EXPECT(dpa_ramp_ns(&p, 12500, 80000) == 2 * RTT_US * 1000ULL);
	p.window = 100000;
	EXPECT(dpa_arriving(&p, p.goodput, SEC) == full);
	/* nothing is less than nothing */
	p.window = 1;
	EXPECT(dpa_arriving(&p, p.goodput, SEC / 10) == 0);
}

static void take_round_trip(struct dpa_path *p, struct dpa_observation *o,
			    __u32 ms)
{
	p->srtt_us = ms * 1000;
	o->rtt_ns = ms * MSEC;
}

/* A sample at 1 MB/s, with so much on its way, and packets found lost. */
static void lossy_sample(struct dpa_path *p, struct dpa_observation *o,
			 __u32 flight, __u32 lost)
{
	o->now_ns += o->rtt_ns;
	o->acked += o->rtt_ns / 1000;
	o->lost = lost;
	o->flight = flight;
	p->sample_flight = flight;
	dpa_sample(p, o);
}

/* Packets that a path loses cost a round trip; those that a queue loses do not. */
static void test_losses(void)
{
	struct dpa_path p = { .rtt_us = RTT_US, .pause_in_us = DPA_U32_MAX };
	struct dpa_observation o = {
		.now_ns = SEC, .busy = 1, .acked = 1,
	};
	__u64 repair = 112500 * 1000ULL, before;
	int i;

	take_round_trip(&p, &o, 100);
	/* a slow start */
	for (i = 0; i < 5; i++)
		lossy_sample(&p, &o, 110000, !p.known);
	EXPECT(p.known && !p.ramping && !p.lossy);
	for (i = 0; i < 20; i++)
		lossy_sample(&p, &o, 170000, 10);
	EXPECT(!p.lossy && !dpa_repair_ns(&p));
	/* half as long again as the least one is a round trip with a queue */
	take_round_trip(&p, &o, 149);
	EXPECT(dpa_lost_at_random(&p, &o));
	take_round_trip(&p, &o, 151);
	EXPECT(!dpa_lost_at_random(&p, &o));
	/* what the queue lost is found when it is gone, but seen in the round trips */
	lossy_sample(&p, &o, 110000, 10);
	lossy_sample(&p, &o, 110000, 10);
	EXPECT(!p.lossy);
	take_round_trip(&p, &o, 100);
	lossy_sample(&p, &o, 110000, 0);
	EXPECT(!p.lossy);
	/* a loss in one sample of eight: half a round trip; in each: one */
	lossy_sample(&p, &o, 110000, 1);
	EXPECT(p.lossy == 31);
	EXPECT(within(dpa_repair_ns(&p), repair * 48 / 100, repair / 2));
	before = dpa_probably(&p, SEC);
	for (i = 0; i < 40; i++)
		lossy_sample(&p, &o, 110000, 5);
	EXPECT(p.lossy > DPA_LOSSY_MAX - 8 && dpa_repair_ns(&p) == repair);
	EXPECT(within(before - dpa_probably(&p, SEC), 57000, 59000));
	/* what has little time is not without hope for it */
	EXPECT(within(dpa_probably(&p, SEC / 10), 0, 1));
	EXPECT(within(dpa_probably(&p, SEC / 5), 49000, 51000));
	/* it may come in time all the same */
	EXPECT(within(dpa_comes(&p, SEC), 949000, 951000));
	/* with a queue nobody knows; without losses it is forgotten */
	lossy_sample(&p, &o, 170000, 0);
	EXPECT(dpa_repair_ns(&p) == repair);
	for (i = 0; i < 40; i++)
		lossy_sample(&p, &o, 110000, 0);
	EXPECT(!p.lossy && !dpa_repair_ns(&p));
}

/* Each chunk overfills the queue and is over before that fills a sample. */
static void test_overrun(void)
{
	struct feed f = { .p = { .rtt_us = RTT_US, .pause_in_us = DPA_U32_MAX } };
	struct dpa_path few, alone;

	feed(&f, 1000000, 100 * MSEC, 1, 0);
	feed(&f, 1000000, 100 * MSEC, 1, 0);
	EXPECT(within(f.p.goodput, 950000, 1050000) && f.p.ramping && !f.p.known);
	/* 32 of 290 packets: more than an eighth would be 36 */
	few = f.p;
	few.losses += 32;
	dpa_note_overrun(&few, 290 * DPA_PACKET_BYTES);
	EXPECT(few.ramping && !few.known);
	few.losses += 5;
	dpa_note_overrun(&few, 290 * DPA_PACKET_BYTES);
	EXPECT(!few.ramping && few.known && few.goodput == f.p.goodput);
	/* of few packets an eighth may be chance */
	alone = f.p;
	alone.losses += DPA_OVERRUN_LEAST - 1;
	dpa_note_overrun(&alone, 10 * DPA_PACKET_BYTES);
	EXPECT(alone.ramping && !alone.known);
	/* nothing is believed to be as fast as it will be that has shown nothing */
	alone = (struct dpa_path){ .losses = 100, .ramping = 4 };
	dpa_note_overrun(&alone, 10 * DPA_PACKET_BYTES);
	EXPECT(alone.ramping && !alone.known);
	/* at the end of a sample, and at an early one; the count wraps */
	f.p.losses = 65500;
	feed(&f, 900000, 100 * MSEC, 1, 0);
	f.p.losses += 100;
	feed(&f, 900000, 100 * MSEC, 1, 0);
	EXPECT(!f.p.ramping && f.p.known);
	f.p.ramping = 2;
	f.p.known = 0;
	feed(&f, 400000, 40 * MSEC, 1, 0);
	f.p.losses += 100;
	feed(&f, 0, 5 * MSEC, 0, 0);
	EXPECT(!f.p.ramping && f.p.known);
}

const struct dpa_test estimate_tests[] = {
	{ "what a rate carries in a time", test_bytes_in },
	{ "the rate of bytes in a time", test_rate },
	{ "square roots", test_isqrt },
	{ "goodput of a path, busy, idle, silent, held back", test_estimate },
	{ "a rate that rises, falls, or varies", test_slope },
	{ "how fast a path has been of late", test_best },
	{ "what is drained only shows more", test_drained },
	{ "what is drained is watched until the path is known", test_watch },
	{ "what is held back confirms a mean", test_confirm },
	{ "a queue shows who sets the pace", test_bottleneck },
	{ "time without a look", test_gap },
	{ "a path that ramps up", test_ramp },
	{ "slow start", test_slow_start },
	{ "losses of a path, and of a queue", test_losses },
	{ "a queue that loses is full", test_overrun },
	{}
};
