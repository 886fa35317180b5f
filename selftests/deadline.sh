#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"

port=5000
chunk_len=4000000

# transfer FAMILY MARKS STEP...
transfer() {
	local at=$server4 marks=$2 pid

	[ "$1" = 6 ] && at=$server6
	shift 2
	server "$server" $at $port "$tmp/server" "buffers receive 4000000" accept "drain $marks"
	pid=$last_pid
	client "$client" "socket 4 mptcp" "connect $at $port" "wait subflows=2" "sleep 200" "$@" \
		info subflows shutdown drain >"$tmp/client" || fail "client: $(tail -n 3 "$tmp/client")"
	finish $pid 60 || fail "server: $(tail -n 3 "$tmp/server")"
}
report() {
	local due arrival
	due=$(field "$tmp/client" chunk due_ns); arrival=$(field "$tmp/server" arrival at_ns)
	note "$1: left $(((due - arrival)/1000000)) ms met $(field "$tmp/client" info met) decisions $(field "$tmp/client" info decisions) $(jq -c 'select(.step=="info") | .path[] | [.cost,.costly,.goodput,.bytes_sent,.activations,.request_bkup]' $tmp/client | xargs)"
}
try() {
	topology 2 8mbit 25ms ${Q:-65536}
	attach; scheduler mpdpa
	sysctl_in "$client" net.ipv4.tcp_congestion_control=${CC:-cubic}
	endpoint 2 4 subflow backup
	for d in 8000 6000 5000 4500 4000 3500 3000 2700 2400; do
	transfer 4 $chunk_len "buffers send 2000000" "chunk len=$chunk_len ms=$d" "send $chunk_len" "wait queued=0"
	report "D=$d"
	done
}
run_cases "$@" -- try
