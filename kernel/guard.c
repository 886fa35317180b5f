// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two programs that the verifier accepts lock an unguarded kernel up: one that
 * returns 0 without scheduling a subflow, and one that schedules a subflow
 * which cannot send. See Documentation/design.md, "The guard".
 *
 * mptcp_release_sched() clears msk->sched before it calls ->release(), so the
 * callback cannot tell which scheduler it is for: each registered scheduler
 * has a slot of its own, with functions that know the slot's number.
 */
#include "pr_fmt.h"

#include <linux/local_lock.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <net/mptcp.h>
#include <net/sock.h>

#include "compat.h"
#include "conn.h"
#include "guard.h"
#include "msk.h"
#include "plan.h"
#include "stat.h"
#include "symbols.h"

struct guard_slot {
	struct mptcp_sched_ops	*ops;	/* NULL: not registered; slots_lock */
	struct mptcp_sched_ops	program; /* its own callbacks, no more */
	atomic_t		users;	/* sockets between init and release */
};

static DEFINE_MUTEX(slots_lock);	/* registration against registration */
static struct guard_slot slots[GUARD_SLOTS];

/* Can this subflow take data now? Under the msk lock, its spinlock or owned. */
static bool can_send(struct mptcp_subflow_context *sf, bool retrans)
{
	const struct sock *ssk = subflow_ssk(sf);

	return kernel_fn(mptcp_subflow_active)(sf) &&
	       (retrans || sk_stream_memory_free(ssk));
}

/* Drops picks that cannot send; -EINVAL if none is left. */
static int keep_usable(struct mptcp_sock *msk, bool retrans)
{
	struct mptcp_subflow_context *sf;
	int err = -EINVAL;

	msk_for_each_subflow(msk, sf) {
		if (!subflow_scheduled(sf))
			continue;
		if (can_send(sf, retrans)) {
			err = 0;
			continue;
		}
		subflow_set_scheduled(sf, false);
		stat_inc(sock_net(msk_sock(msk)), DPA_STAT_GUARD_DROPS);
	}
	return err;
}

static void drop_picks(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *sf;

	msk_for_each_subflow(msk, sf)
		if (subflow_scheduled(sf))
			subflow_set_scheduled(sf, false);
}

/*
 * No other decision runs on this CPU meanwhile, not even from a softirq, so a
 * program may keep what it works with in per-CPU memory. (With bottom halves off the
 * lock is nothing but lockdep's, except on PREEMPT_RT.)
 */
struct decision {
	local_lock_t	lock;
};

static DEFINE_PER_CPU(struct decision, decision) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

static int run_alone(const struct guard_slot *slot, struct mptcp_sock *msk,
		     bool retrans)
{
	int err;

	local_bh_disable();
	local_lock_nested_bh(&decision.lock);
	err = compat_run(&slot->program, msk, retrans);
	local_unlock_nested_bh(&decision.lock);
	local_bh_enable();
	return err;
}

/*
 * What takes the msk's spinlock is done before a program runs, or after it: whoever
 * holds that may be waiting for the turn to decide on this CPU.
 */
static int ask(const struct guard_slot *slot, struct mptcp_sock *msk,
	       bool retrans)
{
	struct conn *c = conn_find(msk_sock(msk));
	int err;

	/* this may push, on some kernels, and so decide */
	if (retrans)
		compat_check_stale(msk);
	if (c)
		plan_ready(c);
	stat_inc(sock_net(msk_sock(msk)), DPA_STAT_DECISIONS);
	if (run_alone(slot, msk, retrans)) {
		drop_picks(msk);
		return -EINVAL;
	}
	err = keep_usable(msk, retrans);
	if (c && !err)
		plan_cut(c);
	return err;
}

static int guard_pick(struct guard_slot *slot, struct mptcp_sock *msk,
		      bool retrans)
{
	int err = retrans ? -EAGAIN : plan_go_on(msk);

	return err == -EAGAIN ? ask(slot, msk, retrans) : err;
}

/*
 * For a socket that a cgroup program refuses at its creation the kernel does
 * not call mptcp_release_sched(): our count, and the socket's reference on the
 * scheduler, would stay for good. So a user's destructor is ours until then.
 */
static void (*plain_destruct[2])(struct sock *sk);	/* IPv4, IPv6 */

static void destruct_v4(struct sock *sk)
{
	kernel_fn(mptcp_release_sched)(msk_of(sk));
	plain_destruct[0](sk);
}

static void destruct_v6(struct sock *sk)
{
	kernel_fn(mptcp_release_sched)(msk_of(sk));
	plain_destruct[1](sk);
}

static void (*const our_destruct[2])(struct sock *sk) = {
	destruct_v4, destruct_v6,
};

static void watch_end(struct sock *sk)
{
	bool six = sk->sk_family == AF_INET6;

	/* an accepted socket has its listener's */
	if (sk->sk_destruct == our_destruct[six])
		return;
	cmpxchg(&plain_destruct[six], NULL, sk->sk_destruct);
	if (sk->sk_destruct == plain_destruct[six])
		sk->sk_destruct = our_destruct[six];
}

