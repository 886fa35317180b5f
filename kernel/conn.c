// SPDX-License-Identifier: GPL-2.0-only
#include <linux/eventfd.h>
#include <linux/hash.h>
#include <linux/mptcp_dpa.h>
#include <linux/rculist.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/tcp.h>

#include "conn.h"
#include "look.h"
#include "msk.h"
#include "netns.h"
#include "path.h"
#include "symbols.h"
#include "tick.h"

#define CONN_HASH_BITS	12

/* Walked under RCU; changed under conn_lock. */
static struct hlist_head conn_table[1 << CONN_HASH_BITS];
static DEFINE_SPINLOCK(conn_lock);

static struct kmem_cache *conn_cache;

static struct hlist_head *bucket(const struct sock *sk)
{
	return &conn_table[hash_ptr(sk, CONN_HASH_BITS)];
}

/**
 * conn_find() - the state of a connection
 * @sk: any pointer, it is only compared
 *
 * Context: any; the state stays as long as the msk lock is held.
 * Return: the state, or NULL if it has none.
 */
struct conn *conn_find(const struct sock *sk)
{
	struct conn *c;

	rcu_read_lock();
	hlist_for_each_entry_rcu(c, bucket(sk), node)
		if (c->sk == sk)
			break;
	rcu_read_unlock();
	return c;
}

/* Gives the state a number that the namespace has not used before. */
static int enlist(struct conn *c)
{
	struct netns_dpa *dpa = c->dpa;

	c->id = atomic64_inc_return(&dpa->conn_ids);
	return xa_insert_bh(&dpa->conns, c->id, c, GFP_ATOMIC);
}

static struct conn *conn_create(struct sock *sk)
{
	struct conn *c = kmem_cache_zalloc(conn_cache, GFP_ATOMIC);

	if (!c)
		return NULL;
	c->sk = sk;
	c->dpa = netns_dpa(sock_net(sk));
	refcount_set(&c->refs, 1);
	tick_setup(c);
	/* the cookie names the connection before it has a token */
	preempt_disable();
	kernel_fn(__sock_gen_cookie)(sk);
	preempt_enable();
	if (enlist(c)) {
		kmem_cache_free(conn_cache, c);
		return NULL;
	}
	atomic_inc(&netns_dpa(sock_net(sk))->conn_count);

	spin_lock_bh(&conn_lock);
	hlist_add_head_rcu(&c->node, bucket(sk));
	spin_unlock_bh(&conn_lock);
	return c;
}

/**
 * conn_get_or_create() - the state of a connection, made if need be
 * @sk: an MPTCP socket whose scheduler runs behind the guard
 *
 * Context: msk lock; does not sleep.
 * Return: the state, or NULL without memory.
 */
struct conn *conn_get_or_create(struct sock *sk)
{
	return conn_find(sk) ?: conn_create(sk);
}

/**
 * conn_next_get() - walk the connections of a namespace by their numbers
 * @net: the namespace
 * @id: the number to begin at; set to that of the result
 *
 * Numbers only grow, so a walk that goes on from one sees every connection
 * that lives throughout, and none twice.
 *
 * Context: any.
 * Return: the state with a reference on it and on its socket, which
 * conn_put_sock() drops; NULL after the last.
 */
struct conn *conn_next_get(struct net *net, u64 *id)
{
	struct netns_dpa *dpa = netns_dpa(net);
	unsigned long index = *id;
	struct conn *c;

	rcu_read_lock();
	xa_for_each_start(&dpa->conns, index, c, *id) {
		if (!refcount_inc_not_zero(&c->refs))
			continue;
		if (!READ_ONCE(c->dead) &&
		    refcount_inc_not_zero(&c->sk->sk_refcnt))
			break;
		conn_put(c);
	}
	rcu_read_unlock();
	if (c)
		*id = index;
	return c;
}

/* Drops what conn_next_get() took; may sleep. */
void conn_put_sock(struct conn *c)
{
	struct sock *sk = c->sk;

	conn_put(c);
	sock_put(sk);
}

/* Takes one more reference; the caller has, or is sure of, one. */
void conn_hold(struct conn *c)
{
	refcount_inc(&c->refs);
}

static void conn_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(conn_cache, container_of(rcu, struct conn, rcu));
}

/* Drops one reference; any context. */
void conn_put(struct conn *c)
{
	if (refcount_dec_and_test(&c->refs)) {
		chunk_queue_clear(&c->queue);
		kfree(c->prefs);
		if (c->eventfd)
			eventfd_ctx_put(c->eventfd);
		call_rcu(&c->rcu, conn_free_rcu);
	}
}

/**
 * conn_release() - the socket ends, so does its state
 * @sk: the MPTCP socket
 *
 * Context: msk owned, or nobody's any more; may sleep. A work item that runs already
 * finds the state dead when it has the spinlock, and starts no timer then.
 */
