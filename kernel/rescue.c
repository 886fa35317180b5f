// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <net/mptcp.h>
#include <net/tcp.h>

#include "compat.h"
#include "conn.h"
#include "heard.h"
#include "look.h"
#include "msk.h"
#include "path.h"
#include "rescue.h"
#include "symbols.h"
#include "view.h"

#include "stuck.h"

static bool before64(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/*
 * A quarter more, or what round trips differ by: four times their mean deviation,
 * as RFC 6298 has it, which is twice the first of them before there is another. Where a
 * path crawled that is tens of seconds.
 */
static u32 patience_us(const struct tcp_sock *tp, u32 rtt_us)
{
	u32 differ_us = min_t(u32, tp->mdev_us, DPA_SILENCE_NS / NSEC_PER_USEC);

	return rtt_us + max(rtt_us / 4, differ_us);
}

/*
 * Where the oldest packet is out for less, silence may be a scan or a handover, and
 * ends by itself.
 */
#define STALL_NS	(100 * NSEC_PER_MSEC)

/*
 * TCP may mend it, by its first timeout and a round trip, where that leaves three
 * quarters of the time that the chunk has and the path need not be dead: others hear
 * from it, so that a full queue took all that was sent, or it is silent for a moment.
 */
static bool is_left_to_tcp(u64 left_ns, const struct sock *ssk, u64 out_ns,
			   bool late, u32 patience)
{
	const struct inet_connection_sock *icsk = inet_csk(ssk);
	u32 rtt = usecs_to_jiffies(tcp_sk(ssk)->srtt_us >> 3);
	u32 mended = (icsk->icsk_rto >> icsk->icsk_backoff) + rtt;
	u8 timeouts = icsk->icsk_retransmits;

	return (!timeouts || (timeouts == 1 && !late)) &&
	       jiffies_to_nsecs(mended) <= left_ns / 4 &&
	       (heard_lately(ssk, patience) ||
		(!timeouts && out_ns < STALL_NS));
}

/* So long a path may be unheard of; 0: nobody knows. */
static u32 patience_jiffies(const struct tcp_sock *tp,
			    const struct dpa_state *st, int i)
{
	u32 least = patience_us(tp, min(tcp_min_rtt(tp), tp->srtt_us >> 3));
	u32 apart = div_u64(dpa_between_acks_ns(st, &st->path[i]), NSEC_PER_USEC);

	return least ? usecs_to_jiffies(least + apart) + 1 : 0;
}

/* Has nothing come back for longer, with packets out, or that would be? */
static bool is_unheard(const struct sock *ssk, u32 patience)
{
	const struct tcp_sock *tp = tcp_sk(ssk);

	return (tp->packets_out || look_is_grounded(ssk)) && patience &&
	       time_after32(tcp_jiffies32, tp->rcv_tstamp + patience);
}

/*
 * A queue keeps packets about as far apart as they were sent: is the oldest later than
 * that after the last one that is known to have arrived? RACK (RFC 8985) remembers when
 * that was sent.
 */
static bool is_parted(const struct tcp_sock *tp, const struct sk_buff *skb,
		      u32 patience)
{
	u64 apart_ns = dpa_minus(skb->skb_mstamp_ns,
				 tp->rack.mstamp * NSEC_PER_USEC);
	u32 unheard = tcp_jiffies32 - tp->rcv_tstamp;

	return unheard >= nsecs_to_jiffies(DPA_SILENCE_NS) &&
	       jiffies_to_nsecs(unheard) > jiffies_to_nsecs(patience) + apart_ns;
}

enum quiet { QUIET_NOT, QUIET_LEFT_TO_TCP, QUIET_SILENT };

/*
 * A path is silent when bytes are out for longer than a round trip may take, or
 * lost by TCP's own count, and nothing came back for longer than the least one
 * may: a queue delays acknowledgments, but does not part them. Where packets are
 * lost one by one, acknowledgments of those behind them go on: that is TCP's to
 * mend. One whose packets do not even leave is silent by TCP's first timeout.
 */
static enum quiet judge(u64 left_ns, const struct sock *ssk, u32 patience)
{
	const struct tcp_sock *tp = tcp_sk(ssk);
	u64 longest_us = patience_us(tp, tp->srtt_us >> 3);
	const struct sk_buff *skb = tcp_rtx_queue_head(ssk);
	u64 out_ns = skb ? dpa_minus(tcp_clock_ns(), skb->skb_mstamp_ns) : 0;
	bool late = out_ns > longest_us * NSEC_PER_USEC ||
		    (skb && is_parted(tp, skb, patience));

	if (look_is_grounded(ssk))
		return QUIET_SILENT;
	if (!late && !(skb && inet_csk(ssk)->icsk_ca_state == TCP_CA_Loss))
		return QUIET_NOT;
	return is_left_to_tcp(left_ns, ssk, out_ns, late, patience) ?
		       QUIET_LEFT_TO_TCP : QUIET_SILENT;
}

static enum quiet how_quiet(const struct dpa_state *st, u64 left_ns, int i,
			    struct sock *ssk)
{
	u32 patience = patience_jiffies(tcp_sk(ssk), st, i);
	enum quiet quiet;
	bool slow;

	if (!is_unheard(ssk, patience))
		return QUIET_NOT;
	slow = lock_sock_fast(ssk);
	quiet = judge(left_ns, ssk, patience);
	unlock_sock_fast(ssk, slow);
	return quiet;
}

/*
 * The same where the msk's spinlock is held, so that a subflow's can only be tried
 * for; a path of which that tells nothing may be silent.
 */
static enum quiet how_quiet_here(const struct dpa_state *st, u64 left_ns, int i,
				 struct sock *ssk)
{
	u32 patience = patience_jiffies(tcp_sk(ssk), st, i);
	enum quiet quiet = QUIET_SILENT;

	if (!is_unheard(ssk, patience))
		return QUIET_NOT;
	if (!spin_trylock(&ssk->sk_lock.slock))
		return quiet;
	if (!sock_owned_by_user(ssk))
		quiet = judge(left_ns, ssk, patience);
	spin_unlock(&ssk->sk_lock.slock);
	return quiet;
}

/* A path stays shut only as long as looks find it so. */
static void clear_marks(struct dpa_state *st)
{
	int i;

	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++)
		st->path[i].flags &= ~(DPA_PATH_SILENT | DPA_PATH_STUCK);
}

