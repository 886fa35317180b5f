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
	u64	due;		/* what has to be there by the deadline; end, unless open then */
	u64	start_ns;	/* when it was set, or became the first */
	u64	deadline_ns;	/* CLOCK_MONOTONIC */
	u64	cookie;
	u32	alpha_milli;	/* 0: the connection's */
	u8	late;		/* enum mptcp_dpa_late_policy + 1; 0: inherit */
	bool	judged : 1;	/* met or missed has been said */
	bool	risk_told : 1;	/* that it is at risk has been said */
	bool	open : 1;	/* its end still grows, see stream.h */
	bool	begun : 1;	/* the first of it may go, or waits; see turn.h */
	bool	waits : 1;	/* for its turn */
};

/* Under the lock of whoever holds it: the msk lock. */
struct chunk_queue {
	struct chunk	*at;
	u64		declared; /* bytes of all chunks there ever were */
	u16		count;
	u16		room;
};

/* What acknowledgments take to come back. */
struct ack_delay {
	u64	last_ns;	/* the last one that came, at least */
	u64	most_ns;	/* those that may be on their way, at most */
};

/* called for each chunk whose verdict has come */
typedef void (*chunk_judged_fn)(void *arg, const struct chunk *chunk, bool met);

int chunk_queue_add(struct chunk_queue *q, const struct chunk *chunk,
		    u64 written, u32 most);
void chunk_queue_grow(struct chunk_queue *q, u64 end, u64 now_ns);
void chunk_queue_pass(struct chunk_queue *q, u64 bytes);
struct chunk *chunk_queue_first(const struct chunk_queue *q);
struct chunk *chunk_queue_last(const struct chunk_queue *q);
bool chunk_queue_is_due(const struct chunk_queue *q, u64 acked, u64 now_ns);
void chunk_queue_update(struct chunk_queue *q, u64 acked, u64 now_ns,
			u64 acked_ns, struct ack_delay delay, u64 expected,
			chunk_judged_fn judged, void *arg);
u64 chunk_queue_next_verdict(const struct chunk_queue *q);
void chunk_queue_clear(struct chunk_queue *q);

#endif
