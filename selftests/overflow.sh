#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Bytes without a deadline: where overflow is on, a costlier path takes what the
# cheap one cannot carry within that time, and nothing else. Over two paths of 8
# Mbit/s, each with a goodput of 943 KB/s (chunk.sh); the second one costs more,
# and is not flagged backup: without overflow, both are used.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/chunk.sh"

need mpdpa

# prepare_overflow [MS]: for the client's namespace
prepare_overflow() {
	prepare subflow || return
	expect_ok "a cost" in_ns "$client" "$mpdpa" path set dev c2 cost 5
	[ -z "${1:-}" ] || sysctl_in "$client" net.mptcp_dpa.overflow_ms="$1"
}

# begin_sender STEP...: over two subflows; $tmp/client has what it says
begin_sender() {
	server "$server" $server4 $port "$tmp/server" \
		"buffers receive 4000000" accept drain shutdown
	receiver_pid=$last_pid
	start "$tmp/client" client "$client" "connect $server4 $port" \
		"buffers send 2000000" "send 1000" "wait subflows=2" "$@" \
		subflows shutdown drain
	sender_pid=$last_pid
}

end_sender() {
	finish "$sender_pid" 30 || fail "the client: $(tail -n 3 "$tmp/client")"
	expect_ok "the receiver" finish "$receiver_pid" 30
}

# sender STEP...: the same, to the end
sender() {
	begin_sender "sleep 100" "$@"
	end_sender
}

# costly_bytes: payload on the second path
costly_bytes() { first_sent "$tmp/client" 1; }

# at_rate MS: 3 MB, 50 KB every so many milliseconds
at_rate() {
	local i

	steps=()
	for ((i = 0; i < 60; i++)); do
		steps+=("send 50000" "sleep $1")
	done
}

# stays_off SUBFLOW: what the other carries by itself
stays_off() {
	local bytes

	at_rate 80
	sender "${steps[@]}"
	bytes=$(first_sent "$tmp/client" "$1")
	note "costly: $bytes of 3000000 bytes"
	expect_between "bytes on the costly path" "$bytes" 0 60000
}

# Less than the cheap path carries stays there, however long it goes on.
below_capacity() { prepare_overflow 200 && stays_off 1; }

# The endpoint of the first path is known to the kernel later than the first bytes.
first_costly() {
	prepare_overflow 200 && endpoint 1 4 subflow || return
	expect_ok "costs" in_ns "$client" "$mpdpa" path set endpoint 1 cost 9
	stays_off 0
}

# What is more goes the costly way: 1.25 MB/s.
above_capacity() {
	local bytes

	prepare_overflow 200 || return
	at_rate 40
	sender "${steps[@]}"
	bytes=$(costly_bytes)
	note "costly: $bytes of 3000000 bytes"
	# 2.4 s, in which the cheap path carries 2263 KB, and 200 ms more
	expect_between "bytes on the costly path" "$bytes" 300000 1000000
}

# Whoever writes all at once has both paths.
saturated() {
	local begun took bytes now

	prepare_overflow 100 || return
	server "$server" $server4 $port "$tmp/server" \
		"buffers receive 4000000" accept "drain 1000 6000000" shutdown
	now_ms
	begun=$now
	client "$client" "connect $server4 $port" "buffers send 2000000" \
		"send 1000" "wait subflows=2" "sleep 100" "send 6000000" \
		subflows shutdown drain >"$tmp/client" ||
		fail "the client: $(tail -n 3 "$tmp/client")"
	now_ms
	took=$((now - begun))
	expect_ok "the receiver" finish "$last_pid" 30
	bytes=$(costly_bytes)
	note "6 MB in $took ms, costly: $bytes bytes"
	# 3.2 s over both paths, 6.4 s over one
	expect_between "milliseconds" "$took" 3100 4500
	expect_between "bytes on the costly path" "$bytes" 1200000 3300000
}

# It is off unless asked for: the default scheduler, and no state.
off() {
	prepare_overflow || return
	at_rate 80
	sender "${steps[@]}"
	expect_between "bytes on the costly path" "$(costly_bytes)" 300000 3000000
	expect_eq "connections with state" "$(stat_of "$client" connections)" 0
}

# A connection's own word counts more than the namespace's.
of_a_connection() {
	local id

	prepare_overflow 200 || return
	at_rate 80
	begin_sender "sleep 2000" "${steps[@]}"
	wait_until 10 has_connection
	id=$(in_ns "$client" "$mpdpa" conn show -j | jq '.[0].id')
	expect_ok "conn set" in_ns "$client" "$mpdpa" conn set id "$id" \
		overflow off
	expect_eq "shown" "$(in_ns "$client" "$mpdpa" conn show id "$id" -j |
		jq '.[].overflow_ms')" 0
	end_sender
	expect_between "bytes on the costly path" "$(costly_bytes)" 300000 3000000
}

has_connection() { [ "$(stat_of "$client" connections)" = 1 ]; }

# Chunks go on as ever, and what comes after them overflows.
with_chunks() {
	local bytes

	prepare_overflow 300 || return
	at_rate 80
	sender "chunk len=1000000 ms=5000" "send 1000000" "wait queued=0" \
		"${steps[@]}"
	expect_eq "chunks met" "$(stat_of "$client" chunks_met)" 1
	bytes=$(costly_bytes)
	note "costly: $bytes of 4000000 bytes"
	expect_between "bytes on the costly path" "$bytes" 0 80000
}

# What an operator turns off has no effect on what comes later.
turned_off() {
	prepare_overflow 200 || return
	at_rate 80
	begin_sender "sleep 2000" "${steps[@]}"
	wait_until 10 has_connection
	sysctl_in "$client" net.mptcp_dpa.overflow_ms=0
	end_sender
	expect_between "bytes on the costly path" "$(costly_bytes)" 300000 3000000
}

quick_cases of_a_connection turned_off
run_cases "$@" -- below_capacity first_costly above_capacity saturated off of_a_connection \
	with_chunks turned_off