/* The row of an active subflow, whose path then counts as heard; else negative. */
static int heard_row(const struct conn *c, struct mptcp_subflow_context *sf)
{
	int i = path_find(c, sf);

	if (i >= 0 && !kernel_fn(mptcp_subflow_active)(sf))
		return -ENOENT;
	if (i >= 0)
		heard_note(subflow_ssk(sf));
	return i;
}

/* Says which paths are left to TCP, by the bits of their numbers. */
static unsigned long mark_silent(struct conn *c, u64 left_ns)
{
	struct mptcp_subflow_context *sf;
	unsigned long left = 0;

	msk_for_each_subflow(msk_of(c->sk), sf) {
		int i = heard_row(c, sf);
		enum quiet quiet;

		if (i < 0)
			continue;
		quiet = how_quiet(&c->state, left_ns, i, subflow_ssk(sf));
		if (quiet == QUIET_SILENT)
			c->state.path[i].flags |= DPA_PATH_SILENT;
		else if (quiet == QUIET_LEFT_TO_TCP)
			left |= BIT(i);
	}
	return left;
}

/* Would another path bring what this one was given? Says how many bytes. */
static u64 outrun_bytes(const struct conn *c, const struct dpa_horizon *due,
			int i)
{
	const struct dpa_state *st = &c->state;
	bool silent = st->path[i].flags & DPA_PATH_SILENT;
	struct mptcp_subflow_context *sf;
	u64 bytes = 0;

	msk_for_each_subflow(msk_of(c->sk), sf) {
		int j = path_find(c, sf);
		const struct dpa_path *row = j < 0 ? NULL : &st->path[j];

		if (!row || j == i || dpa_is_stuck(row) ||
		    row->cost == MPTCP_DPA_COST_FORBIDDEN ||
		    dpa_is_spent(st, row, st->unit) ||
		    !kernel_fn(mptcp_subflow_active)(sf))
			continue;
		if (silent ||
		    (conn_steers(c) && dpa_outruns(st, due, &st->path[i], row)))
			bytes = max(bytes, row->cost > st->least_cost ?
					   st->costly_left : U64_MAX);
	}
	return bytes;
}

/* What of a path's data is to be sent again. */
struct relief {
	struct conn	*c;
	bool		silent;	/* is the path? */
	u32		isn;	/* of the subflow: what its numbers of bytes count from */
	u64		acked;	/* sequence up to which the peer has all */
	u64		done_from, done_to; /* sequences of what was sent again before */
	u64		end;	/* sequence to stop at */
	u64		most;	/* bytes that may be sent again */
	u64		keep;	/* bytes that stay, of those that are next */
	u64		first, last; /* sequences of what is sent again now */
	bool		any;	/* something is */
	u64		from, to; /* packets that follow on each other */
	struct mptcp_data_frag *at; /* where the last of these ended */
};

