// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the scheduler's decisions over modelled paths: the same header as in
 * the kernel, seconds for what takes minutes there. What it is told comes in on
 * stdin, what happened goes out on stdout; simulate.py speaks both.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#include "decision.h"

#include "path.h"

#define PATHS_MAX	MPTCP_DPA_PATHS_MAX
#define DFRAG		32000
#define BURST		65428
#define TICK_NS		(25 * DPA_NSEC_PER_MSEC)

struct chunk {
	uint64_t	begin, end, release_ns, deadline_ns;
	uint64_t	done_ns;	/* the receiver has all of it; 0: not yet */
	bool		over;		/* all acknowledged */
};

static struct {
	int		paths;
	struct path	path[PATHS_MAX];
	uint64_t	activations[PATHS_MAX];
	bool		was_held[PATHS_MAX];
	int		chunks;
	struct chunk	*chunk;
	uint64_t	bytes, sndbuf, end_ns, seed;
	bool		stock;

	uint64_t	now_ns, start_ns;
	uint64_t	written, sent, acked, received;
	struct dpa_state st;
	struct dpa_scratch scratch;
	uint64_t	data_ack[1 << 16];	/* by step, one way behind */
} sim;

static double draw(void)
{
	sim.seed ^= sim.seed << 13;
	sim.seed ^= sim.seed >> 7;
	sim.seed ^= sim.seed << 17;
	return (double)(sim.seed >> 11) / (1ULL << 53);
}

/* What is left of the fragment that would be sent next. */
static uint32_t frag_rest(void)
{
	uint64_t rest = DFRAG - sim.sent % DFRAG, left = sim.written - sim.sent;

	return rest < left ? rest : left;
}

static void look(void)
{
	struct dpa_scratch *s = &sim.scratch;
	struct dpa_state *st = &sim.st;
	int i;

	dpa_look_begin(st, s);
	for (i = 0; i < sim.paths; i++) {
		struct path *p = &sim.path[i];
		struct dpa_path *row = &st->path[i];
		struct dpa_observation o = {
			.now_ns = sim.now_ns,
			.rtt_ns = p->srtt_ns,
			.acked = p->acked,
			.busy = p->written != p->acked,
			.flight = p->inflight,
			.limited = p->app_limited ||
				   p->bbr.mode == BBR_PROBE_RTT,
		};

		row->cost = p->cost;
		row->behind = p->written - p->acked;
		row->rtt_us = p->bbr.min_rtt_ns / 1000;
		dpa_observe(row, &o);
		dpa_look_at(st, s, row, p->srtt_ns);
	}
}

static void show_chunks(void)
{
	struct dpa_state *st = &sim.st;
	int i;

	st->chunk_end = 0;
	st->next_deadline_ns = 0;
	for (i = 0; i < sim.chunks; i++) {
		struct chunk *c = &sim.chunk[i];

		if (c->over || c->release_ns > sim.now_ns)
			continue;
		if (!st->chunk_end) {
			if (st->chunk_begin != c->begin || !st->chunk_deadline_ns) {
				st->decided_ns = 0;
				st->chunk_start_ns = sim.now_ns;
			}
			st->chunk_begin = c->begin;
			st->chunk_end = c->end;
			st->chunk_deadline_ns = c->deadline_ns;
		}
		if (!st->next_deadline_ns && c->end > sim.sent)
			st->next_deadline_ns = c->deadline_ns;
	}
}

static void plan(void)
{
	struct dpa_scratch *s = &sim.scratch;
	struct dpa_state *st = &sim.st;
	int i;

	dpa_plan_begin(st, s);
	for (i = 0; i < sim.chunks; i++) {
		struct chunk *c = &sim.chunk[i];

		if (c->over || c->release_ns > sim.now_ns)
			continue;
		s->horizon = (struct dpa_horizon){
			.end = c->end, .deadline_ns = c->deadline_ns,
			.alpha_milli = st->alpha_milli,
			.late_policy = st->late_policy,
		};
		dpa_plan_chunk(st, s);
	}
	dpa_plan_end(st, s);
}

static void decide(void)
{
	struct dpa_scratch *s = &sim.scratch;
	struct dpa_state *st = &sim.st;

	st->now_ns = sim.now_ns;
	st->written = sim.written;
	st->sent = sim.sent;
	st->acked = sim.acked;
	st->unit = frag_rest();
	show_chunks();
	look();
	if (!dpa_is_due(st, s))
		return;
	dpa_decide_begin(st, s);
	if (st->policy == MPTCP_DPA_POLICY_THRESHOLD)
		dpa_decide_threshold(st, s);
	else
		plan();
}

static bool has_room(const struct path *p, const struct dpa_path *row)
{
	if (sim.stock)
		return p->unsent_bytes < sim.sndbuf;
	return dpa_has_room(&sim.st, &sim.scratch, row, path_pacing(p), p->srtt_ns,
			    path_cwnd(p) + BURST);
}

