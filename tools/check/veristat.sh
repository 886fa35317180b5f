#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the verifier of the guest's kernel did with each program: prints it,
# compares it with what is kept for the series, and keeps it.
set -euo pipefail

cd "$(dirname "$0")/../.."
series=${KERNEL:?}
built=${MPDPA_BUILT:-out}
kept=tools/check/veristat/$series.csv
work=out/veristat
rm -rf "$work"
mkdir -p "$work/overlay/opt/verifier" "${kept%/*}"
cp "$built"/bpf/*.bpf.o "$work/overlay/opt/verifier/"
# shellcheck disable=SC2046 # words, not one
gcc -O2 -Wall -Wextra -o "$work/overlay/opt/verifier/verifier" tools/check/verifier.c \
	$(pkg-config --cflags --libs --static libbpf)
tools/vm/guest run --clock virtual --quiet --timeout 300 --overlay "$built/guest" \
	--overlay "$work/overlay" --results "$work/results" -- sh -c '
	cd /opt/verifier && insmod /usr/local/lib/mpdpa/mptcp_dpa.ko &&
	./verifier *.bpf.o >/results/csv 2>/results/errors' ||
	{ cat "$work/results/errors" >&2; exit 1; }
new=$work/results/csv
column -s, -t "$new" 2>/dev/null || cat "$new"
if [ -e "$kept" ] && ! cmp -s "$new" "$kept"; then
	echo "changed since $kept was kept:"
	diff "$kept" "$new" || true
fi
cp "$new" "$kept"
