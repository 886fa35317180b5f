// SPDX-License-Identifier: GPL-2.0-only
#include <net/tcp.h>

#include "conn.h"
#include "msk.h"
#include "pace.h"
#include "path.h"

/* what sock::sk_max_pacing_rate is where nobody has set it */
#define ANY_PACE	(~0UL)

/*
 * Does what SO_MAX_PACING_RATE would, and "ss -ti" shows it. Where somebody else has set
 * that, it is left alone. Congestion control reads the limit at each acknowledgment,
 * and may miss the lower rate for one.
 */
static void set_pace(struct conn_path *path, struct sock *ssk, u32 pace)
{
	unsigned long was = READ_ONCE(ssk->sk_max_pacing_rate);
	unsigned long most = pace ?: ANY_PACE;

	if (pace == path->pace || (was != ANY_PACE && was != path->pace))
		return;
	path->pace = pace;
	WRITE_ONCE(ssk->sk_max_pacing_rate, most);
	if (READ_ONCE(ssk->sk_pacing_rate) > most)
		WRITE_ONCE(ssk->sk_pacing_rate, most);
}

/*
 * The pace that is in force for a path. One that others fill has it all the time, so that
 * all do not send into a queue that is full.
 */
static u32 pace_of(const struct dpa_path *row, const struct sock *ssk)
{
	return row->share || READ_ONCE(tcp_sk(ssk)->app_limited) ? row->pace : 0;
}

/**
 * pace_apply() - subflows send no faster than the plan says where they would fill a queue
 * @c: the connection
 *
 * As long as its TCP counts as application-limited, which after idle time it does for
 * a round trip, or many share the path: see dpa_pace(). When the last chunk is over they
 * send as they like.
 *
 * Context: msk lock; does not sleep. The subflows' locks are not needed.
 */
void pace_apply(struct conn *c)
{
	struct mptcp_subflow_context *sf;

	msk_for_each_subflow(msk_of(c->sk), sf) {
		struct sock *ssk = subflow_ssk(sf);
		int i = path_find(c, sf);

		if (i >= 0)
			set_pace(&c->path[i], ssk, conn_steers(c) ?
				 pace_of(&c->state.path[i], ssk) : 0);
	}
}

/* Is this what we set for one of the paths? */
static bool is_ours(const struct conn *c, unsigned long pace)
{
	int i;

	for (i = 0; i < MPTCP_DPA_PATHS_MAX; i++)
		if (c->path[i].pace && c->path[i].pace == pace)
			return true;
	return false;
}

/**
 * pace_lift() - no subflow has a pace of ours any more
 * @c: the connection, whose paths are about to be forgotten
 *
 * The first subflow outlives its stream, and has another number then.
 *
 * Context: msk lock; does not sleep.
 */
void pace_lift(struct conn *c)
{
	struct mptcp_subflow_context *sf;

	msk_for_each_subflow(msk_of(c->sk), sf) {
		struct sock *ssk = subflow_ssk(sf);

		if (is_ours(c, READ_ONCE(ssk->sk_max_pacing_rate)))
			WRITE_ONCE(ssk->sk_max_pacing_rate, ANY_PACE);
	}
}

/* A subflow that is to lose its row has no pace of ours any more. */
void pace_give_back(struct conn *c, int i, struct sock *ssk)
{
	set_pace(&c->path[i], ssk, 0);
}
