// SPDX-License-Identifier: GPL-2.0-only
/* Writes what is not for schedulers: the verifier has to refuse it. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int no_write_sf_send(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow;

	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk)
		subflow->stale_count = 1;
	return mptcp_dpa_default_send(msk);
}

MPTCP_SCHED_SEND_PROGRAMS(no_write_sf);

SEC(".struct_ops.link")
struct mptcp_sched_ops no_write_sf = {
	MPTCP_SCHED_SEND_CALLBACKS(no_write_sf)
	.name		= "no_write_sf",
};
