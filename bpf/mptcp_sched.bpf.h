/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For BPF schedulers on mptcp_dpa: the struct_ops, the subflow iterator and
 * what may be called. Documentation/bpf-schedulers.md tells how to write one.
 */
#ifndef __MPTCP_SCHED_BPF_H__
#define __MPTCP_SCHED_BPF_H__

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "compat.bpf.h"

/* bpf_for_each(mptcp_subflow, subflow, (struct sock *)msk) { ... } */
extern int bpf_iter_mptcp_subflow_new(struct bpf_iter_mptcp_subflow *it,
				      struct sock *sk) __weak __ksym;
extern struct mptcp_subflow_context *
bpf_iter_mptcp_subflow_next(struct bpf_iter_mptcp_subflow *it) __weak __ksym;
extern void
bpf_iter_mptcp_subflow_destroy(struct bpf_iter_mptcp_subflow *it) __weak __ksym;

extern struct sock *
mptcp_dpa_subflow_tcp_sock(struct mptcp_subflow_context *subflow) __ksym;
extern void
mptcp_dpa_subflow_set_scheduled(struct mptcp_subflow_context *subflow,
				bool scheduled) __ksym;
extern bool
mptcp_dpa_subflow_active(struct mptcp_subflow_context *subflow) __ksym;
extern bool
mptcp_dpa_subflow_memory_free(struct mptcp_subflow_context *subflow) __ksym;
extern int mptcp_dpa_default_send(struct mptcp_sock *msk) __ksym;
extern int mptcp_dpa_default_retrans(struct mptcp_sock *msk) __ksym;
extern void mptcp_dpa_pick(struct mptcp_subflow_context *subflow,
			   __u32 burst) __ksym;

struct dpa_horizon;

/* for schedulers that take chunks: their names begin with "mpdpa" */
extern __u8 *mptcp_dpa_conn(struct sock *sk, const int rdwr_buf_size) __ksym;
extern int mptcp_dpa_chunk(struct sock *sk, __u32 index,
			   struct dpa_horizon *horizon) __ksym;
extern int mptcp_dpa_path(struct mptcp_subflow_context *subflow) __ksym;
extern void mptcp_dpa_hold(struct mptcp_subflow_context *subflow,
			   bool held) __ksym;

/* The payload that one full GSO packet can carry, with every option. */
#define MPTCP_SEND_BURST	((1 << 16) - 20 - 40 - 40 - 8)

/* The TCP view of a subflow, for reading. */
static __always_inline struct tcp_sock *
subflow_tcp(struct mptcp_subflow_context *subflow)
{
	return bpf_core_cast(mptcp_dpa_subflow_tcp_sock(subflow),
			     struct tcp_sock);
}

#endif
