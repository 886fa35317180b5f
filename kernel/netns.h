/* SPDX-License-Identifier: GPL-2.0-only */
/* What a network namespace has of its own: settings and path costs. */
#ifndef _MPTCP_DPA_NETNS_H
#define _MPTCP_DPA_NETNS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct ctl_table_header;
struct net;

struct netns_dpa {
	unsigned int		alpha_milli;	/* READ_ONCE/WRITE_ONCE */
	struct ctl_table_header	*sysctl;

	struct mutex		cost_lock;	/* changes of costs */
	struct list_head	costs;		/* RCU; cost_lock */
	u32			cost_count;	/* cost_lock */
	u32			cost_generation; /* READ_ONCE; cost_lock */
};

struct netns_dpa *netns_dpa(const struct net *net);
u32 netns_alpha_milli(const struct net *net);

int netns_init(void);
void netns_exit(void);

#endif