static void relieve_range(struct relief *r, u64 from, u64 to)
{
	if (before64(from, r->acked))
		from = r->acked;
	if (!before64(from, to) || !r->most)
		return;
	to = from + min(to - from, r->most);
	r->most -= to - from;
	msk_resend(msk_of(r->c->sk), from, to, &r->at);
	if (!r->any || before64(from, r->first))
		r->first = from;
	if (!r->any || before64(r->last, to))
		r->last = to;
	r->any = true;
}

static void relieve_stretch(struct relief *r)
{
	u64 to = before64(r->end, r->to) ? r->end : r->to;

	if (r->done_from == r->done_to) {
		relieve_range(r, r->from, to);
		return;
	}
	relieve_range(r, r->from, before64(to, r->done_from) ? to : r->done_from);
	relieve_range(r, before64(r->from, r->done_to) ? r->done_to : r->from, to);
}

/*
 * What one packet carries that the peer may not have; false: nothing. What it told of
 * by SACK it has as TCP; the stream gets that when the hole before it is mended, which
 * on a silent path it is not. Where TCP has cut a packet, each part has the whole one's
 * mapping.
 */
static bool packet_range(const struct relief *r, const struct sk_buff *skb,
			 u64 *from, u64 *to)
{
	const struct mptcp_ext *ext = skb_ext_find(skb, SKB_EXT_MPTCP);
	const struct tcp_skb_cb *cb = TCP_SKB_CB(skb);
	u32 before;

	if (!ext || !ext->use_map || !ext->data_len ||
	    (!r->silent && (cb->sacked & TCPCB_SACKED_ACKED)))
		return false;
	before = cb->seq - r->isn - ext->subflow_seq;
	if (before >= ext->data_len)
		return false;
	*from = ext->data_seq + before;
	*to = *from + min_t(u32, cb->end_seq - cb->seq, ext->data_len - before);
	return true;
}

static void relieve_packet(struct relief *r, const struct sk_buff *skb)
{
	u64 from, to;

	if (!packet_range(r, skb, &from, &to))
		return;
	if (to - from <= r->keep) {
		r->keep -= to - from;
		return;
	}
	from += r->keep;
	r->keep = 0;
	if (from != r->to) {
		relieve_stretch(r);
		r->from = from;
	}
	r->to = to;
}

/*
 * Remembers the stretch, and with it an older one of which not all is acknowledged,
 * and what is between them: nothing goes twice because an estimate goes up and down.
 */
static void note_relief(struct conn_path *path, const struct relief *r)
{
	u64 from = r->first, to = r->last;
	u64 old_to = path->rescued, old_from = old_to - path->rescued_len;

	if (!r->any)
		return;
	if (path->rescued_len) {
		from = before64(old_from, from) ? old_from : from;
		to = before64(to, old_to) ? old_to : to;
	}
	path->rescued = to;
	path->rescued_len = min_t(u64, to - from, U32_MAX);
}

/*
 * Forgets what is acknowledged. What lies between stretches may have been left on the
 * path, so one that is silent now is relieved of all that it has, for once.
 */
static void recall_relief(struct relief *r, struct conn_path *path)
{
	if (!path->rescued_len || !before64(r->acked, path->rescued)) {
		path->rescued_len = 0;
		path->silenced = false;
	}
	if (r->silent && !path->silenced) {
		path->silenced = true;
		return;
	}
	r->done_to = path->rescued;
	r->done_from = path->rescued - path->rescued_len;
}

/*
 * At most so many bytes of what a path was given are to be sent again. When it is not
 * silent, what it brings in time stays; and what it has for later chunks, which may
 * still be in time.
 */
static void relieve_path(struct conn *c, const struct dpa_horizon *due, int i,
			 const struct mptcp_subflow_context *sf, u64 most)
{
	const struct dpa_state *st = &c->state;
	struct sock *ssk = subflow_ssk(sf);
	struct conn_path *path = &c->path[i];
	struct relief r = {
		.c = c, .most = most,
		.silent = st->path[i].flags & DPA_PATH_SILENT,
		.end = msk_chunk_seq(msk_of(c->sk), st->sent),
		.acked = msk_chunk_seq(msk_of(c->sk), st->acked),
	};
	struct sk_buff *skb;

	recall_relief(&r, path);
	if (!r.silent) {
		r.end = msk_chunk_seq(msk_of(c->sk),
				      min(due->end, st->sent));
		r.keep = dpa_in_time(st, due, &st->path[i]);
	}
	/* owned, not spun for: there may be many packets */
	lock_sock(ssk);
	r.isn = tcp_sk(ssk)->write_seq - subflow_next_byte(sf);
	skb_rbtree_walk(skb, &ssk->tcp_rtx_queue)
		relieve_packet(&r, skb);
	skb_queue_walk(&ssk->sk_write_queue, skb)
		relieve_packet(&r, skb);
	relieve_stretch(&r);
	release_sock(ssk);
	note_relief(path, &r);
}

