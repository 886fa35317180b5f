/* SPDX-License-Identifier: GPL-2.0-only */
/* Data that is stuck on a path which went silent goes out on another. */
#ifndef _MPTCP_DPA_RESCUE_H
#define _MPTCP_DPA_RESCUE_H

#include <linux/types.h>

struct conn;
struct mptcp_sock;

void ask_retransmission(struct mptcp_sock *msk);
bool rescue_is_due(const struct conn *c);
void rescue(struct conn *c);

#endif
