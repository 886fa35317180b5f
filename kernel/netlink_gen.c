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

static const struct netlink_range_validation mptcp_dpa_a_pref_ifindex_range = {
	.min	= 1ULL,
	.max	= S32_MAX,
};

/* Common nested types */
const struct nla_policy mptcp_dpa_chunk_nl_policy[MPTCP_DPA_A_CHUNK_PAD + 1] = {
	[MPTCP_DPA_A_CHUNK_LENGTH] = { .type = NLA_U64, },
	[MPTCP_DPA_A_CHUNK_DEADLINE_NS] = { .type = NLA_U64, },
	[MPTCP_DPA_A_CHUNK_COOKIE] = { .type = NLA_U64, },
	[MPTCP_DPA_A_CHUNK_ALPHA_MILLI] = NLA_POLICY_MAX(NLA_U32, MPTCP_DPA_ALPHA_MAX),
	[MPTCP_DPA_A_CHUNK_LATE_POLICY] = NLA_POLICY_MAX(NLA_U8, 2),
	[MPTCP_DPA_A_CHUNK_SENT] = { .type = NLA_U64, },
	[MPTCP_DPA_A_CHUNK_ACKED] = { .type = NLA_U64, },
	[MPTCP_DPA_A_CHUNK_FORECAST] = { .type = NLA_U64, },
	[MPTCP_DPA_A_CHUNK_AT_RISK] = { .type = NLA_FLAG, },
};

const struct nla_policy mptcp_dpa_pref_nl_policy[MPTCP_DPA_A_PREF_ADDR6 + 1] = {
	[MPTCP_DPA_A_PREF_ENDPOINT_ID] = NLA_POLICY_MIN(NLA_U8, 1),
	[MPTCP_DPA_A_PREF_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &mptcp_dpa_a_pref_ifindex_range),
	[MPTCP_DPA_A_PREF_COST] = { .type = NLA_U32, },
	[MPTCP_DPA_A_PREF_ADDR4] = { .type = NLA_BE32, },
	[MPTCP_DPA_A_PREF_ADDR6] = NLA_POLICY_EXACT_LEN(16),
};

/* MPTCP_DPA_CMD_PATH_SET - do */
static const struct nla_policy mptcp_dpa_path_set_nl_policy[MPTCP_DPA_A_PATH_QUOTA_SOFT + 1] = {
	[MPTCP_DPA_A_PATH_ENDPOINT_ID] = NLA_POLICY_MIN(NLA_U8, 1),
	[MPTCP_DPA_A_PATH_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &mptcp_dpa_a_path_ifindex_range),
	[MPTCP_DPA_A_PATH_COST] = NLA_POLICY_FULL_RANGE(NLA_U32, &mptcp_dpa_a_path_cost_range),
	[MPTCP_DPA_A_PATH_ADDR4] = { .type = NLA_BE32, },
	[MPTCP_DPA_A_PATH_ADDR6] = NLA_POLICY_EXACT_LEN(16),
	[MPTCP_DPA_A_PATH_QUOTA_BYTES] = { .type = NLA_U64, },
	[MPTCP_DPA_A_PATH_QUOTA_PERIOD_NS] = { .type = NLA_U64, },
	[MPTCP_DPA_A_PATH_CHEAP_RATE] = { .type = NLA_U64, },
	[MPTCP_DPA_A_PATH_QUOTA_SOFT] = { .type = NLA_FLAG, },
};

/* MPTCP_DPA_CMD_PATH_DEL - do */
static const struct nla_policy mptcp_dpa_path_del_nl_policy[MPTCP_DPA_A_PATH_ADDR6 + 1] = {
	[MPTCP_DPA_A_PATH_ENDPOINT_ID] = NLA_POLICY_MIN(NLA_U8, 1),
	[MPTCP_DPA_A_PATH_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &mptcp_dpa_a_path_ifindex_range),
	[MPTCP_DPA_A_PATH_ADDR4] = { .type = NLA_BE32, },
	[MPTCP_DPA_A_PATH_ADDR6] = NLA_POLICY_EXACT_LEN(16),
};

