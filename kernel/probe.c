// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP asks whether a silent path is back when its timeouts run out. They double each
 * time, and begin at half a minute where the path crawled before it fell silent, since
 * round trips grew. What such a path held has come another way long before.
 */
#include <net/tcp.h>

#include "compat.h"
#include "conn.h"
#include "heard.h"
#include "look.h"
#include "msk.h"
#include "path.h"
#include "probe.h"
#include "symbols.h"

#include "stuck.h"

/* a path that nobody hears from gets one packet of all connections in that time */
#define PROBE_TICKS	HZ
/* and one of each, where somebody does or another path costs less */
#define PROBE_LONG_S	8

/* Were its bytes given to others, since nothing came back? */
static bool is_given_up(const struct dpa_path *row,
			struct mptcp_subflow_context *sf)
{
	if (!path_is_up(subflow_ssk(sf)) ||
	    row->cost == MPTCP_DPA_COST_FORBIDDEN)
		return false;
	return (row->flags & DPA_PATH_SILENT) ||
	       !kernel_fn(mptcp_subflow_active)(sf);
}

/* Has TCP heard nothing for long since it sent, and would wait for longer? */
static bool waits_long(const struct sock *ssk)
{
	const struct tcp_sock *tp = tcp_sk(ssk);

	return (tp->packets_out || look_is_grounded(ssk)) &&
	       inet_csk(ssk)->icsk_pending &&
	       tcp_jiffies32 - tp->lsndtime >= PROBE_TICKS &&
	       tcp_jiffies32 - tp->rcv_tstamp >= PROBE_TICKS &&
	       time_after(compat_timeout_expires(ssk), jiffies + 1);
}

/* What is asked for may not leave the host, so that TCP sends nothing. */
static bool may_ask(const struct conn *c, int i, const struct sock *ssk)
{
	u16 since_s = conn_now_s(c) - c->path[i].asked_s;

	return (tcp_jiffies32 - tcp_sk(ssk)->lsndtime >= PROBE_LONG_S * HZ &&
		since_s >= PROBE_LONG_S) ||
	       (c->state.path[i].cost <= c->state.least_cost &&
		heard_may_ask(ssk, PROBE_TICKS));
}

/*
 * The row of a subflow that is to ask; negative: it is not. What most paths differ in
 * comes first: each look asks.
 */
static int row_to_ask(const struct conn *c, struct mptcp_subflow_context *sf)
{
	const struct sock *ssk = subflow_ssk(sf);
	int i;

	if (!waits_long(ssk))
		return -ENOENT;
	i = path_find(c, sf);
	if (i < 0 || !is_given_up(&c->state.path[i], sf) || !may_ask(c, i, ssk))
		return -ENOENT;
	return i;
}

/* TCP goes by time when it gives up; its counts of timeouts are made for a few. */
static void time_out_now(struct sock *ssk)
{
	struct inet_connection_sock *icsk = inet_csk(ssk);

	WRITE_ONCE(icsk->icsk_backoff, min_t(u8, icsk->icsk_backoff, TCP_RETR2));
	if (look_is_grounded(ssk)) {
		WRITE_ONCE(icsk->icsk_probes_out, 1);
		inet_csk_reset_xmit_timer(ssk, ICSK_TIME_PROBE0, 1, 1);
		return;
	}
	WRITE_ONCE(icsk->icsk_retransmits,
		   min_t(u8, icsk->icsk_retransmits, TCP_RETR2));
	inet_csk_reset_xmit_timer(ssk, ICSK_TIME_RETRANS, 1, 1);
}

/**
 * probe_is_due() - would probe() ask?
 * @c: the connection, brought up to date
 *
 * Context: msk lock; does not sleep.
 */
bool probe_is_due(const struct conn *c)
{
	struct mptcp_subflow_context *sf;

	msk_for_each_subflow(msk_of(c->sk), sf)
		if (row_to_ask(c, sf) >= 0)
			return true;
	return false;
}

/**
 * probe() - ask whether silent paths are back
 * @c: the connection, brought up to date, after rescue()
 *
 * By what TCP itself would send, the oldest packet, when its timeout runs out: that of a
 * path from which nothing has left is the one for windows that are closed.
 *
 * Context: msk owned, may sleep; takes the subflows' locks one by one.
 */
void probe(struct conn *c)
{
	struct mptcp_subflow_context *sf;

	msk_for_each_subflow(msk_of(c->sk), sf) {
		struct sock *ssk = subflow_ssk(sf);
		bool slow;
		int i;

		if (row_to_ask(c, sf) < 0)
			continue;
		slow = lock_sock_fast(ssk);
		i = row_to_ask(c, sf);
		if (i >= 0) {
			c->path[i].asked_s = conn_now_s(c);
			heard_ask(ssk);
			time_out_now(ssk);
		}
		unlock_sock_fast(ssk, slow);
	}
}
