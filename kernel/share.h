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
/* a round trip is longer by so much, and by a quarter, where a queue has formed */
#define SHARE_QUEUE_US	5000
/* seen for less than one in so many milliseconds: what each gets is what it sends */
#define SHARE_QUEUED	8
/* no more bytes count of a chunk, nor get in line behind so many: counters wrap */
#define SHARE_LINE_MAX	0x20000000U

struct net;
struct sock;

/* What connections saw of a path in one period, added up. */
struct share_sum {
	u32	bytes;		/* that arrived */
	u32	busy_ms;	/* while they had bytes on the way */
	u32	queued_ms;	/* and of that, while they saw a queue */
};

/* One path, as its addresses name it. */
struct share {
	spinlock_t	lock;		/* for all of it */
	u32		path;		/* the addresses' hash; 0: nobody's */
	u32		began_ms;	/* when the running period did; wraps */
	struct share_sum now;		/* of that */
	struct share_sum before;	/* of the one before */
	u32		rtt_us;		/* the least round trip of late; 0: not known */
	/* the line: bytes of chunks; these wrap */
	u32		taken;		/* that have a place */
	u32		served;		/* those of them whose turn has come, */
	u32		served_ms;	/* at that time; wraps */
};

/* What a connection has seen of a path since it told last. */
struct share_seen {
	u32	bytes;		/* that arrived */
	u32	busy_ms;	/* the time, if bytes were on their way; 0: there were none */
	u32	rtt_us;		/* the least round trip */
	u32	srtt_us;	/* the smoothed one */
};

/* What a chunk has to expect that waits for its turn. */
struct share_line {
	u32	wait_ms;	/* until then; 0: it may begin */
	u32	takes_ms;	/* its bytes, with nobody beside it; not told if it may */
};

void share_init_net(struct net *net);
u32 share_tell(const struct sock *ssk, const struct share_seen *seen, u32 now_ms);
struct share_line share_line(const struct sock *ssk, const u32 *place, u32 bytes, u32 now_ms);
u32 share_line_up(const struct sock *ssk, u32 bytes, u32 now_ms);

#endif
