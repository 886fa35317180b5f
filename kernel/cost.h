/* SPDX-License-Identifier: GPL-2.0-only */
/* What a byte costs on each path of a network namespace. */
#ifndef _MPTCP_DPA_COST_H
#define _MPTCP_DPA_COST_H

#include <linux/in6.h>
#include <linux/types.h>

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

int cost_set(struct net *net, const struct cost_key *key, u32 cost);
int cost_del(struct net *net, const struct cost_key *key);
int cost_get(struct net *net, const struct cost_key *key, u32 *cost);
int cost_walk(struct net *net, u32 skip,
	      int (*each)(const struct cost_key *key, u32 cost, void *arg),
	      void *arg, u32 *done);

bool cost_same_key(const struct cost_key *a, const struct cost_key *b);
u32 cost_lookup(const struct net *net, const struct cost_key *names,
		bool backup);
u32 cost_generation(const struct net *net);

void cost_init_net(struct net *net);
void cost_exit_net(struct net *net);

#endif
