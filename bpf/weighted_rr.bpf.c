// SPDX-License-Identifier: GPL-2.0-only
/*
 * weighted_rr: bursts in proportion to weights. The map weights has them by the
 * id of the endpoint that a subflow was made from (the first subflow of a
 * connection has 0); who is not in it has weight 1:
 *
 *	bpftool map update name weights key 2 0 0 0 value 3 0 0 0
 */
#include "mptcp_sched.bpf.h"

char _license[] SEC("license") = "GPL";

#define SUBFLOWS_MAX	8
#define WEIGHT_MAX	1000
/* how far a subflow may fall behind while it has no room, in bursts */
#define ARREARS_MAX	4
/* what one burst costs a subflow of weight 1 */
#define STRIDE		(1ULL << 20)

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u32);
	__type(value, __u32);
} weights SEC(".maps");

/* of a subflow: the least goes first */
struct used {
	__u64	strides;
	__u32	id;		/* 0: nobody's */
};

/* of a connection; of more subflows those with the highest ids have a record */
struct record {
	struct used	of[SUBFLOWS_MAX];
	__u64		floor;	/* in strides */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct record);
} strides SEC(".maps");

static __always_inline __u64
stride_of(const struct mptcp_subflow_context *subflow)
{
	__u32 id = (__u8)subflow->local_id;
	__u32 *weight = bpf_map_lookup_elem(&weights, &id);

	if (!weight || !*weight || *weight > WEIGHT_MAX)
		return STRIDE;
	return STRIDE / *weight;
}

/*
 * Its slot, or else the one whose id is lowest: ids only grow, so that one has left. A
 * function that the verifier looks at once, and not for each subflow.
 */
__noinline int slot_of(struct record *record, __u32 id)
{
	__u32 slot = 0;
	int i;

	if (!record)
		return 0;
	for (i = 0; i < SUBFLOWS_MAX; i++) {
		if (record->of[i].id == id)
			return i;
		if (record->of[i].id < record->of[slot % SUBFLOWS_MAX].id)
			slot = i;
	}
	record->of[slot % SUBFLOWS_MAX] = (struct used){ .id = id };
	return slot;
}

static __always_inline int weighted_rr_send(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *subflow, *best = NULL;
	__u64 least = ~0ULL;
	struct record *record;
	__u32 slot = 0;

	record = bpf_sk_storage_get(&strides, msk, NULL,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!record)
		return -1;
	bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk) {
		struct used *used;
		__u32 i;

		if (!subflow_ready(subflow))
			continue;
		i = slot_of(record, subflow->subflow_id + 1);
		i %= SUBFLOWS_MAX;
		used = &record->of[i];
		/* a new one, or one that was away, does not catch up */
		if (used->strides < record->floor)
			used->strides = record->floor;
		if (used->strides < least) {
			least = used->strides;
			best = subflow;
			slot = i;
		}
	}
	if (!best)
		return -1;
	if (least > ARREARS_MAX * STRIDE &&
	    least - ARREARS_MAX * STRIDE > record->floor)
		record->floor = least - ARREARS_MAX * STRIDE;
	record->of[slot % SUBFLOWS_MAX].strides += stride_of(best);
	subflow_pick(msk, best, MPTCP_SEND_BURST);
	return 0;
}

static __always_inline int weighted_rr_retrans(struct mptcp_sock *msk)
{
	return sched_default_retrans(msk);
}

MPTCP_SCHED_PROGRAMS(weighted_rr);

SEC(".struct_ops.link")
struct mptcp_sched_ops weighted_rr = {
	MPTCP_SCHED_CALLBACKS(weighted_rr)
	.name = "weighted_rr",
};
