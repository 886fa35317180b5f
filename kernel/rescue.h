/* SPDX-License-Identifier: GPL-2.0-only */
/* Data that is stuck on a path which went silent goes out on another. */
#ifndef _MPTCP_DPA_RESCUE_H
#define _MPTCP_DPA_RESCUE_H

struct conn;
struct mptcp_sock;

void ask_retransmission(struct mptcp_sock *msk);
void rescue(struct conn *c);

#endif
