/* SPDX-License-Identifier: GPL-2.0-only */
/* When any connection last heard from the far end of a path, or asked for a sign. */
#ifndef _MPTCP_DPA_HEARD_H
#define _MPTCP_DPA_HEARD_H

#include <linux/types.h>

/*
 * Two pairs of addresses may share a slot; the worst of it is a rescue that
 * waits for TCP's own timeout, and a path that is asked each eight seconds.
 */
#define HEARD_SLOTS	256	/* a power of two */

struct net;
struct sock;

/* of a path, in jiffies; READ_ONCE */
struct heard {
	u32	at;
	u32	asked;
};

u32 heard_path(const struct sock *ssk);
void heard_init_net(struct net *net);
void heard_note(const struct sock *ssk);
bool heard_lately(const struct sock *ssk, u32 ticks);
bool heard_may_ask(const struct sock *ssk, u32 ticks);
void heard_ask(const struct sock *ssk);

#endif
