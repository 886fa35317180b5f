// SPDX-License-Identifier: GPL-2.0-only
/* What paths cost in a namespace: path-set, path-del, path-get. */
#include <net/genetlink.h>
#include <net/sock.h>

#include "cost.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "pref.h"

static const struct netlink_path_attrs names = {
	.endpoint	= MPTCP_DPA_A_PATH_ENDPOINT_ID,
	.ifindex	= MPTCP_DPA_A_PATH_IFINDEX,
	.addr4		= MPTCP_DPA_A_PATH_ADDR4,
	.addr6		= MPTCP_DPA_A_PATH_ADDR6,
	.cost		= MPTCP_DPA_A_PATH_COST,
};

static int parse_key(struct genl_info *info, struct cost_key *key)
{
	struct mptcp_dpa_pref pref;
	int err;

	err = netlink_get_pref(info->attrs, &names, &pref, info);
	if (err)
		return err;
	err = pref_key(&pref, key);
	if (err)
		NL_SET_ERR_MSG(info->extack, "this names no path");
	return err;
}

/* What the schedulers do not honour yet is refused, not ignored. */
static int refuse_unhonoured(struct genl_info *info)
{
	static const int attrs[] = {
		MPTCP_DPA_A_PATH_QUOTA_BYTES,
		MPTCP_DPA_A_PATH_QUOTA_PERIOD_NS,
		MPTCP_DPA_A_PATH_CHEAP_RATE,
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(attrs); i++) {
		if (!info->attrs[attrs[i]])
			continue;
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attrs[i]],
				    "no scheduler honours this yet");
		return -EOPNOTSUPP;
	}
	return 0;
}

int mptcp_dpa_nl_path_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct cost_key key;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, MPTCP_DPA_A_PATH_COST))
		return -EINVAL;
	err = refuse_unhonoured(info);
	if (!err)
		err = parse_key(info, &key);
	if (err)
		return err;
	return cost_set(genl_info_net(info), &key,
			nla_get_u32(info->attrs[MPTCP_DPA_A_PATH_COST]));
}

int mptcp_dpa_nl_path_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct cost_key key;
	int err;

	err = parse_key(info, &key);
	if (err)
		return err;
	err = cost_del(genl_info_net(info), &key);
	if (err)
		NL_SET_ERR_MSG(info->extack, "this path was given no cost");
	return err;
}

int mptcp_dpa_nl_path_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct mptcp_dpa_pref pref;
	struct cost_key key;
	struct sk_buff *msg;
	void *hdr;
	u32 cost;
	int err;

	err = parse_key(info, &key);
	if (err)
		return err;
	err = cost_get(genl_info_net(info), &key, &cost);
	if (err) {
		NL_SET_ERR_MSG(info->extack, "this path was given no cost");
		return err;
	}

	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &netlink_family, 0,
				info->genlhdr->cmd);
	pref_name(&key, cost, &pref);
	if (!hdr || netlink_put_pref(msg, &names, &pref)) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

struct dump {
	struct sk_buff		*skb;
	struct netlink_callback	*cb;
};

static int dump_one(const struct cost_key *key, u32 cost, void *arg)
{
	struct mptcp_dpa_pref pref;
	struct dump *d = arg;
	void *hdr;

	hdr = genlmsg_put(d->skb, NETLINK_CB(d->cb->skb).portid,
			  d->cb->nlh->nlmsg_seq, &netlink_family, NLM_F_MULTI,
			  MPTCP_DPA_CMD_PATH_GET);
	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(d->cb, hdr);
	pref_name(key, cost, &pref);
	if (netlink_put_pref(d->skb, &names, &pref)) {
		genlmsg_cancel(d->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(d->skb, hdr);
	return 0;
}

/* A dump that spans a change says so: NLM_F_DUMP_INTR, start again. */
int mptcp_dpa_nl_path_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb)
{
	struct net *net = sock_net(skb->sk);
	struct dump d = { .skb = skb, .cb = cb };
	u32 done;

	/* 0 would mean that nothing is to be compared */
	cb->seq = cost_generation(net) + 1;
	cost_walk(net, cb->args[0], dump_one, &d, &done);
	cb->args[0] = done;
	return skb->len;
}
