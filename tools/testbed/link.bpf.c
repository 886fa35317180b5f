// SPDX-License-Identifier: GPL-2.0-only
/*
 * A link whose rate changes over time. The whole course of the rate is known
 * beforehand, so that a packet's departure can be fixed when it arrives and is
 * still right for rates that change while it waits. It becomes the packet's
 * time stamp; the fq qdisc behind this program keeps it until then.
 *
 * Departures are whole milliseconds after the start, as in recorded traces: what
 * may leave within one leaves at its end, together. A machine in virtual time
 * wakes for each departure, and to wake costs it more than to forward.
 *
 * The course is the number of bytes that the link has carried by the end of
 * each step. It repeats. Positions are bytes on that scale, rounds included.
 *
 * Loops are bpf_for(): the verifier looks at a body once instead of at every
 * round of loops within loops, which took it longer than some transfers take.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#define TC_ACT_OK	0
#define TC_ACT_SHOT	2
#define MAX_STEPS_LOG2	24
#define MAX_WINDOWS	16
#define MAX_TRIES	16
#define NSEC_PER_SEC	1000000000ULL
#define GRID_NS		1000000ULL

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);	/* steps and one; set when it is loaded */
	__type(key, __u32);
	__type(value, __u64);	/* bytes carried before the step */
} course SEC(".maps");

struct window {
	__u64 from_ns;		/* since start */
	__u64 to_ns;
};

struct link {
	__u64 start_ns;		/* CLOCK_MONOTONIC; 0: not yet, a constant rate */
	__u64 step_ns;
	__u64 steps;
	__u64 limit_bytes;	/* of the queue */
	__u64 before_bps;	/* the rate until the start */
	__u64 delay_ns;		/* of the hop behind the link */
	__u64 windows;		/* 0: always up */
	struct window up[MAX_WINDOWS];
	/* written by the program */
	__u64 position;		/* of the last byte in the queue */
	__u64 free_ns;		/* before the start: when the queue will be empty */
	__u64 drops;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct link);
} links SEC(".maps");

static __u64 carried(__u32 step)
{
	__u64 *bytes = bpf_map_lookup_elem(&course, &step);

	return bytes ? *bytes : 0;
}

/* Where the link is at a time: what it could have carried until then. */
static __u64 position_at(const struct link *link, __u64 elapsed_ns)
{
	__u64 period_ns = link->step_ns * link->steps;
	__u64 rest_ns, step, before, after, rounds;

	if (!period_ns)
		return 0;
	rounds = elapsed_ns / period_ns;
	rest_ns = elapsed_ns % period_ns;
	step = rest_ns / link->step_ns;
	before = carried(step);
	after = carried(step + 1);
	return rounds * carried(link->steps) + before +
	       (after - before) * (rest_ns % link->step_ns) / link->step_ns;
}

/* When the link has carried everything up to a position above 0. */
static __u64 time_of(const struct link *link, __u64 position)
{
	__u64 total = carried(link->steps);
	__u64 low = 0, high = link->steps, rest, before, part, rounds;
	int i;

	if (!total)
		return 0;
	rounds = (position - 1) / total;
	rest = position - rounds * total;
	/* the first step by whose end it is carried */
	bpf_for(i, 0, MAX_STEPS_LOG2) {
		__u64 middle = (low + high) / 2;

		if (low + 1 >= high)
			break;

		if (carried(middle) < rest)
			low = middle;
		else
			high = middle;
	}
	before = carried(low);
	part = carried(low + 1) - before;
	if (!part)
		return 0;
	return (rounds * link->steps + low) * link->step_ns +
	       ((rest - before) * link->step_ns + part - 1) / part;
}

static bool is_up(const struct link *link, __u64 from_ns, __u64 to_ns)
{
	int i;

	if (!link->windows)
		return true;
	bpf_for(i, 0, MAX_WINDOWS)
		if (i < link->windows && link->up[i].from_ns <= from_ns &&
		    to_ns < link->up[i].to_ns)
			return true;
	return false;
}

static int drop(struct link *link)
{
	__sync_fetch_and_add(&link->drops, 1);
	return TC_ACT_SHOT;
}

static int depart_before(struct link *link, struct __sk_buff *skb, __u64 now_ns)
{
	__u64 begin_ns = link->free_ns > now_ns ? link->free_ns : now_ns;

	if (!link->before_bps || (link->windows && link->up[0].from_ns))
		return drop(link);
	link->free_ns = begin_ns +
			skb->len * 8 * NSEC_PER_SEC / link->before_bps;
	skb->tstamp = link->free_ns;
	return TC_ACT_OK;
}

SEC("tcx/egress")
int depart(struct __sk_buff *skb)
{
	__u64 now_ns = bpf_ktime_get_ns(), elapsed_ns, here, old, begin, when_ns;
	__u32 zero = 0;
	struct link *link = bpf_map_lookup_elem(&links, &zero);
	int i;

	if (!link)
		return TC_ACT_SHOT;
	if (!link->start_ns || now_ns < link->start_ns)
		return depart_before(link, skb, now_ns);
	elapsed_ns = now_ns - link->start_ns;
	here = position_at(link, elapsed_ns);
	bpf_for(i, 0, MAX_TRIES) {
		old = link->position;
		begin = old > here ? old : here;
		if (begin - here + skb->len > link->limit_bytes)
			return drop(link);
		when_ns = time_of(link, begin + skb->len);
		if (!is_up(link, elapsed_ns, when_ns))
			return drop(link);
		if (__sync_val_compare_and_swap(&link->position, old,
						begin + skb->len) == old) {
			when_ns = (when_ns + GRID_NS - 1) / GRID_NS * GRID_NS;
			skb->tstamp = link->start_ns + when_ns;
			return TC_ACT_OK;
		}
	}
	return drop(link);
}

/*
 * The delay, on another hop. What left the link in one millisecond comes here
 * one after the other, and leaves together again.
 */
SEC("tcx/egress")
int hold(struct __sk_buff *skb)
{
	__u64 now_ns = bpf_ktime_get_ns(), when_ns;
	__u32 zero = 0;
	struct link *link = bpf_map_lookup_elem(&links, &zero);

	if (!link)
		return TC_ACT_SHOT;
	when_ns = now_ns + link->delay_ns;
	if (link->start_ns && now_ns >= link->start_ns)
		when_ns -= (when_ns - link->start_ns) % GRID_NS;
	skb->tstamp = when_ns;
	return TC_ACT_OK;
}
