// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mptcp_dpa.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "cost.h"
#include "netns.h"

struct cost_entry {
	struct list_head	list;
	struct rcu_head		rcu;
	struct cost_key		key;
	/* READ_ONCE; netns_dpa::cost_lock */
	u32			cost;
	u64			cheap_rate;
	struct quota __rcu	*quota;	/* NULL: none */
};

/* Do two keys name the same path? */
bool cost_same_key(const struct cost_key *a, const struct cost_key *b)
{
	return a->kind == b->kind && a->id == b->id &&
	       ipv6_addr_equal(&a->addr, &b->addr);
}

/* Under RCU or cost_lock. */
static struct cost_entry *find(const struct netns_dpa *dpa,
			       const struct cost_key *key)
{
	struct cost_entry *e;

	list_for_each_entry_rcu(e, &dpa->costs, list,
				lockdep_is_held(&dpa->cost_lock))
		if (cost_same_key(&e->key, key))
			return e;
	return NULL;
}

/* Makes every connection resolve its costs anew. Under cost_lock. */
static void changed(struct netns_dpa *dpa)
{
	WRITE_ONCE(dpa->cost_generation, dpa->cost_generation + 1);
}

/* One more, for publish(); under cost_lock. */
static struct cost_entry *make(const struct netns_dpa *dpa,
			       const struct cost_key *key, int *err)
{
	struct cost_entry *e;

	*err = -ENOSPC;
	if (dpa->cost_count >= COSTS_MAX)
		return NULL;
	*err = -ENOMEM;
	e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	if (!e)
		return NULL;
	e->key = *key;
	*err = 0;
	return e;
}

/* Readers see it from now on: all of it is set. Under cost_lock. */
static void publish(struct netns_dpa *dpa, struct cost_entry *e)
{
	list_add_tail_rcu(&e->list, &dpa->costs);
	dpa->cost_count++;
}

static struct quota *quota_of(const struct netns_dpa *dpa,
			      const struct cost_entry *e)
{
	return rcu_dereference_check(e->quota,
				     lockdep_is_held(&dpa->cost_lock));
}

static void free_entry(struct cost_entry *e)
{
	quota_put(rcu_dereference_raw(e->quota));
	kfree_rcu(e, rcu);
}

/* Puts @fresh, or other terms for the quota there is, in force. */
static void change_quota(struct netns_dpa *dpa, struct cost_entry *e,
			 const struct quota_terms *terms, struct quota **fresh)
{
	struct quota *q = quota_of(dpa, e);

	if (q && terms->bytes) {
		quota_change(q, terms);
		return;
	}
	rcu_assign_pointer(e->quota, *fresh);
	*fresh = q;
}

/**
 * cost_set() - give a path a cost, or change it
 * @net: the namespace
 * @key: the path
 * @terms: the cost, 1 .. %MPTCP_DPA_COST_MAX, and what else @what names
 * @what: COST_*; the rest stays as it is
 *
 * Live connections see it at their next decision.
 *
 * Context: may sleep.
 * Return: 0, -ENOSPC beyond %COSTS_MAX, -ENOMEM; nothing has changed then.
 */
int cost_set(struct net *net, const struct cost_key *key,
	     const struct cost_terms *terms, u32 what)
{
	struct netns_dpa *dpa = netns_dpa(net);
	struct cost_entry *e, *fresh = NULL;
	struct quota *quota = NULL;
	int err = 0;

	if ((what & COST_QUOTA) && terms->quota.bytes) {
		quota = quota_create(&terms->quota);
		if (!quota)
			return -ENOMEM;
	}
	mutex_lock(&dpa->cost_lock);
	e = find(dpa, key);
	if (!e) {
		fresh = make(dpa, key, &err);
		e = fresh;
	}
	if (e) {
		WRITE_ONCE(e->cost, terms->cost);
		if (what & COST_CHEAP_RATE)
			WRITE_ONCE(e->cheap_rate, terms->cheap_rate);
		if (what & COST_QUOTA)
			change_quota(dpa, e, &terms->quota, &quota);
		if (fresh)
			publish(dpa, fresh);
		changed(dpa);
	}
	mutex_unlock(&dpa->cost_lock);
	/* what was not needed, or is not any more */
	quota_put(quota);
	return err;
}

/**
 * cost_del() - take a path's cost away
 * @net: the namespace
 * @key: the path
 *
 * Context: may sleep.
 * Return: 0, -ENOENT if it had none.
 */
int cost_del(struct net *net, const struct cost_key *key)
{
	struct netns_dpa *dpa = netns_dpa(net);
	struct cost_entry *e;

	mutex_lock(&dpa->cost_lock);
	e = find(dpa, key);
	if (e) {
		list_del_rcu(&e->list);
		dpa->cost_count--;
		changed(dpa);
	}
	mutex_unlock(&dpa->cost_lock);
	if (!e)
		return -ENOENT;
	free_entry(e);
	return 0;
}

