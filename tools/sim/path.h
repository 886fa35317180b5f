/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One path of the simulator: a TCP sender with a model of BBR, a link with a
 * drop-tail queue and a delay, and the way of the acknowledgements back.
 */
#ifndef _SIM_PATH_H
#define _SIM_PATH_H

#include <stdbool.h>
#include <stdint.h>

#define STEP_NS		500000ULL	/* time goes in steps of 0.5 ms */
/*
 * Payload of a full packet, as tools/testbed/frames.py has it. Windows, flights
 * and rates count packets, as TCP does: a small one is as much as a full one.
 */
#define MSS		1420

struct packet {
	uint64_t	at;		/* in the connection's stream */
	uint32_t	bytes;
	bool		again;		/* a retransmission */
	uint64_t	sent_ns;
	uint64_t	delivered;	/* by the path when it was sent */
	uint64_t	delivered_ns;
	uint64_t	first_ns;	/* when what was acknowledged last then was sent */
	uint64_t	seq;		/* number on the path */
	uint64_t	when_ns;	/* it arrives */
	bool		app_limited;	/* when it was sent */
};

/* a queue of packets that grows */
struct fifo {
	struct packet	*at;
	uint32_t	head, count, room;
};

/* of BBR's filter */
#define BW_ROUNDS	10

enum bbr_mode { BBR_STARTUP, BBR_DRAIN, BBR_PROBE_BW, BBR_PROBE_RTT };

struct bbr {
	enum bbr_mode	mode;
	double		bw[BW_ROUNDS];	/* the most of each of these round trips */
	uint64_t	bw_round;	/* the last of them */
	uint64_t	round;
	uint64_t	round_end;	/* delivered that ends it */
	double		full_bw;
	int		full_rounds;
	int		phase;
	uint64_t	phase_ns;
	uint64_t	min_rtt_ns, min_rtt_stamp_ns;
	uint64_t	probe_rtt_done_ns;
	bool		idle_restart;
	double		pacing;		/* bytes a second */
	double		cwnd, prior_cwnd;	/* bytes; before the window was cut */
	double		more[2];	/* acknowledged at once, each in 5 round trips */
	int		more_at;
	uint64_t	more_round, epoch_ns;
	double		epoch_acked;
	bool		recovering, conserving;
	uint64_t	recovered_seq;	/* numbers up to it end the recovery */
};

struct path {
	/* given */
	uint32_t	cost;
	uint64_t	owd_ns;
	uint64_t	queue_bytes;
	double		loss;
	const double	*carries;	/* bytes in each step */
	uint64_t	steps;

	/* the sender */
	struct fifo	unsent;
	uint64_t	unsent_bytes;
	uint64_t	written, acked;	/* bytes */
	uint64_t	next_seq;
	uint64_t	inflight;
	double		credit;		/* of the pacer */
	uint32_t	most;		/* bytes a second that it sends at; 0: any */
	uint64_t	srtt_ns, delivered, delivered_ns, first_ns;
	uint64_t	lost_bytes;	/* found, and not acknowledged since */
	uint16_t	losses;		/* packets that were found lost */
	uint64_t	high_seq;	/* the highest number sent, and 1 */
	struct bbr	bbr;
	double		avg_pacing;	/* of what was put on it */
	uint64_t	put;		/* payload bytes, retransmissions too */
	uint64_t	first_put;	/* and without TCP's */
	uint64_t	last_put_ns;
	uint64_t	heard_ns;	/* the last acknowledgement */
	uint64_t	least_rtt_ns;
	uint64_t	app_limited;	/* so much delivered and 1 ends that */

	/* the network */
	struct fifo	queue;
	uint64_t	queue_used;
	double		link_credit;
	struct fifo	fly;		/* to the receiver */
	struct fifo	back;		/* acknowledgements */
	struct fifo	lost;		/* which the sender does not know yet */

	/* the receiver: what waits for packets of other paths */
	struct fifo	arrived;	/* by their number on the path */
	uint64_t	arrived_seq;	/* the next in order */
};

void draw_from(uint64_t seed);

void fifo_push(struct fifo *f, const struct packet *p);
void fifo_push_front(struct fifo *f, const struct packet *p);
struct packet *fifo_first(struct fifo *f);
struct packet *fifo_at(struct fifo *f, uint32_t i);
void fifo_pop(struct fifo *f);
uint64_t path_oldest_ns(struct path *p);

void path_init(struct path *p);
void path_write(struct path *p, uint64_t at, uint32_t bytes);
uint64_t path_cwnd(const struct path *p);
double path_pacing(const struct path *p);
/* What is sent until all that is under way now has come is application-limited. */
void path_limited(struct path *p);
void path_send(struct path *p, uint64_t now_ns);
void path_carry(struct path *p, uint64_t now_ns);
struct packet *path_next_arrived(struct path *p);
bool path_deliver(struct path *p, uint64_t now_ns);
bool path_acks(struct path *p, uint64_t now_ns);

#endif
