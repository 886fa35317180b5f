// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/mptcp_dpa.h>
#include <net/tcp.h>

#include "compat.h"
#include "conn.h"
#include "event.h"
#include "look.h"
#include "msk.h"
#include "path.h"
#include "plan.h"
#include "stat.h"
#include "tick.h"
#include "turn.h"
#include "view.h"
#include "window.h"

#include "pick.h"

static void activated(struct conn *c, struct dpa_path *row)
{
	row->activations++;
	c->activations++;
	stat_inc(sock_net(c->sk), DPA_STAT_ACTIVATIONS);
	event_path(c, MPTCP_DPA_CMD_PATH_ACTIVATED, row->subflow_id);
}

/*
 * Wants a subflow kept back, or in use. A work item carries that out, at most
 * once in hysteresis_us for a subflow; it is over when the last chunk is.
 */
static void hold(struct conn *c, struct dpa_path *row,
		 const struct mptcp_subflow_context *sf)
{
	bool held = dpa_is_held(&c->state, row->cost);
	u32 was = row->flags;

	row->flags |= DPA_PATH_STEERED;
	if (held)
		row->flags |= DPA_PATH_HELD;
	else
		row->flags &= ~DPA_PATH_HELD;
	if (row->flags == was)
		return;
	if (was & DPA_PATH_HELD)
		activated(c, row);
	else if (held)
		event_path(c, MPTCP_DPA_CMD_PATH_RELEASED, row->subflow_id);
	if (held != subflow_request_bkup(sf))
		tick_soon(c);
}

/* A path on which the next bytes come too late is the last resort. */
#define LATE	BIT_ULL(63)
/* One that is not to be used while others have room comes after them. */
#define SPARE	BIT_ULL(62)

/* What it takes, in 2^-31 s, to send what is queued on a subflow. */
static u64 linger(const struct mptcp_subflow_context *sf,
		  const struct sock *ssk)
{
	u64 pace = subflow_avg_pacing(sf) ?: READ_ONCE(ssk->sk_pacing_rate);

	return pace ? div64_u64((u64)READ_ONCE(ssk->sk_wmem_queued) << 31, pace) :
		      SPARE - 1;
}

static __always_inline bool has_room(const struct conn *c,
				     const struct dpa_path *row,
				     const struct sock *ssk)
{
	const struct tcp_sock *tp = tcp_sk(ssk);

	return dpa_has_room(&c->state, row,
			    (u64)tp->snd_cwnd * tp->mss_cache) &&
	       sk_stream_memory_free(ssk);
}

/**
 * plan_schedule() - schedule a subflow, as the default scheduler does its pick
 * @msk: the connection
 * @sf: the subflow
 * @burst: bytes to send before the scheduler is asked again
 *
 * Context: msk lock; does not sleep.
 */
void plan_schedule(struct mptcp_sock *msk, struct mptcp_subflow_context *sf,
		   u32 burst)
{
	const struct sock *ssk = subflow_ssk(sf);
	u32 queued = READ_ONCE(ssk->sk_wmem_queued);
	u64 pacing;

	burst = min_t(u64, min_t(u32, burst, S32_MAX), msk_window_left(msk));
	if (burst) {
		pacing = (u64)subflow_avg_pacing(sf) * queued +
			 (u64)READ_ONCE(ssk->sk_pacing_rate) * burst;
		subflow_set_avg_pacing(sf, div_u64(pacing, burst + queued));
		msk_set_burst(msk, burst);
	} else if (msk_again(msk)) {
		/* what is sent again needs no room, and is not all that lies between it */
		msk_set_burst(msk, 1);
	}
	subflow_set_scheduled(sf, true);
}

/* Ticks until an active subflow's timer runs out, if that counts. */
long plan_timeout(const struct mptcp_subflow_context *sf,
		  const struct sock *ssk)
{
	if (!inet_csk(ssk)->icsk_pending || subflow_stale_count(sf))
		return 0;
	return compat_timeout_expires(ssk) - jiffies;
}

void plan_set_timer(struct mptcp_sock *msk, long longest)
{
	msk_set_timer(msk, longest > 0 ? longest : TCP_RTO_MIN);
}

/* What one walk over the subflows finds. */
struct choice {
	struct mptcp_subflow_context *best; /* NULL: none has room */
	int	row;
	u64	time;		/* that @best has to send for */
	long	timeout;	/* the longest of any subflow */
	bool	in_time;	/* there is one that is, with room or without */
};

