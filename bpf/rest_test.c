// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of estimate.h: paths that are found empty, chunk after chunk. */
#include "decision_test.h"

/* A path that has brought all it got shows how fast it is at least, whenever that is seen. */
static void test_first_rest(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1 };

	/* 80 ms are no sample: as if it had taken 100 */
	feed(&f, 500000, 85 * MSEC, 1, 0);
	EXPECT(!f.p.goodput);
	f.now_ns += SEC;
	feed(&f, 0, 5 * MSEC, 0, 0);
	EXPECT(within(f.p.goodput, 380000, 420000));
	EXPECT(!f.p.known);
	/* 180 ms are, though nobody looked until a second later */
	feed(&f, 1000000, 10 * MSEC, 1, 0);
	f.now_ns += 180 * MSEC;
	acknowledge(&f, 180000);
	f.now_ns += 820 * MSEC;
	feed(&f, 0, 5 * MSEC, 0, 0);
	EXPECT(within(f.p.goodput, 980000, 1040000));
}

/* Of a short round trip two are enough, but looks may be a jiffy late. */
static void test_short_rest(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1, .rtt_ns = 10 * MSEC };

	feed(&f, 1000000, 15 * MSEC, 1, 0);
	feed(&f, 0, 5 * MSEC, 0, 0);
	EXPECT(within(f.p.goodput, 490000, 510000));
	f.rtt_ns = 20 * MSEC;
	feed(&f, 1000000, 45 * MSEC, 1, 0);
	feed(&f, 0, 5 * MSEC, 0, 0);
	EXPECT(within(f.p.goodput, 980000, 1020000));
}

/* An empty path gets some bytes, and nobody looks until they have come, and a while longer. */
static void deliver_unseen(struct feed *f, __u64 bytes, __u64 after)
{
	feed(f, 0, 5 * MSEC, 0, 0);
	f->now_ns += after;
	acknowledge(f, bytes);
	f->now_ns += 500 * MSEC;
	feed(f, 0, 5 * MSEC, 0, 0);
}

/* What a path brings at once shows how fast it is, too, though no sample has begun. */
static void test_unseen(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1 };
	__u32 before;
	int i;

	f.p.rtt_us = 100 * 1000;
	feed(&f, 100000, 3 * SEC, 1, 0);
	feed(&f, 0, 5 * MSEC, 0, 0);
	before = f.p.best;
	EXPECT(within(before, 98000, 102000));
	/* the first two packets come before time counts, and that is a sample's at least */
	deliver_unseen(&f, 9000 + 2 * DPA_PACKET_BYTES, 110 * MSEC);
	EXPECT(f.p.best == before);
	for (i = 0; i < 20; i++)
		deliver_unseen(&f, 50000 + 2 * DPA_PACKET_BYTES, 110 * MSEC);
	EXPECT(within(f.p.goodput, 490000, 510000));
	for (i = 0; i < 20; i++)
		deliver_unseen(&f, 300000 + 2 * DPA_PACKET_BYTES, 400 * MSEC);
	EXPECT(within(f.p.goodput, 980000, 1020000));
	/* where it was not seen empty before nobody knows when that began */
	f.p.behind = 1;
	before = f.p.best;
	deliver_unseen(&f, 900000, 300 * MSEC);
	EXPECT(f.p.best == before);
}

/* So many bytes at once, all acknowledged by the next look. */
static void deliver(struct feed *f, __u64 bytes)
{
	acknowledge(f, bytes);
	feed(f, 0, 5 * MSEC, 0, 0);
	f->now_ns += 200 * MSEC;
}

