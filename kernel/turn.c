// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where many connections fill a path what one more sends just waits in a queue, or is
 * lost at its end, and is sent again. A chunk with time to spare waits here instead: it
 * takes a place in the line for its cheapest path, and begins when those before it have
 * had what the path carries.
 */
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mptcp_dpa.h>
#include <linux/time64.h>
#include <net/tcp.h>

#include "chunk.h"
#include "conn.h"
#include "msk.h"
#include "path.h"
#include "share.h"
#include "stat.h"
#include "tick.h"
#include "turn.h"
#include "view.h"

#include "pick.h"

/* Bytes that the connection has yet to send for its chunks. */
static u32 bytes_to_come(const struct conn *c)
{
	const struct chunk *last = chunk_queue_last(&c->queue);

	return min_t(u64, dpa_minus(last->end, c->state.sent), SHARE_LINE_MAX);
}

/* Of the most urgent chunk that is queued. */
static u64 left_ms(const struct conn *c)
{
	struct dpa_horizon due;

	view_most_urgent(c, &due);
	return div_u64(dpa_minus(due.deadline_ns, c->state.now_ns), NSEC_PER_MSEC);
}

/* What it takes to fill a path, from a first window that doubles with each round trip. */
static u32 ramp_ms(const struct sock *ssk, u32 bytes)
{
	u32 rounds = 1 + ilog2(1 + bytes / DPA_FIRST_BYTES);

	return min_t(u32, rounds, DPA_RAMP_ROUNDS) * (tcp_sk(ssk)->srtt_us >> 3) / USEC_PER_MSEC;
}

/*
 * A chunk waits if two thirds of its time are enough for that, and for what it takes
 * then beside another one, slow start included.
 */
static bool has_time(const struct conn *c, const struct sock *ssk,
		     const struct share_line *line)
{
	u64 takes_ms = 2ULL * line->takes_ms + ramp_ms(ssk, bytes_to_come(c));

	return 3 * (line->wait_ms + takes_ms) <= 2 * left_ms(c);
}

static bool is_usable_row(const struct conn *c, int i)
{
	return i >= 0 && c->state.path[i].usable &&
	       c->state.path[i].cost == c->state.cheapest;
}

/* Of the cheapest paths the one with the shortest line; NULL: none can be used. */
static const struct sock *shortest_line(struct conn *c, struct share_line *shortest)
{
	const struct sock *best = NULL;
	struct mptcp_subflow_context *sf;

	shortest->wait_ms = U32_MAX;
	msk_for_each_subflow(msk_of(c->sk), sf) {
		const struct sock *ssk = subflow_ssk(sf);
		int i = path_find(c, sf);
		struct share_line line;

		if (!is_usable_row(c, i))
			continue;
		line = share_line(ssk, NULL, bytes_to_come(c), conn_now_ms(c));
		if (line.wait_ms >= shortest->wait_ms)
			continue;
		*shortest = line;
		best = ssk;
		c->line = i;
	}
	return best;
}

/* The cheapest paths are not for this chunk: it goes by their lines. */
static void pass_by(struct conn *c)
{
	int i;

	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++)
		if (is_usable_row(c, i))
			c->state.path[i].flags |= DPA_PATH_QUEUED;
}

static bool has_costlier(const struct dpa_state *st)
{
	int i;

	/* a scheduler may have written anything to @rows */
	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++)
		if (st->path[i].usable && st->path[i].cost > st->cheapest)
			return true;
	return false;
}

/**
 * turn_forget() - another chunk may wait where one did not
 * @c: the connection
 *
 * Context: msk lock; does not sleep.
 */
void turn_forget(struct conn *c)
{
	int i;

	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++)
		c->state.path[i].flags &= ~DPA_PATH_QUEUED;
}

/*
 * What is on its way goes on, and bytes in front of the chunk have no time to spare that
 * anybody told of. The threshold policy is what it was.
 */
static bool may_wait(const struct conn *c, const struct chunk *first)
{
	const struct dpa_state *st = &c->state;

	return st->policy != MPTCP_DPA_POLICY_THRESHOLD && st->sent >= first->begin &&
	       st->acked == st->sent && !st->again;
}

/*
 * One that has no time for the line goes by it to the next costlier paths, for which
 * there may be one, too. But one that is late has what its late policy allows. Returns
 * whether it has to be planned for again.
 */
