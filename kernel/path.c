// SPDX-License-Identifier: GPL-2.0-only
#include <linux/rcupdate.h>
#include <net/dst.h>
#include <net/ipv6.h>
#include <net/tcp.h>

#include "conn.h"
#include "cost.h"
#include "look.h"
#include "msk.h"
#include "path.h"

#include "arith.h"

/* The interface that carries a subflow, 0 while it has no route. */
static int subflow_ifindex(const struct sock *ssk)
{
	const struct dst_entry *dst;
	int ifindex = READ_ONCE(ssk->sk_bound_dev_if);

	if (ifindex)
		return ifindex;
	rcu_read_lock();
	dst = rcu_dereference(ssk->sk_dst_cache);
	if (dst)
		ifindex = READ_ONCE(dst->dev)->ifindex;
	rcu_read_unlock();
	return ifindex;
}

/* The first subflow has local id 0 whatever endpoint its address is. */
static u8 subflow_endpoint(const struct mptcp_sock *msk,
			   const struct mptcp_subflow_context *sf)
{
	int id = subflow_local_id(sf);

	return id > 0 ? id : msk_first_endpoint(msk);
}

static void local_address(const struct sock *ssk, struct in6_addr *addr)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (ssk->sk_family == AF_INET6) {
		*addr = ssk->sk_v6_rcv_saddr;
		return;
	}
#endif
	ipv6_addr_set_v4mapped(ssk->sk_rcv_saddr, addr);
}

/* What operators and applications may call the path, the strongest first. */
static void path_names(const struct conn *c,
		       const struct mptcp_subflow_context *sf, int ifindex,
		       struct cost_key names[COST_NAMES])
{
	u8 endpoint = subflow_endpoint(msk_of(c->sk), sf);
	struct in6_addr addr;

	memset(names, 0, COST_NAMES * sizeof(*names));
	if (endpoint) {
		names[0].kind = MPTCP_DPA_PREF_ENDPOINT;
		names[0].id = endpoint;
	}
	local_address(subflow_ssk(sf), &addr);
	names[1].kind = ipv6_addr_v4mapped(&addr) ? MPTCP_DPA_PREF_ADDR4 :
						    MPTCP_DPA_PREF_ADDR6;
	names[1].addr = addr;
	if (ifindex) {
		names[2].kind = MPTCP_DPA_PREF_IFINDEX;
		names[2].id = ifindex;
	}
}

static void drop_quota(struct conn *c, int i)
{
	struct conn_path *path = &c->path[i];

	if (path->quota) {
		quota_give_back(path->quota, path->granted);
		quota_put(path->quota);
	}
	path->quota = NULL;
	path->granted = 0;
}

/* Costs, routes, priorities and preferences may change at any time. */
static void resolve_cost(struct conn *c, int i,
			 const struct mptcp_subflow_context *sf)
{
	struct net *net = sock_net(c->sk);
	struct dpa_path *row = &c->state.path[i];
	struct conn_path *path = &c->path[i];
	bool backup = (row->flags & DPA_PATH_BACKUP) || subflow_peer_backup(sf);
	/* while it has no route it is the path that it was */
	int ifindex = subflow_ifindex(subflow_ssk(sf)) ?: path->ifindex;
	u32 gen = cost_generation(net);
	struct cost_key names[COST_NAMES];
	struct cost_found found;

	if (path->resolved && path->cost_gen == gen &&
	    path->ifindex == ifindex && path->backup == backup)
		return;
	path_names(c, sf, ifindex, names);
	cost_find(net, names, backup, &found);
	row->cost = pref_apply(c->prefs, names, found.cost);
	row->rate_max = min_t(u64, found.cheap_rate, U32_MAX);
	drop_quota(c, i);
	path->quota = found.quota;
	path->cost_gen = gen;
	path->ifindex = ifindex;
	path->endpoint = names[0].id;
	path->backup = backup;
	path->resolved = true;
}

/**
 * path_drop_quotas() - give back what was taken of quotas, and let go of them
 * @c: the connection
 *
 * Context: msk lock.
 */
void path_drop_quotas(struct conn *c)
{
	int i;

	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++)
		drop_quota(c, i);
}

/**
 * path_forget_costs() - have costs resolved anew: preferences have changed
 * @c: the connection
 *
 * Context: msk lock.
 */
void path_forget_costs(struct conn *c)
{
	int i;

	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++)
		c->path[i].resolved = false;
}

/**
 * path_learn_endpoints() - costs of endpoints that are known only now are resolved
 * @c: the connection, to be refreshed
 *
 * The kernel's worker finds that of the first subflow after the first bytes.
 *
 * Context: msk lock.
 */
