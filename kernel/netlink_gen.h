/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/mptcp_dpa.yaml */
/* YNL-GEN kernel header */
/* To regenerate run: make ynl */

#ifndef _LINUX_MPTCP_DPA_GEN_H
#define _LINUX_MPTCP_DPA_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/mptcp_dpa.h>

/* Common nested types */
extern const struct nla_policy mptcp_dpa_chunk_nl_policy[MPTCP_DPA_A_CHUNK_PAD + 1];
extern const struct nla_policy mptcp_dpa_pref_nl_policy[MPTCP_DPA_A_PREF_ADDR6 + 1];

/* Ops table for mptcp_dpa */
extern const struct genl_split_ops mptcp_dpa_nl_ops[8];

int mptcp_dpa_nl_path_set_doit(struct sk_buff *skb, struct genl_info *info);
int mptcp_dpa_nl_path_del_doit(struct sk_buff *skb, struct genl_info *info);
int mptcp_dpa_nl_path_get_doit(struct sk_buff *skb, struct genl_info *info);
int mptcp_dpa_nl_path_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int mptcp_dpa_nl_conn_get_doit(struct sk_buff *skb, struct genl_info *info);
int mptcp_dpa_nl_conn_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int mptcp_dpa_nl_conn_set_doit(struct sk_buff *skb, struct genl_info *info);
int mptcp_dpa_nl_stat_get_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	MPTCP_DPA_NLGRP_EVENTS,
};

#endif /* _LINUX_MPTCP_DPA_GEN_H */
