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

#define PERIOD_MIN_NS	NSEC_PER_SEC
#define PERIOD_MAX_NS	(366ULL * 24 * 3600 * NSEC_PER_SEC)

/* A quota is set, or taken away, as a whole. */
static int parse_quota(struct genl_info *info, struct cost_terms *terms,
		       u32 *what)
{
	struct nlattr *bytes = info->attrs[MPTCP_DPA_A_PATH_QUOTA_BYTES];
	struct nlattr *period = info->attrs[MPTCP_DPA_A_PATH_QUOTA_PERIOD_NS];
	bool soft = info->attrs[MPTCP_DPA_A_PATH_QUOTA_SOFT];

	if (!bytes && (period || soft)) {
		NL_SET_ERR_MSG(info->extack, "a quota needs quota-bytes");
		return -EINVAL;
	}
	if (!bytes)
		return 0;
	*what |= COST_QUOTA;
	terms->quota.bytes = nla_get_u64(bytes);
	if (!terms->quota.bytes)
		return 0;
	if (!period) {
		NL_SET_ERR_MSG(info->extack, "a quota needs quota-period-ns");
		return -EINVAL;
	}
	terms->quota.period_ns = nla_get_u64(period);
	terms->quota.soft = soft;
	if (terms->quota.period_ns < PERIOD_MIN_NS ||
	    terms->quota.period_ns > PERIOD_MAX_NS) {
		NL_SET_ERR_MSG_ATTR(info->extack, period,
				    "a period is a second to a year");
		return -ERANGE;
	}
	return 0;
}

int mptcp_dpa_nl_path_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *rate = info->attrs[MPTCP_DPA_A_PATH_CHEAP_RATE];
	struct cost_terms terms = {};
	struct cost_key key;
	u32 what = 0;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, MPTCP_DPA_A_PATH_COST))
		return -EINVAL;
	err = parse_key(info, &key);
	if (!err)
		err = parse_quota(info, &terms, &what);
	if (err)
		return err;
	terms.cost = nla_get_u32(info->attrs[MPTCP_DPA_A_PATH_COST]);
	if (rate) {
		what |= COST_CHEAP_RATE;
		terms.cheap_rate = nla_get_u64(rate);
	}
	return cost_set(genl_info_net(info), &key, &terms, what);
}

static int put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, MPTCP_DPA_A_PATH_PAD);
}

static int put_terms(struct sk_buff *skb, const struct cost_key *key,
		     const struct cost_terms *terms)
{
	const struct quota_terms *quota = &terms->quota;
	struct mptcp_dpa_pref pref;
	int err;

	pref_name(key, terms->cost, &pref);
	err = netlink_put_pref(skb, &names, &pref);
	if (!err && terms->cheap_rate)
		err = put_u64(skb, MPTCP_DPA_A_PATH_CHEAP_RATE,
			      terms->cheap_rate);
	if (err || !quota->bytes)
		return err;
	if (put_u64(skb, MPTCP_DPA_A_PATH_QUOTA_BYTES, quota->bytes) ||
	    put_u64(skb, MPTCP_DPA_A_PATH_QUOTA_PERIOD_NS, quota->period_ns) ||
	    put_u64(skb, MPTCP_DPA_A_PATH_QUOTA_SPENT, terms->quota_spent) ||
	    (quota->soft && nla_put_flag(skb, MPTCP_DPA_A_PATH_QUOTA_SOFT)))
		return -EMSGSIZE;
	return 0;
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
	struct cost_terms terms;
	struct cost_key key;
	struct sk_buff *msg;
	void *hdr;
	int err;

	err = parse_key(info, &key);
	if (err)
		return err;
	err = cost_get(genl_info_net(info), &key, &terms);
	if (err) {
		NL_SET_ERR_MSG(info->extack, "this path was given no cost");
		return err;
	}

	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &netlink_family, 0,
				info->genlhdr->cmd);
	if (!hdr || put_terms(msg, &key, &terms)) {
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

static int dump_one(const struct cost_key *key, const struct cost_terms *terms,
		    void *arg)
{
	struct dump *d = arg;
	void *hdr;

	hdr = genlmsg_put(d->skb, NETLINK_CB(d->cb->skb).portid,
			  d->cb->nlh->nlmsg_seq, &netlink_family, NLM_F_MULTI,
			  MPTCP_DPA_CMD_PATH_GET);
	if (!hdr)
		return -EMSGSIZE;
	genl_dump_check_consistent(d->cb, hdr);
	if (put_terms(d->skb, key, terms)) {
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
