/* SPDX-License-Identifier: GPL-2.0-only */
/* What a byte costs on each path of a network namespace. */
#ifndef _MPTCP_DPA_COST_H
#define _MPTCP_DPA_COST_H

#include <linux/bits.h>
#include <linux/in6.h>
#include <linux/types.h>

#include "quota.h"

struct net;

/* what names a path; unused members are 0 */
struct cost_key {
	u8		kind;	/* MPTCP_DPA_PREF_* */
	u32		id;	/* endpoint id or interface index */
	struct in6_addr	addr;	/* local address; IPv4 as a mapped one */
};

/* the names that a subflow has, the strongest first */
#define COST_NAMES	3

/* costs that a namespace may hold */
#define COSTS_MAX	1024

/* What an operator says of a path. */
struct cost_terms {
	u32			cost;
	u64			cheap_rate;	/* bytes a second; 0: any */
	struct quota_terms	quota;
	u64			quota_spent;	/* when read */
};

/* which of them are to be changed beside the cost */
#define COST_CHEAP_RATE	BIT(0)
#define COST_QUOTA	BIT(1)

/* What holds for a subflow. */
struct cost_found {
	u32		cost;
	u64		cheap_rate;	/* bytes a second; 0: any */
	struct quota	*quota;		/* with a reference; NULL: none */
};

int cost_set(struct net *net, const struct cost_key *key,
	     const struct cost_terms *terms, u32 what);
int cost_del(struct net *net, const struct cost_key *key);
int cost_get(struct net *net, const struct cost_key *key,
	     struct cost_terms *terms);
int cost_walk(struct net *net, u32 skip,
	      int (*each)(const struct cost_key *key,
			  const struct cost_terms *terms, void *arg),
	      void *arg, u32 *done);

bool cost_same_key(const struct cost_key *a, const struct cost_key *b);
u32 cost_lookup(const struct net *net, const struct cost_key *names,
		bool backup);
void cost_find(const struct net *net, const struct cost_key *names,
	       bool backup, struct cost_found *found);
u32 cost_generation(const struct net *net);

void cost_init_net(struct net *net);
void cost_exit_net(struct net *net);

#endif
