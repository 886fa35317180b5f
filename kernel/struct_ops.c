// SPDX-License-Identifier: GPL-2.0-only
/*
 * BPF struct_ops of type mptcp_sched_ops, and the kfuncs' registration. A
 * kernel that has the struct_ops built in keeps its own.
 */
#include "pr_fmt.h"

#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/module.h>
#include <net/mptcp.h>
#include <net/sock.h>

#include "btf_glue.h"
#include "compat.h"
#include "guard.h"
#include "msk.h"
#include "struct_ops.h"
#include "symbols.h"

#define VALUE_TYPE	"bpf_struct_ops_mptcp_sched_ops"

/* ids in vmlinux BTF of what programs may write to */
static s32 msk_type_id, subflow_type_id;

/* Looks a structure up; *@btf is compared by callers, never followed. */
static s32 find_struct(const char *name, struct btf **btf)
{
	s32 id = kernel_fn(bpf_find_btf_id)(name, BTF_KIND_STRUCT, btf);

	if (id > 0)
		kernel_fn(btf_put)(*btf);
	return id;
}

/* Is the struct_ops type the kernel's own? This module's BTF has it as well. */
static bool built_in(const struct btf *vmlinux)
{
	struct btf *btf = NULL;

	return find_struct(VALUE_TYPE, &btf) > 0 && btf == vmlinux;
}

static const struct bpf_func_proto *
sched_func_proto(enum bpf_func_id func_id, const struct bpf_prog *prog)
{
	switch (func_id) {
	case BPF_FUNC_sk_storage_get:
		return dpa_bpf_sk_storage_get_proto;
	case BPF_FUNC_sk_storage_delete:
		return dpa_bpf_sk_storage_delete_proto;
	default:
		return bpf_base_func_proto(func_id, prog);
	}
}

/* Writes are for what schedulers of the kernel set, too. */
static int sched_struct_access(struct bpf_verifier_log *log,
			       const struct bpf_reg_state *reg,
			       int off, int size)
{
	u32 start, len;

	if (reg->btf_id == msk_type_id) {
		start = msk_offset_snd_burst;
		len = sizeof(int);
	} else if (reg->btf_id == subflow_type_id) {
		start = msk_offset_avg_pacing_rate;
		len = sizeof(unsigned long);
	} else {
		bpf_log(log, "only mptcp_sock and mptcp_subflow_context have writable members\n");
		return -EACCES;
	}
	if (off < start || off + size > start + len) {
		bpf_log(log, "no write access at offset %d, size %d: only snd_burst and avg_pacing_rate\n",
			off, size);
		return -EACCES;
	}
	return NOT_INIT;
}

static const struct bpf_verifier_ops sched_verifier_ops = {
	.get_func_proto		= sched_func_proto,
	.is_valid_access	= bpf_tracing_btf_ctx_access,
	.btf_struct_access	= sched_struct_access,
};

static int sched_init(struct btf *btf)
{
	return 0;
}

static int sched_check_member(const struct btf_type *t,
			      const struct btf_member *member,
			      const struct bpf_prog *prog)
{
	/* the callbacks run with spinlocks held */
	return prog->sleepable ? -EINVAL : 0;
}

static int sched_init_member(const struct btf_type *t,
			     const struct btf_member *member,
			     void *kdata, const void *udata)
{
	const struct mptcp_sched_ops *from = udata;
	struct mptcp_sched_ops *to = kdata;
	u32 at = __btf_member_bit_offset(t, member) / BITS_PER_BYTE;

	switch (at) {
	case offsetof(struct mptcp_sched_ops, name):
		/* negative too when the name has no end within its room */
		if (kernel_fn(bpf_obj_name_cpy)(to->name, from->name,
						sizeof(to->name)) <= 0)
			return -EINVAL;
		return 1;
	case offsetof(struct mptcp_sched_ops, owner):
		to->owner = BPF_MODULE_OWNER;
		return 1;
	}
	return 0;
}

static int sched_validate(void *kdata)
{
	const struct mptcp_sched_ops *ops = kdata;

	return ops->COMPAT_SCHED_REQUIRED && ops->name[0] ? 0 : -EINVAL;
}

static int sched_reg(void *kdata, struct bpf_link *link)
{
	return guard_register(kdata);
}

static void sched_unreg(void *kdata, struct bpf_link *link)
{
	guard_unregister(kdata);
}

static struct bpf_struct_ops sched_struct_ops = {
	.verifier_ops	= &sched_verifier_ops,
	.init		= sched_init,
	.check_member	= sched_check_member,
	.init_member	= sched_init_member,
	.validate	= sched_validate,
	.reg		= sched_reg,
	.unreg		= sched_unreg,
	.owner		= THIS_MODULE,
	.name		= "mptcp_sched_ops",
};

/* The cgroup hook's kfuncs are shared with programs that have no socket lock. */
static int sockopt_only(const struct bpf_prog *prog, u32 kfunc_id)
{
	return prog->type == BPF_PROG_TYPE_CGROUP_SOCKOPT ? 0 : -EACCES;
}

static struct btf_kfunc_id_set sched_kfuncs = {
	.owner	= THIS_MODULE,
};

static struct btf_kfunc_id_set sockopt_kfuncs = {
	.owner	= THIS_MODULE,
	.filter	= sockopt_only,
};

static int register_kfuncs(void)
{
	int err;

	sched_kfuncs.set = glue_sched_kfuncs();
	sockopt_kfuncs.set = glue_sockopt_kfuncs();
	err = register_btf_kfunc_id_set(BPF_PROG_TYPE_STRUCT_OPS,
					&sched_kfuncs);
	if (!err)
		err = register_btf_kfunc_id_set(BPF_PROG_TYPE_CGROUP_SOCKOPT,
						&sockopt_kfuncs);
	if (err)
		pr_err("the kernel refused the kfuncs (%pe)\n", ERR_PTR(err));
	return err;
}

/**
 * struct_ops_init() - offer the struct_ops and the kfuncs to BPF
 *
 * Nothing is to be undone: both go with the module's BTF.
 *
 * Context: module init, after symbols_init(); may sleep.
 * Return: 0 or a negative errno after one line in the log.
 */
int struct_ops_init(void)
{
	struct btf *vmlinux = NULL;
	int err;

	msk_type_id = find_struct("mptcp_sock", &vmlinux);
	subflow_type_id = find_struct("mptcp_subflow_context", &vmlinux);

	err = register_kfuncs();
	if (err)
		return err;

	if (built_in(vmlinux)) {
		pr_info("this kernel has BPF schedulers built in, leaving them to it\n");
		return 0;
	}
	sched_struct_ops.cfi_stubs = glue_sched_stubs();
	err = __register_bpf_struct_ops(&sched_struct_ops);
	if (err)
		pr_err("the kernel refused struct_ops mptcp_sched_ops (%pe)\n",
		       ERR_PTR(err));
	return err;
}
