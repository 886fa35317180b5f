// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>

#include "path.h"

static uint64_t drawn;

void draw_from(uint64_t seed)
{
	drawn = seed;
}

double draw(void)
{
	drawn ^= drawn << 13;
	drawn ^= drawn >> 7;
	drawn ^= drawn << 17;
	return (double)(drawn >> 11) / (1ULL << 53);
}

void path_init(struct path *p)
{
	bbr_init(p);
	p->least_rtt_ns = 2 * p->owd_ns;
	p->avg_pacing = p->bbr.pacing;
	p->srtt_ns = 2 * p->owd_ns;
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
	bbr_leave_idle(p, now_ns);
}

void path_send(struct path *p, uint64_t now_ns)
{
	uint64_t cwnd = path_cwnd(p);
	struct packet *k;
	int more = 0;	/* of one send */

	p->credit += path_pacing(p) * STEP_NS / SEC;
	while ((k = fifo_first(&p->unsent)) && (p->credit > 0 || more) &&
	       p->inflight + MSS <= cwnd) {
		more = more ? more - 1 : bbr_tso_segments(&p->bbr) - 1;
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
			fifo_push_due(&p->fly, now_ns + p->owd_ns, k);
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

	while ((k = fifo_pop_due(&p->fly, now_ns))) {
		struct packet copy = *k;

		k = &copy;
		sort_in(&p->arrived, k);
		fifo_push_due(&p->back, now_ns + p->owd_ns, k);
		any = true;
	}
	return any;
}

uint64_t path_first_open(struct path *p)
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

void path_limited(struct path *p)
{
	p->app_limited = p->delivered + p->inflight + 1;
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
		if (!lost)
			bbr_note_loss(&p->bbr);
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

	while ((k = fifo_pop_due(&p->back, now_ns))) {
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
		p->rtt_ns = rtt_ns;
		p->srtt_ns += ((int64_t)rtt_ns - (int64_t)p->srtt_ns) / 8;
		p->heard_ns = now_ns;
		bbr_ack(p, k, now_ns);
		any = true;
	}
	lost = find_losses(p, now_ns);
	if (acked || lost) {
		any = true;
		bbr_adjust(p, acked, lost, now_ns);
	}
	return any;
}
