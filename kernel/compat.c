// SPDX-License-Identifier: GPL-2.0-only
/* What some kernels do themselves, and others leave to a scheduler. */
#include <net/mptcp.h>
#include <net/tcp.h>

#include "compat.h"
#include "msk.h"
#include "path.h"
#include "symbols.h"

#ifdef COMPAT_STALE_BY_SCHEDULER

static bool can_send(const struct mptcp_subflow_context *sf)
{
	return subflow_joined(sf) && path_is_up(subflow_ssk(sf));
}

/**
 * compat_check_stale() - count retransmissions of subflows without progress
 * @msk: the connection; owned
 *
 * Where the kernel's default scheduler does this while it picks. Locks subflows
 * and may call the scheduler, so it must not be done inside a BPF program.
 *
 * Context: process, before a pick for a retransmission.
 */
void compat_check_stale(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *sf;

	msk_for_each_subflow(msk, sf) {
		struct sock *ssk = subflow_ssk(sf);

		if (can_send(sf) && !tcp_rtx_and_write_queues_empty(ssk))
			kernel_fn(mptcp_pm_subflow_chk_stale)(msk, ssk);
	}
}

/**
 * compat_default_retrans() - the default scheduler's pick for a retransmission
 * @msk: the connection; owned
 *
 * Picks as the kernel's does, the check that compat_check_stale() has done
 * left out: a subflow with nothing outstanding, one that is no backup first;
 * a backup only when none of the others gets on.
 *
 * Return: the subflow's TCP socket, or NULL.
 */
struct sock *compat_default_retrans(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *sf;
	struct sock *backup = NULL;
	bool stuck = true;

	msk_for_each_subflow(msk, sf) {
		struct sock *ssk = subflow_ssk(sf);

		if (!can_send(sf))
			continue;
		if (!tcp_rtx_and_write_queues_empty(ssk))
			stuck &= subflow_stale_count(sf) > 1;
		else if (!subflow_request_bkup(sf) && !subflow_peer_backup(sf))
			return ssk;
		else if (!backup)
			backup = ssk;
	}
	return stuck ? backup : NULL;
}

#else

void compat_check_stale(struct mptcp_sock *msk)
{
}

struct sock *compat_default_retrans(struct mptcp_sock *msk)
{
	return kernel_fn(mptcp_subflow_get_retrans)(msk);
}

#endif
