/* SPDX-License-Identifier: GPL-2.0-only */
/* net.mptcp_dpa.*, per network namespace; see mptcp_dpa-sysctl(7). */
#ifndef _MPTCP_DPA_SYSCTL_H
#define _MPTCP_DPA_SYSCTL_H

struct net;

int sysctl_init_net(struct net *net);
void sysctl_exit_net(struct net *net);

#endif
