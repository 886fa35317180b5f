/* SPDX-License-Identifier: GPL-2.0-only */
/* What kernels do not all have, or not where vmlinux.h shows it. */
#ifndef __COMPAT_BPF_H__
#define __COMPAT_BPF_H__

/* vmlinux.h has all the types of <linux/types.h>, which excludes it. */
#define _LINUX_TYPES_H

/* Comes with the module, so no kernel's vmlinux.h has it. */
struct bpf_iter_mptcp_subflow {
	__u64 __opaque[2];
} __attribute__((aligned(8)));

#endif
