// SPDX-License-Identifier: GPL-2.0-only
/*
 * A subflow that hears nothing may have lost all it had sent to a full queue, or
 * its path may be dead. Who else uses the path knows.
 */
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/log2.h>
#include <net/ipv6.h>
#include <net/netns/hash.h>
#include <net/tcp.h>

#include "heard.h"
#include "netns.h"

#define LONG_AGO	(24 * 3600 * HZ)

static u32 hash_path(const struct sock *ssk, u32 hash)
{
#if IS_ENABLED(CONFIG_IPV6)
	/* one that speaks IPv4 has the same path as others that do */
	if (ssk->sk_family == AF_INET6 &&
	    !ipv6_addr_v4mapped(&ssk->sk_v6_daddr)) {
		hash = __ipv6_addr_jhash(&ssk->sk_v6_rcv_saddr, hash);
		hash = __ipv6_addr_jhash(&ssk->sk_v6_daddr, hash);
		return hash;
	}
#endif
	return jhash_2words((__force u32)ssk->sk_rcv_saddr,
			    (__force u32)ssk->sk_daddr, hash);
}

/* The addresses of a path, as one number. */
u32 heard_path(const struct sock *ssk)
{
	return hash_path(ssk, net_hash_mix(sock_net(ssk)));
}

static struct heard *heard_slot(const struct sock *ssk)
{
	return &netns_dpa(sock_net(ssk))->heard[hash_32(heard_path(ssk),
							ilog2(HEARD_SLOTS))];
}

void heard_init_net(struct net *net)
{
	struct netns_dpa *dpa = netns_dpa(net);
	int i;

	for (i = 0; i < HEARD_SLOTS; i++) {
		dpa->heard[i].at = tcp_jiffies32 - LONG_AGO;
		dpa->heard[i].asked = dpa->heard[i].at;
	}
}

/**
 * heard_note() - what a subflow heard last counts for its path
 * @ssk: the subflow
 *
 * Context: any; a subflow that notes less at the same time may win.
 */
void heard_note(const struct sock *ssk)
{
	u32 at = READ_ONCE(tcp_sk(ssk)->rcv_tstamp);
	struct heard *slot = heard_slot(ssk);
	u32 was = READ_ONCE(slot->at);

	/* half of all jiffies later it would seem to be in the future */
	if (time_after32(at, was) || tcp_jiffies32 - was > LONG_AGO)
		WRITE_ONCE(slot->at, at);
}

/**
 * heard_lately() - did any connection hear something over the path?
 * @ssk: one of its subflows
 * @ticks: within so many jiffies
 *
 * Context: any.
 */
bool heard_lately(const struct sock *ssk, u32 ticks)
{
	return tcp_jiffies32 - READ_ONCE(heard_slot(ssk)->at) <= ticks;
}

/**
 * heard_may_ask() - has nobody heard anything over the path, nor asked?
 * @ssk: one of its subflows
 * @ticks: for so many jiffies
 *
 * Context: any.
 */
bool heard_may_ask(const struct sock *ssk, u32 ticks)
{
	return !heard_lately(ssk, ticks) &&
	       tcp_jiffies32 - READ_ONCE(heard_slot(ssk)->asked) >= ticks;
}

/**
 * heard_ask() - a subflow asks its path's far end for a sign
 * @ssk: the subflow
 *
 * Context: any; two that ask at the same time both may.
 */
void heard_ask(const struct sock *ssk)
{
	WRITE_ONCE(heard_slot(ssk)->asked, tcp_jiffies32);
}
