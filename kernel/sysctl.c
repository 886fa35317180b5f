// SPDX-License-Identifier: GPL-2.0-only
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>

#include <linux/mptcp_dpa_sock.h>

#include "netns.h"
#include "sysctl.h"

static unsigned int alpha_min = MPTCP_DPA_ALPHA_MIN;
static unsigned int alpha_max = MPTCP_DPA_ALPHA_MAX;

/* ->data is the offset in struct netns_dpa, made an address per namespace */
#define NETNS_OFFSET(field)	((void *)offsetof(struct netns_dpa, field))

static const struct ctl_table sysctl_table[] = {
	{
		.procname	= "alpha_milli",
		.data		= NETNS_OFFSET(alpha_milli),
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= proc_douintvec_minmax,
		.extra1		= &alpha_min,
		.extra2		= &alpha_max,
	},
};

int sysctl_init_net(struct net *net)
{
	struct netns_dpa *dpa = netns_dpa(net);
	struct ctl_table *table;
	int i;

	dpa->alpha_milli = ALPHA_MILLI_DEFAULT;

	table = kmemdup(sysctl_table, sizeof(sysctl_table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(sysctl_table); i++)
		table[i].data = (void *)dpa + (unsigned long)table[i].data;

	dpa->sysctl = register_net_sysctl_sz(net, "net/mptcp_dpa", table,
					     ARRAY_SIZE(sysctl_table));
	if (!dpa->sysctl) {
		kfree(table);
		return -ENOMEM;
	}
	return 0;
}

void sysctl_exit_net(struct net *net)
{
	struct netns_dpa *dpa = netns_dpa(net);
	const struct ctl_table *table = dpa->sysctl->ctl_table_arg;

	unregister_net_sysctl_table(dpa->sysctl);
	kfree(table);
}
