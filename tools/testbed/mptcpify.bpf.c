// SPDX-License-Identifier: GPL-2.0-only
/* Programs in chosen network namespaces get MPTCP where they ask for TCP. */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define AF_INET		2
#define AF_INET6	10

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);	/* the namespace's inode number */
	__type(value, __u32);
} namespaces SEC(".maps");

SEC("fmod_ret/update_socket_protocol")
int BPF_PROG(mptcpify, int family, int type, int protocol)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u32 inode = BPF_CORE_READ(task, nsproxy, net_ns, ns.inum);

	if (!bpf_map_lookup_elem(&namespaces, &inode))
		return protocol;
	if ((family == AF_INET || family == AF_INET6) && type == SOCK_STREAM &&
	    (!protocol || protocol == IPPROTO_TCP))
		return IPPROTO_MPTCP;
	return protocol;
}
