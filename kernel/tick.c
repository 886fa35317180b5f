// SPDX-License-Identifier: GPL-2.0-only
#include <linux/minmax.h>
#include <linux/net.h>
#include <net/tcp.h>

#include "compat.h"
#include "conn.h"
#include "look.h"
#include "msk.h"
#include "pace.h"
#include "path.h"
#include "prio.h"
#include "probe.h"
#include "rescue.h"
#include "room.h"
#include "stat.h"
#include "symbols.h"
#include "tick.h"
#include "turn.h"
#include "view.h"

#include "arith.h"

/*
 * While bytes of a chunk are unacked, or wait to be sent again, the look repeats
 * every srtt / 4, within
 */
#define TICK_MIN_NS	(5 * NSEC_PER_MSEC)
#define TICK_MAX_NS	(100 * NSEC_PER_MSEC)

/*
 * Those that fill a path together tell each other of it: each looks at it every srtt,
 * as long as its next deadline is more than so many looks away.
 */
#define SHARED_LOOKS	32

static struct workqueue_struct *tick_wq;

/* The work holds the socket and the state; both are dropped when it ends. */
static void queue_tick(struct conn *c)
{
	sock_hold(c->sk);
	conn_hold(c);
	if (queue_work(tick_wq, &c->work))
		return;
	/* neither is the last: the queued work has its own */
	__sock_put(c->sk);
	refcount_dec(&c->refs);
}

static u64 tick_interval_ns(const struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *sf;
	u64 interval = TICK_MAX_NS;

	msk_for_each_subflow(msk, sf) {
		u32 srtt_us = tcp_sk(subflow_ssk(sf))->srtt_us >> 3;

		if (srtt_us)
			interval = min(interval,
				       (u64)srtt_us * NSEC_PER_USEC / 4);
	}
	return max(interval, (u64)TICK_MIN_NS);
}

/* The longest that there may be between looks, which are every @interval by themselves. */
static u64 longest_interval_ns(const struct conn *c, u64 interval)
{
	return c->shared ? min(4 * interval, (u64)TICK_MAX_NS) : interval;
}

/* @deadline: the next one; U64_MAX: there is none, for what is late or overflows. */
static u64 look_interval_ns(const struct conn *c, u64 deadline)
{
	u64 left = deadline == U64_MAX ? 0 : dpa_minus(deadline, c->state.now_ns);
	u64 interval = tick_interval_ns(msk_of(c->sk));

	return clamp(left / SHARED_LOOKS, interval, longest_interval_ns(c, interval));
}

/*
 * After a fallback, which a connect may end in, no decision tells of bytes. A
 * socket that was connected and is closed will have none.
 */
static bool is_seen_by_timer_alone(const struct conn *c)
{
	const struct socket *sock = c->sk->sk_socket;

	if (c->sk->sk_state == TCP_CLOSE)
		return sock && sock->state == SS_UNCONNECTED;
	return c->sk->sk_state == TCP_SYN_SENT ||
	       msk_fell_back(msk_of(c->sk));
}

/* Bytes of a chunk, or that are repeated, are on their way or wait for it. */
static bool is_under_way(const struct conn *c)
{
	const struct dpa_state *st = &c->state;

	return c->sk->sk_state != TCP_CLOSE &&
	       (conn_steers(c) || st->again) && st->acked < st->written;
}

/* When to look again; 0: not by a timer. */
static u64 next_tick_ns(struct conn *c)
{
	const struct mptcp_sock *msk = msk_of(c->sk);
	const struct dpa_state *st = &c->state;
	u64 next = chunk_queue_next_verdict(&c->queue);
	u64 boundary = stream_boundary(&c->stream, &c->queue, st->now_ns);
	u64 interval = max(look_interval_ns(c, next), turn_look_in_ns(c));

	/* a verdict waits for the last acknowledgment on its way */
	if (next != U64_MAX)
		next = max(next + conn_ack_delay(msk).most_ns, st->now_ns + 1);
	if ((next != U64_MAX || c->stream.interval_ns) &&
	    is_seen_by_timer_alone(c))
		next = min(next, st->now_ns + TICK_MAX_NS);
	next = min(next, boundary);
	if (is_under_way(c) ||
	    (c->sk->sk_state != TCP_CLOSE && prio_pending(c)))
		next = min(next, st->now_ns + interval);
	/* a deadline may be the last that there is */
	return next == U64_MAX ? 0 : min_t(u64, next, KTIME_MAX);
}

