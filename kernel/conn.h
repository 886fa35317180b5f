/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a connection: made by the first option that needs it, gone with
 * the socket. Everything but the linkage is protected by the msk lock, that is:
 * the socket owned, or its spinlock held with no owner.
 */
#ifndef _MPTCP_DPA_CONN_H
#define _MPTCP_DPA_CONN_H

#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/refcount.h>
#include <linux/time64.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include "chunk.h"
#include "pref.h"
#include "state.h"
#include "stream.h"

struct eventfd_ctx;
struct netns_dpa;
struct quota;
struct mptcp_sock;

/* the module's side of a row of dpa_state::path */
struct conn_path {
	/* whose row it is, NULL: nobody's; not to be followed, it may be gone */
	const struct mptcp_subflow_context *sf;
	struct quota *quota;	/* NULL: none; with a reference */
	u64	rescued;	/* sequence up to which data was sent again */
	u32	rescued_len;	/* bytes before that; 0: none was */
	u32	given;		/* tcp_sock::write_seq when bytes were last counted */
	u32	floor_us;	/* BBR's least round trip; 0: none seen */
	u32	floor_at;	/* when it was measured: tcp_jiffies32 */
	u16	granted;	/* bytes of the quota that are not spent yet */
	u16	asked_s;	/* when it was asked whether it is back; wraps */
	u32	pace;		/* as sock::sk_max_pacing_rate was last set; 0: any */
	u32	prio_ms;	/* when an MP_PRIO was last sent; wraps */
	/* what dpa_path::cost was resolved from */
	u32	cost_gen;
	int	ifindex;
	bool	backup : 1;
	bool	resolved : 1;
	bool	prio_sent : 1;	/* prio_ms is set */
	bool	silenced : 1;	/* the path was silent then: nothing was left out */
	bool	told_busy : 1;	/* it had bytes on its way when @told was set */
	u8	endpoint;	/* the cost was resolved from this one as well; 0: none */
	u16	number;		/* of @sf, low bits */
	u32	told;		/* what had arrived when others were told of it last */
};

struct conn {
	struct hlist_node	node;	/* conn_table, conn_lock */
	struct rcu_head		rcu;
	refcount_t		refs;
	bool			dead;	/* released; nothing may be queued */
	bool			syn_passed : 1; /* what went with its SYN is taken off chunks */
	bool			left_behind : 1; /* a path went while others' bytes waited */
	bool			shared : 1; /* many filled a path at the timer's last look */
	bool			cut_due : 1; /* the pick just made ends within a fragment */
	u16			disconnects; /* sock::sk_disconnects when last refreshed */
	struct sock		*sk;	/* held by whoever queued the work */
	struct netns_dpa	*dpa;	/* of the socket's namespace */
	u64			id;	/* in netns_dpa::conns */
	struct hrtimer		timer;
	struct work_struct	work;
	struct eventfd_ctx	*eventfd; /* NULL: none */

	u64			chunks_met;
	u64			chunks_missed;
	u64			costly;	/* bytes that costlier paths got for chunks */
	u32			activations;
	u32			told_ms; /* when others were told last; wraps */
	u32			overflow_ms;	/* 0: the namespace's */
	u32			room_ms; /* when a settled path lost its row; wraps, 0: none */
	u64			overflow_ns;	/* in force at the last refresh */
	u64			overflowed;	/* bytes written while it was */
	u8			subflows; /* that have a row */
	u8			line;	/* the row whose line the first chunk is in, if it waits */
	u16			alpha_milli;	/* 0: the namespace's */
	u32			place;	/* in that line; wraps */
	u32			turn_ms; /* when its turn comes, as far as is known; wraps */
	u16			fruitless_ms; /* when no row was to be had; wraps; 0: never */
	u32			picked;	/* bytes of a pick since the last look; dpa_state::last */
	u32			window_cut; /* bytes, as a pick ends within a fragment */
	u64			next_end; /* dpa_state::next_deadline_ns holds up to it */
	u64			window_less; /* where the window ends without them */
	struct chunk_queue	queue;
	struct stream		stream;
	struct pref_list	*prefs;	/* NULL: none were set */
	struct conn_path	path[MPTCP_DPA_PATHS_MAX];
	struct dpa_state	state;
};

/* Is it one of MPTCP's? A raw socket may have the same protocol. */
static inline bool is_mptcp_socket(const struct sock *sk)
{
	return (sk->sk_family == AF_INET || sk->sk_family == AF_INET6) &&
	       sk->sk_type == SOCK_STREAM && sk->sk_protocol == IPPROTO_MPTCP;
}

/* When it was brought up to date; wraps. */
static inline u32 conn_now_ms(const struct conn *c)
{
	return div_u64(c->state.now_ns, NSEC_PER_MSEC);
}

static inline u16 conn_now_s(const struct conn *c)
{
	return div_u64(c->state.now_ns, NSEC_PER_SEC);
}

struct conn *conn_find(const struct sock *sk);
struct conn *conn_get_or_create(struct sock *sk);
struct conn *conn_next_get(struct net *net, u64 *id);
void conn_put_sock(struct conn *c);
void conn_hold(struct conn *c);
void conn_put(struct conn *c);
void conn_release(struct sock *sk);
struct pref_list *conn_prefs(struct conn *c);
u64 conn_overflow_ns(const struct conn *c);
bool conn_steers(const struct conn *c);
u32 conn_chunks_max(const struct conn *c);
struct ack_delay conn_ack_delay(const struct mptcp_sock *msk);

void conn_init_net(struct net *net);
void conn_exit_net(struct net *net);

int conn_init(void);
void conn_exit(void);

#endif
