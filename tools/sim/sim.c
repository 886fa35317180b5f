// SPDX-License-Identifier: GPL-2.0-only
/*
 * The connection: it writes, asks the scheduler's decisions, the same header as
 * in the kernel, and receives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define DFRAG		32728	/* a page fragment of 32 KB less its header */
#define TICK_NS		(25 * DPA_NSEC_PER_MSEC)

struct sim sim;

/* The fragment to be sent again first; none: beyond what was sent. */
static uint64_t next_again(void)
{
	uint64_t i;

	if (!sim.again_bytes)
		return UINT64_MAX;
	for (i = sim.acked / DFRAG; i * DFRAG < sim.sent; i++)
		if (sim.again[i])
			return i;
	sim.again_bytes = 0;
	return UINT64_MAX;
}

/* Where what was sent of a fragment ends. */
static uint64_t frag_end(uint64_t i)
{
	return (i + 1) * DFRAG < sim.sent ? (i + 1) * DFRAG : sim.sent;
}

/* What is left of the fragment that would be sent next. */
static uint32_t frag_rest(void)
{
	uint64_t rest = DFRAG - sim.sent % DFRAG, left = sim.written - sim.sent;
	uint64_t i = next_again();

	if (i != UINT64_MAX)
		return sim.again[i];
	return rest < left ? rest : left;
}

/* As kernel/path.c has it, and what follows, too. */
static bool is_starved(const struct path *p)
{
	return p->unsent_bytes < MSS && p->inflight + MSS <= path_cwnd(p);
}

static void refresh_bytes(void)
{
	int i;

	for (i = 0; i < sim.paths; i++) {
		const struct path *p = &sim.path[i];
		struct dpa_path *row = &sim.st.path[i];

		row->behind = p->written - p->acked;
		if (!(row->flags & DPA_PATH_RESTED)) {
			row->acked = p->acked;
			row->acked_tick = dpa_tick(p->heard_ns);
		}
		if (p->written == p->acked)
			row->flags |= DPA_PATH_RESTED;
		else if (is_starved(p))
			row->flags |= DPA_PATH_LIMITED;
	}
}

static void set_flag(struct dpa_path *row, uint16_t flag, bool on)
{
	row->flags = on ? row->flags | flag : row->flags & ~flag;
}

static void refresh_paths(void)
{
	struct dpa_state *st = &sim.st;
	int i;

	refresh_bytes();
	st->least_cost = UINT32_MAX;
	st->costly_left = UINT64_MAX;
	st->rows = sim.paths;
	for (i = 0; i < sim.paths; i++) {
		struct path *p = &sim.path[i];
		struct dpa_path *row = &st->path[i];
		double pacing = path_pacing(p);
		__u64 age_ms;

		row->flags |= DPA_PATH_USED | DPA_PATH_ACTIVE | DPA_PATH_PAUSES;
		set_flag(row, DPA_PATH_BUSY, p->written != p->acked);
		set_flag(row, DPA_PATH_PAUSING, p->bbr.mode == BBR_PROBE_RTT);
		set_flag(row, DPA_PATH_TOLD, p->app_limited);
		age_ms = (sim.now_ns - p->bbr.min_rtt_stamp_ns) / 1000000;
		row->rtt_age_ms = age_ms < UINT16_MAX ? age_ms : UINT16_MAX;
		row->cost = p->cost;
		row->flight = p->inflight;
		if (row->losses != p->losses)
			row->flags |= DPA_PATH_LOST;
		row->losses = p->losses;
		row->rtt_us = p->least_rtt_ns / 1000;
		row->srtt_us = p->srtt_ns / 1000;
		row->fresh = dpa_rtt_units(p->rtt_ns / 1000);
		row->pacing = pacing < UINT32_MAX ? pacing : UINT32_MAX;
		if (row->cost < st->least_cost)
			st->least_cost = row->cost;
	}
}

