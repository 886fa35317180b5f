/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels, and the few constants of net/mptcp/protocol.h
 * that no header package carries. Nothing else in kernel/ looks at versions.
 */
#ifndef _MPTCP_DPA_COMPAT_H
#define _MPTCP_DPA_COMPAT_H

/* bits of mptcp_sock::flags; preprocessor constants are not in BTF */
#define COMPAT_MPTCP_FALLBACK_DONE	2

/* from 6.13 on every kfunc argument is trusted, the flag is gone since 7.0 */
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
#define compat_timeout_expires(ssk)	tcp_timeout_expires(ssk)

#endif
