// SPDX-License-Identifier: GPL-2.0-only
/* A name that would lead out of the directory of pins. */
#include "sched.h"

MPTCP_SCHED_PROGRAMS(leave);

SEC(".struct_ops.link")
struct mptcp_sched_ops badname = {
	MPTCP_SCHED_CALLBACKS(leave)
	.name		= "../up",
};
