// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "path.h"

#define SEC		1000000000ULL
#define MSEC		1000000ULL
#define INITIAL_CWND	10
#define HIGH_GAIN	2.885

static const double cycle[8] = { 1.25, 0.75, 1, 1, 1, 1, 1, 1 };

static uint64_t drawn;

void draw_from(uint64_t seed)
{
	drawn = seed;
}

/* 0..1, the same again for the same seed (xorshift) */
static double draw(void)
{
	drawn ^= drawn << 13;
	drawn ^= drawn >> 7;
	drawn ^= drawn << 17;
	return (double)(drawn >> 11) / (1ULL << 53);
}

static void grow(struct fifo *f)
{
	uint32_t room = f->room ? f->room * 2 : 64, i;
	struct packet *to = malloc(room * sizeof(*to));

	if (!to)
		abort();
	for (i = 0; i < f->count; i++)
		to[i] = *fifo_at(f, i);
	free(f->at);
	f->at = to;
	f->head = 0;
	f->room = room;
}

void fifo_push(struct fifo *f, const struct packet *p)
{
	if (f->count == f->room)
		grow(f);
	f->at[(f->head + f->count++) % f->room] = *p;
}

void fifo_push_front(struct fifo *f, const struct packet *p)
{
	if (f->count == f->room)
		grow(f);
	f->head = (f->head + f->room - 1) % f->room;
	f->at[f->head] = *p;
	f->count++;
}

struct packet *fifo_first(struct fifo *f)
{
	return f->count ? &f->at[f->head] : NULL;
}

struct packet *fifo_at(struct fifo *f, uint32_t i)
{
	return &f->at[(f->head + i) % f->room];
}

void fifo_pop(struct fifo *f)
{
	f->head = (f->head + 1) % f->room;
	f->count--;
}

static void later(struct fifo *f, uint64_t when_ns, const struct packet *p)
{
	fifo_push(f, p);
	fifo_at(f, f->count - 1)->when_ns = when_ns;
}

static struct packet *due(struct fifo *f, uint64_t now_ns)
{
	struct packet *p = fifo_first(f);

	if (!p || p->when_ns > now_ns)
		return NULL;
	fifo_pop(f);
	return p;
}

void path_init(struct path *p)
{
	p->bbr.min_rtt_ns = 2 * p->owd_ns;
	p->least_rtt_ns = 2 * p->owd_ns;
	p->bbr.cwnd = INITIAL_CWND * MSS;
	p->bbr.pacing = HIGH_GAIN * INITIAL_CWND * MSS * SEC / (2 * p->owd_ns);
	p->avg_pacing = p->bbr.pacing;
	p->srtt_ns = 2 * p->owd_ns;
}

static double bbr_bw(const struct bbr *b)
{
	double most = 0;
	int i;

	for (i = 0; i < BW_ROUNDS; i++)
		most = b->bw[i] > most ? b->bw[i] : most;
	return most;
}

static double bdp(const struct path *p)
{
	return bbr_bw(&p->bbr) * p->bbr.min_rtt_ns / SEC;
}

/* Segments of one send. */
static double tso_segments(const struct path *p)
{
	double segments = (int)(p->bbr.pacing / 1024 / MSS), least;

	least = p->bbr.pacing < 150000 ? 1 : 2;
	return segments < least ? least : segments;
}

static double bbr_gain(const struct bbr *b)
{
	switch (b->mode) {
	case BBR_STARTUP:
		return HIGH_GAIN;
	case BBR_DRAIN:
		return 1 / HIGH_GAIN;
	case BBR_PROBE_BW:
		return cycle[b->phase];
	default:
		return 1;
	}
}

/*
 * Acknowledgements that come together leave the sender without any for a while:
 * the window makes up for that. (BBR counts what came beyond its estimate.)
 */
static double bbr_aggregated(const struct bbr *b)
{
	double more = b->more[0] > b->more[1] ? b->more[0] : b->more[1];
	double most = bbr_bw(b) / 10;	/* of 100 ms */

	if (b->mode == BBR_STARTUP)
		return 0;
	return more < most ? more : most;
}