/* MPTCP_DPA_CMD_PATH_GET - do */
static const struct nla_policy mptcp_dpa_path_get_nl_policy[MPTCP_DPA_A_PATH_ADDR6 + 1] = {
	[MPTCP_DPA_A_PATH_ENDPOINT_ID] = NLA_POLICY_MIN(NLA_U8, 1),
	[MPTCP_DPA_A_PATH_IFINDEX] = NLA_POLICY_FULL_RANGE(NLA_U32, &mptcp_dpa_a_path_ifindex_range),
	[MPTCP_DPA_A_PATH_ADDR4] = { .type = NLA_BE32, },
	[MPTCP_DPA_A_PATH_ADDR6] = NLA_POLICY_EXACT_LEN(16),
};

/* MPTCP_DPA_CMD_CONN_GET - do */
static const struct nla_policy mptcp_dpa_conn_get_nl_policy[MPTCP_DPA_A_CONN_TOKEN + 1] = {
	[MPTCP_DPA_A_CONN_ID] = { .type = NLA_U64, },
	[MPTCP_DPA_A_CONN_TOKEN] = { .type = NLA_U32, },
};

/* MPTCP_DPA_CMD_CONN_SET - do */
static const struct nla_policy mptcp_dpa_conn_set_nl_policy[MPTCP_DPA_A_CONN_OVERFLOW_MS + 1] = {
	[MPTCP_DPA_A_CONN_ID] = { .type = NLA_U64, },
	[MPTCP_DPA_A_CONN_TOKEN] = { .type = NLA_U32, },
	[MPTCP_DPA_A_CONN_ALPHA_MILLI] = NLA_POLICY_MAX(NLA_U32, MPTCP_DPA_ALPHA_MAX),
	[MPTCP_DPA_A_CONN_CHUNK] = NLA_POLICY_NESTED(mptcp_dpa_chunk_nl_policy),
	[MPTCP_DPA_A_CONN_PREF] = NLA_POLICY_NESTED(mptcp_dpa_pref_nl_policy),
	[MPTCP_DPA_A_CONN_OVERFLOW_MS] = { .type = NLA_U32, },
};

/* Ops table for mptcp_dpa */
const struct genl_split_ops mptcp_dpa_nl_ops[8] = {
	{
		.cmd		= MPTCP_DPA_CMD_PATH_SET,
		.doit		= mptcp_dpa_nl_path_set_doit,
		.policy		= mptcp_dpa_path_set_nl_policy,
		.maxattr	= MPTCP_DPA_A_PATH_QUOTA_SOFT,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= MPTCP_DPA_CMD_PATH_DEL,
		.doit		= mptcp_dpa_nl_path_del_doit,
		.policy		= mptcp_dpa_path_del_nl_policy,
		.maxattr	= MPTCP_DPA_A_PATH_ADDR6,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd		= MPTCP_DPA_CMD_PATH_GET,
		.doit		= mptcp_dpa_nl_path_get_doit,
		.policy		= mptcp_dpa_path_get_nl_policy,
		.maxattr	= MPTCP_DPA_A_PATH_ADDR6,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= MPTCP_DPA_CMD_PATH_GET,
		.dumpit	= mptcp_dpa_nl_path_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= MPTCP_DPA_CMD_CONN_GET,
		.doit		= mptcp_dpa_nl_conn_get_doit,
		.policy		= mptcp_dpa_conn_get_nl_policy,
		.maxattr	= MPTCP_DPA_A_CONN_TOKEN,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= MPTCP_DPA_CMD_CONN_GET,
		.dumpit	= mptcp_dpa_nl_conn_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= MPTCP_DPA_CMD_CONN_SET,
		.doit		= mptcp_dpa_nl_conn_set_doit,
		.policy		= mptcp_dpa_conn_set_nl_policy,
		.maxattr	= MPTCP_DPA_A_CONN_OVERFLOW_MS,
		.flags		= GENL_UNS_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
	{
		.cmd	= MPTCP_DPA_CMD_STAT_GET,
		.doit	= mptcp_dpa_nl_stat_get_doit,
		.flags	= GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group mptcp_dpa_nl_mcgrps[] = {
	[MPTCP_DPA_NLGRP_EVENTS] = { "events", },
};
