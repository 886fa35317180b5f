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
#include "plan.h"
#include "prio.h"
#include "rescue.h"
#include "sockopt.h"
#include "stat.h"
#include "symbols.h"
#include "tick.h"
#include "view.h"

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
	view_refresh(c);
	if (!conn_steers(c)) {
		if (prio_pending(c))
			tick_soon(c);
		return NULL;
	}
	c->state.decisions++;
	stat_count(c->dpa, DPA_STAT_CHUNK_DECISIONS);
	if (!tick_is_due(c))
		tick_soon(c);
	return (unsigned char *)&c->state;
}

int kf_chunk(struct sock *sk, u32 i, struct dpa_horizon *horizon)
{
	const struct conn *c = conn_find(sk);

	return c ? view_chunk(c, i, horizon) : -ENOENT;
}

int kf_path(struct mptcp_subflow_context *sf)
{
	struct conn *c = conn_find(subflow_msk(sf));

	return c ? path_row(c, sf, 0) : -ENOENT;
}

int kf_send(struct mptcp_sock *msk)
{
	struct conn *c = conn_find(msk_sock(msk));

	return c ? plan_begin(c) : -ENOENT;
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

	msk_for_each_subflow(msk, sf)
		if (kernel_fn(mptcp_subflow_active)(sf))
			longest = max(longest, plan_timeout(sf, subflow_ssk(sf)));
	plan_set_timer(msk, longest);
}

void kf_pick(struct mptcp_subflow_context *sf, u32 burst)
{
	struct mptcp_sock *msk = msk_of(subflow_msk(sf));

	set_retransmit_timer(msk);
	plan_schedule(msk, sf, burst);
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
	return sk && is_mptcp_socket(sk) ? 0 : -EINVAL;
}