void path_learn_endpoints(struct conn *c)
{
	struct mptcp_subflow_context *sf;

	msk_for_each_subflow(msk_of(c->sk), sf) {
		int i = path_find(c, sf);

		if (i >= 0 && c->path[i].endpoint != subflow_endpoint(msk_of(c->sk), sf))
			c->path[i].resolved = false;
	}
}

/**
 * path_find_near() - the row of a subflow
 * @c: the connection
 * @sf: one of its subflows
 * @first: the row to begin with; walking the subflows, that after the last one
 *
 * Context: msk lock.
 * Return: its index, -ENOENT if it has none.
 */
int path_find_near(const struct conn *c, const struct mptcp_subflow_context *sf,
		   int first)
{
	u32 id = subflow_number(sf);
	int n;

	/* neither is enough: numbers come twice (0), and so do addresses */
	for (n = 0; n < MPTCP_DPA_PATHS_MAX; n++) {
		int i = (first + n) % MPTCP_DPA_PATHS_MAX;
		const struct conn_path *path = &c->path[i];

		if (path->sf == sf && path->number == (u16)id)
			return i;
	}
	return -ENOENT;
}

/* The same, where it was not found before. */
int path_find(const struct conn *c, const struct mptcp_subflow_context *sf)
{
	return path_find_near(c, sf, 0);
}

/**
 * path_spend() - so many bytes were given to a path on the scheduler's word
 * @c: the connection
 * @i: its row
 * @bytes: how many
 *
 * Context: msk lock.
 */
void path_spend(struct conn *c, int i, u32 bytes)
{
	struct dpa_state *st = &c->state;
	struct conn_path *path = &c->path[i];
	u32 had = min(bytes, path->granted);

	if (st->path[i].cost > st->least_cost) {
		c->costly += bytes;
		st->costly_left = dpa_minus(st->costly_left, bytes);
	}
	if (!path->quota)
		return;
	quota_spend(path->quota, bytes, had);
	path->granted -= had;
}

/**
 * path_spend_picked() - what was picked last counts, as far as nobody has looked since
 * @c: a connection whose stream is over, and with it what that subflow could tell
 *
 * Context: msk lock.
 */
void path_spend_picked(struct conn *c)
{
	const struct dpa_state *st = &c->state;
	u64 unsent = st->written - st->sent + st->again;
	/* 0 for none; a scheduler may have written anything to it */
	int i = st->last - 1;

	if (conn_steers(c) && i >= 0 && i < MPTCP_DPA_PATHS_MAX && c->path[i].sf)
		path_spend(c, i, min_t(u64, c->picked, unsent));
}

/**
 * path_clear() - a row is nobody's; its subflow is gone, if it had one
 * @c: the connection
 * @i: the row
 *
 * If it was picked last, nobody can tell any more whether it got that, so it counts as
 * spent: at every other pick what it had got was counted. What it did not need of a quota
 * is given back. What waits to be sent again then is rescue()'s to look after.
 *
 * Context: msk lock.
 */
void path_clear(struct conn *c, int i)
{
	bool had_one = c->path[i].sf;

	if (had_one && c->state.last == i + 1)
		path_spend(c, i, c->picked);
	if (had_one && c->state.again)
		c->left_behind = true;
	drop_quota(c, i);
	c->subflows -= had_one;
	c->state.path[i] = (struct dpa_path){};
	c->path[i] = (struct conn_path){};
}

static int take_row(struct conn *c, const struct mptcp_subflow_context *sf)
{
	u32 id = subflow_number(sf);
	int i;

	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++) {
		struct dpa_path *row = &c->state.path[i];

		if (c->path[i].sf)
			continue;
		/* a scheduler may have written to a row that is nobody's */
		path_clear(c, i);
		c->subflows++;
		c->path[i].sf = sf;
		c->path[i].number = id;
		row->subflow_id = id;
		row->flags = DPA_PATH_USED;
		/* if it is the one that lost its row last, an MP_PRIO told of that */
		c->path[i].prio_sent = c->room_ms;
		c->path[i].prio_ms = c->room_ms;
		/* nobody has steered it yet, so this is the endpoint's word */
		if (subflow_request_bkup(sf))
			row->flags |= DPA_PATH_BACKUP;
		c->state.rows = max_t(u32, c->state.rows, i + 1);
		c->path[i].given = tcp_sk(subflow_ssk(sf))->write_seq;
		return i;
	}
	return -ENOSPC;
}

/**
 * path_row() - the row of a subflow, taken if need be, with its cost resolved
 * @c: the connection
 * @sf: one of its subflows
 * @first: as for path_find_near()
 *
 * Context: msk lock; does not sleep.
 * Return: its index, or -ENOSPC when %MPTCP_DPA_PATHS_MAX subflows have one already.
 */
int path_row(struct conn *c, struct mptcp_subflow_context *sf, int first)
{
	int i = path_find_near(c, sf, first);

	if (i < 0)
		i = take_row(c, sf);
	if (i >= 0)
		resolve_cost(c, i, sf);
	return i;
}

