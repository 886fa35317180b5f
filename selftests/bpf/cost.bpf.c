// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long each decision takes: from the entry of the kernel's function that
 * asks a scheduler to its exit. "probe" holds the same of a function that does
 * nothing, which is what measuring itself costs.
 */
#include "vmlinux.h"

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

#define SAMPLES	8192
/* connections to this port are measured */
#define PORT	5000

struct samples {
	__u64 begun;
	__u32 count;
	__u32 ns[SAMPLES];
};

struct samples decision, probe;

static __always_inline void end(struct samples *s)
{
	__u32 i = s->count;

	if (!s->begun)
		return;
	if (i < SAMPLES) {
		s->ns[i] = bpf_ktime_get_ns() - s->begun;
		s->count = i + 1;
	}
	s->begun = 0;
}

SEC("fentry/mptcp_sched_get_send")
int BPF_PROG(decision_begins, struct mptcp_sock *msk)
{
	struct sock_common *sk = &((struct sock *)msk)->__sk_common;

	if (sk->skc_dport == bpf_htons(PORT))
		decision.begun = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/mptcp_sched_get_send")
int BPF_PROG(decision_ends, struct mptcp_sock *msk)
{
	end(&decision);
	return 0;
}

SEC("fentry/bpf_fentry_test1")
int BPF_PROG(probe_begins)
{
	probe.begun = bpf_ktime_get_ns();
	return 0;
}

SEC("fexit/bpf_fentry_test1")
int BPF_PROG(probe_ends)
{
	end(&probe);
	return 0;
}
