// SPDX-License-Identifier: GPL-2.0-only
/* Unit tests of pick.h: on which paths the next bytes come too late. */
#include "decision_test.h"

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
	EXPECT(within(fast->fits << DPA_FITS_SHIFT, 307000, 307500));
	EXPECT(within(slow->fits << DPA_FITS_SHIFT, 197000, 197500));
	st.chunk_end = 1200000;
	dpa_stand(&st, &s, BURST);
	EXPECT(within(slow->fits << DPA_FITS_SHIFT, 97000, 97500));
	/* not one that may get nothing */
	st.chunk_end = 1060000;
	st.path[0].flags |= DPA_PATH_SILENT;
	dpa_stand(&st, &s, BURST);
	EXPECT(!dpa_is_late(&st, slow));
}

/* Nor does a path with a long round trip get what two others bring in time together. */
static void test_hurry_together(void)
{
	struct dpa_state st = {
		.now_ns = SEC, .next_deadline_ns = SEC + 150 * MSEC, .unit = 30000,
		.chunk_end = 250000, .written = 250000, .costly_left = DPA_U64_MAX,
		.cheapest = 1, .cost_limit = 1, .window = DPA_U64_MAX, .rows = 3,
	};
	const struct dpa_scratch s = {};
	int i;

	for (i = 0; i < 3; i++)
		st.path[i] = (struct dpa_path){
			.cost = 1, .goodput = 1000000, .rtt_us = 20000,
			.srtt_us = 20000, .known = 1, .usable = 1,
			.pause_in_us = DPA_U32_MAX,
			.flags = DPA_PATH_USED | DPA_PATH_ACTIVE,
		};
	st.path[2].rtt_us = 300000;
	st.path[2].srtt_us = 300000;
	dpa_stand(&st, &s, BURST);
	EXPECT(!dpa_is_late(&st, &st.path[0]) && dpa_is_late(&st, &st.path[2]));
	/* of more than that it gets some */
	st.chunk_end = 270000;
	st.written = 270000;
	dpa_stand(&st, &s, BURST);
	EXPECT(!dpa_is_late(&st, &st.path[2]));
}

/* A path of 1 MB/s that is empty, and has 100 ms of round trip. */
static struct dpa_state one_path(__u64 left_ns)
{
	return (struct dpa_state){
		.now_ns = SEC, .next_deadline_ns = SEC + left_ns, .unit = 30000,
		.interval_us = 25000, .cheapest = 1, .cost_limit = 1,
		.window = DPA_U64_MAX, .rows = 1,
		.path = { {
			.cost = 1, .goodput = 1000000, .rtt_us = RTT_US,
			.srtt_us = RTT_US, .known = 1, .usable = 1,
			.pause_in_us = DPA_U32_MAX,
		} },
	};
}

/* More than a few fragments are counted as well. */
static void test_fits_many(void)
{
	struct dpa_state st = one_path(72 * MSEC);
	int picks = 0;

	st.path[0].goodput = 10000000;
	dpa_make_room(&st, 0, 0);
	for (; !dpa_is_late(&st, &st.path[0]) && picks < 100; picks++)
		dpa_picked(&st, 0);
	/* 14.5 ms of it, in fragments */
	EXPECT(picks == 5);
	/* what has no deadline comes in time for it, on a path that holds much as well */
	st.next_deadline_ns = 0;
	st.fits_ns = 0;
	st.path[0].goodput = 1000000000;
	st.path[0].fits = 0;
	dpa_count_fits(&st, &st.path[0]);
	EXPECT(st.path[0].fits == DPA_FITS_MANY);
}

static __u32 fits_now(struct dpa_state *st)
{
	const struct dpa_scratch s = {};

	dpa_stand(st, &s, BURST);
	return (__u32)st->path[0].fits << DPA_FITS_SHIFT;
}

/* What a path was given a moment ago waits, though it is less than the path holds. */
static void test_fits_no_more(void)
{
	struct dpa_state st = one_path(90 * MSEC);
	struct dpa_path *p = &st.path[0];
	__u32 fits = fits_now(&st), left;

	/* 40 ms, less half of the margin */
	EXPECT(within(fits, 32000, 32500));
	p->behind = dpa_picked(&st, 0);
	left = fits - p->behind;
	EXPECT(p->behind == 30000 && within(left, 2000, 2500));
	st.now_ns += MSEC;
	EXPECT(within(fits_now(&st), left - 512, left));
	/* but when nothing was, time alone counts, */
	st = one_path(110 * MSEC);
	EXPECT(within(fits_now(&st), 52000, 52500));
	st.now_ns += 10 * MSEC;
	EXPECT(within(fits_now(&st), 42000, 42500));
	/* and when it has left, too */
	p->behind = dpa_picked(&st, 0);
	st.now_ns += 35 * MSEC;
	EXPECT(within(fits_now(&st), 7000, 7500));
	/* for another deadline it begins anew, */
	p->behind = dpa_picked(&st, 0);
	EXPECT(!fits_now(&st));
	st.next_deadline_ns += 10 * MSEC;
	EXPECT(within(fits_now(&st), 17000, 17500));
	/* and so it does if the path was held meanwhile */
	p->behind = dpa_picked(&st, 0);
	st.cost_limit = 0;
	fits_now(&st);
	st.cost_limit = 1;
	EXPECT(within(fits_now(&st), 17000, 17500));
	/* of one that is full what it has is what waits */
	p->behind = 110000;
	EXPECT(within(fits_now(&st), 7000, 7500));
	p->behind = 100000;
	EXPECT(within(fits_now(&st), 17000, 17500));
	/* what late bytes could have is no bound for those that are not late */
	st = one_path(57 * MSEC);
	st.costly_left = DPA_U64_MAX;
	st.chunk_end = 60000;
	st.written = 60000;
	EXPECT(within(fits_now(&st), 67000, 67500));
	while (p->fits)
		dpa_picked(&st, 0);
	st.sent = 60000;
	p->rtt_us = 80000;
	EXPECT(within(fits_now(&st), 9000, 9500));
	/* nor does what a path was too slow for bound what tries it again */
	st = one_path(101 * SEC);
	p->goodput = 10000;
	p->rtt_us = 2000000;
	st.now_ns = st.next_deadline_ns - 1200 * MSEC;
	st.fits_ns = st.next_deadline_ns;
	EXPECT(within(fits_now(&st), DPA_FIRST_BYTES - 512, DPA_FIRST_BYTES));
}

const struct dpa_test late_tests[] = {
	{ "late bytes take the path that is soonest", test_hurry },
	{ "late on one, in time on two together", test_hurry_together },
	{ "what comes in time of a fast path", test_fits_many },
	{ "what fits grows no more", test_fits_no_more },
	{}
};
