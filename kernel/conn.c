// SPDX-License-Identifier: GPL-2.0-only
#include <linux/hash.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/tcp.h>

#include "conn.h"
#include "msk.h"
#include "netns.h"
#include "tick.h"

#define CONN_HASH_BITS	10

/* Walked under RCU; changed under conn_lock. */
static struct hlist_head conn_table[1 << CONN_HASH_BITS];
static DEFINE_SPINLOCK(conn_lock);

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

static struct conn *conn_create(struct sock *sk)
{
	struct conn *c = kzalloc(sizeof(*c), GFP_ATOMIC | __GFP_ACCOUNT);

	if (!c)
		return NULL;
	c->sk = sk;
	refcount_set(&c->refs, 1);
	tick_setup(c);

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

static void conn_free_rcu(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct conn, rcu));
}

/* Drops one reference; any context. */
void conn_put(struct conn *c)
{
	if (refcount_dec_and_test(&c->refs)) {
		chunk_queue_clear(&c->queue);
		call_rcu(&c->rcu, conn_free_rcu);
	}
}

/**
 * conn_release() - the socket ends, so does its state
 * @sk: the MPTCP socket
 *
 * Context: msk lock, owned; may sleep. A work item that runs already waits for
 * the lock, then finds the state dead.
 */
void conn_release(struct sock *sk)
{
	struct conn *c = conn_find(sk);

	if (!c)
		return;
	spin_lock_bh(&conn_lock);
	hlist_del_rcu(&c->node);
	spin_unlock_bh(&conn_lock);

	WRITE_ONCE(c->dead, true);
	tick_stop(c);
	conn_put(c);
}

/* connect(AF_UNSPEC) begins a new stream in the same socket. */
static void conn_restart(struct conn *c)
{
	chunk_queue_clear(&c->queue);
	memset(&c->state, 0, sizeof(c->state));
	memset(c->path, 0, sizeof(c->path));
}

/* Half the least round-trip time of the paths: the way of a DATA_ACK back. */
u64 conn_ack_delay_ns(const struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *sf;
	u32 rtt_us = U32_MAX;

	msk_for_each_subflow(msk, sf)
		rtt_us = min(rtt_us, tcp_min_rtt(tcp_sk(subflow_ssk(sf))));
	return rtt_us == U32_MAX ? 0 : (u64)rtt_us * NSEC_PER_USEC / 2;
}

static void show_first(struct conn *c)
{
	const struct chunk *first = chunk_queue_first(&c->queue);
	struct dpa_state *st = &c->state;

	st->chunks = c->queue.count;
	if (!first) {
		st->cost_limit = 0;
		return;
	}
	if (st->chunk_begin != first->begin || st->chunk_end != first->end)
		st->decided_ns = 0;
	st->chunk_begin = first->begin;
	st->chunk_end = first->end;
	st->chunk_start_ns = first->start_ns;
	st->chunk_deadline_ns = first->deadline_ns;
	st->alpha_milli = first->alpha_milli ?:
			  netns_alpha_milli(sock_net(c->sk));
}

/**
 * conn_refresh() - bring positions, verdicts and the chunk in force up to date
 * @c: the connection
 *
 * Context: msk lock; does not sleep.
 */
void conn_refresh(struct conn *c)
{
	const struct mptcp_sock *msk = msk_of(c->sk);
	struct dpa_state *st = &c->state;
	struct chunk_verdicts v;

	/* within one stream neither goes back */
	if (msk_written(msk) < st->written || msk_acked(msk) < st->acked)
		conn_restart(c);

	st->now_ns = ktime_get_ns();
	st->written = msk_written(msk);
	st->sent = msk_sent(msk);
	st->acked = msk_acked(msk);

	v = chunk_queue_update(&c->queue, st->acked, st->now_ns,
			       conn_ack_delay_ns(msk));
	c->chunks_met += v.met;
	c->chunks_missed += v.missed;
	show_first(c);
}

int conn_init(void)
{
	BUILD_BUG_ON(sizeof(struct conn) > 1024);
	return 0;
}

/* No socket has state any more: each held the module until its release. */
void conn_exit(void)
{
	rcu_barrier();
}
