#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Where many connections fill a path a chunk with time to spare waits for its turn: over
# the two paths of chunk.sh.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/chunk.sh"

# bytes, and milliseconds, of those that fill the path, and of those that come then
size=400000
time=60000

# another NAME STEP...: a connection that says when it has written what it will, and goes
# on until its chunks are over. It may be one of TCP alone: MPTCP falls back if the queue
# drops its handshake's end, and the packet after that.
another() {
	local at=$((port + ${#clients[@]} + 1))

	server "$server" $server4 $at "$tmp/$1_server" accept drain
	servers+=("$last_pid")
	start "$tmp/$1" client "$client" "connect $server4 $at" "buffers send 800000" \
		"${@:2}" "say written" "wait queued=0 within=$time" info close
	clients+=("$last_pid")
	names+=("$1")
	ports[$1]=$at
}

# lines_ready: the two paths, nobody on them, and a gate
lines_ready() {
	prepare subflow backup || return
	new_gate
	clients=()
	names=()
	servers=()
	declare -gA ports=()
}

# Ten fill the first path, of which they have all that it carries in four seconds. Who has
# to say too often that it wants to connect is one of TCP alone, and can have no chunk.
fill() {
	local i

	for i in {1..10}; do
		another "early$i" "chunk len=$size ms=$time" "send $size"
	done
	wait_until 20 has_sent 1 $((2 * size)) || fail "nothing was sent"
	for i in {1..10}; do
		wait_until 10 grep -q '"written"' "$tmp/early$i" ||
			fail "early$i: $(tail -n 2 "$tmp/early$i")"
	done
}

# those that come then, with all the time in the world
late_ones() {
	local i

	for i in {1..6}; do
		another "late$i" "chunk len=$size ms=$time" "send $size"
	done
	wait_until 10 three_wait || fail "no three wait"
}

# with_both NAME STEP...: one that has both paths, and goes on when the gate opens
with_both() {
	another "$1" "chunk len=1000 ms=$time" "send 1000" "wait queued=0 within=$time" \
		"wait subflows=2" "say ready" "await $gate" "${@:2}"
	wait_until 20 grep -q ready "$tmp/$1" || fail "$(tail -n 2 "$tmp/$1")"
}

turns() { stat_of "$client" turns; }

# waits NAME: all that it sends is written, and no byte has left, or no more than before
waits() { waits_behind "$1" 0; }
waits_behind() {
	grep -q '"written"' "$tmp/$1" 2>/dev/null || return
	[ "$(in_ns "$client" ss -Htni "dport = :${ports[$1]}" | tr ' ' '\n' |
		awk -F: '$1 == "bytes_sent" { n += $2 } END { print n + 0 }')" -le "$2" ]
}
has_begun() { ! waits_behind "$1" "$2"; }

# over INDEX: one connection, to the end of both sides
over() {
	expect_ok "client ${names[$1]}" finish "${clients[$1]}" 70 ||
		fail "$(tail -n 2 "$tmp/${names[$1]}")"
	expect_ok "server $1" finish "${servers[$1]}" 30
}
all_over() {
	local i

	for i in "${!clients[@]}"; do
		over "$i"
	done
}

three_wait() {
	local name n=0

	for name in late{1..6}; do
		waits "$name" && n=$((n + 1))
	done
	[ $n -ge 3 ]
}

# They begin one by one. All are met, and nothing of them is worth a costlier path. Who
# has told others needs no look of its own: with one every quarter of a round trip it is
# four thousand of them.
one_by_one() {
	local before

	lines_ready || return
	fill
	before=$(turns)
	late_ones
	all_over
	expect_between "looks" "$(stat_of "$client" ticks)" 400 2000
	expect_between "chunks that waited" $(($(turns) - before)) 3 16
	expect_eq "chunks missed" "$(stat_of "$client" chunks_missed)" 0
	expect_between "bytes on the costly path" "$(client_bytes 2)" 0 $size
}

# A chunk that is due sooner is set behind it: both go at once.
urgent_behind() {
	lines_ready || return
	with_both first "chunk len=$size ms=$time" "send $size" "say written" "await $gate" \
		"chunk len=1000 ms=3000" "send 1000"
	fill
	open_gate
	wait_until 10 waits_behind first 1000 || fail "it does not wait"
	open_gate
	wait_until 1 has_begun first 1000 || fail "it waits, with another behind it: $(tail -n 3 "$tmp/first")"
	all_over
	expect_eq "chunks met" "$(field "$tmp/first" info met)" 3
}

# close() while it waits: all of it arrives. A reset then, and nothing is left of it.
closed_in_line() {
	local i at=$((port + 20)) before end

	lines_ready || return
	for end in close abort; do
		server "$server" $server4 $((++at)) "$tmp/at_$end" accept drain
		servers+=("$last_pid")
		start "$tmp/$end" client "$client" "connect $server4 $at" \
			"buffers send 800000" "say ready" "await $gate" \
			"chunk len=$size ms=$time" "send $size" $end
		clients+=("$last_pid")
		names+=("$end")
		wait_until 10 grep -q ready "$tmp/$end" || fail "$(tail -n 2 "$tmp/$end")"
	done
	fill
	before=$(turns)
	open_gate
	for i in "${!clients[@]}"; do
		expect_ok "client ${names[i]}" finish "${clients[i]}" 70
	done
	expect_eq "chunks that waited" $(($(turns) - before)) 2
	wait_until 60 grep -q '"step":"drain"' "$tmp/at_close" || fail "it does not end"
	expect_eq "received" "$(field "$tmp/at_close" drain received)" $size
	detach
	wait_until 20 is_unused || fail "the module has $(module_users) users"
}

# Their path goes silent: who waits there begins on the other one, in time.
silent_line() {
	lines_ready || return
	with_both first "chunk len=$size ms=8000" "send $size"
	fill
	open_gate
	wait_until 10 waits_behind first 1000 || fail "it does not wait"
	path_silent 1
	wait_until 10 grep -q '"met"' "$tmp/first"
	expect_eq "chunks met" "$(field "$tmp/first" info met)" 2
	shape 1 8mbit 25ms 65536
	all_over
}

# One for which the line is too long goes over the costlier path, all of it. What the
# connection has then, without a deadline, is for the cheap one again.
goes_by() {
	local i before

	lines_ready || return
	sysctl_in "$client" net.mptcp_dpa.overflow_ms=500
	with_both first "chunk len=$size ms=2000" "send $size" "wait queued=0 within=$time" \
		info subflows "await $gate" "send 100000"
	fill
	late_ones
	open_gate
	for ((i = 1; i < ${#clients[@]}; i++)); do
		over $i
	done
	expect_eq "chunks met" "$(field "$tmp/first" info met)" 2
	expect_between "payload on the costly path" "$(first_sent "$tmp/first" 1)" \
		$((size / 10 * 9)) $((size + size / 10))
	before=$(client_bytes 1)
	open_gate
	over 0
	expect_between "bytes on the cheap path" $(($(client_bytes 1) - before)) 90000 120000
}

# Bytes without a deadline in front of a chunk were not said to have time.
without_deadline() {
	lines_ready || return
	with_both first "send 1000" "chunk len=$size ms=$time" "send $size"
	fill
	open_gate
	wait_until 10 grep -q written "$tmp/first" || fail "nothing is written"
	wait_until 1 has_begun first 2000 || fail "bytes without a deadline wait"
	all_over
}

# Six that send a megabyte a second each do not show what the path could carry: one that
# sends twelve by their side needs no other path for that, and has time enough.
beside_light_ones() {
	local -a little=()
	local i costly bytes=12000000

	lines_ready || return
	sysctl_in "$client" net.ipv4.tcp_congestion_control=bbr
	for i in 1 2; do
		shape $i 160mbit 25ms 1000000
	done
	for i in {1..200}; do
		little+=("chunk len=20000 ms=1000" "send 20000" "sleep 20")
	done
	with_both first "chunk len=$bytes ms=1500" "send $bytes" \
		"wait queued=0 within=$time" subflows
	for i in {1..6}; do
		another "light$i" "${little[@]}"
	done
	wait_until 20 has_sent 1 $((bytes / 20)) || fail "nothing was sent"
	open_gate
	all_over
	expect_eq "chunks met" "$(field "$tmp/first" info met)" 2
	costly=$(first_sent "$tmp/first" 1)
	note "$costly of $bytes bytes on the costly path"
	expect_between "payload on the costly path" "$costly" 0 $((bytes / 10))
}

# where the processor is slower than the path no queue is long enough for a line
quick_cases silent_line

run_cases "$@" -- one_by_one urgent_behind closed_in_line silent_line goes_by \
	without_deadline beside_light_ones
