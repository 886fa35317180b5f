/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packets, and queues of them that grow.
 */
#ifndef _SIM_FIFO_H
#define _SIM_FIFO_H

#include <stdbool.h>
#include <stdint.h>

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

struct fifo {
	struct packet	*at;
	uint32_t	head, count, room;
};

void fifo_push(struct fifo *f, const struct packet *p);
void fifo_push_front(struct fifo *f, const struct packet *p);
struct packet *fifo_first(struct fifo *f);
struct packet *fifo_at(struct fifo *f, uint32_t i);
void fifo_pop(struct fifo *f);
/* Adds one that is due then; what is added later is due later. */
void fifo_push_due(struct fifo *f, uint64_t when_ns, const struct packet *p);
/* Takes the first that is due by now; NULL: there is none. Good until the next push. */
struct packet *fifo_pop_due(struct fifo *f, uint64_t now_ns);

#endif