/*
 * Does data wait for the scheduler's word? A closed window is the kernel's to
 * probe; what is to be sent again was within it.
 */
static bool data_waits(const struct conn *c)
{
	const struct mptcp_sock *msk = msk_of(c->sk);

	if (turn_is_to_come(c))
		return false;
	return c->state.again || (conn_steers(c) && msk_data_pending(msk) &&
				  msk_window_left(msk));
}

/* Data that waits is pushed by release_sock(), which so asks the scheduler again. */
static void kick(struct conn *c)
{
	if (data_waits(c))
		kernel_fn(mptcp_check_and_set_pending)(c->sk);
}

/* Nothing is left to send, or will be. */
static bool is_over(const struct sock *sk)
{
	return sk->sk_state == TCP_CLOSE ||
	       (sk->sk_state == TCP_FIN_WAIT2 && sock_flag(sk, SOCK_DEAD));
}

/* What each look ends with. */
static void look_again(struct conn *c)
{
	u64 next;

	pace_apply(c);
	/* without a look to come the next bytes are the scheduler's */
	if (!is_under_way(c))
		c->state.plan_until_ns = 0;
	next = next_tick_ns(c);
	if (next)
		hrtimer_start(&c->timer, ns_to_ktime(next),
			      HRTIMER_MODE_ABS_SOFT);
}

/* The look of a work item, with the msk owned or as good as that. */
static void tick(struct conn *c)
{
	if (c->dead)
		return;
	stat_inc(sock_net(c->sk), DPA_STAT_TICKS);
	path_learn_endpoints(c);
	look_share(c);
	view_refresh(c);
	turn_look(c);
	if (!is_over(c->sk)) {
		prio_apply(c);
		/* nothing is known of what has just got a row */
		if (room_make(c, true))
			view_refresh(c);
		if (conn_steers(c))
			path_make_prompt(c);
		path_tell_limited(c);
		/* a decision looks itself */
		if (is_under_way(c) && !msk_data_pending(msk_of(c->sk)))
			look_watch(c);
		rescue(c);
		if (is_under_way(c))
			probe(c);
		kick(c);
	}
	look_again(c);
}

/*
 * A look from the timer itself, while nobody owns the msk: under its spinlock no
 * subflow can be locked, so that only looks that find nothing to do end here. Most
 * do, and to wake a worker costs several times as much. Data that waits is pushed
 * by its owner alone.
 */
static bool look_here(struct conn *c)
{
	if (c->dead)
		return true;
	if (is_over(c->sk) || data_waits(c))
		return false;
	path_learn_endpoints(c);
	look_share(c);
	view_refresh(c);
	turn_look(c);
	if (data_waits(c) || prio_pending(c) || rescue_is_due(c) ||
	    (is_under_way(c) && probe_is_due(c)) || path_needs_owner(c) ||
	    room_is_wanted(c))
		return false;
	stat_inc(sock_net(c->sk), DPA_STAT_TICKS);
	if (is_under_way(c) && !msk_data_pending(msk_of(c->sk)))
		look_watch(c);
	look_again(c);
	return true;
}

/* Whoever holds the spinlock may wait for this function to end: see tick_stop(). */
static enum hrtimer_restart tick_timer(struct hrtimer *timer)
{
	struct conn *c = container_of(timer, struct conn, timer);
	spinlock_t *lock = &c->sk->sk_lock.slock;
	bool done = false;

	if (spin_trylock(lock)) {
		if (!sock_owned_by_user(c->sk))
			done = look_here(c);
		spin_unlock(lock);
	}
	if (!done)
		queue_tick(c);
	return HRTIMER_NORESTART;
}

/*
 * Waits until nobody owns the socket, but not for long; under its spinlock. Not in the
 * line of lock_sock(), where release_sock() wakes one who is to wake the next: who waits
 * here need not own the socket then, and would wake nobody.
 */
