// SPDX-License-Identifier: GPL-2.0-only
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "chunk.h"
#include "stream.h"

static u64 interval_at(const struct stream *s, u64 now_ns)
{
	return div64_u64(now_ns - s->first_ns, s->interval_ns);
}

static void close_chunk(const struct stream *s, struct chunk_queue *q, u64 now_ns)
{
	chunk_queue_grow(q, s->written, now_ns);
	chunk_queue_last(q)->open = false;
}

/* The first bytes of an interval begin its chunk. */
static void open_chunk(const struct stream *s, struct chunk_queue *q,
		       u64 interval, u64 now_ns, u32 most)
{
	u64 begin_ns = s->first_ns + interval * s->interval_ns;
	struct chunk chunk = {
		.end = 1,
		.start_ns = now_ns,
		.deadline_ns = begin_ns + s->deadline_ns,
		.cookie = interval,
		.alpha_milli = s->alpha_milli,
		.late = s->late,
		.open = true,
	};

	/* with no room the bytes stay without a deadline of their own */
	chunk_queue_add(q, &chunk, s->written, most);
}

/**
 * stream_advance() - let intervals pass and chunks grow
 * @s: the connection's intervals, if it has any
 * @q: its chunks
 * @written: end of the stream now
 * @now_ns: CLOCK_MONOTONIC
 * @most: chunks that may be queued
 *
 * Bytes count for the interval in which they are first seen: what is written while
 * a plan stands is seen when that is over.
 *
 * Context: msk lock.
 */
void stream_advance(struct stream *s, struct chunk_queue *q, u64 written,
		    u64 now_ns, u32 most)
{
	struct chunk *last;
	u64 interval;

	if (!s->interval_ns)
		return;
	if (!s->first_ns) {
		if (written == s->written)
			return;
		s->first_ns = now_ns;
	}
	interval = interval_at(s, now_ns);
	last = chunk_queue_last(q);
	if (last && last->open && last->cookie != interval)
		close_chunk(s, q, now_ns);

	if (written != s->written) {
		if (!last || !last->open)
			open_chunk(s, q, interval, now_ns, most);
		last = chunk_queue_last(q);
		if (last && last->open)
			chunk_queue_grow(q, written, now_ns);
	}
	s->written = written;
}

/*
 * When the open chunk is to be looked at: at its deadline, for what it has by then, and
 * at the end of its interval. U64_MAX if no chunk is open.
 */
u64 stream_boundary(const struct stream *s, const struct chunk_queue *q,
		    u64 now_ns)
{
	const struct chunk *last = chunk_queue_last(q);
	u64 next;

	if (!s->interval_ns || !last || !last->open)
		return U64_MAX;
	next = s->first_ns + (last->cookie + 1) * s->interval_ns;
	if (last->deadline_ns > now_ns)
		next = min(next, last->deadline_ns);
	return max(next, now_ns + 1);
}
