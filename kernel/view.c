// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mptcp_dpa.h>
#include <linux/overflow.h>
#include <net/tcp.h>

#include "conn.h"
#include "event.h"
#include "look.h"
#include "msk.h"
#include "netns.h"
#include "pace.h"
#include "path.h"
#include "stat.h"
#include "turn.h"
#include "view.h"
#include "window.h"

#include "pick.h"

/* connect(AF_UNSPEC) begins a new stream in the same socket. */
static void restart(struct conn *c)
{
	path_spend_picked(c);
	chunk_queue_clear(&c->queue);
	path_drop_quotas(c);
	pace_lift(c);
	c->stream = (struct stream){};
	c->costly = 0;
	c->overflowed = 0;
	c->left_behind = false;
	c->syn_passed = false;
	memset(&c->state, 0, sizeof(c->state));
	memset(c->path, 0, sizeof(c->path));
	c->subflows = 0;
}

/* The one TCP socket that is left after a fallback, else NULL. */
static const struct sock *only_tcp(const struct mptcp_sock *msk)
{
	return msk_fell_back(msk) ? msk_first(msk) : NULL;
}

/*
 * No acknowledgment came later than this. After a fallback only TCP counts
 * them. A jiffy in which one came may have just begun or just end.
 */
static u64 last_ack_ns(const struct mptcp_sock *msk, u64 now_ns)
{
	const struct sock *ssk = only_tcp(msk);
	u32 at = ssk ? tcp_sk(ssk)->rcv_tstamp : msk_last_ack(msk);
	u32 ago = tcp_jiffies32 - at;

	return ago ? now_ns - jiffies_to_nsecs(ago - 1) : now_ns;
}

/* Did it end in order, after a FIN of ours? */
static bool has_ended_well(const struct sock *sk, const struct sock *ssk)
{
	return (sk->sk_shutdown & SEND_SHUTDOWN) && !READ_ONCE(sk->sk_err) &&
	       !READ_ONCE(ssk->sk_err);
}

/*
 * After a fallback the kernel takes all that TCP was given for acknowledged,
 * so that TCP's own count is asked. It never goes back. A TCP that is over has set
 * its numbers back: if that was without an error its FIN was acknowledged, and so all.
 */
static u64 acked_now(const struct conn *c, const struct msk_positions *at)
{
	const struct sock *ssk = only_tcp(msk_of(c->sk));
	u64 sent = at->sent, before = c->state.acked;
	u32 unacked;

	if (!ssk)
		return at->acked;
	if (ssk->sk_state == TCP_CLOSE)
		return has_ended_well(c->sk, ssk) ? sent : before;
	unacked = tcp_sk(ssk)->write_seq - tcp_sk(ssk)->snd_una;
	/* the FIN has a number, too */
	if (unacked && ssk->sk_shutdown & SEND_SHUTDOWN)
		unacked--;
	return max(before, sent - min_t(u64, sent, unacked));
}

/* What lies ahead of an interval that has not ended is a forecast. */
static u64 chunk_end(const struct conn *c, const struct chunk *chunk)
{
	if (!chunk->open)
		return chunk->end;
	return max(chunk->end, chunk->begin + c->stream.expected);
}

static u32 chunk_alpha(const struct conn *c, const struct chunk *chunk)
{
	const struct netns_dpa *dpa = c->dpa;

	return chunk->alpha_milli ?: c->alpha_milli ?:
	       READ_ONCE(dpa->alpha_milli);
}

static u32 chunk_late(const struct conn *c, const struct chunk *chunk)
{
	const struct netns_dpa *dpa = c->dpa;

	return chunk->late ? chunk->late - 1 : READ_ONCE(dpa->late_policy);
}

/*
 * Of a queued chunk and those behind it: the one that all in front of it has to be there
 * with. One that is judged can hold up others, but not be held up.
 */
static u32 most_urgent(const struct chunk_queue *q, u32 i)
{
	u32 urgent = i;

	while (++i < q->count)
		if (!q->at[i].judged &&
		    q->at[i].deadline_ns < q->at[urgent].deadline_ns)
			urgent = i;
	return urgent;
}

