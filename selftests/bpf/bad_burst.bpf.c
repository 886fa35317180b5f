// SPDX-License-Identifier: GPL-2.0-only
/* Writes nonsense where schedulers may write. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int bad_burst_send(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow;

	msk->snd_burst = bpf_get_prandom_u32();
	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk)
		subflow->avg_pacing_rate = bpf_get_prandom_u32() & 1 ? 0 : ~0UL;
	return mptcp_dpa_default_send(msk);
}

MPTCP_SCHED_SEND_PROGRAMS(bad_burst);

SEC(".struct_ops.link")
struct mptcp_sched_ops bad_burst = {
	MPTCP_SCHED_SEND_CALLBACKS(bad_burst)
	.name		= "bad_burst",
};
