// SPDX-License-Identifier: GPL-2.0-only
/* Many of these, under other names, to fill all slots. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int slot00_send(struct mptcp_sock *msk)
{
	return mptcp_dpa_default_send(msk);
}

MPTCP_SCHED_SEND_PROGRAMS(slot00);

SEC(".struct_ops.link")
struct mptcp_sched_ops slot00 = {
	MPTCP_SCHED_SEND_CALLBACKS(slot00)
	.name		= "slot00",
};
