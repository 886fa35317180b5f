// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the scheduler's decisions over modelled paths: seconds for what takes
 * minutes in the kernel. What it is told comes in on stdin, what happened goes out
 * on stdout; simulate.py speaks both.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim.h"

static void report(void)
{
	int i;

	printf("delivered %" PRIu64 "\n", sim.received);
	for (i = 0; i < sim.paths; i++)
		printf("path %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		       sim.path[i].put, sim.path[i].first_put,
		       sim.activations[i]);
	for (i = 0; i < sim.chunks; i++)
		printf("chunk %" PRIu64 "\n", sim.chunk[i].done_ns);
}

static void fail(const char *what)
{
	fprintf(stderr, "sim: stdin: expected %s\n", what);
	exit(2);
}

static void read_path(struct path *p)
{
	double *carries;
	uint64_t i;

	if (scanf(" path %u %" SCNu64 " %" SCNu64 " %lf %" SCNu64, &p->cost,
		  &p->owd_ns, &p->queue_bytes, &p->loss, &p->steps) != 5 ||
	    !p->steps)
		fail("path COST OWD_NS QUEUE_BYTES LOSS STEPS");
	carries = malloc(p->steps * sizeof(*carries));
	for (i = 0; i < p->steps; i++)
		if (!carries || scanf("%lf", &carries[i]) != 1)
			fail("the bytes of each step");
	p->carries = carries;
	path_init(p);
}

static void read_input(void)
{
	struct dpa_state *st = &sim.st;
	unsigned int policy, stock;
	uint64_t seed;
	int i;

	if (scanf(" run %" SCNu64 " %" SCNu64 " %u %u %hu %" SCNu64, &sim.end_ns,
		  &sim.sndbuf, &stock, &policy, &st->alpha_milli,
		  &seed) != 6)
		fail("run END_NS SNDBUF STOCK POLICY ALPHA SEED");
	draw_from(seed);
	sim.stock = stock;
	st->policy = policy;
	st->interval_us = 25000;
	if (scanf(" paths %d", &sim.paths) != 1 || sim.paths < 1 ||
	    sim.paths > PATHS_MAX)
		fail("paths 1..8");
	for (i = 0; i < sim.paths; i++)
		read_path(&sim.path[i]);
	if (scanf(" chunks %d", &sim.chunks) != 1 || sim.chunks < 1)
		fail("chunks N");
	sim.chunk = calloc(sim.chunks, sizeof(*sim.chunk));
	for (i = 0; i < sim.chunks; i++) {
		struct chunk *c = &sim.chunk[i];
		uint64_t bytes;

		if (!sim.chunk ||
		    scanf("%" SCNu64 " %" SCNu64 " %" SCNu64, &bytes,
			  &c->release_ns, &c->deadline_ns) != 3)
			fail("BYTES RELEASE_NS DEADLINE_NS");
		c->begin = sim.bytes;
		sim.bytes += bytes;
		c->end = sim.bytes;
	}
}

int main(void)
{
	read_input();
	sim_run();
	report();
	return 0;
}
