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
	u32			cost;	/* READ_ONCE; netns_dpa::cost_lock */
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

static int add(struct netns_dpa *dpa, const struct cost_key *key, u32 cost)
{
	struct cost_entry *e;

	if (dpa->cost_count >= COSTS_MAX)
		return -ENOSPC;
	e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	if (!e)
		return -ENOMEM;
	e->key = *key;
	e->cost = cost;
	list_add_tail_rcu(&e->list, &dpa->costs);
	dpa->cost_count++;
	return 0;
}

/**
 * cost_set() - give a path a cost, or change it
 * @net: the namespace
 * @key: the path
 * @cost: 1 .. %MPTCP_DPA_COST_MAX
 *
 * Live connections see it at their next decision.
 *
 * Context: may sleep.
 * Return: 0, -ENOSPC beyond %COSTS_MAX, -ENOMEM.
 */
int cost_set(struct net *net, const struct cost_key *key, u32 cost)
{
	struct netns_dpa *dpa = netns_dpa(net);
	struct cost_entry *e;
	int err = 0;

	mutex_lock(&dpa->cost_lock);
	e = find(dpa, key);
	if (e)
		WRITE_ONCE(e->cost, cost);
	else
		err = add(dpa, key, cost);
	if (!err)
		changed(dpa);
	mutex_unlock(&dpa->cost_lock);
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
	kfree_rcu(e, rcu);
	return 0;
}

/**
 * cost_get() - read a path's cost
 * @net: the namespace
 * @key: the path
 * @cost: set on success
 *
 * Return: 0, -ENOENT if it was given none.
 */
int cost_get(struct net *net, const struct cost_key *key, u32 *cost)
{
	struct cost_entry *e;

	rcu_read_lock();
	e = find(netns_dpa(net), key);
	if (e)
		*cost = READ_ONCE(e->cost);
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
	      int (*each)(const struct cost_key *key, u32 cost, void *arg),
	      void *arg, u32 *done)
{
	const struct netns_dpa *dpa = netns_dpa(net);
	struct cost_entry *e;
	u32 at = 0;
	int err = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(e, &dpa->costs, list) {
		if (at >= skip) {
			err = each(&e->key, READ_ONCE(e->cost), arg);
			if (err)
				break;
		}
		at++;
	}
	rcu_read_unlock();
	*done = at;
	return err;
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
	const struct netns_dpa *dpa = netns_dpa(net);
	struct cost_entry *e = NULL;
	u32 cost;
	int i;

	rcu_read_lock();
	for (i = 0; i < COST_NAMES && !e; i++)
		if (names[i].kind)
			e = find(dpa, &names[i]);
	if (e)
		cost = READ_ONCE(e->cost);
	else
		cost = backup ? MPTCP_DPA_COST_BACKUP : MPTCP_DPA_COST_DEFAULT;
	rcu_read_unlock();
	return cost;
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
		kfree_rcu(e, rcu);
	}
}
