// SPDX-License-Identifier: GPL-2.0-only
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "quota.h"

/* so much of a period's bytes may be spent ahead of time: 1/2^2 */
#define AHEAD_SHIFT	2

/**
 * quota_create() - make a budget
 * @terms: what an operator says, @terms->bytes not 0
 *
 * Context: may sleep.
 * Return: the budget with one reference, or NULL without memory.
 */
struct quota *quota_create(const struct quota_terms *terms)
{
	struct quota *q = kzalloc(sizeof(*q), GFP_KERNEL_ACCOUNT);

	if (!q)
		return NULL;
	refcount_set(&q->refs, 1);
	spin_lock_init(&q->lock);
	q->terms = *terms;
	q->begin_ns = ktime_get_ns();
	return q;
}

/* One more reference, under RCU; NULL if it was the last. */
struct quota *quota_get(struct quota *q)
{
	return q && refcount_inc_not_zero(&q->refs) ? q : NULL;
}

/* Drops a reference; any context. */
void quota_put(struct quota *q)
{
	if (q && refcount_dec_and_test(&q->refs))
		kfree_rcu(q, rcu);
}

/*
 * Of the period; another may have begun one since @now_ns was read, or an
 * operator.
 */
static u64 passed_ns(const struct quota *q, u64 now_ns)
{
	return now_ns > q->begin_ns ? now_ns - q->begin_ns : 0;
}

/* What is held goes over into the next period. */
static void roll(struct quota *q, u64 now_ns)
{
	u64 passed = passed_ns(q, now_ns);

	if (!passed || passed < q->terms.period_ns)
		return;
	q->begin_ns += div64_u64(passed, q->terms.period_ns) *
		       q->terms.period_ns;
	q->taken = q->unspent;
	q->told = false;
}

/*
 * So that a period's end still has some, a period's bytes become free as it
 * passes, a part of them from its begin.
 */
static u64 free_bytes(const struct quota *q, u64 now_ns)
{
	u64 ahead = q->terms.bytes >> AHEAD_SHIFT;
	u64 free = ahead + mul_u64_u64_div_u64(q->terms.bytes,
					       passed_ns(q, now_ns),
					       q->terms.period_ns);

	free = min(free, q->terms.bytes);
	return free - min(free, q->taken);
}

/**
 * quota_change() - put other terms in force
 * @q: the budget
 * @terms: what an operator says, @terms->bytes not 0
 *
 * What was spent in this period counts; with another length, one begins now.
 *
 * Context: any.
 */
void quota_change(struct quota *q, const struct quota_terms *terms)
{
	spin_lock_bh(&q->lock);
	if (q->terms.period_ns != terms->period_ns) {
		q->begin_ns = ktime_get_ns();
		q->taken = q->unspent;
	}
	q->terms = *terms;
	q->told = false;
	spin_unlock_bh(&q->lock);
}

/**
 * quota_read() - what is to be spent, and what was
 * @q: the budget
 * @terms: set
 * @spent: set to the bytes that were, in this period
 *
 * Context: any.
 */
void quota_read(struct quota *q, struct quota_terms *terms, u64 *spent)
{
	spin_lock_bh(&q->lock);
	roll(q, ktime_get_ns());
	*terms = q->terms;
	*spent = q->taken - q->unspent;
	spin_unlock_bh(&q->lock);
}

/* Bytes that may be taken now, U64_MAX if there is no end. Any context. */
u64 quota_left(struct quota *q, u64 now_ns)
{
	u64 left;

	spin_lock_bh(&q->lock);
	roll(q, now_ns);
	left = q->terms.soft ? U64_MAX : free_bytes(q, now_ns);
	spin_unlock_bh(&q->lock);
	return left;
}

/**
 * quota_take() - take bytes in advance
 * @q: the budget
 * @bytes: as many as are wanted
 * @now_ns: CLOCK_MONOTONIC
 * @reached: set if the whole of the period's bytes is taken now, for the first
 *	time
 *
 * Context: any.
 * Return: how many there were.
 */
u32 quota_take(struct quota *q, u32 bytes, u64 now_ns, bool *reached)
{
	u64 got = bytes;

	spin_lock_bh(&q->lock);
	roll(q, now_ns);
	if (!q->terms.soft)
		got = min(got, free_bytes(q, now_ns));
	q->taken += got;
	q->unspent += got;
	*reached = !q->told && q->taken >= q->terms.bytes;
	if (*reached)
		q->told = true;
	spin_unlock_bh(&q->lock);
	return got;
}

/* Returns bytes that were taken and not spent. Any context. */
void quota_give_back(struct quota *q, u32 bytes)
{
	spin_lock_bh(&q->lock);
	q->unspent -= bytes;
	q->taken -= bytes;
	spin_unlock_bh(&q->lock);
}

/**
 * quota_spend() - bytes have gone
 * @q: the budget
 * @bytes: that have
 * @had: of them, taken before; what MPTCP repeats by itself is not
 *
 * Context: any.
 */
void quota_spend(struct quota *q, u32 bytes, u32 had)
{
	spin_lock_bh(&q->lock);
	q->unspent -= had;
	q->taken += bytes - had;
	spin_unlock_bh(&q->lock);
}
