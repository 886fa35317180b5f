// SPDX-License-Identifier: GPL-2.0-only
#include <linux/time64.h>
#include <net/sock.h>

#include "conn.h"
#include "msk.h"
#include "netns.h"
#include "path.h"
#include "prio.h"
#include "stat.h"
#include "symbols.h"

/* Is the subflow's endpoint flagged backup? That may change at any time. */
static bool endpoint_backup(struct conn *c, struct dpa_path *row,
			    struct sock *ssk)
{
	bool backup = kernel_fn(mptcp_pm_is_backup)(msk_of(c->sk),
						    (struct sock_common *)ssk);

	if (backup)
		row->flags |= DPA_PATH_BACKUP;
	else
		row->flags &= ~DPA_PATH_BACKUP;
	return backup;
}

/* What request_bkup should be: the scheduler's word, else the endpoint's. */
static bool wanted(struct conn *c, struct dpa_path *row, struct sock *ssk)
{
	bool backup = endpoint_backup(c, row, ssk);

	return conn_steers(c) ? row->flags & DPA_PATH_HELD : backup;
}

/*
 * A subflow that joins has the priority that its SYN told until it is up, and one that
 * is closed has none. One that is stale may come back.
 */
static bool has_prio(struct mptcp_subflow_context *sf, const struct sock *ssk)
{
	return kernel_fn(mptcp_subflow_active)(sf) ||
	       (subflow_stale_count(sf) && path_is_up(ssk));
}

/*
 * Carries a priority out, and tells the peer unless it shall not know. (Nobody
 * repeats an MP_PRIO: a path that carries nothing may lose it, as RFC 8684 has it.)
 * Return: was there one to change?
 */
static bool change(struct mptcp_subflow_context *sf, struct sock *ssk,
		   bool backup)
{
	struct net *net = sock_net(ssk);
	bool signal = READ_ONCE(netns_dpa(net)->signal_peer);
	bool slow = lock_sock_fast(ssk);
	bool done = has_prio(sf, ssk);

	if (done) {
		subflow_set_prio(sf, backup, signal);
		if (signal) {
			kernel_fn(tcp_send_ack)(ssk);
			stat_inc(net, DPA_STAT_PRIO_SENT);
		}
	}
	unlock_sock_fast(ssk, slow);
	return done;
}

/* A subflow's priority is not changed twice within so many milliseconds. */
u32 prio_hysteresis_ms(const struct conn *c)
{
	return READ_ONCE(netns_dpa(sock_net(c->sk))->hysteresis_us) /
	       USEC_PER_MSEC;
}

static bool too_soon(const struct conn *c, const struct conn_path *path)
{
	return path->prio_sent &&
	       conn_now_ms(c) - path->prio_ms < prio_hysteresis_ms(c);
}

/* false: it is not what it should be, and too soon to change that */
static bool set_backup(struct conn *c, struct mptcp_subflow_context *sf, int i,
		       bool backup)
{
	if (backup == subflow_request_bkup(sf))
		return true;
	if (too_soon(c, &c->path[i]))
		return false;
	if (!change(sf, subflow_ssk(sf), backup))
		return true;
	c->path[i].prio_ms = conn_now_ms(c);
	c->path[i].prio_sent = true;
	return true;
}

static void apply_one(struct conn *c, struct mptcp_subflow_context *sf, int i)
{
	struct dpa_path *row = &c->state.path[i];

	if (!(row->flags & DPA_PATH_STEERED) ||
	    !set_backup(c, sf, i, wanted(c, row, subflow_ssk(sf))))
		return;
	if (!conn_steers(c))
		row->flags &= ~(DPA_PATH_STEERED | DPA_PATH_HELD);
}

/* Has a steered subflow a priority to get, or to be given back? */
bool prio_pending(const struct conn *c)
{
	struct mptcp_subflow_context *sf;

	msk_for_each_subflow(msk_of(c->sk), sf) {
		int i = path_find(c, sf);
		u32 flags;

		if (i < 0)
			continue;
		flags = c->state.path[i].flags;
		if (!(flags & DPA_PATH_STEERED))
			continue;
		if (!conn_steers(c) ||
		    (!!(flags & DPA_PATH_HELD) != subflow_request_bkup(sf) &&
		     has_prio(sf, subflow_ssk(sf))))
			return true;
	}
	return false;
}

/**
 * prio_apply() - carry out the scheduler's wishes, as far as they are due
 * @c: the connection
 *
 * Context: msk owned, may sleep; takes the subflows' locks one by one.
 */
void prio_apply(struct conn *c)
{
	struct mptcp_subflow_context *sf;

	msk_for_each_subflow(msk_of(c->sk), sf) {
		int i = path_find(c, sf);

		if (i >= 0)
			apply_one(c, sf, i);
	}
}

/**
 * prio_give_back() - a subflow that is to lose its row has its endpoint's priority
 * @c: the connection
 * @sf: the subflow
 * @i: its row
 *
 * Context: msk owned, may sleep; takes the subflow's lock.
 * Return: false if it has not, and was given another too short a time ago.
 */
bool prio_give_back(struct conn *c, struct mptcp_subflow_context *sf, int i)
{
	struct dpa_path *row = &c->state.path[i];

	return !(row->flags & DPA_PATH_STEERED) ||
	       set_backup(c, sf, i, endpoint_backup(c, row, subflow_ssk(sf)));
}
