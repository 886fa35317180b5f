// SPDX-License-Identifier: GPL-2.0-only
/* The second one's name is found to be taken only when it is attached. */
#include "sched.h"

LEAVE_SEND
LEAVE_RETRANS

SEC(".struct_ops.link")
struct mptcp_sched_ops first = {
	.get_send	= (void *)leave_send,
	.get_retrans	= (void *)leave_retrans,
	.name		= "same",
};

SEC(".struct_ops.link")
struct mptcp_sched_ops second = {
	.get_send	= (void *)leave_send,
	.get_retrans	= (void *)leave_retrans,
	.name		= "same",
};