/* What is given too little to make a sample is given more, as long as it comes. */
static void test_trust(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1 };
	__u32 before, more;
	int i;

	feed(&f, 1000000, 3 * SEC, 1, 0);
	feed(&f, 10000, 2 * SEC, 1, 0);
	feed(&f, 0, 5 * MSEC, 0, 0);
	EXPECT(f.p.goodput < 20000 && f.p.spread > 2 * f.p.goodput);
	before = f.p.goodput;
	/* a rest in which nothing came says nothing */
	feed(&f, 0, SEC, 0, 0);
	EXPECT(f.p.goodput == before);
	deliver(&f, 2500);
	/* a quarter, but not of less than a first window a second */
	more = before > DPA_FIRST_BYTES ? before / 4 : DPA_FIRST_BYTES / 4;
	EXPECT(within(f.p.goodput, before + more - 1, before + more));
	for (i = 0; i < 40; i++)
		deliver(&f, 2500);
	/* what it has been of late, and no more */
	EXPECT(within(f.p.goodput, 900000, f.p.best));
	EXPECT(f.p.spread <= f.p.goodput / 3);
	/* nor where a sample tells, here after idle time */
	f.now_ns += SEC;
	feed(&f, 10000, 2 * SEC, 1, 0);
	before = f.p.goodput;
	deliver(&f, 500);
	EXPECT(f.p.goodput == before);
	/* and where one ends early, it is at least that fast */
	feed(&f, 600000, 90 * MSEC, 1, 0);
	EXPECT(f.p.goodput == before);
	feed(&f, 0, 5 * MSEC, 0, 0);
	EXPECT(f.p.goodput > 5 * before);
}

/* One that is used each second is used, though nothing of it makes a sample. */
static void test_in_use(void)
{
	const struct dpa_reach reach = { .left_ns = SEC };
	struct feed f = {
		.now_ns = 7 * SEC, .acked = 1, .p.pause_in_us = DPA_U32_MAX,
	};
	int i;

	feed(&f, 1000000, 3 * SEC, 1, 0);
	feed(&f, 0, 5 * MSEC, 0, 0);
	for (i = 0; i < 600; i++) {
		f.now_ns += 800 * MSEC;
		deliver(&f, 50000);
	}
	EXPECT(dpa_sample_age_ns(&f.p, f.now_ns) < 210 * MSEC);
	EXPECT(dpa_surely(&f.p, &reach, f.now_ns) > 950000);
	/* half of it after a minute in which nothing came */
	feed(&f, 0, 60 * SEC, 0, 0);
	EXPECT(within(dpa_surely(&f.p, &reach, f.now_ns), 480000, 520000));
}

/* What comes whole, chunk after chunk, is over a path that loses nothing. */
static void test_whole(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1 };
	struct dpa_observation lost = { .rtt_ns = 100 * MSEC, .lost = 1 };
	int i;

	feed(&f, 1000000, 3 * SEC, 1, 0);
	f.p.lossy = DPA_LOSSY_MAX;
	/* a rest without a byte before it says nothing */
	feed(&f, 0, SEC, 0, 0);
	EXPECT(f.p.lossy > DPA_LOSSY_MAX * 3 / 4);
	/* and one with a loss nothing of that kind */
	f.p.lossy = 100;
	acknowledge(&f, 50000);
	lost.now_ns = f.now_ns;
	lost.acked = f.acked;
	dpa_sample(&f.p, &lost);
	EXPECT(f.p.lossy == 100 && !f.p.lost);
	for (i = 0; i < 40; i++)
		deliver(&f, 50000);
	EXPECT(!f.p.lossy);
}

/* A packet takes a second: what shows nothing so far is not known to bring nothing. */
static void test_slow_packets(void)
{
	struct feed f = { .now_ns = 7 * SEC, .acked = 1, .flight = 15000, .p.rtt_us = RTT_US };

	f.rtt_ns = 150 * MSEC;
	acknowledge(&f, 1448);
	feed(&f, 0, SEC, 1, 0);
	EXPECT(!f.p.goodput && !f.p.known);
	acknowledge(&f, 1448);
	feed(&f, 0, 5 * MSEC, 1, 0);
	EXPECT(within(f.p.goodput, 1400, 1500));
}

const struct dpa_test rest_tests[] = {
	{ "what comes at once shows something", test_first_rest },
	{ "what comes within two round trips", test_short_rest },
	{ "what comes at once shows a rate", test_unseen },
	{ "a path is trusted again", test_trust },
	{ "what is used each second is in use", test_in_use },
	{ "what comes whole lost nothing", test_whole },
	{ "a path of a packet in a second", test_slow_packets },
	{}
};
