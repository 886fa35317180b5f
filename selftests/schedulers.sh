#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The schedulers of the kernel's BPF API: each is loaded by plain libbpf and by
# bpftool, and does over two paths what its name says.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"

port=5000
bytes=4000000

# prepare [FLAG...]: two equal paths, and an endpoint for the second
prepare() {
	module_load || { fail "insmod"; return 1; }
	topology 2 8mbit 10ms 65536 || return
	[ $# -gt 0 ] || set -- subflow
	endpoint 2 4 "$@"
}

# use OBJECT: loads it by libbpf and selects it
use() {
	"$files/load_sched" "$(find_file "$1.bpf.o")" "$pins" >"$tmp/register" 2>&1 ||
		{ fail "load_sched: $(tail -n 20 "$tmp/register")"; return 1; }
	scheduler "$1"
}

# transfer: $bytes over both paths, all but the first when both are up
transfer() {
	server "$server" $server4 $port "$tmp/server" \
		"buffers receive 2000000" accept "drain $bytes" shutdown
	client "$client" "connect $server4 $port" "buffers send 500000" \
		"send 1000" "wait subflows=2" "sleep 100" \
		"send $((bytes - 1000))" shutdown drain subflows \
		>"$tmp/client" || { fail "$(tail -n 3 "$tmp/client")"; return 1; }
	expect_ok "the receiver" finish "$last_pid" 30
	expect_eq "received" "$(field "$tmp/server" drain received)" $bytes
}

# sent N: payload bytes that subflow N sent, the first 0, without TCP's repeats
sent() {
	jq -r "select(.step == \"subflows\") |
		.subflows[$1] | .bytes_sent - .bytes_retrans" "$tmp/client"
}

gap_ms() { field "$tmp/server" drain 'gap_ns / 1000000 | floor'; }

leave() {
	unregister "$1" || fail "$1 stays"
	abort_connections "$client"
	wait_until 60 is_unused || fail "the module has $(module_users) users"
}

# expect_none SUBFLOW: but what MPTCP's own timer sent again, a fragment at a
# time, when the other's acknowledgments were long in coming
expect_none() {
	local again

	again=$(counter "$client" MPTcpExtMPTCPRetrans)
	[ "$again" = 0 ] || note "MPTCP's timer sent again: $again"
	expect_between "bytes on the ${2:-second subflow}" "$(sent "$1")" \
		0 $((again * 32768))
}

first_alone() {
	prepare && use first || return
	transfer
	expect_none 1
	leave first
}

backup_waits() {
	prepare subflow backup && use backup || return
	transfer
	expect_none 1 backup
	leave backup
}

# The peer resets the first subflow: everything goes over the backup.
backup_takes_over() {
	prepare subflow backup && use backup || return
	server "$server" $server4 $port "$tmp/server" accept "drain $bytes" shutdown
	start "$tmp/client" client "$client" "connect $server4 $port" \
		"send 1000" "wait subflows=2" "say both" \
		"send $((bytes - 1000))" shutdown drain subflows
	client_pid=$last_pid
	wait_until 10 grep -q '"word":"both"' "$tmp/client" ||
		fail "no second subflow: $(tail -n 1 "$tmp/client")"
	sleep 1
	kill_subflow "$server" dst 10.0.1.1 "sport = :$port"
	finish "$client_pid" 60 || fail "$(tail -n 3 "$tmp/client")"
	grep -q "\"received\":$bytes" "$tmp/server" ||
		fail "the server has $(tail -n 1 "$tmp/server")"
	leave backup
}

# Two equal paths carry half each.
shared_evenly() {
	local half=$((bytes / 2))

	transfer
	note "$1: $(sent 0) and $(sent 1) bytes"
	expect_between "bytes on the first subflow" "$(sent 0)" \
		$((half * 85 / 100)) $((half * 115 / 100))
	leave "$1"
}

# Turns are taken among those with room, so neither path shall ever be full; but
# before windows have grown they are, hence so many bytes.
many=16000000
roomy() {
	prepare && use "$1" || return
	shape 1 100mbit 5ms 300000
	shape 2 100mbit 5ms 300000
}

burst_shares() { prepare && use burst && shared_evenly burst; }
round_robin_shares() { roomy round_robin && bytes=$many shared_evenly round_robin; }
equal_weights_share() { roomy weighted_rr && bytes=$many shared_evenly weighted_rr; }

# weight 3 for the second path
weights_count() {
	local share

	roomy weighted_rr || return
	bpftool map update name weights key 2 0 0 0 value 3 0 0 0 ||
		{ fail "no map of weights"; return; }
	bytes=$many transfer
	share=$((1000 * $(sent 1) / ($(sent 0) + $(sent 1))))
	note "weights 1 and 3: $(sent 0) and $(sent 1) bytes"
	expect_between "share of the path of weight 3, permille" $share 700 800
	leave weighted_rr
}

# All new data is on the first path; the second one repeats the oldest of it, no
# more than a piece each round trip.
redundant_repeats() {
	prepare && use redundant || return
	shape 2 8mbit 20ms 65536
	transfer
	note "redundant: $(sent 0) and $(sent 1) bytes for $bytes"
	expect_between "bytes on the first subflow" "$(sent 0)" $bytes \
		$((bytes * 105 / 100))
	expect_between "bytes repeated on the second" "$(sent 1)" \
		$((bytes / 100)) $((bytes * 105 / 100))
	leave redundant
}

# silence_one SECONDS: so long after the first bytes are on their way
silence_one() {
	wait_until 10 grep -q '"send".*"sent":1000}' "$tmp/client" ||
		fail "nothing was sent: $(tail -n 1 "$tmp/client")"
	sleep "$1"
	path_silent 1
}

# gap_of SCHEDULER SECONDS: the receiver's longest wait when the first path dies
# that long after the beginning
gap_of() {
	local client_pid server_pid

	scheduler "$1"
	shape 1 8mbit 10ms 65536
	shape 2 8mbit 20ms 65536
	server "$server" $server4 $port "$tmp/server" accept "drain $bytes" shutdown
	server_pid=$last_pid
	start "$tmp/client" client "$client" "connect $server4 $port" \
		"buffers send 500000" "send 1000" "wait subflows=2" \
		"send $((bytes - 1000))" shutdown
	client_pid=$last_pid
	silence_one "$2"
	finish "$server_pid" 90 || fail "$1: $(tail -n 3 "$tmp/client")"
	finish "$client_pid" 30
	gap=$(gap_ms)
	abort_connections "$client"
}

# gaps_of SCHEDULER: one for each of several moments, in rising order
gaps_of() {
	local gap after
	local -a all=()

	for after in 0.8 0.93 1.06 1.19 1.32; do
		gap_of "$1" $after
		all+=("$gap")
	done
	mapfile -t gaps < <(printf '%s\n' "${all[@]}" | sort -n)
}

# What the other path repeats has not waited for the timeout of the silent one,
# which nobody else comes around: not the slowest of redundant's gaps is as long
# as the shortest of the default's, and all of them together not half as long.
redundant_bridges() {
	local -a gaps default_gaps
	local sum default_sum

	prepare && use redundant || return
	gaps_of default
	default_gaps=("${gaps[@]}")
	gaps_of redundant
	note "longest gap when a path dies, ms: default ${default_gaps[*]}, redundant ${gaps[*]}"
	expect_between "redundant's longest gap, ms" "${gaps[-1]}" 1 \
		$((default_gaps[0] - 1))
	sum=$(IFS=+; echo $((${gaps[*]})))
	default_sum=$(IFS=+; echo $((${default_gaps[*]})))
	expect_between "redundant's gaps together, ms" "$sum" 1 $((default_sum / 2))
	leave redundant
}

# Every object by bpftool as well; a version that crashes afterwards has done it.
by_bpftool() {
	local one

	prepare || return
	for one in first backup burst round_robin weighted_rr redundant; do
		register "$(find_file $one.bpf.o)" $one ||
			{ fail "$one: $(tail -n 5 "$tmp/register")"; continue; }
		scheduler $one
		bytes=400000 transfer
		unregister $one || fail "$one stays"
	done
	abort_connections "$client"
	wait_until 60 is_unused || fail "the module has $(module_users) users"
}

quick_cases backup_takes_over
run_cases "$@" -- first_alone backup_waits backup_takes_over burst_shares \
	round_robin_shares equal_weights_share weights_count \
	redundant_repeats redundant_bridges by_bpftool
