// SPDX-License-Identifier: GPL-2.0-only
/*
 * A connection that begins among many sees a queue that they have filled: what it
 * shows of the path at first is chance. What they get on average is what it will get.
 * And where they have filled it those to come stand in line (turn.c).
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/time64.h>
#include <net/sock.h>

#include "heard.h"
#include "netns.h"
#include "share.h"

void share_init_net(struct net *net)
{
	struct netns_dpa *dpa = netns_dpa(net);
	int i;

	for (i = 0; i < SHARE_SLOTS; i++)
		spin_lock_init(&dpa->share[i].lock);
}

static struct share *share_slot(const struct sock *ssk, u32 path)
{
	return &netns_dpa(sock_net(ssk))->share[hash_32(path, ilog2(SHARE_SLOTS))];
}

/* Begins a new period if the running one is over; under its lock. */
static void renew(struct share *s, u32 now_ms)
{
	u32 age = now_ms - s->began_ms;

	/* who read the clock before another may come after it */
	if (age < SHARE_PERIOD_MS || -age < SHARE_PERIOD_MS)
		return;
	if (age < 2 * SHARE_PERIOD_MS) {
		s->before = s->now;
		s->began_ms += SHARE_PERIOD_MS;
	} else {
		s->before = (struct share_sum){};
		s->rtt_us = 0;
		s->began_ms = now_ms;
	}
	s->now = (struct share_sum){};
	/* a path may become longer: by half in some seven seconds */
	s->rtt_us += s->rtt_us >> 7;
}

static u32 span_ms(const struct share *s, u32 now_ms)
{
	return SHARE_PERIOD_MS + max((s32)(now_ms - s->began_ms), 0);
}

static u64 bytes_of_late(const struct share *s)
{
	return (u64)s->now.bytes + s->before.bytes;
}

static u64 busy_of_late(const struct share *s)
{
	return (u64)s->now.busy_ms + s->before.busy_ms;
}

static bool is_shared(const struct share *s, u32 now_ms)
{
	return busy_of_late(s) >= SHARE_LEAST * span_ms(s, now_ms);
}

/* They saw a queue for one of so many milliseconds, or more. */
static bool saw_queue(const struct share *s, u32 of)
{
	return of * ((u64)s->now.queued_ms + s->before.queued_ms) >= busy_of_late(s);
}

/* For most of the time: it carries what it can. */
static bool is_full(const struct share *s)
{
	return saw_queue(s, 2);
}

/*
 * What each gets on average, in bytes a second; 0: they are few, or what they get is
 * what they send, and nobody knows what another one would. Under its lock.
 */
static u32 rate_each(const struct share *s, u32 now_ms)
{
	if (!is_shared(s, now_ms) || !saw_queue(s, SHARE_QUEUED))
		return 0;
	return div64_u64(bytes_of_late(s) * MSEC_PER_SEC, busy_of_late(s));
}

static void see_queue(struct share *s, const struct share_seen *seen)
{
	u32 least_us;

	if (!s->rtt_us || seen->rtt_us < s->rtt_us)
		s->rtt_us = seen->rtt_us;
	least_us = s->rtt_us;
	if (seen->srtt_us > least_us + max(least_us / 4, (u32)SHARE_QUEUE_US))
		s->now.queued_ms += seen->busy_ms;
}

/* The path's slot, under its lock, in the running period; NULL: another path has it. */
static struct share *share_get(const struct sock *ssk, u32 now_ms)
{
	u32 path = heard_path(ssk);
	struct share *s = share_slot(ssk, path);

	spin_lock_bh(&s->lock);
	renew(s, now_ms);
	if (s->path != path && !busy_of_late(s)) {
		s->path = path;
		s->rtt_us = 0;
		s->served = s->taken;
	}
	if (s->path == path)
		return s;
	spin_unlock_bh(&s->lock);
	return NULL;
}

static void share_put(struct share *s)
{
	spin_unlock_bh(&s->lock);
}

