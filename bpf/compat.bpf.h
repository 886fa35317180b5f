/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kernels do not all have, or not where vmlinux.h shows it. To be included
 * after it.
 */
#ifndef __COMPAT_BPF_H__
#define __COMPAT_BPF_H__

/* vmlinux.h has all the types of <linux/types.h>, which excludes it. */
#define _LINUX_TYPES_H

/* Comes with the module, so no kernel's vmlinux.h has it. */
struct bpf_iter_mptcp_subflow {
	__u64 __opaque[2];
} __attribute__((aligned(8)));

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

#endif
