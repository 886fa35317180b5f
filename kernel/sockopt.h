/* SPDX-License-Identifier: GPL-2.0-only */
/* What netlink shares with the socket options. */
#ifndef _MPTCP_DPA_SOCKOPT_H
#define _MPTCP_DPA_SOCKOPT_H

struct mptcp_dpa_chunk;
struct sock;

int sockopt_check_scheduler(const struct sock *sk);
int sockopt_add_chunk(struct sock *sk, const struct mptcp_dpa_chunk *opt);

#endif
