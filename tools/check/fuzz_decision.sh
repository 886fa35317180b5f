#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# fuzz_decision.sh [SECONDS]: the decision arithmetic under libFuzzer, from the
# corpus that is kept in the tree. KTAP. KEEP=1 adds to that corpus what is new.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
seconds=${1:-60}
work=out/fuzz
mkdir -p $work/new bpf/corpus
echo "KTAP version 1"
echo "1..2"
clang -std=gnu11 -O2 -g -Wall -Werror -fsanitize=fuzzer,undefined \
	-fno-sanitize-recover=all -Ikernel -Ikernel/uapi -o $work/decision \
	bpf/decision_fuzz.c || { echo "not ok 1 it builds"; exit 1; }
echo "ok 1 it builds"
if $work/decision -max_total_time="$seconds" -max_len=4096 -print_final_stats=1 \
	-artifact_prefix=$work/ $work/new bpf/corpus >$work/log 2>&1 &&
	[ "$(sed -n 's/^stat::number_of_executed_units: //p' $work/log)" -gt 100000 ]; then
	grep -E '^stat::number|^#.*DONE' $work/log | sed 's/^/# /'
	echo "ok 2 no fault found in $seconds s"
else
	tail -n 40 $work/log | sed 's/^/# /'
	echo "not ok 2 no fault found in $seconds s"
	exit 1
fi
if [ -n "${KEEP:-}" ]; then
	mkdir -p $work/merged
	rm -f $work/merged/*
	$work/decision -merge=1 $work/merged bpf/corpus $work/new >>$work/log 2>&1 &&
		[ -n "$(ls $work/merged)" ] || { echo "not ok 3 inputs merged"; exit 1; }
	rm -f bpf/corpus/*
	cp $work/merged/* bpf/corpus/
fi
