// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "cost.h"
#include "netlink.h"
#include "netlink_gen.h"

static struct genl_family family;

/* Which path is meant: exactly one of the attributes that name one. */
static int parse_key(struct genl_info *info, struct cost_key *key)
{
	struct nlattr *endpoint = info->attrs[MPTCP_DPA_A_PATH_ENDPOINT_ID];
	struct nlattr *ifindex = info->attrs[MPTCP_DPA_A_PATH_IFINDEX];

	if (!endpoint == !ifindex) {
		NL_SET_ERR_MSG(info->extack,
			       "name the path by either endpoint-id or ifindex");
		return -EINVAL;
	}
	if (endpoint) {
		key->kind = COST_KEY_ENDPOINT;
		key->id = nla_get_u8(endpoint);
	} else {
		key->kind = COST_KEY_IFINDEX;
		key->id = nla_get_u32(ifindex);
	}
	return 0;
}

static int put_path(struct sk_buff *skb, const struct cost_key *key, u32 cost)
{
	int err;

	if (key->kind == COST_KEY_ENDPOINT)
		err = nla_put_u8(skb, MPTCP_DPA_A_PATH_ENDPOINT_ID, key->id);
	else
		err = nla_put_u32(skb, MPTCP_DPA_A_PATH_IFINDEX, key->id);
	return err ?: nla_put_u32(skb, MPTCP_DPA_A_PATH_COST, cost);
}

int mptcp_dpa_nl_path_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct cost_key key;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, MPTCP_DPA_A_PATH_COST))
		return -EINVAL;
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
	hdr = genlmsg_put_reply(msg, info, &family, 0, info->genlhdr->cmd);
	if (!hdr || put_path(msg, &key, cost)) {
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
	struct dump *d = arg;
	void *hdr;

	hdr = genlmsg_put(d->skb, NETLINK_CB(d->cb->skb).portid,
			  d->cb->nlh->nlmsg_seq, &family, NLM_F_MULTI,
			  MPTCP_DPA_CMD_PATH_GET);
	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(d->cb, hdr);
	if (put_path(d->skb, key, cost)) {
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

static struct genl_family family __ro_after_init = {
	.name		= MPTCP_DPA_FAMILY_NAME,
	.version	= MPTCP_DPA_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= mptcp_dpa_nl_ops,
	.n_split_ops	= ARRAY_SIZE(mptcp_dpa_nl_ops),
};

int netlink_init(void)
{
	return genl_register_family(&family);
}

void netlink_exit(void)
{
	genl_unregister_family(&family);
}