/* When the next byte to be sent is due: without a deadline of its own, with what it holds up. */
static void show_next(struct conn *c)
{
	struct dpa_state *st = &c->state;
	u64 next = st->again ? st->acked : st->sent;
	const struct chunk_queue *q = &c->queue;
	u32 i;

	st->next_deadline_ns = 0;
	c->next_end = U64_MAX;
	for (i = 0; i < q->count; i++) {
		if (q->at[i].end <= next)
			continue;
		st->next_deadline_ns = q->at[most_urgent(q, i)].deadline_ns;
		c->next_end = q->at[i].begin <= next ? q->at[i].end :
						       q->at[i].begin;
		return;
	}
}

static void show_settings(struct conn *c)
{
	const struct netns_dpa *dpa = c->dpa;
	struct dpa_state *st = &c->state;

	st->interval_us = READ_ONCE(dpa->interval_us);
	st->policy = READ_ONCE(dpa->policy);
	st->met = c->chunks_met;
	st->missed = c->chunks_missed;
	show_next(c);
}

static void show_chunk(struct conn *c, const struct chunk *chunk)
{
	struct dpa_state *st = &c->state;

	if (st->chunk_begin != chunk->begin ||
	    st->chunk_deadline_ns != chunk->deadline_ns) {
		st->decided_ns = 0;
		st->plan_until_ns = 0;
		st->at_risk = 0;
		turn_forget(c);
	}
	st->chunk_begin = chunk->begin;
	st->chunk_end = chunk_end(c, chunk);
	st->chunk_start_ns = chunk->start_ns;
	st->chunk_deadline_ns = chunk->deadline_ns;
	st->alpha_milli = chunk_alpha(c, chunk);
	st->late_policy = chunk_late(c, chunk);
}

/* Are bytes written that no chunk has? Those of open chunks grow with them. */
static bool has_overflow(const struct conn *c)
{
	const struct chunk *last = chunk_queue_last(&c->queue);

	return c->overflow_ns && (!last || last->end < c->state.written);
}

/*
 * All that is written, due when it is there if it waits as long as it may and
 * then takes the slowest path; but not before the chunks in front of it.
 */
static void overflow_horizon(const struct conn *c, struct dpa_horizon *horizon)
{
	const struct dpa_state *st = &c->state;
	const struct chunk *last = chunk_queue_last(&c->queue);
	struct mptcp_subflow_context *sf;
	u32 rtt_us = 0;

	msk_for_each_subflow(msk_of(c->sk), sf)
		rtt_us = max(rtt_us, tcp_sk(subflow_ssk(sf))->srtt_us >> 3);
	*horizon = (struct dpa_horizon){
		.end = st->written,
		.deadline_ns = st->now_ns + c->overflow_ns +
			       (u64)rtt_us * NSEC_PER_USEC / 2,
		.alpha_milli = c->alpha_milli ?:
			READ_ONCE(c->dpa->alpha_milli),
		.late_policy = MPTCP_DPA_LATE_POLICY_SPEND,
	};
	if (last)
		horizon->deadline_ns = max(horizon->deadline_ns,
					   last->deadline_ns);
}

/* In the place of a chunk: one that always begins now. */
static void show_overflow(struct conn *c)
{
	struct dpa_state *st = &c->state;
	struct dpa_horizon horizon;

	overflow_horizon(c, &horizon);
	st->chunk_begin = st->acked;
	st->chunk_end = horizon.end;
	st->chunk_start_ns = st->now_ns;
	st->chunk_deadline_ns = horizon.deadline_ns;
	st->alpha_milli = horizon.alpha_milli;
	st->late_policy = horizon.late_policy;
}

/* What is in force: the first chunk, else overflow, else nothing. */
static void show(struct conn *c)
{
	const struct chunk *first = chunk_queue_first(&c->queue);

	if (first) {
		show_chunk(c, first);
	} else {
		turn_forget(c);
		if (c->overflow_ns)
			show_overflow(c);
		else
			dpa_forget_plan(&c->state);
	}
	show_settings(c);
}

