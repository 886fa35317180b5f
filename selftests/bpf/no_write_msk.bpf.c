// SPDX-License-Identifier: GPL-2.0-only
/* Writes what is not for schedulers: the verifier has to refuse it. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int no_write_msk_send(struct mptcp_sock *msk)
{
	msk->snd_nxt = 0;
	return mptcp_dpa_default_send(msk);
}

MPTCP_SCHED_SEND_PROGRAMS(no_write_msk);

SEC(".struct_ops.link")
struct mptcp_sched_ops no_write_msk = {
	MPTCP_SCHED_SEND_CALLBACKS(no_write_msk)
	.name		= "no_write_msk",
};
