// SPDX-License-Identifier: GPL-2.0-only
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>

#include "chunk.h"
#include "state.h"

#include "arith.h"

#define ROOM_FIRST	4

/* what the work item that looks may come late, counted for the chunk */
#define LOOK_SLACK_NS	(2 * NSEC_PER_MSEC)

static int make_room(struct chunk_queue *q)
{
	u32 room = q->room ? q->room * 2 : ROOM_FIRST;
	struct chunk *at;

	if (q->count < q->room)
		return 0;
	at = krealloc_array(q->at, room, sizeof(*at),
			    GFP_ATOMIC | __GFP_ACCOUNT);
	if (!at)
		return -ENOMEM;
	q->at = at;
	q->room = room;
	return 0;
}

static void declare(struct chunk_queue *q, u64 bytes)
{
	if (check_add_overflow(q->declared, bytes, &q->declared))
		q->declared = U64_MAX;
}

/**
 * chunk_queue_add() - append a chunk
 * @q: the queue
 * @chunk: begin and end are filled in here, @chunk->end being its length
 * @written: end of the stream so far; the chunk begins there, or at the end of
 *	the last chunk if that is later
 * @most: chunks that may be queued
 *
 * Return: 0, -ENOBUFS with so many queued, -ENOMEM, -EFBIG when its end has no
 * position. The queue is unchanged on failure.
 */
int chunk_queue_add(struct chunk_queue *q, const struct chunk *chunk,
		    u64 written, u32 most)
{
	u64 begin = written;
	int err;

	if (q->count)
		begin = max(begin, q->at[q->count - 1].end);
	if (chunk->end > S64_MAX - begin)
		return -EFBIG;
	if (q->count >= most)
		return -ENOBUFS;
	err = make_room(q);
	if (err)
		return err;

	q->at[q->count] = *chunk;
	q->at[q->count].begin = begin;
	q->at[q->count].end = begin + chunk->end;
	q->at[q->count].due = begin + chunk->end;
	q->count++;
	declare(q, chunk->end);
	return 0;
}

/* The last chunk, which is open, ends there now. */
void chunk_queue_grow(struct chunk_queue *q, u64 end, u64 now_ns)
{
	struct chunk *last = chunk_queue_last(q);

	if (last->end < end)
		declare(q, end - last->end);
	last->end = end;
	if (now_ns <= last->deadline_ns + LOOK_SLACK_NS)
		last->due = end;
}

/* So many bytes at the begin of the stream have gone, and positions begin after them. */
void chunk_queue_pass(struct chunk_queue *q, u64 bytes)
{
	u32 i;

	for (i = 0; i < q->count; i++) {
		struct chunk *chunk = &q->at[i];

		chunk->begin = dpa_minus(chunk->begin, bytes);
		chunk->end = dpa_minus(chunk->end, bytes);
		chunk->due = dpa_minus(chunk->due, bytes);
	}
}

/* Up to there bytes have to have arrived for it to be met; while it may grow, @expected. */
static u64 met_at(const struct chunk *chunk, u64 expected)
{
	return chunk->open ? max(chunk->due, chunk->begin + expected) : chunk->due;
}

/* The chunk in force, NULL if none. */
struct chunk *chunk_queue_first(const struct chunk_queue *q)
{
	return q->count ? &q->at[0] : NULL;
}

struct chunk *chunk_queue_last(const struct chunk_queue *q)
{
	return q->count ? &q->at[q->count - 1] : NULL;
}

/* May a chunk have to be judged, or dropped? Most refreshes find none. */
bool chunk_queue_is_due(const struct chunk_queue *q, u64 acked, u64 now_ns)
{
	return q->count && (acked >= q->at[0].end ||
			    now_ns > chunk_queue_next_verdict(q));
}

/**
 * chunk_queue_update() - judge chunks and drop those that are all acked
 * @q: the queue
 * @acked: position up to which the peer has acknowledged
 * @now_ns: CLOCK_MONOTONIC
 * @acked_ns: by when @acked was reached, no later than @now_ns
 * @delay: what an acknowledgment takes to come back; a chunk acked later than its
 *	deadline by no more than the last one took was there in time
 * @expected: bytes of the chunk that is open, at least
 * @judged: called once for each chunk, when its verdict has come
 * @arg: for @judged
 *
 * A missed chunk stays until it is all acked: its bytes are in front of later
 * ones. One that is still open at its deadline is judged by what it had by then.
 */
void chunk_queue_update(struct chunk_queue *q, u64 acked, u64 now_ns,
			u64 acked_ns, struct ack_delay delay, u64 expected,
			chunk_judged_fn judged, void *arg)
{
	u32 i, done = 0;

	for (i = 0; i < q->count; i++) {
		struct chunk *chunk = &q->at[i];
		u64 due_ns = chunk->deadline_ns + delay.last_ns + LOOK_SLACK_NS;
		bool over = acked >= chunk->end && !chunk->open;
		bool there = acked >= met_at(chunk, expected);

		if (!chunk->judged &&
		    (over || (there && now_ns > chunk->deadline_ns) ||
		     now_ns > chunk->deadline_ns + delay.most_ns)) {
			chunk->judged = true;
			judged(arg, chunk, there && acked_ns <= due_ns);
		}
		if (over)
			done = i + 1;
	}
	if (done) {
		q->count -= done;
		memmove(q->at, q->at + done, q->count * sizeof(*q->at));
		if (q->count)
			q->at[0].start_ns = max(q->at[0].start_ns, now_ns);
	}
}

/* The earliest deadline that awaits its verdict, U64_MAX if there is none. */
u64 chunk_queue_next_verdict(const struct chunk_queue *q)
{
	u64 next = U64_MAX;
	u32 i;

	for (i = 0; i < q->count; i++)
		if (!q->at[i].judged)
			next = min(next, q->at[i].deadline_ns);
	return next;
}

void chunk_queue_clear(struct chunk_queue *q)
{
	kfree(q->at);
	*q = (struct chunk_queue){};
}
