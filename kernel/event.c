// SPDX-License-Identifier: GPL-2.0-only
#include <linux/eventfd.h>
#include <net/genetlink.h>

#include "conn.h"
#include "event.h"
#include "msk.h"
#include "netlink.h"
#include "netlink_gen.h"

/* Room for the largest event, attribute headers and padding included. */
#define EVENT_SIZE	256

static int put_conn(struct sk_buff *skb, struct conn *c)
{
	return nla_put_u64_64bit(skb, MPTCP_DPA_A_CONN_ID, c->id,
				 MPTCP_DPA_A_CONN_PAD) ?:
	       nla_put_u32(skb, MPTCP_DPA_A_CONN_TOKEN,
			   msk_token(msk_of(c->sk))) ?:
	       nla_put_u64_64bit(skb, MPTCP_DPA_A_CONN_COOKIE,
				 atomic64_read(&c->sk->sk_cookie),
				 MPTCP_DPA_A_CONN_PAD);
}

static int put_chunk(struct sk_buff *skb, const struct chunk *chunk)
{
	struct nlattr *nest = nla_nest_start(skb, MPTCP_DPA_A_CONN_CHUNK);

	if (!nest ||
	    nla_put_u64_64bit(skb, MPTCP_DPA_A_CHUNK_LENGTH,
			      chunk->end - chunk->begin,
			      MPTCP_DPA_A_CHUNK_PAD) ||
	    nla_put_u64_64bit(skb, MPTCP_DPA_A_CHUNK_DEADLINE_NS,
			      chunk->deadline_ns, MPTCP_DPA_A_CHUNK_PAD) ||
	    nla_put_u64_64bit(skb, MPTCP_DPA_A_CHUNK_COOKIE, chunk->cookie,
			      MPTCP_DPA_A_CHUNK_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Events are told, not owed: without memory one is lost. */
static void multicast(struct conn *c, u8 cmd, const struct chunk *chunk,
		      u32 subflow_id)
{
	struct net *net = sock_net(c->sk);
	struct sk_buff *skb;
	void *hdr;
	int err;

	if (!genl_has_listeners(&netlink_family, net, MPTCP_DPA_NLGRP_EVENTS))
		return;
	skb = nlmsg_new(EVENT_SIZE, GFP_ATOMIC);
	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &netlink_family, 0, cmd);
	err = hdr ? put_conn(skb, c) : -EMSGSIZE;
	if (!err)
		err = chunk ? put_chunk(skb, chunk) :
			      nla_put_u32(skb, MPTCP_DPA_A_CONN_EVENT_SUBFLOW,
					  subflow_id);
	if (err) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&netlink_family, net, skb, 0,
				MPTCP_DPA_NLGRP_EVENTS, GFP_ATOMIC);
}

/**
 * event_chunk() - tell about a chunk
 * @c: its connection
 * @cmd: MPTCP_DPA_CMD_CHUNK_*
 * @chunk: the chunk
 *
 * Context: msk lock; does not sleep.
 */
void event_chunk(struct conn *c, u8 cmd, const struct chunk *chunk)
{
	multicast(c, cmd, chunk, 0);
	if (c->eventfd)
		eventfd_signal(c->eventfd);
}

/**
 * event_path() - tell about a subflow
 * @c: its connection
 * @cmd: MPTCP_DPA_CMD_PATH_*, or MPTCP_DPA_CMD_QUOTA_REACHED
 * @subflow_id: the kernel's number of it
 *
 * Context: msk lock; does not sleep.
 */
void event_path(struct conn *c, u8 cmd, u32 subflow_id)
{
	multicast(c, cmd, NULL, subflow_id);
}