/**
 * path_price() - what a subflow without a row would cost
 * @c: the connection
 * @sf: the subflow
 * @ifindex: of the interface that carries it, 0 if unknown
 *
 * Context: msk lock.
 */
u32 path_price(const struct conn *c, const struct mptcp_subflow_context *sf,
	       int *ifindex)
{
	bool backup = subflow_peer_backup(sf) || subflow_request_bkup(sf);
	struct cost_key names[COST_NAMES];

	*ifindex = subflow_ifindex(subflow_ssk(sf));
	path_names(c, sf, *ifindex, names);
	return pref_apply(c->prefs, names,
			  cost_lookup(sock_net(c->sk), names, backup));
}

/**
 * path_undercut() - would a preference go below the namespace's cost?
 * @c: the connection
 * @opt: the preference
 *
 * Context: msk lock.
 * Return: true if a live subflow that it names costs the namespace more.
 */
bool path_undercut(const struct conn *c, const struct mptcp_dpa_pref *opt)
{
	struct cost_key names[COST_NAMES], key;
	struct mptcp_subflow_context *sf;
	int i;

	if (!opt->cost || pref_key(opt, &key))
		return false;
	msk_for_each_subflow(msk_of(c->sk), sf) {
		int row = path_find(c, sf);
		bool backup = subflow_peer_backup(sf) ||
			      (row < 0 ? subflow_request_bkup(sf) :
			       !!(c->state.path[row].flags & DPA_PATH_BACKUP));

		path_names(c, sf, subflow_ifindex(subflow_ssk(sf)), names);
		for (i = 0; i < COST_NAMES; i++)
			if (cost_same_key(&names[i], &key) &&
			    cost_lookup(sock_net(c->sk), names, backup) > opt->cost)
				return true;
	}
	return false;
}

/* Does TCP not know yet that it gets less than it could send? */
static bool is_to_be_told(const struct sock *ssk)
{
	return !READ_ONCE(tcp_sk(ssk)->app_limited) && look_is_starved(tcp_sk(ssk));
}

/* Is Nagle's algorithm off? An application may turn it on again. */
static bool is_prompt(const struct sock *ssk)
{
	return tcp_sk(ssk)->nonagle & TCP_NAGLE_OFF;
}

/**
 * path_needs_owner() - is there anything for the two below to do?
 * @c: the connection
 *
 * Context: msk lock; does not sleep. They take the subflows' locks.
 */
bool path_needs_owner(const struct conn *c)
{
	struct mptcp_subflow_context *sf;

	msk_for_each_subflow(msk_of(c->sk), sf) {
		int i = path_find(c, sf);

		if (is_to_be_told(subflow_ssk(sf)))
			return true;
		if (i >= 0 && conn_steers(c) && !is_prompt(subflow_ssk(sf)))
			return true;
	}
	return false;
}

/**
 * path_make_prompt() - no subflow holds a chunk's last bytes back
 * @c: the connection
 *
 * Nagle's algorithm keeps a segment that is not full until all before it are
 * acknowledged, which costs a chunk's end a round trip.
 *
 * Context: msk owned, may sleep; takes the subflows' locks one by one.
 */
void path_make_prompt(struct conn *c)
{
	struct mptcp_subflow_context *sf;

	msk_for_each_subflow(msk_of(c->sk), sf) {
		struct sock *ssk = subflow_ssk(sf);
		bool slow;

		if (path_find(c, sf) < 0 || is_prompt(ssk))
			continue;
		slow = lock_sock_fast(ssk);
		tcp_sk(ssk)->nonagle |= TCP_NAGLE_OFF;
		unlock_sock_fast(ssk, slow);
	}
}

/**
 * path_tell_limited() - TCP is told which subflows get less than they could send
 * @c: the connection
 *
 * MPTCP does not do so. BBR takes it into account: for its estimate, and when it
 * looks for a time at which the path is empty.
 *
 * Context: msk owned, may sleep; takes the subflows' locks one by one.
 */
void path_tell_limited(struct conn *c)
{
	struct mptcp_subflow_context *sf;

	msk_for_each_subflow(msk_of(c->sk), sf) {
		struct sock *ssk = subflow_ssk(sf);
		bool slow;

		if (!is_to_be_told(ssk))
			continue;
		slow = lock_sock_fast(ssk);
		tcp_rate_check_app_limited(ssk);
		unlock_sock_fast(ssk, slow);
	}
}

/**
 * path_is_up() - can a subflow that has joined carry data, be it stale or not?
 * @ssk: its TCP socket
 *
 * Context: any.
 */
bool path_is_up(const struct sock *ssk)
{
	return (1 << inet_sk_state_load(ssk)) &
	       (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT);
}
