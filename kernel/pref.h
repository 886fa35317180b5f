/* SPDX-License-Identifier: GPL-2.0-only */
/* What paths cost for one connection, whatever they cost the namespace. */
#ifndef _MPTCP_DPA_PREF_H
#define _MPTCP_DPA_PREF_H

#include <linux/mptcp_dpa_sock.h>

#include "cost.h"

struct net;

/* 24 bytes, so that MPTCP_DPA_PREFS_MAX of them fit into 192, as security.md has it */
struct pref {
	struct in6_addr	addr;		/* or, in its first word, the id */
	u32		cost;		/* 0: the entry is free */
	u8		kind;		/* MPTCP_DPA_PREF_* */
	bool		privileged;	/* may go below the namespace's cost */
};

struct pref_list {
	struct pref	at[MPTCP_DPA_PREFS_MAX];
};

int pref_key(const struct mptcp_dpa_pref *opt, struct cost_key *key);
int pref_change(struct pref_list *prefs, const struct net *net,
		const struct mptcp_dpa_pref *opt, bool privileged);
void pref_name(const struct cost_key *key, u32 cost,
	       struct mptcp_dpa_pref *opt);
bool pref_read(const struct pref_list *prefs, int i,
	       struct mptcp_dpa_pref *opt);
u32 pref_apply(const struct pref_list *prefs, const struct cost_key *names,
	       u32 cost);

#endif
