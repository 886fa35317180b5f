/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic netlink family mptcp_dpa; Documentation/netlink/specs/mptcp_dpa.yaml
 * is its description, netlink_path.c and netlink_conn.c hold the operations.
 */
#ifndef _MPTCP_DPA_NETLINK_H
#define _MPTCP_DPA_NETLINK_H

struct genl_family;
struct genl_info;
struct mptcp_dpa_pref;
struct nlattr;
struct sk_buff;

extern struct genl_family netlink_family;

/* a path is named by the same four attributes wherever one is named */
struct netlink_path_attrs {
	int	endpoint, ifindex, addr4, addr6, cost;
};

int netlink_get_pref(struct nlattr **attrs,
		     const struct netlink_path_attrs *names,
		     struct mptcp_dpa_pref *pref, struct genl_info *info);
int netlink_put_pref(struct sk_buff *skb,
		     const struct netlink_path_attrs *names,
		     const struct mptcp_dpa_pref *pref);

int netlink_init(void);
void netlink_exit(void);

#endif
