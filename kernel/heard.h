/* SPDX-License-Identifier: GPL-2.0-only */
/* When any connection last heard from the far end of a path. */
#ifndef _MPTCP_DPA_HEARD_H
#define _MPTCP_DPA_HEARD_H

#include <linux/types.h>

/*
 * Two pairs of addresses may share a slot; the worst of it is a rescue that
 * waits for TCP's own timeout.
 */
#define HEARD_SLOTS	256	/* a power of two */

struct net;
struct sock;

void heard_init_net(struct net *net);
void heard_note(const struct sock *ssk);
bool heard_lately(const struct sock *ssk, u32 ticks);

#endif
