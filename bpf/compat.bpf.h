/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kernels do not all have, or not where vmlinux.h shows it. To be included
 * after it.
 */
#ifndef __COMPAT_BPF_H__
#define __COMPAT_BPF_H__

/* vmlinux.h has all the types of <linux/types.h>, which excludes it. */
#define _LINUX_TYPES_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/*
 * Comes with the module, or with the API where the kernel has it. The Makefile
 * looks for it in vmlinux.h and defines MPTCP_SCHED_HAS_ITERATOR.
 */
#ifndef MPTCP_SCHED_HAS_ITERATOR
struct bpf_iter_mptcp_subflow {
	__u64 __opaque[2];
} __attribute__((aligned(8)));
#endif

/*
 * The callbacks of a scheduler, out of functions int id_send(msk) and
 * int id_retrans(msk) that the source defines before:
 *
 *	MPTCP_SCHED_PROGRAMS(id);
 *
 *	SEC(".struct_ops.link")
 *	struct mptcp_sched_ops id = {
 *		MPTCP_SCHED_CALLBACKS(id)
 *		.name = "its_name",
 *	};
 *
 * With MPTCP_SCHED_SEND_PROGRAMS(id) and MPTCP_SCHED_SEND_CALLBACKS(id),
 * id_send() is asked for retransmissions as well.
 *
 * Kernels before 6.15 have one callback for both. The Makefile looks for it in
 * vmlinux.h and defines MPTCP_SCHED_GET_SUBFLOW.
 */
#ifdef MPTCP_SCHED_GET_SUBFLOW

#define MPTCP_SCHED_PROGRAMS_IN(section, id, retrans)			\
SEC(section)								\
int BPF_PROG(id##_get_subflow, struct mptcp_sock *msk,			\
	     struct mptcp_sched_data *data)				\
{									\
	return data->reinject ? id##_##retrans(msk) : id##_send(msk);	\
}									\
struct mptcp_sched_ops
#define MPTCP_SCHED_PROGRAMS(id)					\
	MPTCP_SCHED_PROGRAMS_IN("struct_ops", id, retrans)
#define MPTCP_SCHED_SEND_PROGRAMS(id)					\
	MPTCP_SCHED_PROGRAMS_IN("struct_ops", id, send)
#define MPTCP_SCHED_CALLBACKS(id)	.get_subflow = (void *)id##_get_subflow,
#define MPTCP_SCHED_SEND_CALLBACKS(id)	MPTCP_SCHED_CALLBACKS(id)

#else