/**
 * view_chunk() - show a queued chunk
 * @c: the connection
 * @i: its place in the queue; after the last come the bytes that are written
 *	and have no deadline, while these overflow
 * @horizon: filled on success
 *
 * Context: msk lock.
 * Return: 0, or -ENOENT beyond the last.
 */
int view_chunk(const struct conn *c, u32 i, struct dpa_horizon *horizon)
{
	const struct chunk *chunk;

	if (i == c->queue.count && has_overflow(c)) {
		overflow_horizon(c, horizon);
		return 0;
	}
	if (i >= c->queue.count)
		return -ENOENT;
	chunk = &c->queue.at[i];
	*horizon = (struct dpa_horizon){
		.end = chunk_end(c, chunk),
		.deadline_ns = chunk->deadline_ns,
		.alpha_milli = chunk_alpha(c, chunk),
		.late_policy = chunk_late(c, chunk),
	};
	return 0;
}

/**
 * view_most_urgent() - what bytes that are sent, or to be sent next, have to be there for
 * @c: the connection, brought up to date
 * @due: filled with the chunk in force, or with one behind it that has less time:
 *	what is in front of that is due with it
 *
 * Context: msk lock.
 */
void view_most_urgent(const struct conn *c, struct dpa_horizon *due)
{
	u32 i = most_urgent(&c->queue, 0);

	if (i)
		view_chunk(c, i, due);
	else
		*due = dpa_in_force(&c->state);
}

static void judged(void *arg, const struct chunk *chunk, bool met)
{
	struct conn *c = arg;

	if (met)
		c->chunks_met++;
	else
		c->chunks_missed++;
	stat_inc(sock_net(c->sk), met ? DPA_STAT_CHUNKS_MET :
					DPA_STAT_CHUNKS_MISSED);
	event_chunk(c, met ? MPTCP_DPA_CMD_CHUNK_MET :
			     MPTCP_DPA_CMD_CHUNK_MISSED, chunk);
}

/* The scheduler sees a risk first; it is told once a chunk. */
static void tell_risk(struct conn *c)
{
	struct chunk *first = chunk_queue_first(&c->queue);

	if (first && c->state.at_risk && !first->risk_told &&
	    first->begin == c->state.chunk_begin && !first->judged) {
		first->risk_told = true;
		event_chunk(c, MPTCP_DPA_CMD_CHUNK_AT_RISK, first);
	}
}

/* Bytes count as overflowing if they are sent, or written, while that is on. */
static void refresh_overflow(struct conn *c, u64 written_before)
{
	u64 was_ns = c->overflow_ns;

	c->overflow_ns = conn_overflow_ns(c);
	if (was_ns)
		c->overflowed += c->state.written - written_before;
	else if (c->overflow_ns)
		c->overflowed += c->state.written - c->state.sent;
}

/*
 * Within one stream positions do not go back. (What is acknowledged may seem to, after
 * a fallback: TCP knows of it first.)
 */
static bool is_another_stream(const struct conn *c,
			      const struct msk_positions *at)
{
	return at->written < c->state.written || at->sent < c->state.sent;
}

/* As long as nothing is written a chunk waits for the next connect(). */
static bool has_disconnected(const struct conn *c)
{
	return c->disconnects != (u16)c->sk->sk_disconnects && c->state.written;
}

/* States in which MPTCP numbers what is written. */
#define NUMBERED	(TCPF_ESTABLISHED | TCPF_FIN_WAIT1 | TCPF_CLOSE_WAIT | \
			 TCPF_CLOSING | TCPF_LAST_ACK)

/**
 * view_syn_bytes() - what went with the SYN (TCP Fast Open) of a chunk that was set before
 * @c: the connection, brought up to date
 *
 * MPTCP does not number these bytes, but they are the first that the application writes.
 *
 * Context: msk lock.
 * Return: how many positions in the stream do not count yet: 0 once they do.
 */
