// SPDX-License-Identifier: GPL-2.0-only
#include <net/sock.h>

#include "conn.h"
#include "msk.h"
#include "path.h"
#include "prio.h"
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

	return c->queue.count ? row->flags & DPA_PATH_HELD : backup;
}

static void change(struct mptcp_subflow_context *sf, struct sock *ssk,
		   bool backup)
{
	bool slow = lock_sock_fast(ssk);

	if (kernel_fn(mptcp_subflow_active)(sf)) {
		subflow_set_prio(sf, backup);
		kernel_fn(tcp_send_ack)(ssk);
	}
	unlock_sock_fast(ssk, slow);
}

static void apply_one(struct conn *c, struct mptcp_subflow_context *sf, int i)
{
	struct dpa_path *row = &c->state.path[i];
	struct sock *ssk = subflow_ssk(sf);
	u64 now = c->state.now_ns;
	bool backup;

	if (!(row->flags & DPA_PATH_STEERED))
		return;
	backup = wanted(c, row, ssk);
	if (backup != subflow_request_bkup(sf)) {
		if (now < c->path[i].prio_ns + PRIO_INTERVAL_NS)
			return;
		change(sf, ssk, backup);
		c->path[i].prio_ns = now;
	}
	if (!c->queue.count)
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
		if (!c->queue.count ||
		    !!(flags & DPA_PATH_HELD) != subflow_request_bkup(sf))
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
