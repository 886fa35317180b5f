// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way from setsockopt() and getsockopt() at level SOL_MPTCP to the module.
 * Attached to a cgroup; options of anybody else pass through untouched.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include "compat.bpf.h"

#include <linux/mptcp_dpa_sock.h>

char _license[] SEC("license") = "GPL";

#define SOL_MPTCP	284
#define EINVAL		22
#define MAX_ERRNO	4095

extern int mptcp_dpa_setsockopt(struct bpf_sockopt *ctx) __ksym;
extern int mptcp_dpa_getsockopt(struct bpf_sockopt *ctx) __ksym;

static __always_inline bool is_ours(const struct bpf_sockopt *ctx)
{
	return ctx->level == SOL_MPTCP && ctx->optname >= MPTCP_DPA_CHUNK &&
	       ctx->optname <= MPTCP_DPA_EVENTFD;
}

/* Hands an errno to the caller; the verifier wants its range seen. */
static __always_inline int refuse(int err)
{
	bpf_set_retval(err < -MAX_ERRNO || err >= 0 ? -EINVAL : err);
	return 0;
}

SEC("cgroup/setsockopt")
int mpdpa_setsockopt(struct bpf_sockopt *ctx)
{
	int err;

	if (!is_ours(ctx))
		return 1;
	err = mptcp_dpa_setsockopt(ctx);
	return err ? refuse(err) : 1;
}

SEC("cgroup/getsockopt")
int mpdpa_getsockopt(struct bpf_sockopt *ctx)
{
	int err;

	if (!is_ours(ctx))
		return 1;
	err = mptcp_dpa_getsockopt(ctx);
	if (err)
		return refuse(err);
	ctx->retval = 0;
	return 1;
}
