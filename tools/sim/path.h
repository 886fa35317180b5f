/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One path of the simulator: a TCP sender, a link with a drop-tail queue and a
 * delay, and the way of the acknowledgements back.
 */
#ifndef _SIM_PATH_H
#define _SIM_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "bbr.h"
#include "fifo.h"

#define SEC		1000000000ULL
#define MSEC		1000000ULL
#define STEP_NS		500000ULL	/* time goes in steps of 0.5 ms */
/*
 * Payload of a full packet, as tools/testbed/frames.py has it. Windows, flights
 * and rates count packets, as TCP does: a small one is as much as a full one.
 */
#define MSS		1420

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
	uint64_t	srtt_ns, rtt_ns, delivered, delivered_ns, first_ns;
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

/* What draw() gives next, 0..1, is the same again for the same seed. */
void draw_from(uint64_t seed);
double draw(void);

void path_init(struct path *p);
void path_write(struct path *p, uint64_t at, uint32_t bytes);
/* The window, in bytes; bytes a second. */
uint64_t path_cwnd(const struct path *p);
double path_pacing(const struct path *p);
/* What is sent until all that is under way now has come is application-limited. */
void path_limited(struct path *p);
void path_send(struct path *p, uint64_t now_ns);
void path_carry(struct path *p, uint64_t now_ns);
struct packet *path_next_arrived(struct path *p);
bool path_deliver(struct path *p, uint64_t now_ns);
/* When the oldest packet that is not acknowledged was sent; never: UINT64_MAX. */
uint64_t path_oldest_ns(struct path *p);
/* The first number that is not acknowledged with all before it. */
uint64_t path_first_open(struct path *p);
/* Acknowledgements come back, and losses come to light. */
bool path_acks(struct path *p, uint64_t now_ns);

#endif
