// SPDX-License-Identifier: GPL-2.0-only
/* Two schedulers in one object, one of them in the older kind of section. */
#include "sched.h"

LEAVE_SEND
LEAVE_RETRANS

SEC(".struct_ops.link")
struct mptcp_sched_ops first = {
	.get_send	= (void *)leave_send,
	.get_retrans	= (void *)leave_retrans,
	.name		= "pair_a",
};

SEC(".struct_ops")
struct mptcp_sched_ops second = {
	.get_send	= (void *)leave_send,
	.get_retrans	= (void *)leave_retrans,
	.name		= "pair_b",
};