u32 view_syn_bytes(const struct conn *c)
{
	const struct mptcp_sock *msk = msk_of(c->sk);
	struct mptcp_subflow_context *sf;

	if (c->syn_passed)
		return 0;
	msk_for_each_subflow(msk, sf) {
		const struct tcp_sock *tp = tcp_sk(subflow_ssk(sf));

		/* the SYN is one more, for TCP */
		if (subflow_ssk(sf) == msk_first(msk) && tp->syn_data)
			return tp->write_seq - tp->snd_una + (u32)tp->bytes_acked - 1 -
			       subflow_given(sf);
	}
	return 0;
}

/* From when its SYN is answered positions begin after what went with that. */
static void pass_syn(struct conn *c)
{
	if (!((1 << c->sk->sk_state) & NUMBERED))
		return;
	chunk_queue_pass(&c->queue, view_syn_bytes(c));
	c->syn_passed = true;
}

static void show_positions(struct dpa_state *st, const struct msk_positions *at,
			   u64 acked, u64 now_ns)
{
	st->now_ns = now_ns;
	st->written = at->written;
	st->sent = at->sent;
	st->acked = acked;
	st->window = at->window + at->sent - acked;
	st->unit = at->unit;
}

/*
 * Whatever a peer acknowledges, and when: costlier paths do not get more than
 * the bytes that have a deadline, or overflow, and a 20th. Of that the fragment
 * is kept back that the kernel may send unasked, see dpa_is_spent(). Until the next
 * refresh look.c takes off what they are given.
 */
static void limit_costly(struct conn *c)
{
	u64 most, more;

	if (check_add_overflow(c->queue.declared, c->overflowed, &most))
		most = U64_MAX;
	/* with overflow on, a chunk's bytes are in both */
	most = min(most, c->state.written);
	more = dpa_minus(most / 20, DPA_FRAGMENT_MAX);
	if (check_add_overflow(most, more, &most))
		most = U64_MAX;
	c->state.costly_left = most - min(most, c->costly);
}

/**
 * view_refresh() - bring positions, verdicts and the chunk in force up to date
 * @c: the connection
 *
 * Context: msk lock; does not sleep.
 */
void view_refresh(struct conn *c)
{
	const struct mptcp_sock *msk = msk_of(c->sk);
	struct dpa_state *st = &c->state;
	struct msk_positions at;
	u64 written;

	window_restore(c);
	msk_positions(msk, &at);
	if (is_another_stream(c, &at) || has_disconnected(c))
		restart(c);
	c->disconnects = c->sk->sk_disconnects;
	if (!c->syn_passed)
		pass_syn(c);
	written = st->written;
	show_positions(st, &at, acked_now(c, &at), ktime_get_ns());
	st->again = msk_again(msk);
	st->oldest = msk_oldest(msk);
	look_refresh(c, conn_steers(c));
	refresh_overflow(c, written);

	tell_risk(c);
	stream_advance(&c->stream, &c->queue, st->written, st->now_ns,
		       conn_chunks_max(c));
	if (chunk_queue_is_due(&c->queue, st->acked, st->now_ns))
		chunk_queue_update(&c->queue, st->acked, st->now_ns,
				   last_ack_ns(msk, st->now_ns),
				   conn_ack_delay(msk), c->stream.expected, judged, c);
	limit_costly(c);
	show(c);
}

/**
 * view_touch() - bring positions up to date, if the scheduler's plan stands
 * @c: the connection
 *
 * It does not when its time is over, when the chunk in force is all
 * acknowledged, and when the next bytes have another deadline.
 *
 * Context: msk lock; does not sleep.
 * Return: does it stand?
 */
bool view_touch(struct conn *c)
{
	struct dpa_state *st = &c->state;
	struct msk_positions at;
	u64 now_ns;

	if (!st->plan_until_ns)
		return false;
	now_ns = ktime_get_ns();
	if (now_ns >= st->plan_until_ns)
		return false;
	window_restore(c);
	msk_positions(msk_of(c->sk), &at);
	if (is_another_stream(c, &at) || at.acked >= st->chunk_end ||
	    at.sent >= c->next_end)
		return false;
	if (c->overflow_ns)
		c->overflowed += at.written - st->written;
	show_positions(st, &at, at.acked, now_ns);
	return true;
}
