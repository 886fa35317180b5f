// SPDX-License-Identifier: GPL-2.0-only
#include "path.h"

#define INITIAL_CWND	10
#define HIGH_GAIN	2.885

static const double cycle[8] = { 1.25, 0.75, 1, 1, 1, 1, 1, 1 };

void bbr_init(struct path *p)
{
	struct bbr *b = &p->bbr;

	b->min_rtt_ns = 2 * p->owd_ns;
	b->cwnd = INITIAL_CWND * MSS;
	b->pacing = HIGH_GAIN * INITIAL_CWND * MSS * SEC / (2 * p->owd_ns);
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

double bbr_tso_segments(const struct bbr *b)
{
	double segments = (int)(b->pacing / 1024 / MSS), least;

	least = b->pacing < 150000 ? 1 : 2;
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
	return gain * bdp(p) + bbr_aggregated(b) + 3 * bbr_tso_segments(b) * MSS +
	       (b->mode == BBR_PROBE_BW && !b->phase ? 2 * MSS : 0);
}

static void bbr_pace(struct path *p)
{
	struct bbr *b = &p->bbr;
	double rate = bbr_gain(b) * bbr_bw(b) * 0.99;

	if (b->mode != BBR_STARTUP || rate > b->pacing)
		b->pacing = rate;
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
	if (!b->recovering || path_first_open(p) < b->recovered_seq)
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

void bbr_ack(struct path *p, const struct packet *k, uint64_t now_ns)
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
	bbr_mode(p, now_ns, round_start && !k->app_limited);
	bbr_min_rtt(p, now_ns, now_ns - k->sent_ns);
}

void bbr_leave_idle(struct path *p, uint64_t now_ns)
{
	p->bbr.idle_restart = p->app_limited;
	if (p->app_limited)
		begin_epoch(&p->bbr, now_ns);
}

void bbr_note_loss(struct bbr *b)
{
	if (!b->recovering)
		save_cwnd(b);
}

void bbr_adjust(struct path *p, uint64_t acked, uint64_t lost, uint64_t now_ns)
{
	if (acked)
		bbr_aggregate(&p->bbr, acked, now_ns);
	bbr_pace(p);
	bbr_cwnd(p, acked, lost);
}
