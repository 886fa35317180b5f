/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels, and the few constants of net/mptcp/protocol.h
 * that no header package carries. Nothing else in kernel/ knows of versions,
 * and this knows of none either: Kbuild looks for the names in the kernel's
 * headers and defines COMPAT_HAVE_*.
 *
 * All macros: msk.c and btf_glue.c have kernel types of their own making.
 */
#ifndef _MPTCP_DPA_COMPAT_H
#define _MPTCP_DPA_COMPAT_H

/* bits of mptcp_sock::flags; preprocessor constants are not in BTF */
#define COMPAT_MPTCP_WORK_RTX		1
#define COMPAT_MPTCP_FALLBACK_DONE	2

/* since 7.0 every kfunc argument is trusted and the flag is gone */
#ifdef KF_TRUSTED_ARGS
#define COMPAT_KF_TRUSTED_ARGS	KF_TRUSTED_ARGS
#else
#define COMPAT_KF_TRUSTED_ARGS	0
#endif

/* the ULP data of a subflow's TCP socket is its context */
#define compat_subflow_ctx(ssk)						\
	((struct mptcp_subflow_context __force *)			\
	 inet_csk(ssk)->icsk_ulp_data)

/* jiffies at which the pending timer of a TCP socket runs out */
#ifdef COMPAT_HAVE_TCP_TIMEOUT_EXPIRES
#define compat_timeout_expires(ssk)	tcp_timeout_expires(ssk)
#else
#define compat_timeout_expires(ssk)	(inet_csk(ssk)->icsk_timeout)
#endif

/* functions with the names that newer kernels have them by */
#ifndef COMPAT_HAVE_SK_UID
#define sk_uid(sk)	((sk)->sk_uid)
#endif

#ifndef COMPAT_HAVE_HRTIMER_SETUP
#define hrtimer_setup(timer, fn, clock, mode)				\
do {									\
	hrtimer_init(timer, clock, mode);				\
	(timer)->function = (fn);					\
} while (0)
#endif

/*
 * The callbacks of mptcp_sched_ops that pick subflows. All kernels have init,
 * release, name, owner and list.
 *
 * COMPAT_SCHED_MEMBERS		their declarations
 * COMPAT_SCHED_CALLBACKS(X)	X(name), for each
 * COMPAT_SCHED_REQUIRED	the one that none may lack
 * COMPAT_SCHED_STUBS		functions stub_NAME of their types
 * COMPAT_GUARDS(n)		functions NAME_n that call
 *				guard_pick(&slots[n], msk, is it a retransmission)
 * COMPAT_GUARD_ROW(n)		initialisers of members with those
 * compat_run(from, msk, re)	call the program's, as the kernel would
 */
#if defined(COMPAT_HAVE_GET_SEND)
#define COMPAT_SCHED_MEMBERS						\
	int (*get_send)(struct mptcp_sock *msk);			\
	int (*get_retrans)(struct mptcp_sock *msk);
#define COMPAT_SCHED_CALLBACKS(X)	X(get_send) X(get_retrans)
#define COMPAT_SCHED_REQUIRED		get_send
#define COMPAT_SCHED_STUBS						\
static int stub_get_send(struct mptcp_sock *msk)			\
{									\
	return 0;							\
}									\
static int stub_get_retrans(struct mptcp_sock *msk)			\
{									\
	return 0;							\
}
#define COMPAT_GUARDS(n)						\
static int get_send_##n(struct mptcp_sock *msk)				\
{									\
	return guard_pick(&slots[n], msk, false);			\
}									\
static int get_retrans_##n(struct mptcp_sock *msk)			\
{									\
	return guard_pick(&slots[n], msk, true);			\
}
#define COMPAT_GUARD_ROW(n)						\
	.get_send = get_send_##n,					\
	.get_retrans = get_retrans_##n,
#define compat_run(from, msk, retrans)					\
	((retrans) && (from)->get_retrans ?				\
	 (from)->get_retrans(msk) : (from)->get_send(msk))

#elif defined(COMPAT_HAVE_GET_SUBFLOW)	/* before 6.15 */
#define COMPAT_SCHED_MEMBERS						\
	int (*get_subflow)(struct mptcp_sock *msk,			\
			   struct mptcp_sched_data *data);
#define COMPAT_SCHED_CALLBACKS(X)	X(get_subflow)
#define COMPAT_SCHED_REQUIRED		get_subflow
#define COMPAT_SCHED_STUBS						\
static int stub_get_subflow(struct mptcp_sock *msk,			\
			    struct mptcp_sched_data *data)		\
{									\
	return 0;							\
}
#define COMPAT_GUARDS(n)						\
static int get_subflow_##n(struct mptcp_sock *msk,			\
			   struct mptcp_sched_data *data)		\
{									\
	return guard_pick(&slots[n], msk, data->reinject);		\
}
#define COMPAT_GUARD_ROW(n)						\
	.get_subflow = get_subflow_##n,
#define compat_run(from, msk, retrans)					\
	((from)->get_subflow(msk, &(struct mptcp_sched_data) {		\
		.reinject = (retrans),					\
	}))
/* on these kernels, looking for subflows without progress is left to it too */
#define COMPAT_STALE_BY_SCHEDULER

#else
#error "net/mptcp.h: mptcp_sched_ops has neither get_send nor get_subflow; this kernel is not known"
#endif

/* symbols that some kernels need in addition: see symbols.h */
#ifdef COMPAT_STALE_BY_SCHEDULER
#define COMPAT_FUNCTIONS(X)						\
	X(void, mptcp_pm_subflow_chk_stale,				\
	  (const struct mptcp_sock *msk, struct sock *ssk))
#else
/* without mptcp_pm_chk_stale() the core would leave that to its own scheduler's pick */
#define COMPAT_FUNCTIONS(X)						\
	X(void, mptcp_pm_chk_stale, (const struct mptcp_sock *msk))	\
	X(struct sock *, mptcp_subflow_get_retrans,			\
	  (struct mptcp_sock *msk))
#endif

struct mptcp_sock;
struct sock;

void compat_check_stale(struct mptcp_sock *msk);
struct sock *compat_default_retrans(struct mptcp_sock *msk);

#endif
