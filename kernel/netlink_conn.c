// SPDX-License-Identifier: GPL-2.0-only
/* Connections by netlink: conn-get, conn-set. */
#include <linux/capability.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include <linux/mptcp_dpa_sock.h>

#include "compat.h"
#include "conn.h"
#include "info.h"
#include "msk.h"
#include "netlink.h"
#include "netlink_gen.h"
#include "path.h"
#include "pref.h"
#include "sockopt.h"
#include "tick.h"

/* exported by net/mptcp, declared in none of its public headers */
struct mptcp_sock *mptcp_token_get_sock(struct net *net, u32 token);

static const struct netlink_path_attrs names = {
	.endpoint	= MPTCP_DPA_A_PREF_ENDPOINT_ID,
	.ifindex	= MPTCP_DPA_A_PREF_IFINDEX,
	.addr4		= MPTCP_DPA_A_PREF_ADDR4,
	.addr6		= MPTCP_DPA_A_PREF_ADDR6,
	.cost		= MPTCP_DPA_A_PREF_COST,
};

/* everything about a connection, taken under its lock */
struct snapshot {
	struct mptcp_dpa_info	info;
	struct pref_list	prefs;
	u32			token;
	u32			alpha_milli;
	u32			overflow_ms;
	u64			cookie;
	u8			late;
	kuid_t			uid;
};

/*
 * Locks the connection; false: it has ended. Readers do not own the socket, so
 * that what arrives meanwhile is not put off until they let it go.
 */
static bool take(struct snapshot *snap, struct conn *c)
{
	bool slow = lock_sock_fast(c->sk);
	const struct chunk *first;
	bool alive;

	alive = !c->dead;
	if (alive) {
		info_fill(&snap->info, c);
		first = chunk_queue_first(&c->queue);
		snap->late = first ? first->late : 0;
		snap->prefs = c->prefs ? *c->prefs : (struct pref_list){};
		snap->token = msk_token(msk_of(c->sk));
		snap->alpha_milli = c->alpha_milli;
		snap->overflow_ms = c->overflow_ms;
		snap->cookie = atomic64_read(&c->sk->sk_cookie);
		snap->uid = sk_uid(c->sk);
	}
	unlock_sock_fast(c->sk, slow);
	return alive;
}

static int put_u64(struct sk_buff *skb, int attr, u64 value, int pad)
{
	return nla_put_u64_64bit(skb, attr, value, pad);
}