static void unwatch_end(struct sock *sk)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(our_destruct); i++)
		if (sk->sk_destruct == our_destruct[i])
			sk->sk_destruct = plain_destruct[i];
}

static void guard_init(struct guard_slot *slot, struct mptcp_sock *msk)
{
	atomic_inc(&slot->users);
	watch_end(msk_sock(msk));
	if (slot->program.init)
		slot->program.init(msk);
}

/* The slot may be taken again as soon as the last user is gone. */
static void guard_release(struct guard_slot *slot, struct mptcp_sock *msk)
{
	if (slot->program.release)
		slot->program.release(msk);
	conn_release(msk_sock(msk));
	unwatch_end(msk_sock(msk));
	atomic_dec(&slot->users);
}

#define GUARD_FUNCTIONS(n)						\
COMPAT_GUARDS(n)							\
static void init_##n(struct mptcp_sock *msk)				\
{									\
	guard_init(&slots[n], msk);					\
}									\
static void release_##n(struct mptcp_sock *msk)				\
{									\
	guard_release(&slots[n], msk);					\
}

#define FOR_EACH_SLOT(X)						\
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)				\
	X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)

FOR_EACH_SLOT(GUARD_FUNCTIONS)

#define GUARD_ROW(n)	{						\
	COMPAT_GUARD_ROW(n)						\
	.init = init_##n,						\
	.release = release_##n,						\
},

static const struct mptcp_sched_ops guards[GUARD_SLOTS] = {
	FOR_EACH_SLOT(GUARD_ROW)
};

/* A slot that no socket can call into any more, or NULL. */
static struct guard_slot *free_slot(void)
{
	int i;

	for (i = 0; i < GUARD_SLOTS; i++) {
		struct guard_slot *slot = &slots[i];

		if (!slot->ops && !atomic_read(&slot->users))
			return slot;
	}
	return NULL;
}

static void copy_callbacks(struct mptcp_sched_ops *to,
			   const struct mptcp_sched_ops *from)
{
#define COPY(name)	to->name = from->name;
	COMPAT_SCHED_CALLBACKS(COPY)
	to->init = from->init;
	to->release = from->release;
}

static void slot_fill(struct guard_slot *slot, struct mptcp_sched_ops *ops)
{
	slot->ops = ops;
	copy_callbacks(&slot->program, ops);
	copy_callbacks(ops, &guards[slot - slots]);
}

/* Its own callbacks again; no socket may be able to call one. */
static void slot_empty(struct guard_slot *slot)
{
	copy_callbacks(slot->ops, &slot->program);
	slot->ops = NULL;
}

/**
 * guard_register() - put a scheduler behind the guard and on the kernel's list
 * @ops: must live until the last socket that uses it has been released; its
 *	callbacks are replaced
 *
 * Context: may sleep.
 * Return: 0; -EINVAL without the callback that picks, or a name, -ENOSPC when all slots are
 * taken (by schedulers, or by sockets that outlive one), -EEXIST for a name in use,
 * -EBUSY if it is registered already, or was when sockets still used it: its callbacks
 * are the guard's for good then, so that a program has to be loaded anew.
 */
int guard_register(struct mptcp_sched_ops *ops)
{
	struct guard_slot *slot;
	int err;

	if (!ops->COMPAT_SCHED_REQUIRED || !ops->name[0])
		return -EINVAL;

	mutex_lock(&slots_lock);
	err = -EBUSY;
	if (guard_covers(ops))
		goto out;
	err = -ENOSPC;
	slot = free_slot();
	if (!slot)
		goto out;
	slot_fill(slot, ops);
	err = kernel_fn(mptcp_register_scheduler)(ops);
	if (err)
		slot_empty(slot);
out:
	mutex_unlock(&slots_lock);
	return err;
}

/**
 * guard_unregister() - take a scheduler off the kernel's list
 * @ops: as given to guard_register(); sockets go on using it
 *
 * Context: may sleep.
 */
void guard_unregister(struct mptcp_sched_ops *ops)
{
	int i;

	mutex_lock(&slots_lock);
	kernel_fn(mptcp_unregister_scheduler)(ops);
	/*
	 * A socket() that found it on the list counts as a user after this;
	 * then only accept() adds one, from a listener that counts already.
	 */
	synchronize_rcu();
	for (i = 0; i < GUARD_SLOTS; i++) {
		if (slots[i].ops != ops)
			continue;
		/* without users it may be registered again */
		if (atomic_read(&slots[i].users))
			slots[i].ops = NULL;
		else
			slot_empty(&slots[i]);
	}
	mutex_unlock(&slots_lock);
}

/**
 * guard_covers() - is this a scheduler behind the guard?
 * @ops: of a socket
 *
 * If so, conn_release() will be called for its sockets.
 */
bool guard_covers(const struct mptcp_sched_ops *ops)
{
	int i;

	for (i = 0; i < GUARD_SLOTS; i++)
		if (ops->release == guards[i].release)
			return true;
	return false;
}
