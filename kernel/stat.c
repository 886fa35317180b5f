// SPDX-License-Identifier: GPL-2.0-only
#include <linux/percpu.h>

#include "netns.h"
#include "stat.h"

void stat_inc(const struct net *net, enum dpa_stat stat)
{
	stat_count(netns_dpa(net), stat);
}

u64 stat_read(const struct net *net, enum dpa_stat stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(netns_dpa(net)->stats,
					     cpu)->count[stat]);
	return sum;
}

int stat_init_net(struct net *net)
{
	struct netns_dpa *dpa = netns_dpa(net);

	dpa->stats = alloc_percpu_gfp(struct dpa_stats, GFP_KERNEL_ACCOUNT);
	return dpa->stats ? 0 : -ENOMEM;
}

void stat_exit_net(struct net *net)
{
	free_percpu(netns_dpa(net)->stats);
}
