// SPDX-License-Identifier: GPL-2.0-only
/* Two schedulers in one object, one of them in the older kind of section. */
#include "sched.h"

MPTCP_SCHED_PROGRAMS(leave);

SEC(".struct_ops.link")
struct mptcp_sched_ops first = {
	MPTCP_SCHED_CALLBACKS(leave)
	.name		= "pair_a",
};

SEC(".struct_ops")
struct mptcp_sched_ops second = {
	MPTCP_SCHED_CALLBACKS(leave)
	.name		= "pair_b",
};
