// SPDX-License-Identifier: GPL-2.0-only
/* The second one's name is found to be taken only when it is attached. */
#include "sched.h"

MPTCP_SCHED_PROGRAMS(leave);

SEC(".struct_ops.link")
struct mptcp_sched_ops first = {
	MPTCP_SCHED_CALLBACKS(leave)
	.name		= "same",
};

SEC(".struct_ops.link")
struct mptcp_sched_ops second = {
	MPTCP_SCHED_CALLBACKS(leave)
	.name		= "same",
};
