/* SPDX-License-Identifier: GPL-2.0-only */
/* What each of a namespace's connections gets of a path that many of them use. */
#ifndef _MPTCP_DPA_SHARE_H
#define _MPTCP_DPA_SHARE_H

#include <linux/spinlock.h>
#include <linux/types.h>

#define SHARE_SLOTS	256	/* a power of two */
/* what is known is of the running period and of the one before */
#define SHARE_PERIOD_MS	128
/* so few connections at a time tell little of what another one gets */
#define SHARE_LEAST	4

struct net;
struct sock;

/* One path, as its addresses name it. */
struct share {
	spinlock_t	lock;		/* for all of it */
	u32		path;		/* the addresses' hash; 0: nobody's */
	u32		began_ms;	/* when the running period did; wraps */
	u32		bytes[2];	/* that arrived in it, and in the one before */
	u32		busy_ms[2];	/* while connections had bytes on the way, added up */
};

void share_init_net(struct net *net);
u32 share_tell(const struct sock *ssk, u32 bytes, u32 busy_ms, u32 now_ms);

#endif
