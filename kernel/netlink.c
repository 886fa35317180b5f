// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include <linux/mptcp_dpa_sock.h>

#include "netlink.h"
#include "netlink_gen.h"
#include "netns.h"
#include "stat.h"

/**
 * netlink_get_pref() - which path is named, and at what cost
 * @attrs: parsed attributes
 * @names: which of them name a path
 * @pref: set on success; cost 0 if none was given
 * @info: for the error message
 *
 * Return: 0, -EINVAL unless exactly one attribute names the path.
 */
int netlink_get_pref(struct nlattr **attrs,
		     const struct netlink_path_attrs *names,
		     struct mptcp_dpa_pref *pref, struct genl_info *info)
{
	struct nlattr *endpoint = attrs[names->endpoint];
	struct nlattr *ifindex = attrs[names->ifindex];
	struct nlattr *addr4 = attrs[names->addr4];
	struct nlattr *addr6 = attrs[names->addr6];

	*pref = (struct mptcp_dpa_pref){};
	if (!!endpoint + !!ifindex + !!addr4 + !!addr6 != 1) {
		NL_SET_ERR_MSG(info->extack,
			       "name the path by one of endpoint-id, ifindex, addr4, addr6");
		return -EINVAL;
	}
	if (endpoint) {
		pref->kind = MPTCP_DPA_PREF_ENDPOINT;
		pref->id = nla_get_u8(endpoint);
	} else if (ifindex) {
		pref->kind = MPTCP_DPA_PREF_IFINDEX;
		pref->id = nla_get_u32(ifindex);
	} else if (addr4) {
		pref->kind = MPTCP_DPA_PREF_ADDR4;
		nla_memcpy(pref->addr, addr4, 4);
	} else {
		pref->kind = MPTCP_DPA_PREF_ADDR6;
		nla_memcpy(pref->addr, addr6, 16);
	}
	if (attrs[names->cost])
		pref->cost = nla_get_u32(attrs[names->cost]);
	return 0;
}

/**
 * netlink_put_pref() - name a path and its cost
 * @skb: the message
 * @names: the attributes that name a path there
 * @pref: the path
 *
 * Return: 0 or -EMSGSIZE.
 */
int netlink_put_pref(struct sk_buff *skb,
		     const struct netlink_path_attrs *names,
		     const struct mptcp_dpa_pref *pref)
{
	int err = 0;

	switch (pref->kind) {
	case MPTCP_DPA_PREF_ENDPOINT:
		err = nla_put_u8(skb, names->endpoint, pref->id);
		break;
	case MPTCP_DPA_PREF_IFINDEX:
		err = nla_put_u32(skb, names->ifindex, pref->id);
		break;
	case MPTCP_DPA_PREF_ADDR4:
		err = nla_put(skb, names->addr4, 4, pref->addr);
		break;
	case MPTCP_DPA_PREF_ADDR6:
		err = nla_put(skb, names->addr6, 16, pref->addr);
		break;
	}
	return err ?: nla_put_u32(skb, names->cost, pref->cost);
}

static const struct {
	int		attr;
	enum dpa_stat	stat;
} stat_attrs[] = {
	{ MPTCP_DPA_A_STAT_DECISIONS, DPA_STAT_DECISIONS },
	{ MPTCP_DPA_A_STAT_CHUNK_DECISIONS, DPA_STAT_CHUNK_DECISIONS },
	{ MPTCP_DPA_A_STAT_GUARD_DROPS, DPA_STAT_GUARD_DROPS },
	{ MPTCP_DPA_A_STAT_CHUNKS_SET, DPA_STAT_CHUNKS_SET },
	{ MPTCP_DPA_A_STAT_CHUNKS_MET, DPA_STAT_CHUNKS_MET },
	{ MPTCP_DPA_A_STAT_CHUNKS_MISSED, DPA_STAT_CHUNKS_MISSED },
	{ MPTCP_DPA_A_STAT_ACTIVATIONS, DPA_STAT_ACTIVATIONS },
	{ MPTCP_DPA_A_STAT_PRIO_SENT, DPA_STAT_PRIO_SENT },
	{ MPTCP_DPA_A_STAT_TICKS, DPA_STAT_TICKS },
	{ MPTCP_DPA_A_STAT_TURNS, DPA_STAT_TURNS },
};

static int put_stats(struct sk_buff *skb, struct net *net)
{
	int i, err;

	err = nla_put_u64_64bit(skb, MPTCP_DPA_A_STAT_CONNECTIONS,
				atomic_read(&netns_dpa(net)->conn_count),
				MPTCP_DPA_A_STAT_PAD);
	for (i = 0; i < ARRAY_SIZE(stat_attrs) && !err; i++)
		err = nla_put_u64_64bit(skb, stat_attrs[i].attr,
					stat_read(net, stat_attrs[i].stat),
					MPTCP_DPA_A_STAT_PAD);
	return err;
}

int mptcp_dpa_nl_stat_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;

	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &netlink_family, 0,
				info->genlhdr->cmd);
	if (!hdr || put_stats(msg, genl_info_net(info))) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

static const struct genl_multicast_group groups[] = {
	[MPTCP_DPA_NLGRP_EVENTS] = {
		.name	= MPTCP_DPA_MCGRP_EVENTS,
		.flags	= GENL_MCAST_CAP_NET_ADMIN,
	},
};

struct genl_family netlink_family __ro_after_init = {
	.name		= MPTCP_DPA_FAMILY_NAME,
	.version	= MPTCP_DPA_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= mptcp_dpa_nl_ops,
	.n_split_ops	= ARRAY_SIZE(mptcp_dpa_nl_ops),
	.mcgrps		= groups,
	.n_mcgrps	= ARRAY_SIZE(groups),
};

int netlink_init(void)
{
	return genl_register_family(&netlink_family);
}

void netlink_exit(void)
{
	genl_unregister_family(&netlink_family);
}