void conn_release(struct sock *sk)
{
	struct netns_dpa *dpa = netns_dpa(sock_net(sk));
	struct conn *c = conn_find(sk);

	if (!c)
		return;
	spin_lock_bh(&conn_lock);
	hlist_del_rcu(&c->node);
	spin_unlock_bh(&conn_lock);
	xa_erase_bh(&dpa->conns, c->id);
	atomic_dec(&dpa->conn_count);

	spin_lock_bh(&sk->sk_lock.slock);
	WRITE_ONCE(c->dead, true);
	spin_unlock_bh(&sk->sk_lock.slock);
	tick_stop(c);
	/* nobody may have looked since the last pick */
	look_count(c);
	path_drop_quotas(c);
	conn_put(c);
}

/**
 * conn_prefs() - the connection's preferences, for changing them
 * @c: the connection
 *
 * Context: msk lock; does not sleep.
 * Return: the list, made if need be; NULL without memory.
 */
struct pref_list *conn_prefs(struct conn *c)
{
	if (!c->prefs)
		c->prefs = kzalloc(sizeof(*c->prefs),
				   GFP_ATOMIC | __GFP_ACCOUNT);
	return c->prefs;
}

/**
 * conn_overflow_ns() - how long bytes without a deadline may wait
 * @c: the connection
 *
 * Return: the time that they may wait for cheaper paths before costlier ones
 * take some; 0: they go where the kernel's default scheduler puts them.
 */
u64 conn_overflow_ns(const struct conn *c)
{
	u32 ms = c->overflow_ms ?:
		 READ_ONCE(c->dpa->overflow_ms);

	return ms == MPTCP_DPA_OVERFLOW_OFF ? 0 : (u64)ms * NSEC_PER_MSEC;
}

/* Does the scheduler say which subflows are used? As of the last refresh. */
bool conn_steers(const struct conn *c)
{
	return c->queue.count || c->overflow_ns;
}

/**
 * conn_ack_delay() - how long a DATA_ACK takes to come back
 * @msk: the connection
 *
 * It comes on the subflow on which the data came that it is for. Of subflows that
 * were heard from within a jiffy of each other any may have brought the last one.
 *
 * Context: msk lock, or its spinlock; does not sleep.
 * Return: halves of least round-trip times, 0 as long as there is none.
 */
struct ack_delay conn_ack_delay(const struct mptcp_sock *msk)
{
	struct ack_delay delay = { .last_ns = U64_MAX };
	u32 last = msk_last_ack(msk);
	struct mptcp_subflow_context *sf;
	u64 least_ns = U64_MAX;

	msk_for_each_subflow(msk, sf) {
		const struct tcp_sock *tp = tcp_sk(subflow_ssk(sf));
		u32 rtt_us = tcp_min_rtt(tp);
		u64 ns = (u64)rtt_us * NSEC_PER_USEC / 2;

		if (rtt_us == U32_MAX)
			continue;
		least_ns = min(least_ns, ns);
		if ((s32)(last - tp->rcv_tstamp) <= 1)
			delay.last_ns = min(delay.last_ns, ns);
		if (tp->packets_out)
			delay.most_ns = max(delay.most_ns, ns);
	}
	if (least_ns == U64_MAX)
		least_ns = 0;
	if (delay.last_ns == U64_MAX)
		delay.last_ns = least_ns;
	delay.most_ns = max(delay.most_ns, least_ns);
	return delay;
}

/* Chunks that may be queued here. */
u32 conn_chunks_max(const struct conn *c)
{
	return READ_ONCE(c->dpa->chunks_max);
}

void conn_init_net(struct net *net)
{
	struct netns_dpa *dpa = netns_dpa(net);

	xa_init_flags(&dpa->conns, XA_FLAGS_LOCK_BH | XA_FLAGS_ACCOUNT);
}

/* The namespace has no sockets any more. */
void conn_exit_net(struct net *net)
{
	xa_destroy(&netns_dpa(net)->conns);
}

int conn_init(void)
{
	/*
	 * What security.md promises: the memory controller's word beside each counts, and
	 * that beside the chunks, which are 4 KiB without. Lockdep has maps of its own in it.
	 */
	BUILD_BUG_ON(!IS_ENABLED(CONFIG_LOCKDEP) &&
		     sizeof(struct conn) + 2 * sizeof(void *) > SZ_2K + SZ_128);
	conn_cache = kmem_cache_create("mptcp_dpa_conn", sizeof(struct conn), 0,
				       SLAB_ACCOUNT | SLAB_NO_MERGE, NULL);
	return conn_cache ? 0 : -ENOMEM;
}

/* No socket has state any more: each held the module until its release. */
void conn_exit(void)
{
	rcu_barrier();
	kmem_cache_destroy(conn_cache);
}
