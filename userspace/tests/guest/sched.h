/* SPDX-License-Identifier: GPL-2.0-only */
/* The smallest callbacks: leave it to the kernel's default. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int leave_send(struct mptcp_sock *msk)
{
	return mptcp_dpa_default_send(msk);
}

static __always_inline int leave_retrans(struct mptcp_sock *msk)
{
	return mptcp_dpa_default_retrans(msk);
}