/* Where the next bytes go; -1: nowhere now. */
static int pick(void)
{
	double least = 1e300;
	int best = -1, i;

	for (i = 0; i < sim.paths; i++) {
		struct path *p = &sim.path[i];
		struct dpa_path *row = &sim.st.path[i];
		double linger;

		if (!sim.stock) {
			bool held = dpa_is_held(&sim.st, row->cost);

			if (sim.was_held[i] && !held)
				sim.activations[i]++;
			sim.was_held[i] = held;
			if (!dpa_may_send(&sim.st, row))
				continue;
		}
		if (!has_room(p, row))
			continue;
		linger = (p->unsent_bytes + p->inflight) / path_pacing(p);
		if (!sim.stock && dpa_is_late(&sim.st, row))
			linger += 1e6;
		if (linger < least) {
			least = linger;
			best = i;
		}
	}
	return best;
}

static void push(void)
{
	while (sim.sent < sim.written) {
		uint64_t burst = BURST;
		struct path *p;
		int i;

		if (!sim.stock)
			decide();
		i = pick();
		if (i < 0)
			return;
		p = &sim.path[i];
		if (!sim.stock) {
			sim.scratch.best = i;
			burst = dpa_picked(&sim.st, &sim.scratch, BURST);
		}
		do {
			uint64_t bytes = frag_rest();

			if (p->last_put_ns + 2 * p->owd_ns < sim.now_ns &&
			    !p->unsent_bytes && p->put)
				sim.activations[i]++;
			path_write(p, sim.sent, bytes);
			sim.sent += bytes;
			burst = burst > bytes ? burst - bytes : 0;
		} while (burst && sim.sent < sim.written);
	}
}

/* The application writes what is released, as far as the buffer takes it. */
static bool write_more(void)
{
	uint64_t most = 0;
	int i;

	for (i = 0; i < sim.chunks; i++)
		if (sim.chunk[i].release_ns <= sim.now_ns)
			most = sim.chunk[i].end;
	if (most > sim.acked + sim.sndbuf)
		most = sim.acked + sim.sndbuf;
	if (most <= sim.written)
		return false;
	sim.written = most;
	return true;
}

static bool receive(void)
{
	bool any = false;
	int i;

	for (i = 0; i < sim.paths; i++)
		any |= path_deliver(&sim.path[i], sim.now_ns);
	if (!any)
		return false;
	do {
		any = false;
		for (i = 0; i < sim.paths; i++) {
			struct path *p = &sim.path[i];
			struct packet *k;

			while ((k = path_next_arrived(p)) &&
			       k->at == sim.received) {
				sim.received += k->bytes;
				p->arrived_seq++;
				fifo_pop(&p->arrived);
				any = true;
			}
		}
	} while (any);
	for (i = 0; i < sim.chunks; i++)
		if (!sim.chunk[i].done_ns && sim.received >= sim.chunk[i].end)
			sim.chunk[i].done_ns = sim.now_ns;
	return true;
}

static void judge(void)
{
	int i;

	for (i = 0; i < sim.chunks; i++) {
		struct chunk *c = &sim.chunk[i];

		if (c->over || sim.acked < c->end)
			continue;
		c->over = true;
		if (c->done_ns <= c->deadline_ns)
			sim.st.met++;
		else
			sim.st.missed++;
	}
}

/* The data acknowledgement comes back over the fastest path. */
static bool data_acked(void)
{
	uint64_t step = sim.now_ns / STEP_NS, owd = sim.path[0].owd_ns, at;
	int i;

	for (i = 1; i < sim.paths; i++)
		if (sim.path[i].owd_ns < owd)
			owd = sim.path[i].owd_ns;
	sim.data_ack[step % (1 << 16)] = sim.received;
	at = sim.data_ack[(step - owd / STEP_NS) % (1 << 16)];
	if (at <= sim.acked)
		return false;
	sim.acked = at;
	judge();
	return true;
}

static void run(void)
{
	uint64_t step;
	int i;

	for (step = 1; sim.acked < sim.bytes; step++) {
		bool act = false;

		sim.now_ns = step * STEP_NS;
		if (sim.now_ns > sim.end_ns)
			break;
		for (i = 0; i < sim.paths; i++)
			path_carry(&sim.path[i], sim.now_ns, draw());
		receive();
		for (i = 0; i < sim.paths; i++)
			act |= path_acks(&sim.path[i], sim.now_ns);
		act |= data_acked();
		act |= write_more();
		if (act || sim.now_ns % TICK_NS == 0)
			push();
		for (i = 0; i < sim.paths; i++)
			path_send(&sim.path[i], sim.now_ns);
	}
}

static void report(void)
{
	int i;

	printf("delivered %" PRIu64 "\n", sim.received);
	for (i = 0; i < sim.paths; i++)
		printf("path %" PRIu64 " %" PRIu64 "\n", sim.path[i].put,
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
	int i;

	if (scanf(" run %" SCNu64 " %" SCNu64 " %u %u %hu %" SCNu64, &sim.end_ns,
		  &sim.sndbuf, &stock, &policy, &st->alpha_milli,
		  &sim.seed) != 6)
		fail("run END_NS SNDBUF STOCK POLICY ALPHA SEED");
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
	run();
	report();
	return 0;
}
