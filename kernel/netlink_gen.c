// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/mptcp_dpa.yaml */
/* YNL-GEN kernel source */
/* To regenerate run: make ynl */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "netlink_gen.h"

#include <uapi/linux/mptcp_dpa.h>

/* Integer value ranges */
static const struct netlink_range_validation mptcp_dpa_a_path_ifindex_range = {
	.min	= 1ULL,
	.max	= S32_MAX,
};

static const struct netlink_range_validation mptcp_dpa_a_path_cost_range = {
	.min	= 1ULL,
	.max	= MPTCP_DPA_COST_MAX,
};

/* MPTCP_DPA_CMD_PATH_SET - do */
static const struct nla_policy mptcp_dpa_path_set_nl_policy[MPTCP_DPA_A_PATH_COST + 1] = {
	[MPTCP_DPA_A_PATH_ENDPOINT_ID] = NLA_POLICY_MIN(NLA_U8, 1),
	[MPTCP_DPA_A_PATH_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &mptcp_dpa_a_path_ifindex_range),
	[MPTCP_DPA_A_PATH_COST] = NLA_POLICY_FULL_RANGE(NLA_U32, &mptcp_dpa_a_path_cost_range),
};

/* MPTCP_DPA_CMD_PATH_DEL - do */
static const struct nla_policy mptcp_dpa_path_del_nl_policy[MPTCP_DPA_A_PATH_IFINDEX + 1] = {
	[MPTCP_DPA_A_PATH_ENDPOINT_ID] = NLA_POLICY_MIN(NLA_U8, 1),
	[MPTCP_DPA_A_PATH_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &mptcp_dpa_a_path_ifindex_range),
};

/* MPTCP_DPA_CMD_PATH_GET - do */
static const struct nla_policy mptcp_dpa_path_get_nl_policy[MPTCP_DPA_A_PATH_IFINDEX + 1] = {
	[MPTCP_DPA_A_PATH_ENDPOINT_ID] = NLA_POLICY_MIN(NLA_U8, 1),
	[MPTCP_DPA_A_PATH_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &mptcp_dpa_a_path_ifindex_range),
};

/* Ops table for mptcp_dpa */
const struct genl_split_ops mptcp_dpa_nl_ops[4] = {
	{
		.cmd		= MPTCP_DPA_CMD_PATH_SET,
		.doit		= mptcp_dpa_nl_path_set_doit,
		.policy		= mptcp_dpa_path_set_nl_policy,
		.maxattr	= MPTCP_DPA_A_PATH_COST,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= MPTCP_DPA_CMD_PATH_DEL,
		.doit		= mptcp_dpa_nl_path_del_doit,
		.policy		= mptcp_dpa_path_del_nl_policy,
		.maxattr	= MPTCP_DPA_A_PATH_IFINDEX,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= MPTCP_DPA_CMD_PATH_GET,
		.doit		= mptcp_dpa_nl_path_get_doit,
		.policy		= mptcp_dpa_path_get_nl_policy,
		.maxattr	= MPTCP_DPA_A_PATH_IFINDEX,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= MPTCP_DPA_CMD_PATH_GET,
		.dumpit	= mptcp_dpa_nl_path_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
};
