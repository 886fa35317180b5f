// SPDX-License-Identifier: GPL-2.0-only
/* Writes nonsense where schedulers may write. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops")
int BPF_PROG(bad_burst_send, struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow;

	msk->snd_burst = bpf_get_prandom_u32();
	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk)
		subflow->avg_pacing_rate = bpf_get_prandom_u32() & 1 ? 0 : ~0UL;
	return mptcp_dpa_default_send(msk);
}

SEC(".struct_ops.link")
struct mptcp_sched_ops bad_burst = {
	.get_send	= (void *)bad_burst_send,
	.name		= "bad_burst",
};
