/* SPDX-License-Identifier: GPL-2.0-only */
/* What the unit tests of decision.h share. */
#ifndef _DPA_DECISION_TEST_H
#define _DPA_DECISION_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#include "decision.h"

#define SEC	DPA_NSEC_PER_SEC
#define MSEC	DPA_NSEC_PER_MSEC
#define UNITS(ms)	((ms) * 1000U / DPA_RTT_UNIT_US)

/* of all paths, unless a test says otherwise */
#define RTT_US	100000

#define BURST	DPA_BURST_MAX

/* those of the running test */
extern int failures;

#define EXPECT(cond)							\
	do {								\
		if (!(cond)) {						\
			printf("# %s:%d: %s\n", __FILE__, __LINE__,	\
			       #cond);					\
			failures++;					\
		}							\
	} while (0)

/* a list of them ends with one without a name */
struct dpa_test {
	const char	*name;
	void		(*run)(void);
};

extern const struct dpa_test estimate_tests[], pause_tests[], threshold_tests[],
	deficit_tests[], pick_tests[], room_tests[], late_tests[],
	share_tests[], rest_tests[], queue_tests[];

struct feed {
	struct dpa_path	p;
	__u64		now_ns;
	__u64		acked;
	__u64		rtt_ns;		/* 0: 100 ms */
	__u32		flight;
	__u32		drained;
};

void acknowledge(struct feed *f, __u64 bytes);
void feed(struct feed *f, __u64 rate, __u64 span, int busy, int limited);

__u64 draw(void);
bool within(__u64 value, __u64 least, __u64 most);
void set_paths(struct dpa_state *st, int n, const __u32 *cost,
	       const __u32 *goodput);

/* the round trip that look() finds on every path */
extern __u64 look_rtt;
void look(struct dpa_state *st, struct dpa_scratch *s);
void plan(struct dpa_state *st, struct dpa_scratch *s, int chunks,
	  const __u64 (*chunk)[2]);
void make_room(struct dpa_state *st);
bool is_late(struct dpa_state *st, __u32 behind);

#endif