static void show_chunks(void)
{
	struct dpa_state *st = &sim.st;
	int i;

	st->chunk_end = 0;
	st->next_deadline_ns = 0;
	sim.next_end = UINT64_MAX;
	for (i = 0; i < sim.chunks; i++) {
		struct chunk *c = &sim.chunk[i];

		if (c->over || c->release_ns > sim.now_ns)
			continue;
		if (!st->chunk_end) {
			if (st->chunk_begin != c->begin || !st->chunk_deadline_ns) {
				st->decided_ns = 0;
				st->plan_until_ns = 0;
				st->chunk_start_ns = sim.now_ns;
			}
			st->chunk_begin = c->begin;
			st->chunk_end = c->end;
			st->chunk_deadline_ns = c->deadline_ns;
		}
		if (!st->next_deadline_ns && c->end > (sim.again_bytes ? sim.acked : sim.sent)) {
			st->next_deadline_ns = c->deadline_ns;
			sim.next_end = c->end;
		}
	}
	if (!st->chunk_end)
		dpa_forget_plan(st);
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

static void refresh_positions(void)
{
	struct dpa_state *st = &sim.st;

	st->now_ns = sim.now_ns;
	st->written = sim.written;
	st->sent = sim.sent;
	st->acked = sim.acked;
	st->unit = frag_rest();
	st->window = DPA_U64_MAX;
}

/* Does the plan stand? As kernel/conn.c sees it. */
static bool touch(void)
{
	struct dpa_state *st = &sim.st;
	int i;

	if (sim.now_ns >= st->plan_until_ns || sim.acked >= st->chunk_end ||
	    sim.sent >= sim.next_end)
		return false;
	refresh_positions();
	refresh_bytes();
	for (i = 0; i < sim.paths; i++)
		if (dpa_is_usable(&st->path[i]) != st->path[i].usable ||
		    dpa_has_rested(&st->path[i]))
			return false;
	return true;
}

static void note_activations(void)
{
	int i;

	for (i = 0; i < sim.paths; i++) {
		bool held = dpa_is_held(&sim.st, sim.st.path[i].cost);

		if (sim.was_held[i] && !held) {
			sim.activations[i]++;
			sim.released[i] = true;
		}
		sim.was_held[i] = held;
	}
}

static void decide(void)
{
	struct dpa_scratch *s = &sim.scratch;
	struct dpa_state *st = &sim.st;

	if (touch())
		return;
	refresh_positions();
	st->again = sim.again_bytes;
	show_chunks();
	refresh_paths();
	dpa_look(st, s);
	if (dpa_is_due(st, s)) {
		dpa_decide_begin(st, s);
		if (st->policy == MPTCP_DPA_POLICY_THRESHOLD)
			dpa_decide_threshold(st, s);
		else
			plan();
	}
	dpa_stand(st, s, DPA_BURST_MAX);
	note_activations();
}

static bool may_take(int i)
{
	const struct path *p = &sim.path[i];
	const struct dpa_path *row = &sim.st.path[i];

	if (p->written - p->acked >= sim.sndbuf)
		return false;
	if (sim.stock)
		return true;
	return dpa_may_send(&sim.st, row) &&
	       dpa_has_room(&sim.st, row, path_cwnd(p));
}

/* The application may have written up to there: the buffer is freed by whole fragments. */
static uint64_t room_to(void)
{
	return sim.acked / DFRAG * DFRAG + sim.sndbuf;
}

/* Where the next bytes go; -1: nowhere now. */
static int pick(void)
{
	bool in_time = false, best_late = false;
	double least = 1e300;
	int best = -1, i;

	for (i = 0; i < sim.paths; i++) {
		struct path *p = &sim.path[i];
		const struct dpa_path *row = &sim.st.path[i];
		bool late = !sim.stock && dpa_is_late(&sim.st, row);
		double linger;

		in_time |= !sim.stock && !late && dpa_may_send(&sim.st, row);
		if (!may_take(i))
			continue;
		linger = (p->written - p->acked) / p->avg_pacing;
		if (late)
			linger += 1e6;
		if (!sim.stock && sim.written < room_to() && dpa_is_spare(&sim.st, row))
			linger += 1e3;
		if (linger < least || (linger == least && !sim.stock &&
				       row->cost < sim.st.path[best].cost)) {
			least = linger;
			best = i;
			best_late = late;
		}
	}
	return best_late && in_time ? -1 : best;
}

/* As plan_schedule() in kernel/plan.c, and the kernel's default. */
static void picked(struct path *p, uint64_t burst)
{
	uint64_t queued = p->written - p->acked;

	p->avg_pacing = (p->avg_pacing * queued + path_pacing(p) * burst) /
			(queued + burst);
}

static void push(void)
{
	while (sim.sent < sim.written || next_again() != UINT64_MAX) {
		uint64_t burst = DPA_BURST_MAX, most;
		struct path *p;
		int i;

		if (!sim.stock)
			decide();
		i = pick();
		if (i < 0)
			return;
		p = &sim.path[i];
		if (!sim.stock)
			burst = dpa_picked(&sim.st, i);
		picked(p, burst);
		most = burst;
		do {
			uint64_t bytes = frag_rest();
			uint64_t a = next_again();

			/* as kernel/window.c has it */
			if (bytes > most)
				bytes = most;
			most = DPA_U64_MAX;

			if (p->last_put_ns + p->srtt_ns < sim.now_ns &&
			    !p->unsent_bytes && p->put && !sim.released[i])
				sim.activations[i]++;
			sim.released[i] = false;
			if (a != UINT64_MAX) {
				path_write(p, frag_end(a) - sim.again[a], bytes);
				sim.again[a] -= bytes;
				sim.again_bytes -= bytes;
			} else {
				path_write(p, sim.sent, bytes);
				sim.sent += bytes;
			}
			burst = burst > bytes ? burst - bytes : 0;
		} while (burst && (sim.sent < sim.written ||
				   next_again() != UINT64_MAX));
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
	if (most > room_to())
		most = room_to();
	if (most <= sim.written)
		return false;
	sim.written = most;
	return true;
}

/* What came ahead of its turn waits in stretches, apart and in order. */
static void arrive(uint64_t from, uint64_t to)
{
	int i = 0, j;

	while (i < sim.stretches && sim.stretch[i].to < from)
		i++;
	for (j = i; j < sim.stretches && sim.stretch[j].from <= to; j++) {
		if (sim.stretch[j].from < from)
			from = sim.stretch[j].from;
		if (sim.stretch[j].to > to)
			to = sim.stretch[j].to;
	}
	if (sim.stretches + 1 - (j - i) > STRETCHES_MAX) {
		fprintf(stderr, "sim: more than %d holes\n", STRETCHES_MAX);
		exit(1);
	}
	memmove(&sim.stretch[i + 1], &sim.stretch[j],
		(sim.stretches - j) * sizeof(sim.stretch[0]));
	sim.stretches += 1 - (j - i);
	sim.stretch[i] = (struct stretch){ .from = from, .to = to };
}

static bool receive(void)
{
	bool any = false;
	int i;

	for (i = 0; i < sim.paths; i++) {
		struct path *p = &sim.path[i];
		struct packet *k;

		any |= path_deliver(p, sim.now_ns);
		while ((k = path_next_arrived(p))) {
			arrive(k->at, k->at + k->bytes);
			p->arrived_seq++;
			fifo_pop(&p->arrived);
		}
	}
	if (!any || !sim.stretches || sim.stretch[0].from)
		return any;
	sim.received = sim.stretch[0].to;
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

/*
 * Marks for sending again what a packet carries that the peer does not have, and what
 * follows in the fragment, as msk_resend() in kernel/msk.c.
 */
static void mark(int path, const struct packet *k, uint64_t end)
{
	uint64_t i;

	for (i = k->at / DFRAG; i * DFRAG < k->at + k->bytes; i++) {
		uint64_t from = k->at > i * DFRAG ? k->at : i * DFRAG;
		uint16_t rest = frag_end(i) - from;

		if (from >= end || frag_end(i) <= sim.acked ||
		    rest <= sim.tried[i][path])
			continue;
		sim.tried[i][path] = rest;
		if (rest <= sim.again[i])
			continue;
		sim.again_bytes += rest - sim.again[i];
		sim.again[i] = rest;
	}
}

/*
 * But for so many bytes of what is not acknowledged that come first. What has arrived
 * goes before them all; on a silent path, what is behind a hole has not.
 */
static void relieve(int i, uint64_t end, uint64_t keep, bool silent)
{
	struct path *p = &sim.path[i];
	struct fifo *at[] = { &p->fly, &p->queue, &p->lost, &p->unsent };
	uint64_t seen = 0;
	uint32_t j, k;

	for (k = 0; k < p->back.count; k++)
		seen += fifo_at(&p->back, k)->bytes;
	for (j = 0; j < sizeof(at) / sizeof(*at); j++)
		for (k = 0; k < at[j]->count; k++) {
			const struct packet *next = fifo_at(at[j], k);

			seen += next->bytes;
			if (seen > keep)
				mark(i, next, end);
		}
	for (k = 0; silent && k < p->arrived.count; k++)
		mark(i, fifo_at(&p->arrived, k), end);
}

static void mark_silent(void)
{
	uint64_t patience;
	int i;

	for (i = 0; i < sim.paths; i++) {
		struct path *p = &sim.path[i];
		struct dpa_path *row = &sim.st.path[i];

		row->flags &= ~(DPA_PATH_SILENT | DPA_PATH_STUCK);
		row->behind = p->written - p->acked;
		patience = p->least_rtt_ns * 5 / 4 + dpa_between_acks_ns(&sim.st, row);
		if (row->behind && p->heard_ns + patience < sim.now_ns &&
		    path_oldest_ns(p) + p->srtt_ns * 5 / 4 < sim.now_ns)
			row->flags |= DPA_PATH_SILENT;
	}
}

/* As path_tell_limited() in kernel/path.c; stock MPTCP never does so. */
static void tell_limited(void)
{
	int i;

	for (i = 0; i < sim.paths; i++) {
		struct path *p = &sim.path[i];

		if (is_starved(p) && !p->unsent.count && !p->app_limited)
			path_limited(p);
	}
}

/* As pace_apply() in kernel/pace.c, at each look. */
static void pace(void)
{
	int i;

	for (i = 0; i < sim.paths; i++)
		sim.path[i].most = sim.path[i].app_limited ?
				   sim.st.path[i].pace : 0;
}

/* As look_watch() in kernel/look.c. */
static void watch(void)
{
	struct dpa_state *st = &sim.st;
	int i;

	if (sim.sent < sim.written || sim.again_bytes || sim.acked == sim.written)
		return;
	refresh_positions();
	refresh_paths();
	for (i = 0; i < sim.paths; i++)
		dpa_watch(&st->path[i], st->now_ns);
}

/* As kernel/rescue.c does it. */
static void rescue(void)
{
	struct dpa_state *st = &sim.st;
	/* chunks come in the order of their deadlines here */
	const struct dpa_horizon due = dpa_in_force(st);
	int i, j;

	st->now_ns = sim.now_ns;
	mark_silent();
	for (i = 0; i < sim.paths; i++) {
		struct dpa_path *p = &st->path[i];
		bool silent = p->flags & DPA_PATH_SILENT, outrun = false;

		for (j = 0; j < sim.paths; j++)
			if (j != i && !dpa_is_stuck(&st->path[j]))
				outrun |= silent ||
					  dpa_outruns(st, &due, p,
						      &st->path[j]);
		if (!p->behind || !outrun)
			continue;
		p->flags |= DPA_PATH_STUCK;
		relieve(i, silent ? sim.sent : due.end,
			silent ? 0 : dpa_in_time(st, &due, p), silent);
	}
	if (sim.again_bytes)
		st->plan_until_ns = 0;
}

void sim_run(void)
{
	uint64_t step;
	int i;

	sim.again = calloc(sim.bytes / DFRAG + 2, sizeof(*sim.again));
	sim.tried = calloc(sim.bytes / DFRAG + 2, sizeof(*sim.tried));

	for (step = 1; sim.acked < sim.bytes; step++) {
		bool act = false;

		sim.now_ns = step * STEP_NS;
		if (sim.now_ns > sim.end_ns)
			break;
		for (i = 0; i < sim.paths; i++)
			path_carry(&sim.path[i], sim.now_ns);
		receive();
		for (i = 0; i < sim.paths; i++)
			act |= path_acks(&sim.path[i], sim.now_ns);
		act |= data_acked();
		act |= write_more();
		if (!sim.stock && sim.now_ns % TICK_NS == 0) {
			tell_limited();
			pace();
			watch();
			rescue();
		}
		if (act || sim.now_ns % TICK_NS == 0)
			push();
		for (i = 0; i < sim.paths; i++)
			path_send(&sim.path[i], sim.now_ns);
	}
}