static void begin_epoch(struct bbr *b, uint64_t now_ns)
{
	b->epoch_ns = now_ns;
	b->epoch_acked = 0;
}

static void bbr_aggregate(struct bbr *b, double acked, uint64_t now_ns)
{
	double expected = bbr_bw(b) * (now_ns - b->epoch_ns) / SEC, more;

	if (b->round >= b->more_round + 5) {
		b->more_round = b->round;
		b->more_at = !b->more_at;
		b->more[b->more_at] = 0;
	}
	if (b->epoch_acked <= expected) {
		begin_epoch(b, now_ns);
		expected = 0;
	}
	b->epoch_acked += acked;
	more = b->epoch_acked - expected;
	if (more > b->cwnd)
		more = b->cwnd;
	if (more > b->more[b->more_at])
		b->more[b->more_at] = more;
}

static double bbr_target(const struct path *p)
{
	const struct bbr *b = &p->bbr;
	double gain = b->mode == BBR_PROBE_BW ? 2 :
		      b->mode == BBR_PROBE_RTT ? 1 : HIGH_GAIN;

	if (!bbr_bw(b))
		return INITIAL_CWND * MSS;
	return gain * bdp(p) + bbr_aggregated(b) + 3 * tso_segments(p) * MSS +
	       (b->mode == BBR_PROBE_BW && !b->phase ? 2 * MSS : 0);
}

/* The window, in bytes. */
uint64_t path_cwnd(const struct path *p)
{
	return p->bbr.cwnd;
}

/* Bytes a second. */
double path_pacing(const struct path *p)
{
	return p->most && p->most < p->bbr.pacing ? p->most : p->bbr.pacing;
}

static void bbr_pace(struct path *p)
{
	struct bbr *b = &p->bbr;
	double rate = bbr_gain(b) * bbr_bw(b) * 0.99;

	if (b->mode != BBR_STARTUP || rate > b->pacing)
		b->pacing = rate;
}

void path_write(struct path *p, uint64_t at, uint32_t bytes)
{
	p->written += bytes;
	p->unsent_bytes += bytes;
	while (bytes) {
		struct packet k = { .at = at };

		k.bytes = bytes < MSS ? bytes : MSS;
		k.seq = p->next_seq++;
		fifo_push(&p->unsent, &k);
		at += k.bytes;
		bytes -= k.bytes;
	}
}

static void leave_idle(struct path *p, uint64_t now_ns)
{
	p->delivered_ns = now_ns;
	p->first_ns = now_ns;
	p->bbr.idle_restart = p->app_limited;
	if (p->app_limited)
		begin_epoch(&p->bbr, now_ns);
}

void path_send(struct path *p, uint64_t now_ns)
{
	uint64_t cwnd = path_cwnd(p);
	struct packet *k;
	int more = 0;	/* of one send */

	p->credit += path_pacing(p) * STEP_NS / SEC;
	while ((k = fifo_first(&p->unsent)) && (p->credit > 0 || more) &&
	       p->inflight + MSS <= cwnd) {
		more = more ? more - 1 : tso_segments(p) - 1;
		if (!p->inflight)
			leave_idle(p, now_ns);
		k->sent_ns = now_ns;
		k->delivered = p->delivered;
		k->delivered_ns = p->delivered_ns;
		k->first_ns = p->first_ns;
		if (p->high_seq <= k->seq)
			p->high_seq = k->seq + 1;
		k->app_limited = p->app_limited;
		p->put += k->bytes;
		p->first_put += k->again ? 0 : k->bytes;
		p->last_put_ns = now_ns;
		p->inflight += MSS;
		p->credit -= k->bytes;
		p->unsent_bytes -= k->again ? 0 : k->bytes;
		if (p->queue_used + k->bytes > p->queue_bytes) {
			fifo_push(&p->lost, k);
		} else {
			p->queue_used += k->bytes;
			fifo_push(&p->queue, k);
		}
		fifo_pop(&p->unsent);
	}
	/* an idle sender saves up no more than two packets */
	if (p->credit > 2 * MSS)
		p->credit = 2 * MSS;
}

