// SPDX-License-Identifier: GPL-2.0-only
/*
 * A connection that begins among many sees a queue that they have filled: what it
 * shows of the path at first is chance. What they get on average is what it will get.
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/time64.h>
#include <net/sock.h>

#include "heard.h"
#include "netns.h"
#include "share.h"

void share_init_net(struct net *net)
{
	struct netns_dpa *dpa = netns_dpa(net);
	int i;

	for (i = 0; i < SHARE_SLOTS; i++)
		spin_lock_init(&dpa->share[i].lock);
}

static struct share *share_slot(const struct sock *ssk, u32 path)
{
	return &netns_dpa(sock_net(ssk))->share[hash_32(path, ilog2(SHARE_SLOTS))];
}

/* Begins a new period if the running one is over; under its lock. */
static void turn(struct share *s, u32 now_ms)
{
	u32 age = now_ms - s->began_ms;

	/* who read the clock before another may come after it */
	if (age < SHARE_PERIOD_MS || -age < SHARE_PERIOD_MS)
		return;
	if (age < 2 * SHARE_PERIOD_MS) {
		s->bytes[1] = s->bytes[0];
		s->busy_ms[1] = s->busy_ms[0];
		s->began_ms += SHARE_PERIOD_MS;
	} else {
		s->bytes[1] = 0;
		s->busy_ms[1] = 0;
		s->began_ms = now_ms;
	}
	s->bytes[0] = 0;
	s->busy_ms[0] = 0;
}

/* What each gets on average, in bytes a second; 0: they are few. Under its lock. */
static u32 rate_each(const struct share *s, u32 now_ms)
{
	u32 span_ms = SHARE_PERIOD_MS + max((s32)(now_ms - s->began_ms), 0);
	u64 bytes = (u64)s->bytes[0] + s->bytes[1];
	u64 busy_ms = (u64)s->busy_ms[0] + s->busy_ms[1];

	if (busy_ms < SHARE_LEAST * span_ms)
		return 0;
	return div64_u64(bytes * MSEC_PER_SEC, busy_ms);
}

/**
 * share_tell() - what a connection got of a path, for what each of them gets
 * @ssk: its subflow
 * @bytes: that arrived since it was looked at last
 * @busy_ms: the time since then, while bytes were on their way; 0: there were none
 * @now_ms: wraps
 *
 * Of two paths whose addresses share a slot the one counts that had it first.
 *
 * Context: any.
 * Return: what a connection gets on average while it has bytes for the path, in bytes a
 * second; 0 if fewer than %SHARE_LEAST connections used it of late.
 */
u32 share_tell(const struct sock *ssk, u32 bytes, u32 busy_ms, u32 now_ms)
{
	u32 path = heard_path(ssk), rate = 0;
	struct share *s = share_slot(ssk, path);

	spin_lock_bh(&s->lock);
	turn(s, now_ms);
	if (s->path != path && !s->busy_ms[0] && !s->busy_ms[1])
		s->path = path;
	if (s->path == path) {
		s->bytes[0] += bytes;
		s->busy_ms[0] += busy_ms;
		rate = rate_each(s, now_ms);
	}
	spin_unlock_bh(&s->lock);
	return rate;
}
