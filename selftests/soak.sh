#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Long use: connections of many kinds are opened and closed all the time while
# paths come and go; memory stays flat, no connection is stuck, the kernel has
# nothing to say.
#
#	SOAK_CONNECTIONS=N	how many are opened and closed (400)
#	SOAK_SECONDS=N		over how much time (120)
#	SOAK_BATCH=N		of one process, one after the other (20)

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"
source "$(dirname "$0")/stream.sh"

need mpdpa

total=${SOAK_CONNECTIONS:-400}
seconds=${SOAK_SECONDS:-120}
workers=8
batch=${SOAK_BATCH:-20}

# What a batch of one worker is made of: "the client's steps|the server's". A
# reset is sent once, on each subflow: where all are lost nothing tells the peer.
# A connection is accepted when its handshake's last segment arrives, which a full
# queue can lose: whose server expects bytes waits until some are acknowledged,
# else the next one's connection may overtake it. If the first bytes are lost as
# well, both ends are left with TCP: then a later chunk is refused.
kinds=(
	"send 3000;shutdown;drain|drain;shutdown"
	"chunk len=3000 ms=100;send 3000;wait queued=0;shutdown;drain|drain;shutdown"
	"send 1000;chunk len=60000 ms=300 => any;send 60000;shutdown;drain|drain;shutdown"
	"chunk len=40000 ms=20;chunk len=9000 ms=4000;send 49000;shutdown;drain|drain;shutdown"
	"chunk len=100000 ms=5000;send 5000;wait acked=5000 within=20000 => any;abort|patience 30000;drain => any"
	"chunk len=2000 ms=400;send 2000;wait queued=0 within=20000;chunk len=90000 ms=500 => any;send 30000 => any;close|recv 3000;abort"
	"chunk len=1000 ms=50;close|drain => any"
	"send 1000;wait subflows=2 within=300 => any;chunk len=80000 ms=200 => any;send 80000;shutdown;drain|drain;shutdown"
	"stream every=20 ms=300 expect=4000;send 4000;sleep 30;send 4000;sleep 50;stream every=0 => any;send 4000;shutdown;drain|drain;shutdown"
	"eventfd;stream every=50 ms=100;send 40000;eventfd => any;send 40000;shutdown;drain|drain;shutdown"
	"eventfd;prefer 2 4294967295;prefer 1 7;chunk len=30000 ms=300;send 30000;prefer 2 5 => any;prefer 1 0 => any;wait queued=0;shutdown;drain|drain;shutdown"
)

# worker NUMBER ROUNDS: rounds of a batch each, spread over the time
worker() {
	local number=$1 rounds=$2 at=$((6000 + $1)) round i kind begun now
	local -a there here_steps

	now_ms
	begun=$now
	for ((round = 0; round < rounds; round++)); do
		there=()
		here_steps=()
		for ((i = 0; i < batch; i++)); do
			kind=${kinds[(number + round + i) % ${#kinds[@]}]}
			IFS=';' read -ra steps <<<"${kind%|*}"
			here_steps+=("connect $server4 $at" "${steps[@]}" "close => any")
			IFS=';' read -ra steps <<<"${kind#*|}"
			there+=(accept "${steps[@]}")
		done
		timeout 900 ip netns exec "$server" "$files/dpa_sock" \
			"listen $server4 $at" "${there[@]}" >"$tmp/there$number" &
		wait_until 20 is_listening "$server" $at || echo "no server"
		touch "$tmp/busy$number"
		timeout 900 ip netns exec "$client" "$files/dpa_sock" \
			"${here_steps[@]}" >"$tmp/here$number" ||
			echo "client $number, round $round: status $?," \
				"$(tail -n 9 "$tmp/here$number")"
		wait $! || echo "server $number, round $round: status $?," \
			"$(tail -n 2 "$tmp/there$number")"
		rm "$tmp/busy$number"
		echo "done $batch"
		now_ms
		i=$(((round + 1) * seconds * 1000 / rounds - now + begun))
		[ $i -le 0 ] || sleep "$((i / 1000)).$(printf %03d $((i % 1000)))"
	done
}

# change ROUND: the second path goes and comes, as an endpoint, as an interface, in
# silence. What has no deadline overflows, or does not.
change() {
	local round=$1

	sysctl_in "$client" net.mptcp_dpa.overflow_ms=$((round % 3 * 100)) || return
	case $((round % 4)) in
	0)	ip -n "$client" mptcp endpoint del id 2 && sleep 2 &&
			endpoint 2 4 subflow backup ;;
	1)	ip -n "$client" link set c2 down && sleep 2 && interface_up 2 ;;
	2)	path_silent 2 && sleep 2 && shape 2 20mbit 10ms 65536 ;;
	3)	path_rate 1 $((4 + round % 5 * 4))mbit && sleep 2 ;;
	esac
}