/**
 * ask_retransmission() - have the kernel's worker ask for a retransmission
 * @msk: the connection
 *
 * It sends the first unacknowledged fragment again, on the subflows that the
 * scheduler then picks.
 *
 * Context: msk lock; does not sleep.
 */
void ask_retransmission(struct mptcp_sock *msk)
{
	set_bit(COMPAT_MPTCP_WORK_RTX, msk_flags(msk));
	kernel_fn(mptcp_schedule_work)(msk_sock(msk));
}

/* Bytes that the plan took for sent are to be planned for. */
static void note_again(struct conn *c)
{
	c->state.again = msk_again(msk_of(c->sk));
	if (c->state.again)
		c->state.plan_until_ns = 0;
}

/*
 * When a subflow closes the kernel has all sent again that is not acknowledged, up to
 * the first fragment that waits for that already: there none was behind. Here some may
 * be, and what only the closed one had of them nobody would send.
 */
static void relieve_gone(struct conn *c)
{
	struct mptcp_sock *msk = msk_of(c->sk);
	const struct dpa_state *st = &c->state;
	struct mptcp_data_frag *at = NULL;

	if (!c->left_behind)
		return;
	c->left_behind = false;
	if (msk_fell_back(msk))
		return;
	msk_resend(msk, msk_chunk_seq(msk, st->acked),
		   msk_chunk_seq(msk, st->sent), &at);
	note_again(c);
}

/*
 * Can anything be stuck at all? That all has come another way does not say that the
 * path is back, and bytes that were not sent may wait for it.
 */
static bool may_be_stuck(const struct conn *c)
{
	const struct dpa_state *st = &c->state;

	return !msk_fell_back(msk_of(c->sk)) && st->acked < st->written &&
	       (conn_steers(c) || st->again) && st->window >= DPA_WATCHED_WINDOW;
}

static bool is_marked(const struct dpa_state *st)
{
	int i;

	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++)
		if (dpa_is_stuck(&st->path[i]))
			return true;
	return false;
}

/**
 * rescue_is_due() - would rescue() find anything to do, or to undo?
 * @c: the connection, brought up to date
 *
 * Context: msk spinlock held with no owner, in a softirq.
 * Return: true as well if a subflow is locked by another, which rescue() waits for.
 */
bool rescue_is_due(const struct conn *c)
{
	const struct dpa_state *st = &c->state;
	struct mptcp_subflow_context *sf;
	struct dpa_horizon due;
	u64 left_ns;

	if (c->left_behind || is_marked(st))
		return true;
	if (!may_be_stuck(c))
		return false;
	view_most_urgent(c, &due);
	left_ns = dpa_minus(due.deadline_ns, st->now_ns);
	msk_for_each_subflow(msk_of(c->sk), sf) {
		int i = heard_row(c, sf);
		enum quiet quiet;

		if (i < 0)
			continue;
		quiet = how_quiet_here(st, left_ns, i, subflow_ssk(sf));
		if (quiet == QUIET_SILENT ||
		    (quiet == QUIET_NOT && st->path[i].behind &&
		     outrun_bytes(c, &due, i)))
			return true;
	}
	return false;
}

/**
 * rescue() - have data sent again that is stuck on a path
 * @c: the connection, brought up to date
 *
 * It is when the path is silent, or when it comes too late there and another
 * would bring it sooner. It is late by the deadline of the most urgent chunk in the
 * queue. From each path a byte is rescued once for coming too late, and once more if
 * the path falls silent. What is to be sent again goes through the scheduler like new
 * data, but not to a path that is stuck.
 *
 * Context: msk owned, may sleep; takes the subflows' locks one by one.
 */
void rescue(struct conn *c)
{
	struct mptcp_sock *msk = msk_of(c->sk);
	struct dpa_state *st = &c->state;
	struct mptcp_subflow_context *sf;
	unsigned long left_to_tcp;
	struct dpa_horizon due;

	clear_marks(st);
	relieve_gone(c);
	if (!may_be_stuck(c))
		return;
	view_most_urgent(c, &due);
	left_to_tcp = mark_silent(c, dpa_minus(due.deadline_ns, st->now_ns));
	if (st->acked >= st->sent)
		return;
	msk_for_each_subflow(msk, sf) {
		int i = path_find(c, sf);
		u64 most;

		if (i < 0 || left_to_tcp & BIT(i) || !st->path[i].behind ||
		    !kernel_fn(mptcp_subflow_active)(sf))
			continue;
		most = outrun_bytes(c, &due, i);
		if (!most)
			continue;
		st->path[i].flags |= DPA_PATH_STUCK;
		relieve_path(c, &due, i, sf, most);
	}
	note_again(c);
}
