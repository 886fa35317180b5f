// SPDX-License-Identifier: GPL-2.0-only
/*
 * The only unit with debug information, hence the module's whole BTF: the
 * struct_ops type, its stubs and the kfuncs. Structures of the kernel are but
 * declared here, and mptcp_sched_ops is spelled out: a full copy of kernel
 * types would not be recognised as the kernel's own where the tools that
 * de-duplicate BTF are broken (Debian 7.2.12), and registration would fail.
 */
#include <linux/btf.h>
#include <linux/refcount_types.h>
#include <linux/types.h>

#include "btf_glue.h"
#include "compat.h"
#include "kfuncs.h"
#include "msk.h"
#include "state.h"

struct module;
struct mptcp_sched_data;

#define MPTCP_SCHED_NAME_MAX	16

struct mptcp_sched_ops {
	COMPAT_SCHED_MEMBERS

	char			name[MPTCP_SCHED_NAME_MAX];
	struct module		*owner;
	struct list_head	list;

	void (*init)(struct mptcp_sock *msk);
	void (*release)(struct mptcp_sock *msk);
} ____cacheline_aligned_in_smp;

enum bpf_struct_ops_state {
	BPF_STRUCT_OPS_STATE_INIT,
	BPF_STRUCT_OPS_STATE_INUSE,
	BPF_STRUCT_OPS_STATE_TOBEFREE,
	BPF_STRUCT_OPS_STATE_READY,
};

struct bpf_struct_ops_common_value {
	refcount_t			refcnt;
	enum bpf_struct_ops_state	state;
};

struct bpf_struct_ops_mptcp_sched_ops {
	struct bpf_struct_ops_common_value	common;
	struct mptcp_sched_ops data		____cacheline_aligned_in_smp;
};

/* keeps the type in the debug information */
static struct bpf_struct_ops_mptcp_sched_ops *glue_value_type __used;

COMPAT_SCHED_STUBS

static void stub_init(struct mptcp_sock *msk)
{
}

static void stub_release(struct mptcp_sock *msk)
{
}

static struct mptcp_sched_ops sched_stubs = {
#define STUB(name)	.name = stub_##name,
	COMPAT_SCHED_CALLBACKS(STUB)
	.init		= stub_init,
	.release	= stub_release,
};

void *glue_sched_stubs(void)
{
	return &sched_stubs;
}

/* Iterator over the subflows of a connection; the name is the kernel API's. */
struct bpf_iter_mptcp_subflow {
	__u64 __opaque[2];
} __aligned(8);

struct subflow_iter {
	const struct mptcp_sock			*msk;
	struct mptcp_subflow_context		*at;
} __aligned(8);

__bpf_kfunc_start_defs();

/**
 * bpf_iter_mptcp_subflow_new() - begin to walk the subflows of @sk
 * @it: the iterator
 * @sk: an MPTCP socket, as struct_ops programs get it
 *
 * Return: 0, or -EINVAL for a socket of another kind.
 */
__bpf_kfunc int bpf_iter_mptcp_subflow_new(struct bpf_iter_mptcp_subflow *it,
					   struct sock *sk)
{
	struct subflow_iter *iter = (void *)it;
	int err = kf_iter_start(sk);

	iter->msk = err ? NULL : msk_of(sk);
	iter->at = NULL;
	return err;
}

/**
 * bpf_iter_mptcp_subflow_next() - the next subflow, or NULL after the last
 * @it: the iterator
 */
__bpf_kfunc struct mptcp_subflow_context *
bpf_iter_mptcp_subflow_next(struct bpf_iter_mptcp_subflow *it)
{
	struct subflow_iter *iter = (void *)it;

	if (!iter->msk)
		return NULL;
	iter->at = msk_next_subflow(iter->msk, iter->at);
	if (!iter->at)
		iter->msk = NULL;
	return iter->at;
}

/**
 * bpf_iter_mptcp_subflow_destroy() - end the walk
 * @it: the iterator
 */
__bpf_kfunc void
bpf_iter_mptcp_subflow_destroy(struct bpf_iter_mptcp_subflow *it)
{
}

/**
 * mptcp_dpa_subflow_tcp_sock() - the TCP socket of a subflow
 * @subflow: the subflow
 */
