/* SPDX-License-Identifier: GPL-2.0-only */
/* What is shown of a connection, by socket option and by netlink alike. */
#ifndef _MPTCP_DPA_INFO_H
#define _MPTCP_DPA_INFO_H

#include <linux/mptcp_dpa_sock.h>

struct conn;

void info_init(struct mptcp_dpa_info *info);
void info_fill(struct mptcp_dpa_info *info, struct conn *c);

#endif
