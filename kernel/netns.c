// SPDX-License-Identifier: GPL-2.0-only
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "conn.h"
#include "cost.h"
#include "heard.h"
#include "netns.h"
#include "share.h"
#include "stat.h"
#include "sysctl.h"

static unsigned int netns_id __read_mostly;

struct netns_dpa *netns_dpa(const struct net *net)
{
	return net_generic(net, netns_id);
}

static int __net_init netns_dpa_init(struct net *net)
{
	int err;

	conn_init_net(net);
	cost_init_net(net);
	heard_init_net(net);
	share_init_net(net);
	err = stat_init_net(net);
	if (err)
		return err;
	err = sysctl_init_net(net);
	if (err)
		stat_exit_net(net);
	return err;
}

static void __net_exit netns_dpa_exit(struct net *net)
{
	sysctl_exit_net(net);
	stat_exit_net(net);
	cost_exit_net(net);
	conn_exit_net(net);
}

static struct pernet_operations netns_ops = {
	.init	= netns_dpa_init,
	.exit	= netns_dpa_exit,
	.id	= &netns_id,
	.size	= sizeof(struct netns_dpa),
};

int netns_init(void)
{
	return register_pernet_subsys(&netns_ops);
}

void netns_exit(void)
{
	unregister_pernet_subsys(&netns_ops);
}
