/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a connection: made by the first chunk, gone with the socket.
 * Everything but the linkage is protected by the msk lock, that is: the socket
 * owned, or its spinlock held with no owner.
 */
#ifndef _MPTCP_DPA_CONN_H
#define _MPTCP_DPA_CONN_H

#include <linux/hrtimer.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include <net/sock.h>

#include "chunk.h"
#include "state.h"

/* the module's side of a row of dpa_state::path */
struct conn_path {
	u64		prio_ns;	/* when an MP_PRIO was last sent */
	/* what dpa_path::cost was resolved from */
	u32		cost_gen;
	int		ifindex;
	bool		backup;
	bool		resolved;
};

struct conn {
	struct hlist_node	node;	/* conn_table, conn_lock */
	struct rcu_head		rcu;
	refcount_t		refs;
	struct sock		*sk;	/* held by whoever queued the work */
	struct hrtimer		timer;
	struct work_struct	work;

	bool			dead;	/* released; nothing may be queued */
	u64			chunks_met;
	u64			chunks_missed;
	struct chunk_queue	queue;
	struct conn_path	path[MPTCP_DPA_PATHS_MAX];
	struct dpa_state	state;
};

struct mptcp_sock;

struct conn *conn_find(const struct sock *sk);
struct conn *conn_get_or_create(struct sock *sk);
void conn_put(struct conn *c);
void conn_release(struct sock *sk);
void conn_refresh(struct conn *c);
u64 conn_ack_delay_ns(const struct mptcp_sock *msk);

int conn_init(void);
void conn_exit(void);

#endif