static bool goes_by(struct conn *c, const struct sock *ssk, const struct share_line *line)
{
	if (!line->wait_ms || has_time(c, ssk, line) || !left_ms(c) ||
	    !has_costlier(&c->state))
		return false;
	pass_by(c);
	return true;
}

/* For one that has just become the first. Returns whether it has begun, or waits. */
static bool line_up(struct conn *c, struct chunk *first)
{
	struct share_line line = {};
	const struct sock *ssk = NULL;

	if (may_wait(c, first))
		ssk = shortest_line(c, &line);
	if (ssk) {
		if (goes_by(c, ssk, &line))
			return false;
		c->place = share_line_up(ssk, bytes_to_come(c), conn_now_ms(c));
		first->waits = line.wait_ms && has_time(c, ssk, &line);
	}
	if (first->waits)
		stat_inc(sock_net(c->sk), DPA_STAT_TURNS);
	first->begun = true;
	return true;
}

static const struct sock *line_of(const struct conn *c)
{
	struct mptcp_subflow_context *sf;

	msk_for_each_subflow(msk_of(c->sk), sf) {
		int i = path_find(c, sf);

		if (i == c->line && is_usable_row(c, i))
			return subflow_ssk(sf);
	}
	return NULL;
}

/* A path whose line is gone may be used, and any if the others are too slow. */
static void return_to_lines(struct conn *c)
{
	struct mptcp_subflow_context *sf;

	msk_for_each_subflow(msk_of(c->sk), sf) {
		int i = path_find(c, sf);

		if (i < 0 || !(c->state.path[i].flags & DPA_PATH_QUEUED))
			continue;
		if (c->state.at_risk ||
		    !share_line(subflow_ssk(sf), NULL, 0, conn_now_ms(c)).wait_ms)
			c->state.path[i].flags &= ~DPA_PATH_QUEUED;
	}
}

/* The time of a chunk begins with its turn, as far as the plan is concerned. */
static void take_turn(struct conn *c, struct chunk *first)
{
	first->waits = false;
	first->start_ns = c->state.now_ns;
	c->state.chunk_start_ns = first->start_ns;
}

/**
 * turn_is_to_come() - is nothing to be sent yet?
 * @c: the connection
 *
 * Context: msk lock.
 */
bool turn_is_to_come(const struct conn *c)
{
	const struct chunk *first = chunk_queue_first(&c->queue);

	return first && first->waits;
}

/**
 * turn_look_in_ns() - when to look again whether its turn has come
 * @c: the connection, brought up to date by turn_look()
 *
 * A line may move faster than it has: with a quarter of the wait still to come.
 *
 * Context: msk lock.
 * Return: from the refresh on; 0: nothing waits.
 */
u64 turn_look_in_ns(const struct conn *c)
{
	s32 wait_ms = c->turn_ms - conn_now_ms(c);

	if (!turn_is_to_come(c) || wait_ms <= 0)
		return 0;
	return (u64)wait_ms * NSEC_PER_MSEC / 4 * 3;
}

/**
 * turn_look() - look whether the turn of a chunk has come
 * @c: the connection, brought up to date
 *
 * Context: msk lock; does not sleep.
 */
void turn_look(struct conn *c)
{
	struct chunk *first = chunk_queue_first(&c->queue);
	struct share_line line = {};
	const struct sock *ssk;

	if (!first || !first->begun)
		return;
	if (!first->waits) {
		return_to_lines(c);
		return;
	}
	ssk = line_of(c);
	if (ssk)
		line = share_line(ssk, &c->place, bytes_to_come(c), conn_now_ms(c));
	if (line.wait_ms && conn_steers(c) && has_time(c, ssk, &line)) {
		c->turn_ms = conn_now_ms(c) + line.wait_ms;
		return;
	}
	goes_by(c, ssk, &line);
	take_turn(c, first);
}

/**
 * turn_begin() - may what the program has planned be carried out?
 * @c: the connection, brought up to date and planned for
 *
 * Context: msk lock; does not sleep.
 * Return: false if the chunk in force waits for its turn, or is to be planned for again.
 */
bool turn_begin(struct conn *c)
{
	struct chunk *first = chunk_queue_first(&c->queue);

	if (!first || (first->begun && !first->waits))
		return true;
	if (!first->begun && !line_up(c, first)) {
		tick_soon(c);
		return false;
	}
	if (!first->waits)
		return true;
	turn_look(c);
	/* it may have gone by the line */
	if (!first->waits)
		tick_soon(c);
	return false;
}
