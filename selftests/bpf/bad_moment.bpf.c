// SPDX-License-Identifier: GPL-2.0-only
/* Asks for everything when there are no subflows yet, and when none is left. */
#include "mptcp_sched.bpf.h"

#include "state.h"

char _license[] SEC("license") = "GPL";

static __always_inline void ask_everything(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow;

	mptcp_dpa_conn((struct sock *)msk, sizeof(struct dpa_state));
	mptcp_dpa_send(msk);
	mptcp_dpa_default_send(msk);
	mptcp_dpa_default_retrans(msk);
	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk) {
		mptcp_dpa_path(subflow);
		mptcp_dpa_pick(subflow, ~0U);
	}
}

static __always_inline int bad_moment_send(struct mptcp_sock *msk)
{
	return mptcp_dpa_default_send(msk);
}

SEC("struct_ops")
void BPF_PROG(bad_moment_init, struct mptcp_sock *msk)
{
	ask_everything(msk);
}

SEC("struct_ops")
void BPF_PROG(bad_moment_release, struct mptcp_sock *msk)
{
	ask_everything(msk);
}

MPTCP_SCHED_SEND_PROGRAMS(bad_moment);

SEC(".struct_ops.link")
struct mptcp_sched_ops bad_moment = {
	MPTCP_SCHED_SEND_CALLBACKS(bad_moment)
	.init		= (void *)bad_moment_init,
	.release	= (void *)bad_moment_release,
	.name		= "bad_moment",
};
