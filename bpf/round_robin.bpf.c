// SPDX-License-Identifier: GPL-2.0-only
/* round_robin: one burst on each subflow with room, in turn. */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

/* whose turn it was, per connection */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} last_turn SEC(".maps");

/* subflow ids grow: the next larger one, or else the smallest */
static __always_inline int round_robin_send(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow, *next = NULL, *lowest = NULL;
	__u32 *last;

	last = bpf_sk_storage_get(&last_turn, msk, NULL,
				  BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!last)
		return -1;
	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk) {
		if (!subflow_ready(subflow))
			continue;
		if (!lowest || subflow->subflow_id < lowest->subflow_id)
			lowest = subflow;
		if (subflow->subflow_id > *last &&
		    (!next || subflow->subflow_id < next->subflow_id))
			next = subflow;
	}
	next = next ?: lowest;
	if (!next)
		return -1;
	*last = next->subflow_id;
	subflow_pick(msk, next, MPTCP_SEND_BURST);
	return 0;
}

static __always_inline int round_robin_retrans(struct mptcp_sock *msk)
{
	return sched_default_retrans(msk);
}

MPTCP_SCHED_PROGRAMS(round_robin);

SEC(".struct_ops.link")
struct mptcp_sched_ops round_robin = {
	MPTCP_SCHED_CALLBACKS(round_robin)
	.name = "round_robin",
};