static int put_chunk(struct sk_buff *skb, const struct snapshot *snap)
{
	const struct mptcp_dpa_info *info = &snap->info;
	const int pad = MPTCP_DPA_A_CHUNK_PAD;
	struct nlattr *nest;

	if (!(info->flags & MPTCP_DPA_INFO_F_CHUNK))
		return 0;
	nest = nla_nest_start(skb, MPTCP_DPA_A_CONN_CHUNK);
	if (!nest ||
	    put_u64(skb, MPTCP_DPA_A_CHUNK_LENGTH, info->chunk_length, pad) ||
	    put_u64(skb, MPTCP_DPA_A_CHUNK_DEADLINE_NS,
		    info->chunk_deadline_ns, pad) ||
	    put_u64(skb, MPTCP_DPA_A_CHUNK_COOKIE, info->chunk_cookie, pad) ||
	    nla_put_u32(skb, MPTCP_DPA_A_CHUNK_ALPHA_MILLI,
			info->chunk_alpha_milli) ||
	    put_u64(skb, MPTCP_DPA_A_CHUNK_SENT, info->chunk_sent, pad) ||
	    put_u64(skb, MPTCP_DPA_A_CHUNK_ACKED, info->chunk_acked, pad) ||
	    put_u64(skb, MPTCP_DPA_A_CHUNK_FORECAST, info->chunk_forecast,
		    pad))
		return -EMSGSIZE;
	if (snap->late && nla_put_u8(skb, MPTCP_DPA_A_CHUNK_LATE_POLICY,
				     snap->late - 1))
		return -EMSGSIZE;
	if ((info->flags & MPTCP_DPA_INFO_F_RISK) &&
	    nla_put_flag(skb, MPTCP_DPA_A_CHUNK_AT_RISK))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_subflow(struct sk_buff *skb,
		       const struct mptcp_dpa_path_info *path)
{
	const int pad = MPTCP_DPA_A_SUBFLOW_PAD;
	struct nlattr *nest = nla_nest_start(skb, MPTCP_DPA_A_CONN_SUBFLOW);

	if (!nest ||
	    nla_put_u32(skb, MPTCP_DPA_A_SUBFLOW_ID, path->subflow_id) ||
	    nla_put_u8(skb, MPTCP_DPA_A_SUBFLOW_LOCAL_ID, path->local_id) ||
	    nla_put_u32(skb, MPTCP_DPA_A_SUBFLOW_IFINDEX, path->ifindex) ||
	    nla_put_u32(skb, MPTCP_DPA_A_SUBFLOW_COST, path->cost) ||
	    nla_put_u32(skb, MPTCP_DPA_A_SUBFLOW_FLAGS, path->flags) ||
	    nla_put_u32(skb, MPTCP_DPA_A_SUBFLOW_ACTIVATIONS,
			path->activations) ||
	    (path->goodput && put_u64(skb, MPTCP_DPA_A_SUBFLOW_GOODPUT,
				      path->goodput, pad)) ||
	    put_u64(skb, MPTCP_DPA_A_SUBFLOW_BYTES_SENT, path->bytes_sent,
		    pad) ||
	    put_u64(skb, MPTCP_DPA_A_SUBFLOW_BYTES_ACKED, path->bytes_acked,
		    pad))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_prefs(struct sk_buff *skb, const struct pref_list *prefs)
{
	struct mptcp_dpa_pref pref;
	struct nlattr *nest;
	int i;

	for (i = 0; i < MPTCP_DPA_PREFS_MAX; i++) {
		if (!pref_read(prefs, i, &pref))
			continue;
		nest = nla_nest_start(skb, MPTCP_DPA_A_CONN_PREF);
		if (!nest || netlink_put_pref(skb, &names, &pref))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int put_conn(struct sk_buff *skb, const struct snapshot *snap,
		    struct user_namespace *user_ns)
{
	const struct mptcp_dpa_info *info = &snap->info;
	const int pad = MPTCP_DPA_A_CONN_PAD;
	u32 i;
	int err;

	if (put_u64(skb, MPTCP_DPA_A_CONN_ID, info->conn_id, pad) ||
	    nla_put_u32(skb, MPTCP_DPA_A_CONN_TOKEN, snap->token) ||
	    put_u64(skb, MPTCP_DPA_A_CONN_COOKIE, snap->cookie, pad) ||
	    nla_put_u32(skb, MPTCP_DPA_A_CONN_UID,
			from_kuid_munged(user_ns, snap->uid)) ||
	    nla_put_u32(skb, MPTCP_DPA_A_CONN_ALPHA_MILLI,
			snap->alpha_milli) ||
	    nla_put_u32(skb, MPTCP_DPA_A_CONN_OVERFLOW_MS,
			snap->overflow_ms) ||
	    nla_put_u32(skb, MPTCP_DPA_A_CONN_CHUNKS_QUEUED,
			info->chunks_queued) ||
	    put_u64(skb, MPTCP_DPA_A_CONN_CHUNKS_MET, info->chunks_met, pad) ||
	    put_u64(skb, MPTCP_DPA_A_CONN_CHUNKS_MISSED, info->chunks_missed,
		    pad) ||
	    put_u64(skb, MPTCP_DPA_A_CONN_DECISIONS, info->decisions, pad))
		return -EMSGSIZE;
	err = put_chunk(skb, snap);
	for (i = 0; i < info->paths && !err; i++)
		err = put_subflow(skb, &info->path[i]);
	return err ?: put_prefs(skb, &snap->prefs);
}

/* Others' connections are for those who administer the namespace. */
static bool may_read(const struct net *net, const struct sk_buff *request,
		     kuid_t uid)
{
	return uid_eq(NETLINK_CREDS(request)->uid, uid) ||
	       netlink_ns_capable(request, net->user_ns, CAP_NET_ADMIN);
}

/*
 * The MPTCP socket that a request names, with a reference; NULL after an error
 * message. By id it must have state.
 */
static struct sock *find_sock(struct genl_info *info)
{
	struct nlattr *by_id = info->attrs[MPTCP_DPA_A_CONN_ID];
	struct nlattr *by_token = info->attrs[MPTCP_DPA_A_CONN_TOKEN];
	struct net *net = genl_info_net(info);
	struct mptcp_sock *msk;
	struct conn *c;
	u64 id, at;

	if (!by_id == !by_token) {
		NL_SET_ERR_MSG(info->extack,
			       "name the connection by either id or token");
		return ERR_PTR(-EINVAL);
	}
	if (by_token) {
		msk = mptcp_token_get_sock(net, nla_get_u32(by_token));
		if (msk)
			return msk_sock(msk);
	} else {
		id = nla_get_u64(by_id);
		at = id;
		c = conn_next_get(net, &at);
		if (c && at == id) {
			struct sock *sk = c->sk;

			conn_put(c);
			return sk;
		}
		if (c)
			conn_put_sock(c);
	}
	NL_SET_ERR_MSG(info->extack, "no such connection");
	return ERR_PTR(-ENOENT);
}

static int reply_conn(struct sk_buff *request, struct genl_info *info,
		      const struct snapshot *snap)
{
	struct sk_buff *msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *hdr;

	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &netlink_family, 0,
				info->genlhdr->cmd);
	if (!hdr || put_conn(msg, snap, sk_user_ns(NETLINK_CB(request).sk))) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

/*
 * A socket found by its state's number may have ended meanwhile, and its memory
 * be another's by now. Under the msk lock.
 */
static bool is_meant(struct genl_info *info, const struct sock *sk)
{
	struct nlattr *by_id = info->attrs[MPTCP_DPA_A_CONN_ID];
	struct conn *c = conn_find(sk);

	return !by_id || (c && c->id == nla_get_u64(by_id) &&
			  net_eq(sock_net(sk), genl_info_net(info)));
}

/* The state of a socket, with a reference; NULL if it has none. */
static struct conn *state_of(struct genl_info *info, struct sock *sk)
{
	bool slow = lock_sock_fast(sk);
	struct conn *c = is_meant(info, sk) ? conn_find(sk) : NULL;

	if (c)
		conn_hold(c);
	unlock_sock_fast(sk, slow);
	return c;
}

int mptcp_dpa_nl_conn_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct snapshot *snap;
	int err = -ENOENT;
	struct conn *c;
	struct sock *sk;

	sk = find_sock(info);
	if (IS_ERR(sk))
		return PTR_ERR(sk);
	/* nobody shall take the lock of a socket that is not theirs to read */
	if (!may_read(genl_info_net(info), skb, sk_uid(sk))) {
		sock_put(sk);
		return -EPERM;
	}
	snap = kzalloc(sizeof(*snap), GFP_KERNEL);
	c = snap ? state_of(info, sk) : NULL;
	if (!snap)
		err = -ENOMEM;
	else if (!c || !take(snap, c))
		NL_SET_ERR_MSG(info->extack, "this connection has no deadlines");
	else if (!may_read(genl_info_net(info), skb, snap->uid))
		err = -EPERM;
	else
		err = reply_conn(skb, info, snap);
	if (c)
		conn_put(c);
	sock_put(sk);
	kfree(snap);
	return err;
}

static int dump_one(struct sk_buff *skb, struct netlink_callback *cb,
		    const struct snapshot *snap)
{
	void *hdr;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			  &netlink_family, NLM_F_MULTI,
			  MPTCP_DPA_CMD_CONN_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (put_conn(skb, snap, sk_user_ns(NETLINK_CB(cb->skb).sk))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* Goes by the connections' numbers, args[0] is the next to look at. */
int mptcp_dpa_nl_conn_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb)
{
	struct net *net = sock_net(skb->sk);
	struct snapshot *snap;
	u64 id = cb->args[0];
	struct conn *c;
	int err = 0;

	snap = kzalloc(sizeof(*snap), GFP_KERNEL);
	if (!snap)
		return -ENOMEM;
	while (!err) {
		c = conn_next_get(net, &id);
		if (!c)
			break;
		/* the lock of others' sockets is not for any caller to take */
		if (may_read(net, cb->skb, sk_uid(c->sk)) && take(snap, c))
			err = dump_one(skb, cb, snap);
		conn_put_sock(c);
		if (!err)
			id++;
		cond_resched();
	}
	cb->args[0] = id;
	kfree(snap);
	return skb->len;
}

static int parse_chunk(struct genl_info *info, struct mptcp_dpa_chunk *chunk)
{
	struct nlattr *tb[MPTCP_DPA_A_CHUNK_MAX + 1];
	int err;

	err = nla_parse_nested(tb, MPTCP_DPA_A_CHUNK_PAD,
			       info->attrs[MPTCP_DPA_A_CONN_CHUNK],
			       mptcp_dpa_chunk_nl_policy, info->extack);
	if (err)
		return err;
	if (!tb[MPTCP_DPA_A_CHUNK_LENGTH] ||
	    !tb[MPTCP_DPA_A_CHUNK_DEADLINE_NS]) {
		NL_SET_ERR_MSG(info->extack,
			       "a chunk needs length and deadline-ns");
		return -EINVAL;
	}
	*chunk = (struct mptcp_dpa_chunk){
		.length = nla_get_u64(tb[MPTCP_DPA_A_CHUNK_LENGTH]),
		.deadline_ns = nla_get_u64(tb[MPTCP_DPA_A_CHUNK_DEADLINE_NS]),
	};
	if (tb[MPTCP_DPA_A_CHUNK_COOKIE])
		chunk->cookie = nla_get_u64(tb[MPTCP_DPA_A_CHUNK_COOKIE]);
	if (tb[MPTCP_DPA_A_CHUNK_ALPHA_MILLI])
		chunk->alpha_milli =
			nla_get_u32(tb[MPTCP_DPA_A_CHUNK_ALPHA_MILLI]);
	if (tb[MPTCP_DPA_A_CHUNK_LATE_POLICY])
		chunk->flags = MPTCP_DPA_CHUNK_F_SPEND *
			(1 + nla_get_u8(tb[MPTCP_DPA_A_CHUNK_LATE_POLICY]));
	return 0;
}

/* Applies every preference of the request to a copy of the connection's. */
static int parse_prefs(struct genl_info *info, struct pref_list *prefs)
{
	struct nlattr *tb[MPTCP_DPA_A_PREF_MAX + 1];
	struct mptcp_dpa_pref pref;
	struct nlattr *attr;
	int rem, err;

	nlmsg_for_each_attr_type(attr, MPTCP_DPA_A_CONN_PREF, info->nlhdr,
				 GENL_HDRLEN, rem) {
		err = nla_parse_nested(tb, MPTCP_DPA_A_PREF_MAX, attr,
				       mptcp_dpa_pref_nl_policy, info->extack);
		if (!err)
			err = netlink_get_pref(tb, &names, &pref, info);
		if (!err)
			err = pref_change(prefs, genl_info_net(info), &pref,
					  true);
		if (err)
			return err;
	}
	return 0;
}

/* What the attributes' policies do not say of their numbers. */
static int check_numbers(struct genl_info *info)
{
	struct nlattr *alpha = info->attrs[MPTCP_DPA_A_CONN_ALPHA_MILLI];
	struct nlattr *overflow = info->attrs[MPTCP_DPA_A_CONN_OVERFLOW_MS];

	if (alpha && nla_get_u32(alpha) &&
	    nla_get_u32(alpha) < MPTCP_DPA_ALPHA_MIN)
		return -ERANGE;
	if (overflow && nla_get_u32(overflow) > MPTCP_DPA_OVERFLOW_MAX &&
	    nla_get_u32(overflow) != MPTCP_DPA_OVERFLOW_OFF) {
		NL_SET_ERR_MSG_ATTR(info->extack, overflow,
				    "milliseconds, up to overflow-max");
		return -ERANGE;
	}
	return 0;
}

static int apply(struct genl_info *info, struct sock *sk)
{
	struct nlattr *alpha = info->attrs[MPTCP_DPA_A_CONN_ALPHA_MILLI];
	struct nlattr *overflow = info->attrs[MPTCP_DPA_A_CONN_OVERFLOW_MS];
	struct pref_list *room = NULL, prefs;
	struct mptcp_dpa_chunk chunk;
	struct conn *c;
	int err;

	err = sockopt_check_scheduler(sk);
	if (!err)
		err = check_numbers(info);
	if (err)
		return err;
	c = conn_get_or_create(sk);
	if (!c)
		return -ENOMEM;
	if (info->attrs[MPTCP_DPA_A_CONN_PREF]) {
		room = conn_prefs(c);
		if (!room)
			return -ENOMEM;
		prefs = *room;
		err = parse_prefs(info, &prefs);
	}
	/* the chunk is the only thing left that can fail, so it comes first */
	if (!err && info->attrs[MPTCP_DPA_A_CONN_CHUNK]) {
		err = parse_chunk(info, &chunk);
		if (!err)
			err = sockopt_add_chunk(sk, &chunk);
	}
	if (err)
		return err;
	if (room) {
		*room = prefs;
		path_forget_costs(c);
	}
	if (alpha)
		c->alpha_milli = nla_get_u32(alpha);
	if (overflow)
		c->overflow_ms = nla_get_u32(overflow);
	tick_soon(c);
	return 0;
}

int mptcp_dpa_nl_conn_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sock *sk;
	int err;

	sk = find_sock(info);
	if (IS_ERR(sk))
		return PTR_ERR(sk);
	lock_sock(sk);
	if (!is_meant(info, sk) || sock_flag(sk, SOCK_DEAD))
		err = -ENOENT;
	else
		err = apply(info, sk);
	release_sock(sk);
	sock_put(sk);
	return err;
}
