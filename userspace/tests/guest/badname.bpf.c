// SPDX-License-Identifier: GPL-2.0-only
/* A name that would lead out of the directory of pins. */
#include "sched.h"

LEAVE_SEND
LEAVE_RETRANS

SEC(".struct_ops.link")
struct mptcp_sched_ops badname = {
	.get_send	= (void *)leave_send,
	.get_retrans	= (void *)leave_retrans,
	.name		= "../up",
};