/* Under RCU. */
static void read_terms(const struct netns_dpa *dpa, const struct cost_entry *e,
		       struct cost_terms *terms)
{
	struct quota *q = quota_of(dpa, e);

	*terms = (struct cost_terms){
		.cost = READ_ONCE(e->cost),
		.cheap_rate = READ_ONCE(e->cheap_rate),
	};
	if (q)
		quota_read(q, &terms->quota, &terms->quota_spent);
}

/**
 * cost_get() - read a path's cost
 * @net: the namespace
 * @key: the path
 * @terms: set on success
 *
 * Return: 0, -ENOENT if it was given none.
 */
int cost_get(struct net *net, const struct cost_key *key,
	     struct cost_terms *terms)
{
	struct cost_entry *e;

	rcu_read_lock();
	e = find(netns_dpa(net), key);
	if (e)
		read_terms(netns_dpa(net), e, terms);
	rcu_read_unlock();
	return e ? 0 : -ENOENT;
}

/**
 * cost_walk() - visit every cost of a namespace, oldest first
 * @net: the namespace
 * @skip: entries to pass over, for a walk that goes on
 * @each: called under RCU; an error ends the walk
 * @arg: for @each
 * @done: set to how many lie behind, those skipped included
 *
 * Return: 0 or @each's error.
 */
int cost_walk(struct net *net, u32 skip,
	      int (*each)(const struct cost_key *key,
			  const struct cost_terms *terms, void *arg),
	      void *arg, u32 *done)
{
	const struct netns_dpa *dpa = netns_dpa(net);
	struct cost_terms terms;
	struct cost_entry *e;
	u32 at = 0;
	int err = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(e, &dpa->costs, list) {
		if (at >= skip) {
			read_terms(dpa, e, &terms);
			err = each(&e->key, &terms, arg);
			if (err)
				break;
		}
		at++;
	}
	rcu_read_unlock();
	*done = at;
	return err;
}

/* The first name that was given a cost; under RCU. */
static struct cost_entry *find_first(const struct netns_dpa *dpa,
				     const struct cost_key *names)
{
	struct cost_entry *e = NULL;
	int i;

	for (i = 0; i < COST_NAMES && !e; i++)
		if (names[i].kind)
			e = find(dpa, &names[i]);
	return e;
}

static u32 cost_of(const struct cost_entry *e, bool backup)
{
	if (e)
		return READ_ONCE(e->cost);
	return backup ? MPTCP_DPA_COST_BACKUP : MPTCP_DPA_COST_DEFAULT;
}

/**
 * cost_lookup() - what a byte costs on a subflow
 * @net: the namespace
 * @names: %COST_NAMES keys that name it, the strongest first; kind 0: none
 * @backup: the endpoint is flagged backup, or the peer asked for that
 *
 * Return: the cost of the first name that was given one, else the default.
 */
u32 cost_lookup(const struct net *net, const struct cost_key *names,
		bool backup)
{
	u32 cost;

	rcu_read_lock();
	cost = cost_of(find_first(netns_dpa(net), names), backup);
	rcu_read_unlock();
	return cost;
}

/**
 * cost_find() - all that an operator says of a subflow's path
 * @net: the namespace
 * @names: as of cost_lookup()
 * @backup: as of cost_lookup()
 * @found: set; the quota with a reference
 *
 * Context: any.
 */
void cost_find(const struct net *net, const struct cost_key *names,
	       bool backup, struct cost_found *found)
{
	const struct netns_dpa *dpa = netns_dpa(net);
	const struct cost_entry *e;

	rcu_read_lock();
	e = find_first(dpa, names);
	*found = (struct cost_found){ .cost = cost_of(e, backup) };
	if (e) {
		found->cheap_rate = READ_ONCE(e->cheap_rate);
		found->quota = quota_get(quota_of(dpa, e));
	}
	rcu_read_unlock();
}

u32 cost_generation(const struct net *net)
{
	return READ_ONCE(netns_dpa(net)->cost_generation);
}

void cost_init_net(struct net *net)
{
	struct netns_dpa *dpa = netns_dpa(net);

	mutex_init(&dpa->cost_lock);
	INIT_LIST_HEAD(&dpa->costs);
}

/* The namespace has no sockets and no callers any more. */
void cost_exit_net(struct net *net)
{
	struct netns_dpa *dpa = netns_dpa(net);
	struct cost_entry *e, *tmp;

	list_for_each_entry_safe(e, tmp, &dpa->costs, list) {
		list_del_rcu(&e->list);
		free_entry(e);
	}
}
