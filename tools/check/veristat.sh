#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the verifier of the guest's kernel did with each program: prints it,
# compares it with what is kept for the series, and keeps it.
set -euo pipefail

cd "$(dirname "$0")/../.."
series=${KERNEL:?}
kept=tools/check/veristat/$series.csv
work=out/veristat
mkdir -p "$work/overlay/opt/veristat" "${kept%/*}"
cp out/bpf/*.bpf.o "$(command -v veristat)" "$work/overlay/opt/veristat/"
tools/vm/guest run --clock fast --quiet --timeout 300 --overlay out/guest \
	--overlay "$work/overlay" --results "$work/results" -- sh -c '
	cd /opt/veristat && insmod /usr/local/lib/mpdpa/mptcp_dpa.ko &&
	./veristat -o csv -e file,prog,verdict,insns,states,peak_states *.bpf.o \
		>/results/csv 2>/results/errors' ||
	{ cat "$work/results/errors" >&2; exit 1; }
new=$work/results/csv
column -s, -t "$new" 2>/dev/null || cat "$new"
if grep -q failure "$new"; then
	echo "veristat: a program is refused" >&2
	exit 1
fi
if [ -e "$kept" ] && ! cmp -s "$new" "$kept"; then
	echo "changed since $kept was kept:"
	diff "$kept" "$new" || true
fi
cp "$new" "$kept"