__bpf_kfunc struct sock *
mptcp_dpa_subflow_tcp_sock(struct mptcp_subflow_context *subflow)
{
	return subflow_ssk(subflow);
}

/**
 * mptcp_dpa_subflow_set_scheduled() - pick a subflow, or take the pick back
 * @subflow: the subflow
 * @scheduled: picked or not
 */
__bpf_kfunc void
mptcp_dpa_subflow_set_scheduled(struct mptcp_subflow_context *subflow,
				bool scheduled)
{
	subflow_set_scheduled(subflow, scheduled);
}

/**
 * mptcp_dpa_subflow_active() - established, joined and not stale?
 * @subflow: the subflow
 */
__bpf_kfunc bool
mptcp_dpa_subflow_active(struct mptcp_subflow_context *subflow)
{
	return kf_subflow_active(subflow);
}

/**
 * mptcp_dpa_subflow_memory_free() - has it room in its send buffer?
 * @subflow: the subflow
 */
__bpf_kfunc bool
mptcp_dpa_subflow_memory_free(struct mptcp_subflow_context *subflow)
{
	return kf_subflow_memory_free(subflow);
}

/**
 * mptcp_dpa_conn() - the state of a connection while a chunk is in force
 * @sk: the MPTCP socket
 * @rdwr_buf_size: sizeof(struct dpa_state)
 *
 * Brings the positions and the head chunk in the state up to date.
 *
 * Return: struct dpa_state, or NULL when no chunk is in force and nothing overflows,
 * or when the program was built for more of it than this module has.
 */
__bpf_kfunc u8 *mptcp_dpa_conn(struct sock *sk, const int rdwr_buf_size)
{
	return kf_conn(sk, rdwr_buf_size);
}

/**
 * mptcp_dpa_chunk() - show a queued chunk
 * @sk: the MPTCP socket
 * @index: 0 for the chunk in force, then in stream order, then what overflows
 * @horizon: filled on success
 *
 * Return: 0, -ENOENT beyond the last.
 */
__bpf_kfunc int mptcp_dpa_chunk(struct sock *sk, u32 index,
				struct dpa_horizon *horizon)
{
	return kf_chunk(sk, index, horizon);
}

/**
 * mptcp_dpa_path() - which row of dpa_state::path is this subflow's?
 * @subflow: the subflow
 *
 * Takes a free row for a new subflow and resolves its cost. A subflow that has
 * nothing on its way may lose its row to another between two decisions.
 *
 * Return: an index below MPTCP_DPA_PATHS_MAX; -ENOENT without state, -ENOSPC
 * when all rows are taken.
 */
__bpf_kfunc int mptcp_dpa_path(struct mptcp_subflow_context *subflow)
{
	return kf_path(subflow);
}

/**
 * mptcp_dpa_send() - carry the plan in dpa_state out
 * @msk: the connection
 *
 * Subflows that cost more than @cost_limit and not @open_cost are kept back:
 * request_bkup is set and the peer told by MP_PRIO, by a work item. Of the
 * others the one with the least to send is picked. Until @plan_until_ns that is
 * done for further bytes without calling the program, unless the paths change,
 * or the chunk.
 *
 * Return: 0; -EBUSY when the next bytes have to wait for room, -EINVAL when no
 * plan stands, -ENOENT without state.
 */
__bpf_kfunc int mptcp_dpa_send(struct mptcp_sock *msk)
{
	return kf_send(msk);
}

/**
 * mptcp_dpa_pick() - schedule a subflow, with the default scheduler's care
 * @subflow: the subflow
 * @burst: bytes to send before the scheduler is asked again
 *
 * Also updates the subflow's average pacing rate and the connection's
 * retransmission timer, as the default scheduler does with its pick.
 */
__bpf_kfunc void mptcp_dpa_pick(struct mptcp_subflow_context *subflow,
				u32 burst)
{
	kf_pick(subflow, burst);
}

/**
 * mptcp_dpa_default_send() - let the kernel's default scheduler pick
 * @msk: the connection
 *
 * Return: 0, or -EINVAL when it picked none.
 */
__bpf_kfunc int mptcp_dpa_default_send(struct mptcp_sock *msk)
{
	return kf_default_send(msk);
}

/**
 * mptcp_dpa_default_retrans() - the same for a retransmission
 * @msk: the connection
 *
 * Return: 0, or -EINVAL when it picked none.
 */
