/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What programs may call. btf_glue.c holds the kfuncs themselves, thin, with
 * the documentation; these do the work. All run with the msk lock held: owned, or
 * its spinlock held with no owner; the setting of options needs it owned.
 */
#ifndef _MPTCP_DPA_KFUNCS_H
#define _MPTCP_DPA_KFUNCS_H

struct bpf_sockopt;
struct dpa_horizon;
struct mptcp_sock;
struct mptcp_subflow_context;
struct sock;

unsigned char *kf_conn(struct sock *sk, int size);
int kf_chunk(struct sock *sk, unsigned int i, struct dpa_horizon *horizon);
int kf_path(struct mptcp_subflow_context *sf);
int kf_send(struct mptcp_sock *msk);
int kf_default_send(struct mptcp_sock *msk);
int kf_default_retrans(struct mptcp_sock *msk);
int kf_reinject(struct mptcp_sock *msk);
void kf_pick(struct mptcp_subflow_context *sf, unsigned int burst);
_Bool kf_subflow_active(struct mptcp_subflow_context *sf);
_Bool kf_subflow_idle(struct mptcp_subflow_context *sf);
_Bool kf_subflow_memory_free(struct mptcp_subflow_context *sf);
int kf_iter_start(struct sock *sk);

/* programs know the context as bpf_sockopt; it is a bpf_sockopt_kern */
int kf_setsockopt(struct bpf_sockopt *ctx);
int kf_getsockopt(struct bpf_sockopt *ctx);

#endif