/* The link takes what it can carry in this step from its queue. */
void path_carry(struct path *p, uint64_t now_ns)
{
	uint64_t step = now_ns / STEP_NS;
	double luck = draw();
	struct packet *k;

	p->link_credit += p->carries[step < p->steps ? step : p->steps - 1];
	while ((k = fifo_first(&p->queue)) && p->link_credit >= k->bytes) {
		p->link_credit -= k->bytes;
		p->queue_used -= k->bytes;
		if (luck < p->loss) {
			fifo_push(&p->lost, k);
			luck = 1;
		} else {
			later(&p->fly, now_ns + p->owd_ns, k);
		}
		fifo_pop(&p->queue);
	}
	/* it saves up two packets, as tools/testbed/topology.py has it */
	if (!p->queue.count && p->link_credit > 2 * MSS)
		p->link_credit = 2 * MSS;
}

/* A retransmission comes after packets with higher numbers. */
static void sort_in(struct fifo *f, const struct packet *k)
{
	uint32_t i;

	fifo_push(f, k);
	for (i = f->count - 1; i; i--) {
		struct packet *was = &f->at[(f->head + i - 1) % f->room];

		if (was->seq < k->seq)
			break;
		f->at[(f->head + i) % f->room] = *was;
		*was = *k;
	}
}

/* What a path would hand on next, in its own order; NULL: a hole. */
struct packet *path_next_arrived(struct path *p)
{
	struct packet *k = fifo_first(&p->arrived);

	return k && k->seq == p->arrived_seq ? k : NULL;
}

/* Packets reach the receiver. */
bool path_deliver(struct path *p, uint64_t now_ns)
{
	struct packet *k;
	bool any = false;

	while ((k = due(&p->fly, now_ns))) {
		struct packet copy = *k;

		k = &copy;
		sort_in(&p->arrived, k);
		later(&p->back, now_ns + p->owd_ns, k);
		any = true;
	}
	return any;
}

/* Its cycle begins anywhere but in the phase that empties the queue. */
static void bbr_cruise(struct bbr *b, uint64_t now_ns)
{
	b->mode = BBR_PROBE_BW;
	b->phase = (2 + (int)(draw() * 7)) % 8;
	b->phase_ns = now_ns;
}

static void save_cwnd(struct bbr *b)
{
	if ((!b->recovering && b->mode != BBR_PROBE_RTT) || b->prior_cwnd < b->cwnd)
		b->prior_cwnd = b->cwnd;
}

static void restore_cwnd(struct bbr *b)
{
	if (b->cwnd < b->prior_cwnd)
		b->cwnd = b->prior_cwnd;
}

/* The first number that is not acknowledged with all before it. */
static uint64_t first_open(struct path *p)
{
	struct fifo *at[] = {
		&p->unsent, &p->queue, &p->fly, &p->lost, &p->back
	};
	uint64_t first = p->high_seq;
	uint32_t i, j;

	for (i = 0; i < sizeof(at) / sizeof(*at); i++)
		for (j = 0; j < at[i]->count; j++)
			if (fifo_at(at[i], j)->seq < first)
				first = fifo_at(at[i], j)->seq;
	return first;
}

/* A recovery begins, and ends when all that was sent before is acknowledged. */
static void bbr_recover(struct path *p, uint64_t acked, bool lost)
{
	struct bbr *b = &p->bbr;

	if (lost && !b->recovering) {
		b->recovering = true;
		b->conserving = true;
		b->recovered_seq = p->high_seq;
		b->round_end = p->delivered;
		b->cwnd = p->inflight + acked;
		return;
	}
	if (!b->recovering || first_open(p) < b->recovered_seq)
		return;
	if (p->lost_bytes) {
		/* TCP begins the next at once, BBR does not see that */
		b->recovered_seq = p->high_seq;
		save_cwnd(b);
		return;
	}
	b->recovering = false;
	b->conserving = false;
	restore_cwnd(b);
}

