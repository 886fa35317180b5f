/* SPDX-License-Identifier: GPL-2.0-only */
/* Generic netlink family mptcp_dpa; Documentation/netlink/specs/mptcp_dpa.yaml */
#ifndef _MPTCP_DPA_NETLINK_H
#define _MPTCP_DPA_NETLINK_H

int netlink_init(void);
void netlink_exit(void);

#endif