/**
 * share_tell() - what a connection got of a path, for what each of them gets
 * @ssk: its subflow
 * @seen: since it told last
 * @now_ms: wraps
 *
 * Of two paths whose addresses share a slot the one counts that had it first.
 *
 * Context: any.
 * Return: what a connection gets on average while it has bytes for the path, in bytes a
 * second; 0 if fewer than %SHARE_LEAST used it of late, or they saw no queue.
 */
u32 share_tell(const struct sock *ssk, const struct share_seen *seen, u32 now_ms)
{
	struct share *s = share_get(ssk, now_ms);
	u32 rate;

	if (!s)
		return 0;
	s->now.bytes += seen->bytes;
	s->now.busy_ms += seen->busy_ms;
	if (seen->busy_ms)
		see_queue(s, seen);
	rate = rate_each(s, now_ms);
	share_put(s);
	return rate;
}

/* What all of them get, in bytes a second. */
static u64 rate_of_all(const struct share *s, u32 now_ms)
{
	return div64_u64(bytes_of_late(s) * MSEC_PER_SEC, span_ms(s, now_ms));
}

/*
 * At which the line moves, in bytes a second: at less than what the path carries while
 * it has a queue. While it has none nobody knows what it can carry; more than it does.
 */
static u64 line_rate(const struct share *s, u32 now_ms)
{
	u64 rate = rate_of_all(s, now_ms);

	return is_full(s) ? rate - rate / 16 : rate + rate / 2;
}

/* Moves the line on. Where nothing arrives any more there is none. */
static void serve(struct share *s, u32 now_ms)
{
	u32 waiting = s->taken - s->served;
	u64 rate = line_rate(s, now_ms), more;
	u32 ago_ms = now_ms - s->served_ms;

	/* who read the clock before another may come after it */
	if (-ago_ms < SHARE_PERIOD_MS)
		return;
	more = div64_u64(rate * ago_ms, MSEC_PER_SEC);
	s->served += rate && more < waiting ? more : waiting;
	s->served_ms = now_ms;
}

/* What @bytes take at @rate, a millisecond at least. */
static u32 line_ms(u32 bytes, u64 rate)
{
	return min_t(u64, div64_u64((u64)bytes * MSEC_PER_SEC, rate) + 1, S32_MAX);
}

/**
 * share_line() - what a chunk has to expect of the line for a path
 * @ssk: a subflow
 * @place: that it has; NULL: none yet, it would be the last
 * @bytes: of it, that would go there
 * @now_ms: wraps
 *
 * Context: any.
 * Return: how long it waits, which is 0 where nobody does, and what it takes then.
 */
struct share_line share_line(const struct sock *ssk, const u32 *place, u32 bytes, u32 now_ms)
{
	struct share *s = share_get(ssk, now_ms);
	struct share_line line = {};
	s32 ahead;
	u64 rate;

	if (!s)
		return line;
	serve(s, now_ms);
	rate = rate_of_all(s, now_ms);
	ahead = (place ? *place : s->taken) - s->served;
	share_put(s);
	if (ahead <= 0 || !rate)
		return line;
	line.wait_ms = line_ms(ahead, rate);
	line.takes_ms = line_ms(bytes, rate);
	return line;
}

/**
 * share_line_up() - take a place in the line for a path, the last
 * @ssk: a subflow
 * @bytes: of a chunk, that are to go there; no more than %SHARE_LINE_MAX count
 * @now_ms: wraps
 *
 * A line forms where many use a path, and fill it.
 *
 * Context: any.
 * Return: the place.
 */
u32 share_line_up(const struct sock *ssk, u32 bytes, u32 now_ms)
{
	struct share *s = share_get(ssk, now_ms);
	u32 place;

	if (!s)
		return 0;
	serve(s, now_ms);
	place = s->taken;
	if ((s->taken != s->served || (is_shared(s, now_ms) && is_full(s))) &&
	    s->taken - s->served < SHARE_LINE_MAX)
		s->taken += min_t(u64, bytes, rate_of_all(s, now_ms));
	share_put(s);
	return place;
}