static void bbr_cwnd(struct path *p, uint64_t acked, uint64_t lost)
{
	struct bbr *b = &p->bbr;
	double target = bbr_target(p);

	if (lost)
		b->cwnd = b->cwnd > lost + MSS ? b->cwnd - lost : MSS;
	bbr_recover(p, acked, lost);
	if (b->conserving) {
		if (b->cwnd < p->inflight + acked)
			b->cwnd = p->inflight + acked;
	} else if (b->mode != BBR_STARTUP) {
		b->cwnd = b->cwnd + acked < target ? b->cwnd + acked : target;
	} else if (b->cwnd < target || p->delivered < INITIAL_CWND * MSS) {
		b->cwnd += acked;
	}
	if (b->cwnd < 4 * MSS || b->mode == BBR_PROBE_RTT)
		b->cwnd = 4 * MSS;
}

/*
 * A probe goes on until as much is on its way as it asks for, or something is lost,
 * and so gets faster with each round trip that brings more; then the queue is emptied,
 * if there is one.
 */
static bool bbr_phase_ends(const struct path *p, uint64_t now_ns)
{
	const struct bbr *b = &p->bbr;
	bool whole = now_ns - b->phase_ns > b->min_rtt_ns;

	switch (b->phase) {
	case 0:
		return whole && (b->recovering || p->inflight >= 1.25 * bdp(p));
	case 1:
		return whole || p->inflight <= bdp(p);
	default:
		return whole;
	}
}

static void bbr_mode(struct path *p, uint64_t now_ns, bool full_round)
{
	struct bbr *b = &p->bbr;
	double bw = bbr_bw(b);

	if (b->mode == BBR_STARTUP && full_round) {
		if (bw >= b->full_bw * 1.25) {
			b->full_bw = bw;
			b->full_rounds = 0;
		} else if (++b->full_rounds >= 3) {
			b->mode = BBR_DRAIN;
		}
	}
	if (b->mode == BBR_DRAIN && p->inflight <= bdp(p))
		bbr_cruise(b, now_ns);
	if (b->mode == BBR_PROBE_BW && bbr_phase_ends(p, now_ns)) {
		b->phase = (b->phase + 1) % 8;
		b->phase_ns = now_ns;
	}
}

void path_limited(struct path *p)
{
	p->app_limited = p->delivered + p->inflight + 1;
}

static void bbr_min_rtt(struct path *p, uint64_t now_ns, uint64_t rtt_ns)
{
	struct bbr *b = &p->bbr;
	bool expired = now_ns > b->min_rtt_stamp_ns + 10 * SEC;

	if (rtt_ns < b->min_rtt_ns || expired) {
		b->min_rtt_ns = rtt_ns;
		b->min_rtt_stamp_ns = now_ns;
	}
	if (expired && b->mode == BBR_PROBE_BW && !b->idle_restart) {
		b->mode = BBR_PROBE_RTT;
		save_cwnd(b);
		b->probe_rtt_done_ns = 0;
	}
	if (b->mode == BBR_PROBE_RTT) {
		/* its few packets are no measure of the path */
		path_limited(p);
		if (!b->probe_rtt_done_ns && p->inflight <= 4 * MSS)
			b->probe_rtt_done_ns = now_ns + 200 * MSEC;
		else if (b->probe_rtt_done_ns && now_ns > b->probe_rtt_done_ns) {
			bbr_cruise(b, now_ns);
			restore_cwnd(b);
			b->min_rtt_stamp_ns = now_ns;
		}
	}
	b->idle_restart = false;
}

/*
 * One more sample. What was measured is forgotten when a later sample counts, not before:
 * one in which the sender held back counts only if it is no less.
 */
static void note_bw(struct bbr *b, double rate, bool limited)
{
	uint64_t i, rounds = b->round - b->bw_round;

	if (limited && rate < bbr_bw(b))
		return;
	for (i = 0; i < rounds && i < BW_ROUNDS; i++)
		b->bw[(b->round - i) % BW_ROUNDS] = 0;
	b->bw_round = b->round;
	if (rate > b->bw[b->round % BW_ROUNDS])
		b->bw[b->round % BW_ROUNDS] = rate;
}

