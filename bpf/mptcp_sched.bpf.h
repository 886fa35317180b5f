/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For BPF schedulers on mptcp_dpa: the struct_ops, the subflow iterator and
 * what may be called. Documentation/bpf-schedulers.md tells how to write one.
 *
 * Functions have the names of the kernel's own API for schedulers, where that
 * has them: one source, and even one object, runs on kernels that have it built
 * in, too. compat.bpf.h tells the two apart.
 */
#ifndef __MPTCP_SCHED_BPF_H__
#define __MPTCP_SCHED_BPF_H__

#include "vmlinux.h"

#include "compat.bpf.h"

struct dpa_horizon;

/* for schedulers that take chunks: their names begin with "mpdpa" */
extern __u8 *mptcp_dpa_conn(struct sock *sk, const int rdwr_buf_size) __weak __ksym;
extern int mptcp_dpa_chunk(struct sock *sk, __u32 index,
			   struct dpa_horizon *horizon) __weak __ksym;
extern int mptcp_dpa_path(struct mptcp_subflow_context *subflow) __weak __ksym;
extern int mptcp_dpa_send(struct mptcp_sock *msk) __weak __ksym;

/* The payload that one full GSO packet can carry, with every option. */
#define MPTCP_SEND_BURST	((1 << 16) - 20 - 40 - 40 - 8)

/* The TCP view of a subflow, for reading. */
static __always_inline struct tcp_sock *
subflow_tcp(struct mptcp_subflow_context *subflow)
{
	return bpf_core_cast(bpf_mptcp_subflow_tcp_sock(subflow),
			     struct tcp_sock);
}

/* What the peer or the endpoint flagged as backup. */
static __always_inline bool
subflow_is_backup(const struct mptcp_subflow_context *subflow)
{
	return BPF_CORE_READ_BITFIELD(subflow, backup) ||
	       BPF_CORE_READ_BITFIELD(subflow, request_bkup);
}

/* Can it take new data now? */
static __always_inline bool
subflow_ready(struct mptcp_subflow_context *subflow)
{
	return mptcp_subflow_active(subflow) && subflow_has_room(subflow);
}

/* What it takes, in 2^-32 s, to send what is queued on a subflow. */
static __always_inline __u64
subflow_linger(struct mptcp_subflow_context *subflow)
{
	const struct sock *ssk = (const struct sock *)subflow_tcp(subflow);
	__u64 pace = subflow->avg_pacing_rate ?: ssk->sk_pacing_rate;

	return pace ? ((__u64)ssk->sk_wmem_queued << 32) / pace : ~0ULL;
}

#endif
