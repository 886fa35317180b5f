// SPDX-License-Identifier: GPL-2.0-only
/* Says that its connections have more paths than there is room for. */
#include "mptcp_sched.bpf.h"

#include "state.h"

char _license[] SEC("license") = "GPL";

static __always_inline int mpdpa_rows_send(struct mptcp_sock *msk)
{
	struct dpa_state *st = (void *)mptcp_dpa_conn((struct sock *)msk,
						      sizeof(struct dpa_state));

	if (st)
		st->rows = 1 << 24;
	return mptcp_dpa_default_send(msk);
}

MPTCP_SCHED_SEND_PROGRAMS(mpdpa_rows);

SEC(".struct_ops.link")
struct mptcp_sched_ops mpdpa_rows = {
	MPTCP_SCHED_SEND_CALLBACKS(mpdpa_rows)
	.name		= "mpdpa_rows",
};