static void bbr_ack(struct path *p, const struct packet *k, uint64_t now_ns)
{
	struct bbr *b = &p->bbr;
	bool round_start = false;
	double rate;

	if (k->delivered >= b->round_end) {
		b->round++;
		b->round_end = p->delivered;
		round_start = true;
		b->conserving = false;
	}
	if (now_ns > k->delivered_ns) {
		uint64_t span = now_ns - k->delivered_ns;
		uint64_t sending = k->sent_ns - k->first_ns;

		if (span < sending)
			span = sending;
		rate = (double)(p->delivered - k->delivered) * SEC / span;
		if (span >= p->least_rtt_ns)
			note_bw(b, rate, k->app_limited);
	}
	p->heard_ns = now_ns;
	bbr_mode(p, now_ns, round_start && !k->app_limited);
	bbr_min_rtt(p, now_ns, now_ns - k->sent_ns);
}

/* When the oldest packet that is not acknowledged was sent; never: UINT64_MAX. */
uint64_t path_oldest_ns(struct path *p)
{
	struct fifo *at[] = { &p->queue, &p->fly, &p->back };
	uint64_t oldest = UINT64_MAX;
	uint32_t i, j;

	for (i = 0; i < sizeof(at) / sizeof(*at); i++)
		for (j = 0; j < at[i]->count; j++)
			if (fifo_at(at[i], j)->sent_ns < oldest)
				oldest = fifo_at(at[i], j)->sent_ns;
	return oldest;
}

/* Retransmissions go before what is new, the lowest number first. */
static void send_again(struct path *p, const struct packet *k)
{
	uint32_t i;

	fifo_push_front(&p->unsent, k);
	for (i = 1; i < p->unsent.count && fifo_at(&p->unsent, i)->seq < k->seq; i++) {
		*fifo_at(&p->unsent, i - 1) = *fifo_at(&p->unsent, i);
		*fifo_at(&p->unsent, i) = *k;
	}
}

/*
 * What was sent before something that is acknowledged is lost (RACK). Without
 * anything later a probe shows it: two round trips after the last was sent, and
 * a third for its answer.
 */
static uint64_t find_losses(struct path *p, uint64_t now_ns)
{
	bool probed = now_ns > p->last_put_ns + 3 * p->srtt_ns;
	uint32_t n = p->lost.count;
	uint64_t lost = 0;

	while (n--) {
		struct packet k = *fifo_first(&p->lost);

		fifo_pop(&p->lost);
		if (k.sent_ns >= p->first_ns && !probed) {
			fifo_push(&p->lost, &k);
			continue;
		}
		if (!lost && !p->bbr.recovering)
			save_cwnd(&p->bbr);
		lost += MSS;
		p->losses++;
		p->lost_bytes += k.again ? 0 : MSS;
		k.again = true;
		p->inflight -= MSS;
		send_again(p, &k);
	}
	return lost;
}

/* Acknowledgements come back, and losses come to light. */
bool path_acks(struct path *p, uint64_t now_ns)
{
	uint64_t lost, acked = 0;
	struct packet *k;
	bool any = false;

	while ((k = due(&p->back, now_ns))) {
		uint64_t rtt_ns = now_ns - k->sent_ns;

		p->inflight -= MSS;
		p->acked += k->bytes;
		acked += MSS;
		p->lost_bytes -= k->again ? MSS : 0;
		if (p->first_ns < k->sent_ns)
			p->first_ns = k->sent_ns;
		p->delivered += MSS;
		p->delivered_ns = now_ns;
		if (p->delivered >= p->app_limited)
			p->app_limited = 0;
		p->srtt_ns += ((int64_t)rtt_ns - (int64_t)p->srtt_ns) / 8;
		bbr_ack(p, k, now_ns);
		any = true;
	}
	if (acked)
		bbr_aggregate(&p->bbr, acked, now_ns);
	lost = find_losses(p, now_ns);
	if (acked || lost) {
		any = true;
		bbr_pace(p);
		bbr_cwnd(p, acked, lost);
	}
	return any;
}