# until $tmp/churning goes, between two rounds: all paths are as they were then
churn() {
	local round

	# in the background the case's own is not heard
	fail() { echo "$*"; }
	for ((round = 0; ; round++)); do
		[ -e "$tmp/churning" ] || return 0
		change $round && echo "done $round" ||
			echo "change $round: status $?"
		sleep 3
	done
}

# churn_ends PID: it went on to the end, fast enough, and all of it well
churn_ends() {
	is_over "$1" && fail "the paths stood still"
	rm "$tmp/churning"
	expect_ok "what changes the paths" finish "$1" 120
	expect_between "changes of the paths" "$(grep -c '^done' "$tmp/churn")" \
		$((seconds / 10)) 1000000
	grep -v '^done' "$tmp/churn" | head -n 40 >"$tmp/bad"
	[ ! -s "$tmp/bad" ] || fail "$(cat "$tmp/bad")"
}

# what the kernel's own allocations hold, once all that waits is freed
kept_bytes() { slab_bytes '^(kmalloc|mptcp_dpa)|MPTCP'; }

# Shows the sockets, once, when a worker has not got on for long: those of its
# connection are gone when it ends.
watch_workers() {
	local i

	while sleep 20; do
		for ((i = 0; i < workers; i++)); do
			[ -e "$tmp/busy$i" ] || continue
			[ -n "$(find "$tmp/here$i" -mmin -2)" ] && continue
			echo "worker $i stands still"
			tail -n 3 "$tmp/here$i" "$tmp/there$i"
			show_sockets
			in_ns "$client" "$mpdpa" conn show
			return
		done
	done
}

# load ROUNDS: by all workers, to the end, all of it well
load() {
	local i worker_pids=() churn_pid watch_pid

	touch "$tmp/churning"
	start "$tmp/churn" churn
	churn_pid=$last_pid
	start "$tmp/watch" watch_workers
	watch_pid=$last_pid
	for ((i = 0; i < workers; i++)); do
		start "$tmp/worker$i" worker $i "$1"
		worker_pids+=("$last_pid")
	done
	for ((i = 0; i < workers; i++)); do
		wait_until $((seconds * 2 + 900)) is_over "${worker_pids[i]}" ||
			fail "worker $i is stuck: $(cat "$tmp/here$i")"
		opened=$((opened + batch * $(grep -c '^done' "$tmp/worker$i")))
		grep -v '^done' "$tmp/worker$i" | head -n 40 >"$tmp/bad"
		[ ! -s "$tmp/bad" ] || fail "$(cat "$tmp/bad")"
	done
	stop "$watch_pid"
	[ ! -s "$tmp/watch" ] || fail "$(cat "$tmp/watch")"
	churn_ends "$churn_pid"
}

# A connection's state, kept, would have 2 KB each, the smallest object 8 bytes.
mixed_loads() {
	local before kept warm rounds begun=$SECONDS opened=0 lines plain
	local mark="soak loads $$"

	rounds=$(((total + workers * batch - 1) / (workers * batch)))
	stream_prepare || return
	seconds=20 load 1
	nothing_stays
	warm=$opened
	before=$(kept_bytes)
	log_mark "$mark"
	load "$rounds"
	nothing_stays
	kept=$(($(kept_bytes) - before))
	plain=$(counter "$server" MPTcpExtMPCapableFallbackACK)
	note "$opened connections in $((SECONDS - begun)) s kept $kept bytes," \
		"$plain fell back"
	expect_between "connections" $opened "$total" 1000000
	expect_between "fallbacks" "$plain" 0 $((opened / 5))
	expect_between "chunks set" "$(stat_of "$client" chunks_set)" \
		$((opened / 2)) 100000000
	# 24 KB go and come by themselves
	expect_between "bytes kept" $kept -100000000 \
		$((24576 + 16 * (opened - warm)))
	# the test itself makes the kernel say some
	lines=$(log_since "$mark" |
		grep -vE 'drop_caches|c2: (link|entered|renamed)')
	[ -z "$lines" ] || fail "the kernel's log has: $lines"
	detach
	wait_until 30 is_unused || fail "the module has $(module_users) users"
}

run_cases "$@" -- mixed_loads
