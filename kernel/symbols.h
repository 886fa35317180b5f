/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel functions and objects that are not exported to modules.
 *
 * They are found once, at load. Functions are reached by static calls alone:
 * the address may lie behind an ENDBR, or belong to a function whose ENDBR was
 * sealed, and an indirect call would fault there under IBT.
 */
#ifndef _MPTCP_DPA_SYMBOLS_H
#define _MPTCP_DPA_SYMBOLS_H

#include <linux/static_call.h>
#include <linux/types.h>

#include "compat.h"

struct bpf_func_proto;
struct btf;
struct mptcp_sched_ops;
struct mptcp_sock;
struct mptcp_subflow_context;
struct sock;
struct sock_common;

#define DPA_FUNCTIONS(X)						\
	X(int, mptcp_register_scheduler, (struct mptcp_sched_ops *ops))	\
	X(void, mptcp_unregister_scheduler,				\
	  (struct mptcp_sched_ops *ops))				\
	X(void, mptcp_release_sched, (struct mptcp_sock *msk))		\
	X(struct sock *, mptcp_subflow_get_send, (struct mptcp_sock *msk)) \
	X(bool, mptcp_subflow_active,					\
	  (struct mptcp_subflow_context *subflow))			\
	X(void, mptcp_check_and_set_pending, (struct sock *sk))		\
	X(bool, mptcp_schedule_work, (struct sock *sk))			\
	X(bool, mptcp_pm_is_backup,					\
	  (struct mptcp_sock *msk, struct sock_common *skc))		\
	X(void, tcp_send_ack, (struct sock *ssk))			\
	X(u64, __sock_gen_cookie, (struct sock *sk))			\
	X(s32, bpf_find_btf_id, (const char *name, u32 kind,		\
				 struct btf **btf))			\
	X(const char *, btf_name_by_offset,				\
	  (const struct btf *btf, u32 offset))				\
	X(void, btf_put, (struct btf *btf))				\
	X(int, bpf_obj_name_cpy, (char *to, const char *from,		\
				  unsigned int size))			\
	COMPAT_FUNCTIONS(X)

#define DPA_OBJECTS(X)							\
	X(const struct bpf_func_proto, bpf_sk_storage_get_proto)	\
	X(const struct bpf_func_proto, bpf_sk_storage_delete_proto)

#define DPA_DECLARE_FUNCTION(ret, name, args)				\
	ret dpa_proto_##name args;					\
	DECLARE_STATIC_CALL(dpa_##name, dpa_proto_##name);
DPA_FUNCTIONS(DPA_DECLARE_FUNCTION)

#define DPA_DECLARE_OBJECT(type, name)	extern type *dpa_##name;
DPA_OBJECTS(DPA_DECLARE_OBJECT)

/* call a function of DPA_FUNCTIONS */
#define kernel_fn(name)	static_call(dpa_##name)

int symbols_init(void);

#endif