#define MPTCP_SCHED_PROGRAM_IN(section, id, what)			\
SEC(section)								\
int BPF_PROG(id##_get_##what, struct mptcp_sock *msk)			\
{									\
	return id##_##what(msk);					\
}									\
struct mptcp_sched_ops
#define MPTCP_SCHED_PROGRAMS(id)					\
	MPTCP_SCHED_PROGRAM_IN("struct_ops", id, send);			\
	MPTCP_SCHED_PROGRAM_IN("struct_ops", id, retrans)
#define MPTCP_SCHED_SEND_PROGRAMS(id)					\
	MPTCP_SCHED_PROGRAM_IN("struct_ops", id, send)
#define MPTCP_SCHED_PROGRAMS_IN(section, id, unused)			\
	MPTCP_SCHED_PROGRAM_IN(section, id, send)
#define MPTCP_SCHED_CALLBACKS(id)					\
	.get_send = (void *)id##_get_send,				\
	.get_retrans = (void *)id##_get_retrans,
#define MPTCP_SCHED_SEND_CALLBACKS(id)	.get_send = (void *)id##_get_send,

#endif

extern int bpf_iter_mptcp_subflow_new(struct bpf_iter_mptcp_subflow *it,
				      struct sock *sk) __weak __ksym;
extern struct mptcp_subflow_context *
bpf_iter_mptcp_subflow_next(struct bpf_iter_mptcp_subflow *it) __weak __ksym;
extern void
bpf_iter_mptcp_subflow_destroy(struct bpf_iter_mptcp_subflow *it) __weak __ksym;

/*
 * What a scheduler may call. The module's kfuncs come first: a stock kernel has
 * functions with the names of the API in its BTF, but programs cannot call them.
 */
extern struct sock *
mptcp_dpa_subflow_tcp_sock(struct mptcp_subflow_context *sf) __weak __ksym;
extern void
mptcp_dpa_subflow_set_scheduled(struct mptcp_subflow_context *sf,
				bool scheduled) __weak __ksym;
extern bool
mptcp_dpa_subflow_active(struct mptcp_subflow_context *sf) __weak __ksym;
extern bool
mptcp_dpa_subflow_memory_free(struct mptcp_subflow_context *sf) __weak __ksym;
extern bool
mptcp_dpa_subflow_idle(struct mptcp_subflow_context *sf) __weak __ksym;
extern void mptcp_dpa_pick(struct mptcp_subflow_context *sf,
			   __u32 burst) __weak __ksym;
extern int mptcp_dpa_default_send(struct mptcp_sock *msk) __weak __ksym;
extern int mptcp_dpa_default_retrans(struct mptcp_sock *msk) __weak __ksym;
extern int mptcp_dpa_reinject(struct mptcp_sock *msk) __weak __ksym;

/* the same, where the kernel has the API */
extern struct sock *
bpf_mptcp_subflow_tcp_sock(const struct mptcp_subflow_context *sf) __weak __ksym;
extern void mptcp_subflow_set_scheduled(struct mptcp_subflow_context *sf,
					bool scheduled) __weak __ksym;
extern bool mptcp_subflow_active(struct mptcp_subflow_context *sf) __weak __ksym;
extern void mptcp_set_timeout(struct sock *sk) __weak __ksym;

#define compat_has_module()	bpf_ksym_exists(mptcp_dpa_subflow_set_scheduled)

static __always_inline struct sock *
compat_tcp_sock(struct mptcp_subflow_context *sf)
{
	return compat_has_module() ? mptcp_dpa_subflow_tcp_sock(sf) :
				     bpf_mptcp_subflow_tcp_sock(sf);
}

static __always_inline void
compat_set_scheduled(struct mptcp_subflow_context *sf, bool scheduled)
{
	if (compat_has_module())
		mptcp_dpa_subflow_set_scheduled(sf, scheduled);
	else
		mptcp_subflow_set_scheduled(sf, scheduled);
}

static __always_inline bool compat_active(struct mptcp_subflow_context *sf)
{
	return compat_has_module() ? mptcp_dpa_subflow_active(sf) :
				     mptcp_subflow_active(sf);
}

#define bpf_mptcp_subflow_tcp_sock(sf)	compat_tcp_sock(sf)
#define mptcp_subflow_set_scheduled	compat_set_scheduled
#define mptcp_subflow_active		compat_active

/* Has a subflow room in its send buffer? */
static __always_inline bool subflow_has_room(struct mptcp_subflow_context *sf)
{
	const struct sock *ssk;

	if (compat_has_module())
		return mptcp_dpa_subflow_memory_free(sf);
	ssk = bpf_core_cast(bpf_mptcp_subflow_tcp_sock(sf), struct sock);
	return ssk->sk_wmem_queued < ssk->sk_sndbuf;
}

/* Has a subflow neither unsent nor unacknowledged data? */
static __always_inline bool subflow_is_idle(struct mptcp_subflow_context *sf)
{
	const struct tcp_sock *tp;

	if (compat_has_module())
		return mptcp_dpa_subflow_idle(sf);
	tp = bpf_core_cast(bpf_mptcp_subflow_tcp_sock(sf), struct tcp_sock);
	return tp->write_seq == tp->snd_una;
}

/*
 * Schedules a subflow for a burst of so many bytes, and keeps its average
 * pacing rate and the connection's retransmission timer, as the kernel's
 * default scheduler does.
 */
static __always_inline void subflow_pick(struct mptcp_sock *msk,
					 struct mptcp_subflow_context *sf,
					 __u32 burst)
{
	const struct sock *ssk;
	__s64 window;
	__u32 queued;

	if (compat_has_module()) {
		mptcp_dpa_pick(sf, burst);
		return;
	}
	ssk = bpf_core_cast(bpf_mptcp_subflow_tcp_sock(sf), struct sock);
	window = msk->wnd_end - msk->snd_nxt;
	if (window < burst)
		burst = window < 0 ? 0 : window;
	queued = ssk->sk_wmem_queued;
	if (burst) {
		sf->avg_pacing_rate = (sf->avg_pacing_rate * queued +
				       ssk->sk_pacing_rate * burst) /
				      ((__u64)queued + burst);
		msk->snd_burst = burst;
	}
	mptcp_set_timeout((struct sock *)msk);
	mptcp_subflow_set_scheduled(sf, true);
}

/*
 * The default scheduler's pick for a retransmission; where there is no module
 * to ask, an idle subflow.
 */
static __always_inline int sched_default_retrans(struct mptcp_sock *msk)
{
	struct mptcp_subflow_context *sf;
	bool picked = false;

	if (compat_has_module())
		return mptcp_dpa_default_retrans(msk);
	bpf_for_each(mptcp_subflow, sf, (struct sock *)msk) {
		if (picked || !mptcp_subflow_active(sf) || !subflow_is_idle(sf))
			continue;
		mptcp_subflow_set_scheduled(sf, true);
		picked = true;
	}
	return picked ? 0 : -1;
}

#endif
