// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long processors had nothing to do. What /proc/stat calls idle holds the
 * interrupts that end it, and all they do for the network; here a processor is
 * idle until the first of them.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define IDLE_ENDS	(-1U)	/* PWR_EVENT_EXIT, a macro of the kernel */

char LICENSE[] SEC("license") = "GPL";

struct processor {
	__u64 since_ns;		/* CLOCK_MONOTONIC; 0: at work */
	__u64 idle_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);	/* processors; set when it is loaded */
	__type(key, __u32);
	__type(value, struct processor);
} processors SEC(".maps");

static int woken(void)
{
	__u32 number = bpf_get_smp_processor_id();
	struct processor *own = bpf_map_lookup_elem(&processors, &number);

	if (!own || !own->since_ns)
		return 0;
	own->idle_ns += bpf_ktime_get_ns() - own->since_ns;
	own->since_ns = 0;
	return 0;
}

SEC("tp_btf/cpu_idle")
int BPF_PROG(idle, unsigned int state, unsigned int number)
{
	struct processor *own = bpf_map_lookup_elem(&processors, &number);

	if (state == IDLE_ENDS)
		return woken();
	if (own)
		own->since_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/local_timer_entry")
int BPF_PROG(timer, int vector)
{
	return woken();
}

SEC("tp_btf/reschedule_entry")
int BPF_PROG(reschedule, int vector)
{
	return woken();
}

SEC("tp_btf/call_function_single_entry")
int BPF_PROG(call, int vector)
{
	return woken();
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(device, int irq)
{
	return woken();
}
