/* SPDX-License-Identifier: GPL-2.0-only */
/* The rows of a connection's state: one subflow each, with its cost. */
#ifndef _MPTCP_DPA_PATH_H
#define _MPTCP_DPA_PATH_H

#include <linux/types.h>

struct conn;
struct mptcp_dpa_pref;
struct mptcp_subflow_context;
struct sock;

int path_find(const struct conn *c, const struct mptcp_subflow_context *sf);
int path_find_near(const struct conn *c, const struct mptcp_subflow_context *sf,
		   int first);
int path_row(struct conn *c, struct mptcp_subflow_context *sf, int first);
u32 path_price(const struct conn *c, const struct mptcp_subflow_context *sf,
	       int *ifindex);
void path_spend_picked(struct conn *c);
void path_spend(struct conn *c, int i, u32 bytes);
void path_clear(struct conn *c, int i);
void path_drop_quotas(struct conn *c);
void path_forget_costs(struct conn *c);
void path_learn_endpoints(struct conn *c);
bool path_undercut(const struct conn *c, const struct mptcp_dpa_pref *opt);
bool path_needs_owner(const struct conn *c);
void path_make_prompt(struct conn *c);
void path_tell_limited(struct conn *c);
bool path_is_up(const struct sock *ssk);

#endif
