// SPDX-License-Identifier: GPL-2.0-only
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/mptcp_dpa.h>
#include <net/tcp.h>

#include "compat.h"
#include "conn.h"
#include "event.h"
#include "kfuncs.h"
#include "msk.h"
#include "netns.h"
#include "path.h"
#include "prio.h"
#include "rescue.h"
#include "sockopt.h"
#include "stat.h"
#include "symbols.h"
#include "tick.h"

/* Where bytes without a deadline overflow, every connection has state. */
static struct conn *find_or_make(struct sock *sk)
{
	struct conn *c = conn_find(sk);

	if (c || !READ_ONCE(netns_dpa(sock_net(sk))->overflow_ms) ||
	    sockopt_check_scheduler(sk))
		return c;
	return conn_get_or_create(sk);
}

unsigned char *kf_conn(struct sock *sk, int size)
{
	struct conn *c;

	if (size < 0 || size > sizeof(struct dpa_state))
		return NULL;
	c = find_or_make(sk);
	if (!c || !(conn_steers(c) || c->stream.interval_ns ||
		    conn_overflow_ns(c)))
		return NULL;
	conn_refresh(c);
	if (!conn_steers(c)) {
		if (prio_pending(c))
			tick_soon(c);
		return NULL;
	}
	c->state.decisions++;
	stat_inc(sock_net(sk), DPA_STAT_CHUNK_DECISIONS);
	if (!tick_is_due(c))
		tick_soon(c);
	return (unsigned char *)&c->state;
}

int kf_chunk(struct sock *sk, u32 i, struct dpa_horizon *horizon)
{
	const struct conn *c = conn_find(sk);

	return c ? conn_show_chunk(c, i, horizon) : -ENOENT;
}

int kf_path(struct mptcp_subflow_context *sf)
{
	struct conn *c = conn_find(subflow_msk(sf));

	return c ? path_row(c, sf) : -ENOENT;
}

static void activated(struct conn *c, struct dpa_path *row)
{
	row->activations++;
	c->activations++;
	stat_inc(sock_net(c->sk), DPA_STAT_ACTIVATIONS);
	event_path(c, MPTCP_DPA_CMD_PATH_ACTIVATED, row->subflow_id);
}

void kf_hold(struct mptcp_subflow_context *sf, bool held)
{
	struct conn *c = conn_find(subflow_msk(sf));
	struct dpa_path *row;
	u32 was;
	int i;

	if (!c)
		return;
	i = path_row(c, sf);
	if (i < 0)
		return;
	row = &c->state.path[i];
	was = row->flags;
	row->flags |= DPA_PATH_STEERED;
	if (held)
		row->flags |= DPA_PATH_HELD;
	else
		row->flags &= ~DPA_PATH_HELD;
	if ((was & DPA_PATH_HELD) && !held)
		activated(c, row);
	else if (!(was & DPA_PATH_HELD) && held)
		event_path(c, MPTCP_DPA_CMD_PATH_RELEASED, row->subflow_id);
	if (held != subflow_request_bkup(sf) && row->flags != was)
		tick_soon(c);
}

static int scheduled(struct sock *ssk)
{
	if (!ssk)
		return -EINVAL;
	subflow_set_scheduled(compat_subflow_ctx(ssk), true);
	return 0;
}

int kf_default_send(struct mptcp_sock *msk)
{
	return scheduled(kernel_fn(mptcp_subflow_get_send)(msk));
}

int kf_default_retrans(struct mptcp_sock *msk)
{
	return scheduled(compat_default_retrans(msk));
}

/* When a connection last had its way, in jiffies, by a hash of its address. */
static u32 reinjected[256];

/* Connections that share a row take turns; a race lets both through. */
static bool reinject_soon(const struct mptcp_sock *msk)
{
	u32 *row = &reinjected[hash_ptr(msk, ilog2(ARRAY_SIZE(reinjected)))];
	u32 now = jiffies;

	if (READ_ONCE(*row) == now)
		return true;
	WRITE_ONCE(*row, now);
	return false;
}

/*
 * Only while a path has nothing outstanding: what is sent again occupies it for
 * a round trip, so a program that asks all the time cannot flood it. And once a
 * tick, as the work item asks the program again.
 */
int kf_reinject(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *sf;

	if (msk_acked(msk) == msk_sent(msk))
		return -EBUSY;
	msk_for_each_subflow(msk, sf) {
		if (!kernel_fn(mptcp_subflow_active)(sf) ||
		    !kf_subflow_idle(sf))
			continue;
		/* being refused must not cost the turn */
		if (reinject_soon(msk))
			return -EBUSY;
		ask_retransmission(msk);
		return 0;
	}
	return -EBUSY;
}

/*
 * The connection retransmits when the slowest subflow has had its time: the
 * longest of their pending timers, as the kernel's scheduler sets it.
 */
static void set_retransmit_timer(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *sf;
	long longest = 0;

	msk_for_each_subflow(msk, sf) {
		const struct sock *ssk = subflow_ssk(sf);

		if (!kernel_fn(mptcp_subflow_active)(sf) ||
		    !inet_csk(ssk)->icsk_pending || subflow_stale_count(sf))
			continue;
		longest = max(longest,
			      (long)(compat_timeout_expires(ssk) - jiffies));
	}
	msk_set_timer(msk, longest > 0 ? longest : TCP_RTO_MIN);
}

void kf_pick(struct mptcp_subflow_context *sf, u32 burst)
{
	struct mptcp_sock *msk = msk_of(subflow_msk(sf));
	const struct sock *ssk = subflow_ssk(sf);
	u64 window = msk_window_left(msk);
	u32 queued = READ_ONCE(ssk->sk_wmem_queued);
	u64 pacing;

	burst = min_t(u64, min_t(u32, burst, S32_MAX), window);
	if (burst) {
		pacing = (u64)subflow_avg_pacing(sf) * queued +
			 (u64)READ_ONCE(ssk->sk_pacing_rate) * burst;
		subflow_set_avg_pacing(sf, div_u64(pacing, burst + queued));
		msk_set_burst(msk, burst);
	}
	set_retransmit_timer(msk);
	subflow_set_scheduled(sf, true);
}

bool kf_subflow_active(struct mptcp_subflow_context *sf)
{
	return kernel_fn(mptcp_subflow_active)(sf);
}

bool kf_subflow_memory_free(struct mptcp_subflow_context *sf)
{
	return sk_stream_memory_free(subflow_ssk(sf));
}

bool kf_subflow_idle(struct mptcp_subflow_context *sf)
{
	return tcp_rtx_and_write_queues_empty(subflow_ssk(sf));
}

int kf_iter_start(struct sock *sk)
{
	return sk && sk->sk_protocol == IPPROTO_MPTCP ? 0 : -EINVAL;
}
