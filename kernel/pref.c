// SPDX-License-Identifier: GPL-2.0-only
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "cost.h"
#include "pref.h"

static bool valid_cost(u32 cost)
{
	return cost <= MPTCP_DPA_COST_MAX || cost == MPTCP_DPA_COST_FORBIDDEN;
}

/**
 * pref_key() - what a preference names
 * @opt: as user space gave it
 * @key: set on success
 *
 * Return: 0, or -EINVAL for an unknown kind, a name out of range, an unused
 * member that is not 0 or a cost out of range.
 */
int pref_key(const struct mptcp_dpa_pref *opt, struct cost_key *key)
{
	bool has_addr = memchr_inv(opt->addr, 0, sizeof(opt->addr));
	__be32 addr4;

	*key = (struct cost_key){ .kind = opt->kind, .id = opt->id };
	if (opt->reserved || !valid_cost(opt->cost))
		return -EINVAL;

	switch (opt->kind) {
	case MPTCP_DPA_PREF_ENDPOINT:
		return opt->id && opt->id <= U8_MAX && !has_addr ? 0 : -EINVAL;
	case MPTCP_DPA_PREF_IFINDEX:
		return opt->id && opt->id <= S32_MAX && !has_addr ? 0 : -EINVAL;
	case MPTCP_DPA_PREF_ADDR4:
		memcpy(&addr4, opt->addr, sizeof(addr4));
		ipv6_addr_set_v4mapped(addr4, &key->addr);
		return !opt->id && addr4 &&
		       !memchr_inv(opt->addr + 4, 0, sizeof(opt->addr) - 4) ?
		       0 : -EINVAL;
	case MPTCP_DPA_PREF_ADDR6:
		memcpy(&key->addr, opt->addr, sizeof(key->addr));
		/* what getsockname() says of IPv4 on a socket for both */
		if (ipv6_addr_v4mapped(&key->addr)) {
			key->kind = MPTCP_DPA_PREF_ADDR4;
			has_addr = !!key->addr.s6_addr32[3];
		}
		return !opt->id && has_addr ? 0 : -EINVAL;
	}
	return -EINVAL;
}

/* The list keeps the id in the room of the address. */
static void pack(struct pref *pref, const struct cost_key *key)
{
	pref->kind = key->kind;
	pref->addr = key->addr;
	if (key->id)
		pref->addr.s6_addr32[0] = (__force __be32)key->id;
}

static void unpack(const struct pref *pref, struct cost_key *key)
{
	bool by_id = pref->kind == MPTCP_DPA_PREF_ENDPOINT ||
		     pref->kind == MPTCP_DPA_PREF_IFINDEX;

	*key = (struct cost_key){ .kind = pref->kind };
	if (by_id)
		key->id = (__force u32)pref->addr.s6_addr32[0];
	else
		key->addr = pref->addr;
}

static struct pref *find(struct pref_list *prefs, const struct cost_key *key)
{
	struct cost_key at;
	int i;

	for (i = 0; i < MPTCP_DPA_PREFS_MAX; i++) {
		unpack(&prefs->at[i], &at);
		if (prefs->at[i].cost && cost_same_key(&at, key))
			return &prefs->at[i];
	}
	return NULL;
}

static struct pref *find_free(struct pref_list *prefs)
{
	int i;

	for (i = 0; i < MPTCP_DPA_PREFS_MAX; i++)
		if (!prefs->at[i].cost)
			return &prefs->at[i];
	return NULL;
}

/**
 * pref_change() - set, change or take away one preference
 * @prefs: the connection's
 * @net: its namespace
 * @opt: the path and its cost
 * @privileged: the caller has CAP_NET_ADMIN in the namespace
 *
 * Context: msk lock.
 * Return: 0; -EINVAL as pref_key(); -ENOENT when there is nothing to take
 * away; -ENOSPC beyond %MPTCP_DPA_PREFS_MAX; without privilege -EPERM for less
 * than the namespace's cost, and for a preference that was set with it.
 */
int pref_change(struct pref_list *prefs, const struct net *net,
		const struct mptcp_dpa_pref *opt, bool privileged)
{
	struct cost_key key;
	struct cost_terms terms;
	struct pref *pref;
	int err;

	err = pref_key(opt, &key);
	if (err)
		return err;
	pref = find(prefs, &key);
	if (pref && pref->privileged && !privileged)
		return -EPERM;
	if (!opt->cost) {
		if (!pref)
			return -ENOENT;
		*pref = (struct pref){};
		return 0;
	}
	if (!privileged && !cost_get((struct net *)net, &key, &terms) &&
	    opt->cost < terms.cost)
		return -EPERM;
	pref = pref ?: find_free(prefs);
	if (!pref)
		return -ENOSPC;
	pack(pref, &key);
	pref->cost = opt->cost;
	pref->privileged = privileged;
	return 0;
}

/* A path and its cost as user space knows them; undoes pref_key(). */
void pref_name(const struct cost_key *key, u32 cost,
	       struct mptcp_dpa_pref *opt)
{
	*opt = (struct mptcp_dpa_pref){
		.kind = key->kind, .cost = cost, .id = key->id,
	};
	if (key->kind == MPTCP_DPA_PREF_ADDR4)
		memcpy(opt->addr, &key->addr.s6_addr32[3], 4);
	else if (key->kind == MPTCP_DPA_PREF_ADDR6)
		memcpy(opt->addr, &key->addr, sizeof(opt->addr));
}

/* The preference at an index; false: none is there. */
bool pref_read(const struct pref_list *prefs, int i,
	       struct mptcp_dpa_pref *opt)
{
	const struct pref *pref = &prefs->at[i];
	struct cost_key key;

	if (!pref->cost)
		return false;
	unpack(pref, &key);
	pref_name(&key, pref->cost, opt);
	return true;
}

/**
 * pref_apply() - the cost of a path for this connection
 * @prefs: the connection's, or NULL
 * @names: %COST_NAMES keys that name the path, the strongest first
 * @cost: the namespace's
 *
 * The strongest name counts. A preference that was set without privilege raises
 * at most what the namespace says, or one set with it by a weaker name, also when
 * that has risen since.
 */
u32 pref_apply(const struct pref_list *prefs, const struct cost_key *names,
	       u32 cost)
{
	const struct pref *own = NULL;	/* without privilege */
	int i;

	for (i = 0; prefs && i < COST_NAMES; i++) {
		const struct pref *pref = NULL;

		if (names[i].kind)
			pref = find((struct pref_list *)prefs, &names[i]);
		if (pref && pref->privileged) {
			cost = pref->cost;
			break;
		}
		own = own ?: pref;
	}
	return own ? max(own->cost, cost) : cost;
}
