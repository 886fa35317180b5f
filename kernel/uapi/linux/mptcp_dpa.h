/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/mptcp_dpa.yaml */
/* YNL-GEN uapi header */
/* To regenerate run: make ynl */

#ifndef _UAPI_LINUX_MPTCP_DPA_H
#define _UAPI_LINUX_MPTCP_DPA_H

#define MPTCP_DPA_FAMILY_NAME		"mptcp_dpa"
#define MPTCP_DPA_FAMILY_VERSION	1

#define MPTCP_DPA_COST_DEFAULT	1
#define MPTCP_DPA_COST_BACKUP	2
#define MPTCP_DPA_COST_MAX	1000000

enum {
	MPTCP_DPA_A_PATH_ENDPOINT_ID = 1,
	MPTCP_DPA_A_PATH_IFINDEX,
	MPTCP_DPA_A_PATH_COST,

	__MPTCP_DPA_A_PATH_MAX,
	MPTCP_DPA_A_PATH_MAX = (__MPTCP_DPA_A_PATH_MAX - 1)
};

enum {
	MPTCP_DPA_CMD_PATH_SET = 1,
	MPTCP_DPA_CMD_PATH_DEL,
	MPTCP_DPA_CMD_PATH_GET,

	__MPTCP_DPA_CMD_MAX,
	MPTCP_DPA_CMD_MAX = (__MPTCP_DPA_CMD_MAX - 1)
};

#endif /* _UAPI_LINUX_MPTCP_DPA_H */
