// SPDX-License-Identifier: GPL-2.0-only
/* A name that leaves no room for its end. */
#include "sched.h"

MPTCP_SCHED_PROGRAMS(leave);

SEC(".struct_ops.link")
struct mptcp_sched_ops longname = {
	MPTCP_SCHED_CALLBACKS(leave)
	.name		= { 's', 'i', 'x', 't', 'e', 'e', 'n', '_', 'c', 'h', 'a', 'r', 's', '_', '1', '6' },
};