/* Takes one into account: the one with the least to send is best. */
static __always_inline void consider(const struct conn *c,
				     struct choice *choice,
				     struct mptcp_subflow_context *sf,
				     const struct sock *ssk, int i)
{
	const struct dpa_path *row = &c->state.path[i];
	bool late = dpa_is_late(&c->state, row);
	u64 time;

	if (!(row->flags & DPA_PATH_ACTIVE))
		return;
	choice->timeout = max(choice->timeout, plan_timeout(sf, ssk));
	if (!dpa_may_send(&c->state, row) || !dpa_may_follow(&c->state, i))
		return;
	choice->in_time |= !late;
	if (!has_room(c, row, ssk))
		return;
	time = linger(sf, ssk);
	if (late)
		time |= LATE;
	/* an application that waits for its send buffer would write more */
	if (dpa_is_spare(&c->state, row) && sk_stream_is_writeable(c->sk))
		time |= SPARE;
	if (time < choice->time ||
	    (time == choice->time && row->cost < c->state.path[choice->row].cost)) {
		choice->time = time;
		choice->best = sf;
		choice->row = i;
	}
}

/**
 * plan_ready() - a program is to be asked: the window is the peer's again
 * @c: the connection
 *
 * Context: msk lock; does not sleep. Takes the msk's spinlock, so not while a program runs.
 */
void plan_ready(struct conn *c)
{
	window_restore(c);
	c->cut_due = false;
}

/**
 * plan_cut() - what was picked ends within a fragment, if it is to
 * @c: the connection
 *
 * Context: as for plan_ready().
 */
void plan_cut(struct conn *c)
{
	if (c->cut_due)
		window_cut(c, c->picked);
}

/* plan_cut() is to follow, though not while a program runs. */
static int carry_out(struct conn *c, const struct choice *choice)
{
	struct mptcp_sock *msk = msk_of(c->sk);
	u32 bytes;

	if (!choice->best || (choice->time & LATE && choice->in_time))
		return -EBUSY;
	plan_set_timer(msk, choice->timeout);
	bytes = dpa_picked(&c->state, choice->row);
	c->picked = bytes;
	plan_schedule(msk, choice->best, bytes);
	/* a program may have written anything to what they follow from */
	c->cut_due = bytes && bytes < c->state.unit;
	return 0;
}

/**
 * plan_begin() - carry out a plan that was just made
 * @c: the connection, brought up to date before that
 *
 * Keeps subflows back, or takes them into use, and picks one.
 *
 * Context: msk lock; does not sleep.
 * Return: 0, -EBUSY when the next bytes have to wait for room, -EINVAL without a
 * plan.
 */
int plan_begin(struct conn *c)
{
	struct choice choice = { .time = U64_MAX };
	struct mptcp_subflow_context *sf;
	u64 waits_ns = U64_MAX;
	int next = 0;

	if (!c->state.plan_until_ns || !conn_steers(c))
		return -EINVAL;
	if (!turn_begin(c)) {
		c->state.plan_until_ns = 0;
		return -EBUSY;
	}
	msk_for_each_subflow(msk_of(c->sk), sf) {
		int i = path_find_near(c, sf, next);

		if (i < 0)
			continue;
		next = i + 1;
		hold(c, &c->state.path[i], sf);
		waits_ns = min(waits_ns, dpa_waits_ns(&c->state.path[i]));
		consider(c, &choice, sf, subflow_ssk(sf), i);
	}
	/* it gets no acknowledgment that would ask for it */
	if (waits_ns != U64_MAX)
		tick_within(c, waits_ns);
	return carry_out(c, &choice);
}

/**
 * plan_go_on() - carry out the plan that stands, if one does
 * @msk: a connection that asks where the next bytes go
 *
 * Context: msk lock; does not sleep.
 * Return: 0, -EBUSY when the next bytes have to wait for room, -EAGAIN when the
 * scheduler has to be asked.
 */
int plan_go_on(struct mptcp_sock *msk)
{
	struct conn *c = conn_find(msk_sock(msk));
	struct choice choice = { .time = U64_MAX };
	struct mptcp_subflow_context *sf;
	u32 subflows = 0;
	int next = 0, err;

	if (!c || !view_touch(c))
		return -EAGAIN;
	msk_for_each_subflow(msk, sf) {
		const struct sock *ssk = subflow_ssk(sf);
		int i = path_find_near(c, sf, next);

		/* all rows are taken: the plan was made without it */
		if (i < 0 && c->subflows == MPTCP_DPA_PATHS_MAX)
			continue;
		if (i < 0 || !look_touch(c, i, sf, ssk))
			return -EAGAIN;
		next = i + 1;
		subflows++;
		consider(c, &choice, sf, ssk, i);
	}
	/* the plan counts on one that is gone */
	if (subflows != c->subflows)
		return -EAGAIN;
	/* what the paths behind it were given is counted only now */
	if (choice.best && dpa_is_spent(&c->state, &c->state.path[choice.row],
					c->state.unit))
		return -EAGAIN;
	c->state.decisions++;
	stat_count(c->dpa, DPA_STAT_DECISIONS);
	stat_count(c->dpa, DPA_STAT_CHUNK_DECISIONS);
	err = carry_out(c, &choice);
	if (!err)
		plan_cut(c);
	return err;
}
