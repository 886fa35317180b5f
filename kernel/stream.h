/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Chunks for senders that mark none: what is written in an interval is one.
 * The last chunk of the queue is open while its interval lasts.
 */
#ifndef _MPTCP_DPA_STREAM_H
#define _MPTCP_DPA_STREAM_H

#include <linux/types.h>

struct chunk_queue;

/* Under the msk lock. */
struct stream {
	u64	interval_ns;	/* 0: the connection has no intervals */
	u64	deadline_ns;	/* from the begin of an interval */
	u64	expected;	/* bytes in an interval, a forecast */
	u64	first_ns;	/* when interval 0 began; 0: not yet */
	u64	written;	/* end of the stream at the last look */
	u32	alpha_milli;
	u8	late;
};

void stream_advance(struct stream *s, struct chunk_queue *q, u64 written,
		    u64 now_ns, u32 most);
u64 stream_boundary(const struct stream *s, const struct chunk_queue *q,
		    u64 now_ns);

#endif