__bpf_kfunc int mptcp_dpa_default_retrans(struct mptcp_sock *msk)
{
	return kf_default_retrans(msk);
}

/**
 * mptcp_dpa_reinject() - have the oldest unacknowledged data sent again
 * @msk: the connection
 *
 * A work item of the kernel's will ask for the subflows, as for any other
 * retransmission.
 *
 * Return: 0, or -EBUSY when nothing is unacknowledged, when all subflows have
 * data outstanding, and on a second call within a tick of the clock.
 */
__bpf_kfunc int mptcp_dpa_reinject(struct mptcp_sock *msk)
{
	return kf_reinject(msk);
}

/**
 * mptcp_dpa_subflow_idle() - has it neither unsent nor unacknowledged data?
 * @subflow: the subflow
 */
__bpf_kfunc bool mptcp_dpa_subflow_idle(struct mptcp_subflow_context *subflow)
{
	return kf_subflow_idle(subflow);
}

/**
 * mptcp_dpa_setsockopt() - carry out one of the module's socket options
 * @ctx: the context of a cgroup/setsockopt program, as it came
 *
 * Tells the kernel that the option is dealt with.
 *
 * Return: 0 or the errno for the caller, see mptcp_dpa(7).
 */
__bpf_kfunc int mptcp_dpa_setsockopt(struct bpf_sockopt *ctx)
{
	return kf_setsockopt(ctx);
}

/**
 * mptcp_dpa_getsockopt() - answer one of the module's socket options
 * @ctx: the context of a cgroup/getsockopt program, as it came
 *
 * Writes the value and its length.
 *
 * Return: 0 or the errno for the caller, see mptcp_dpa(7).
 */
__bpf_kfunc int mptcp_dpa_getsockopt(struct bpf_sockopt *ctx)
{
	return kf_getsockopt(ctx);
}

__bpf_kfunc_end_defs();

#define TRUSTED	COMPAT_KF_TRUSTED_ARGS

BTF_KFUNCS_START(sched_kfuncs)
BTF_ID_FLAGS(func, bpf_iter_mptcp_subflow_new, KF_ITER_NEW | TRUSTED)
BTF_ID_FLAGS(func, bpf_iter_mptcp_subflow_next, KF_ITER_NEXT | KF_RET_NULL)
BTF_ID_FLAGS(func, bpf_iter_mptcp_subflow_destroy, KF_ITER_DESTROY)
BTF_ID_FLAGS(func, mptcp_dpa_subflow_tcp_sock, TRUSTED)
BTF_ID_FLAGS(func, mptcp_dpa_subflow_set_scheduled, TRUSTED)
BTF_ID_FLAGS(func, mptcp_dpa_subflow_active, TRUSTED)
BTF_ID_FLAGS(func, mptcp_dpa_subflow_memory_free, TRUSTED)
BTF_ID_FLAGS(func, mptcp_dpa_conn, KF_RET_NULL | TRUSTED)
BTF_ID_FLAGS(func, mptcp_dpa_chunk, TRUSTED)
BTF_ID_FLAGS(func, mptcp_dpa_path, TRUSTED)
BTF_ID_FLAGS(func, mptcp_dpa_send, TRUSTED)
BTF_ID_FLAGS(func, mptcp_dpa_pick, TRUSTED)
BTF_ID_FLAGS(func, mptcp_dpa_default_send, TRUSTED)
BTF_ID_FLAGS(func, mptcp_dpa_default_retrans, TRUSTED)
BTF_ID_FLAGS(func, mptcp_dpa_reinject, TRUSTED)
BTF_ID_FLAGS(func, mptcp_dpa_subflow_idle, TRUSTED)
BTF_KFUNCS_END(sched_kfuncs)

BTF_KFUNCS_START(sockopt_kfuncs)
BTF_ID_FLAGS(func, mptcp_dpa_setsockopt, TRUSTED)
BTF_ID_FLAGS(func, mptcp_dpa_getsockopt, TRUSTED)
BTF_KFUNCS_END(sockopt_kfuncs)

void *glue_sched_kfuncs(void)
{
	return &sched_kfuncs;
}

void *glue_sockopt_kfuncs(void)
{
	return &sockopt_kfuncs;
}
