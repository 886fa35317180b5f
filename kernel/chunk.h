/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The chunks of a connection, in stream order and without overlap. Positions
 * are offsets in the stream, because sequence numbers begin only at connect().
 */
#ifndef _MPTCP_DPA_CHUNK_H
#define _MPTCP_DPA_CHUNK_H

#include <linux/types.h>

struct chunk {
	u64	begin;
	u64	end;		/* begin + length */
	u64	start_ns;	/* when it was set, or became the first */
	u64	deadline_ns;	/* CLOCK_MONOTONIC */
	u64	cookie;
	u32	alpha_milli;	/* 0: the namespace's */
	bool	judged;		/* met or missed has been said */
};

/* Under the lock of whoever holds it: the msk lock. */
struct chunk_queue {
	struct chunk	*at;
	u32		count;
	u32		room;
};

/* what an update of the queue found */
struct chunk_verdicts {
	u32	met;
	u32	missed;
};

int chunk_queue_add(struct chunk_queue *q, const struct chunk *chunk,
		    u64 written);
const struct chunk *chunk_queue_first(const struct chunk_queue *q);
struct chunk_verdicts chunk_queue_update(struct chunk_queue *q, u64 acked,
					 u64 now_ns, u64 ack_delay_ns);
u64 chunk_queue_next_verdict(const struct chunk_queue *q);
void chunk_queue_clear(struct chunk_queue *q);

#endif
