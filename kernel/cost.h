/* SPDX-License-Identifier: GPL-2.0-only */
/* What a byte costs on each path of a network namespace. */
#ifndef _MPTCP_DPA_COST_H
#define _MPTCP_DPA_COST_H

#include <linux/types.h>

struct net;

enum cost_key_kind {
	COST_KEY_ENDPOINT,
	COST_KEY_IFINDEX,
};

/* what names a path */
struct cost_key {
	enum cost_key_kind	kind;
	u32			id;
};

/* costs that a namespace may hold */
#define COSTS_MAX	1024

int cost_set(struct net *net, const struct cost_key *key, u32 cost);
int cost_del(struct net *net, const struct cost_key *key);
int cost_get(struct net *net, const struct cost_key *key, u32 *cost);
int cost_walk(struct net *net, u32 skip,
	      int (*each)(const struct cost_key *key, u32 cost, void *arg),
	      void *arg, u32 *done);

u32 cost_lookup(const struct net *net, u8 endpoint, int ifindex, bool backup);
u32 cost_generation(const struct net *net);

void cost_init_net(struct net *net);
void cost_exit_net(struct net *net);

#endif
