/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a network namespace has of its own: settings, path costs, counters, and the
 * connections with state.
 */
#ifndef _MPTCP_DPA_NETNS_H
#define _MPTCP_DPA_NETNS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include "heard.h"
#include "share.h"

struct ctl_table_header;
struct dpa_stats;
struct net;

struct netns_dpa {
	/* settings; READ_ONCE, written by sysctl */
	unsigned int		alpha_milli;
	unsigned int		interval_us;
	unsigned int		hysteresis_us;
	unsigned int		late_policy;
	unsigned int		policy;
	unsigned int		chunks_max;
	unsigned int		signal_peer;
	unsigned int		overflow_ms;
	struct ctl_table_header	*sysctl;

	struct dpa_stats __percpu *stats;

	struct xarray		conns;		/* by id; its own lock, RCU */
	atomic64_t		conn_ids;	/* the last one given */
	atomic_t		conn_count;

	struct heard		heard[HEARD_SLOTS];
	struct share		share[SHARE_SLOTS];	/* its own lock */

	struct mutex		cost_lock;	/* changes of costs */
	struct list_head	costs;		/* RCU; cost_lock */
	u32			cost_count;	/* cost_lock */
	u32			cost_generation; /* READ_ONCE; cost_lock */
};

struct netns_dpa *netns_dpa(const struct net *net);

int netns_init(void);
void netns_exit(void);

#endif