static bool wait_for_owner(struct sock *sk)
{
	long left = nsecs_to_jiffies(TICK_MIN_NS) + 1;
	DEFINE_WAIT(wait);

	while (sock_owned_by_user_nocheck(sk) && left) {
		prepare_to_wait(&sk->sk_lock.wq, &wait, TASK_UNINTERRUPTIBLE);
		spin_unlock_bh(&sk->sk_lock.slock);
		left = schedule_timeout(left);
		spin_lock_bh(&sk->sk_lock.slock);
	}
	finish_wait(&sk->sk_lock.wq, &wait);
	return !sock_owned_by_user_nocheck(sk);
}

/* Owns the socket, which nobody does; drops its spinlock. As lock_sock() ends. */
static void own(struct sock *sk)
{
	sk->sk_lock.owned = 1;
	spin_unlock_bh(&sk->sk_lock.slock);
	mutex_acquire(&sk->sk_lock.dep_map, 0, 0, _RET_IP_);
}

/*
 * Who owns it copies from or to memory that may not come for hours, if it is a file's. Other
 * connections wait for this worker, so it tries again when as much time has passed as since
 * the last look. Under the spinlock.
 */
static void put_off(struct conn *c)
{
	u64 now_ns = ktime_get_ns();
	u64 age_ns = dpa_minus(now_ns, READ_ONCE(c->state.now_ns));

	age_ns = clamp(age_ns, (u64)TICK_MIN_NS, (u64)TICK_MAX_NS);
	if (!c->dead)
		hrtimer_start(&c->timer, ns_to_ktime(now_ns + age_ns),
			      HRTIMER_MODE_ABS_SOFT);
}

/*
 * A socket that is over is looked at without being owned: what its peer sends
 * last would be put off until release_sock(), where kernels since 7.0 close an
 * orphan without anybody to free it (Documentation/testing.md).
 */
static void tick_work(struct work_struct *work)
{
	struct conn *c = container_of(work, struct conn, work);
	struct sock *sk = c->sk;

	spin_lock_bh(&sk->sk_lock.slock);
	if (!wait_for_owner(sk)) {
		put_off(c);
		spin_unlock_bh(&sk->sk_lock.slock);
	} else if (is_over(sk)) {
		tick(c);
		spin_unlock_bh(&sk->sk_lock.slock);
	} else {
		own(sk);
		tick(c);
		release_sock(sk);
	}
	sock_put(sk);
	conn_put(c);
}

void tick_setup(struct conn *c)
{
	hrtimer_setup(&c->timer, tick_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	INIT_WORK(&c->work, tick_work);
}

/* Will the timer run until then? A guess: it may do so just now. */
static bool comes_by(const struct conn *c, ktime_t latest)
{
	return hrtimer_is_queued((struct hrtimer *)&c->timer) &&
	       hrtimer_get_expires(&c->timer) <= latest;
}

/*
 * Is a look to come that is soon enough for a chunk with unacked bytes? One for
 * its deadline alone is not. Under the msk lock; a queued one may run at once.
 */
bool tick_is_due(const struct conn *c)
{
	ktime_t latest = c->state.now_ns +
			 longest_interval_ns(c, tick_interval_ns(msk_of(c->sk)));

	if (turn_is_to_come(c))
		latest = KTIME_MAX;
	return work_pending(&c->work) || comes_by(c, latest);
}

/**
 * tick_soon() - have the connection looked after as soon as its lock is free
 * @c: the connection
 *
 * Context: msk lock; does not sleep.
 */
void tick_soon(struct conn *c)
{
	if (!c->dead)
		queue_tick(c);
}

/**
 * tick_within() - have the next look no later
 * @c: the connection, refreshed
 * @ns: from the refresh on; a millisecond at least
 *
 * Context: msk lock; does not sleep.
 */
void tick_within(struct conn *c, u64 ns)
{
	ktime_t at = ns_to_ktime(c->state.now_ns +
				 max(ns, (u64)NSEC_PER_MSEC));

	if (!c->dead && !comes_by(c, at))
		hrtimer_start(&c->timer, at, HRTIMER_MODE_ABS_SOFT);
}

/**
 * tick_stop() - no timer runs when this returns, and none will
 * @c: a dead connection
 *
 * Context: msk owned; may spin for a timer function that runs.
 */
void tick_stop(struct conn *c)
{
	hrtimer_cancel(&c->timer);
}

int tick_init(void)
{
	tick_wq = alloc_workqueue("mptcp_dpa", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return tick_wq ? 0 : -ENOMEM;
}

void tick_exit(void)
{
	destroy_workqueue(tick_wq);
}
