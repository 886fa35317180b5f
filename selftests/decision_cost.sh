#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
#	decision_cost.sh [two_paths] [eight_paths]
#
# What a decision costs, beside the kernel's default scheduler and beside burst,
# which is the same in BPF: for a guest whose clock counts instructions, where
# one is a nanosecond. What measuring costs is taken off. The kernel asks for one
# decision a burst. With a chunk it may take 1.3 times what burst does, on Linux
# 6.12, whose BPF takes longer to look at all paths, 1.5 times.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"

port=5000
bytes=4000000
need bpftool jq
most=13
[[ $(uname -r) != 6.* ]] || most=15

start_probes() {
	bpftool prog loadall "$(find_file cost.bpf.o)" "$pins/cost" autoattach \
		>"$tmp/probes" 2>&1
	[ -e "$pins/cost/decision_ends" ]
}

stop_probes() { rm -rf "$pins/cost"; }

# samples WHICH: instructions, sorted
samples() {
	bpftool map dump name cost.bss -j | jq -r --arg which "$1" '
		.. | objects | select(has($which))[$which] |
		.ns[:.count] | sort | .[]'
}

# The mean, without the dearest hundredth, but one at least: an interrupt in a
# decision's midst is none of its cost.
mean() {
	awk '{ v[NR] = $1 }
	     END { n = NR - int((NR + 99) / 100)
		   for (i = 1; i <= n; i++) sum += v[i]
		   print n ? int(sum / n) : 0 }'
}

# measure SCHEDULER [STEP...]: cost is what one decision takes
measure() {
	local which=$1 own i

	shift
	scheduler "$which"
	server "$server" $server4 $port "$tmp/server" \
		"buffers receive 4000000" accept drain shutdown
	start_probes || { fail "no probes: $(tail -n 3 "$tmp/probes")"; return 1; }
	client "$client" "connect $server4 $port" "buffers send 500000" \
		"send 1000" "wait subflows=$paths" "sleep 200" "$@" \
		"send $bytes" shutdown drain >"$tmp/client" ||
		fail "$which: $(tail -n 3 "$tmp/client")"
	expect_ok "the receiver" finish "$last_pid" 60
	# each runs the function once
	for i in {1..20}; do
		bpftool prog run name probe_begins repeat 1 >"$tmp/run" 2>&1
	done
	own=$(samples probe | mean)
	cost=$(samples decision | mean)
	[ "$own" -gt 0 ] && [ "$cost" -gt "$own" ] ||
		fail "$which: cost $cost, of measuring $own: $(cat "$tmp/run")"
	cost=$((cost - own))
	stop_probes
}

# compare PATHS: all costs differ, and half of the paths are needed
compare() {
	local i kernel plain idle chunk
	local paths=$1

	topology "$paths" 8mbit 10ms 65536 || return
	attach || { fail "cannot attach"; return; }
	register "$(find_file burst.bpf.o)" || { fail "no burst"; return; }
	for ((i = 2; i <= paths; i++)); do
		endpoint $i 4 subflow
		in_ns "$client" "$mpdpa" path set endpoint $i cost $((1 + i)) ||
			fail "cannot set a cost"
	done
	measure default && kernel=$cost &&
		measure burst && plain=$cost &&
		measure mpdpa && idle=$cost &&
		measure mpdpa "chunk len=$bytes ms=$((8000 / paths))" &&
		chunk=$cost || return
	unregister burst || fail "burst stays"
	note "| $paths | $kernel | $plain | $idle | $chunk |"
	expect_between "instructions of a decision with a chunk" "$chunk" 1 \
		$((plain * most / 10))
}

two_paths() { compare 2; }
eight_paths() { compare 8; }

run_cases "$@" -- two_paths eight_paths
