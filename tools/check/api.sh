#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
#	api.sh		does all of bpf/ compile for a kernel with the API for
#			schedulers, and do the examples need nothing else there?
#	api.sh btf ...	bpftool, whose vmlinux.h shows this kernel with that API
#
# In the build environment; prints what is wrong.
set -uo pipefail

# as bpftool shows the structure and the kfuncs that compat.bpf.h knows
structure='struct bpf_iter_mptcp_subflow {
	__u64 __opaque[2];
};
'
kfuncs='extern void bpf_iter_mptcp_subflow_destroy(struct bpf_iter_mptcp_subflow *it) __weak __ksym;
extern int bpf_iter_mptcp_subflow_new(struct bpf_iter_mptcp_subflow *it, struct sock *sk) __weak __ksym;
extern struct mptcp_subflow_context *bpf_iter_mptcp_subflow_next(struct bpf_iter_mptcp_subflow *it) __weak __ksym;
extern struct mptcp_subflow_context *bpf_mptcp_subflow_ctx(const struct sock *sk__ign) __weak __ksym;
extern struct sock *bpf_mptcp_subflow_tcp_sock(const struct mptcp_subflow_context *subflow) __weak __ksym;
extern void mptcp_set_timeout(struct sock *sk) __weak __ksym;
extern bool mptcp_subflow_active(struct mptcp_subflow_context *subflow) __weak __ksym;
extern void mptcp_subflow_set_scheduled(struct mptcp_subflow_context *subflow, bool scheduled) __weak __ksym;
extern u64 mptcp_wnd_end(const struct mptcp_sock *msk) __weak __ksym;'

if [ $# != 0 ]; then
	bpftool "$@" | awk -v structure="$structure" -v kfuncs="$kfuncs" '
		/^\/\* BPF kfuncs \*\// { print structure }
		{ print }
		/^#ifndef BPF_NO_KFUNC_PROTOTYPES/ { print kfuncs }'
	exit
fi

cd "$(dirname "$0")/../.." || exit 1
out=${MPDPA_BUILT:-out}/api
rm -rf "$out"
make --no-print-directory bpf O="$out" BPFTOOL="$PWD/tools/check/api.sh" >"$out.log" 2>&1 ||
	{ cat "$out.log"; exit 1; }
for line in '^struct bpf_iter_mptcp_subflow {' ' mptcp_subflow_active(' \
	'^#define MPTCP_SCHED_HAS_ITERATOR'; do
	grep -q "$line" "$out/bpf/vmlinux.h" || echo "vmlinux.h lacks $line"
done

for object in "$out"/bpf/*.bpf.o; do
	name=$(basename "$object" .bpf.o)
	# these two are the module's own
	[[ $name != mpdpa && $name != sockopt ]] || continue
	symbols=$(llvm-readelf --symbols --wide "$object" | awk '$7 == "UND" && $8 { print $5, $8 }')
	# what the kernel lacks may not be needed
	grep '^GLOBAL mptcp_dpa_' <<<"$symbols" | sed "s/^/$name needs /"
	for kfunc in bpf_iter_mptcp_subflow_{new,next,destroy} mptcp_subflow_set_scheduled; do
		grep -q " $kfunc\$" <<<"$symbols" || echo "$name does not call $kfunc"
	done
	# any other kfunc must be the API's, or in the kernel as it is
	while read -r _ symbol; do
		[[ $symbol == mptcp_dpa_* ]] || grep -q "[ *]$symbol(" "$out/bpf/vmlinux.h" ||
			echo "$name calls $symbol, which no kernel has"
	done <<<"$symbols"
done
