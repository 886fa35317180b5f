// SPDX-License-Identifier: GPL-2.0-only
/* Callbacks run with spinlocks held: a sleepable one has to be refused. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int no_sleep_send(struct mptcp_sock *msk)
{
	return mptcp_dpa_default_send(msk);
}

MPTCP_SCHED_PROGRAMS_IN("struct_ops.s", no_sleep, send);

SEC(".struct_ops.link")
struct mptcp_sched_ops no_sleep = {
	MPTCP_SCHED_SEND_CALLBACKS(no_sleep)
	.name		= "no_sleep",
};
