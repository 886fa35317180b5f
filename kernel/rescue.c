// SPDX-License-Identifier: GPL-2.0-only
#include <net/tcp.h>

#include "compat.h"
#include "conn.h"
#include "msk.h"
#include "path.h"
#include "rescue.h"
#include "symbols.h"

static u32 patience_us(const struct tcp_sock *tp)
{
	u32 srtt_us = tp->srtt_us >> 3;

	return srtt_us + srtt_us / 4;
}

/* Is the oldest byte out for longer than that, or lost by TCP's own count? */
static bool waits_long(struct sock *ssk)
{
	bool slow = lock_sock_fast(ssk);
	const struct sk_buff *skb = tcp_rtx_queue_head(ssk);
	bool waits = skb &&
		     (inet_csk(ssk)->icsk_ca_state == TCP_CA_Loss ||
		      tcp_clock_ns() > skb->skb_mstamp_ns +
				       (u64)patience_us(tcp_sk(ssk)) *
				       NSEC_PER_USEC);

	unlock_sock_fast(ssk, slow);
	return waits;
}

/*
 * A path is silent when bytes are out and nothing came back for a quarter more
 * than a round trip. Where packets are lost one by one, acknowledgments of
 * those behind them go on: that is TCP's to mend.
 */
static bool is_silent(struct sock *ssk)
{
	const struct tcp_sock *tp = tcp_sk(ssk);
	u32 patience = patience_us(tp);

	return tp->packets_out && patience &&
	       time_after32(tcp_jiffies32, tp->rcv_tstamp +
					   usecs_to_jiffies(patience) + 1) &&
	       waits_long(ssk);
}

/* Marks silent paths; is there one, and another that is not? */
static bool mark_silent(struct conn *c)
{
	struct mptcp_subflow_context *sf;
	bool silent = false, heard = false;

	msk_for_each_subflow(msk_of(c->sk), sf) {
		int i = path_find(c, sf);
		struct dpa_path *row;

		if (i < 0 || !kernel_fn(mptcp_subflow_active)(sf))
			continue;
		row = &c->state.path[i];
		if (is_silent(subflow_ssk(sf))) {
			row->flags |= DPA_PATH_SILENT;
			silent = true;
		} else {
			row->flags &= ~DPA_PATH_SILENT;
			heard |= row->cost != MPTCP_DPA_COST_FORBIDDEN;
		}
	}
	return silent && heard;
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

/**
 * rescue() - have the first unacknowledged data sent again, if it is stuck
 * @c: the connection, brought up to date
 *
 * It is when a path is silent and the connection's acknowledgments have not
 * moved since the last tick. Each position is sent again once: the scheduler
 * is asked for a path by the kernel's own worker.
 *
 * Context: msk owned, may sleep; takes the locks of subflows that may be silent.
 */
void rescue(struct conn *c)
{
	struct mptcp_sock *msk = msk_of(c->sk);
	const struct dpa_state *st = &c->state;
	bool stuck = mark_silent(c) && c->queue.count && st->acked < st->sent;

	if (st->acked != c->head || !stuck) {
		c->head = st->acked;
		c->rescued = false;
		return;
	}
	if (c->rescued)
		return;
	c->rescued = true;
	ask_retransmission(msk);
}
