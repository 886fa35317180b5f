/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of a network namespace, one set per CPU. */
#ifndef _MPTCP_DPA_STAT_H
#define _MPTCP_DPA_STAT_H

#include <linux/percpu.h>
#include <linux/types.h>

#include "netns.h"

struct net;

enum dpa_stat {
	DPA_STAT_DECISIONS,		/* of a scheduler, or of its plan */
	DPA_STAT_CHUNK_DECISIONS,	/* with a chunk in force, or overflow */
	DPA_STAT_GUARD_DROPS,		/* picks taken back */
	DPA_STAT_CHUNKS_SET,
	DPA_STAT_CHUNKS_MET,
	DPA_STAT_CHUNKS_MISSED,
	DPA_STAT_ACTIVATIONS,		/* a held subflow put in use */
	DPA_STAT_PRIO_SENT,		/* MP_PRIO asked for */
	DPA_STAT_TICKS,			/* looks that no acknowledgment caused */
	DPA_STAT_TURNS,			/* chunks that waited for theirs */
	DPA_STAT_MAX,
};

struct dpa_stats {
	u64 count[DPA_STAT_MAX];
};

/* Counts one more; any context. */
static inline void stat_count(struct netns_dpa *dpa, enum dpa_stat stat)
{
	this_cpu_inc(dpa->stats->count[stat]);
}

void stat_inc(const struct net *net, enum dpa_stat stat);
u64 stat_read(const struct net *net, enum dpa_stat stat);

int stat_init_net(struct net *net);
void stat_exit_net(struct net *net);

#endif
