#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For tests that spoil a transfer: a stream with deadlines from the client to the
# server of topology.sh, and whether it came whole and left nothing behind.
#
#	stream_begin BYTES [STEP...]	starts it, with these steps after accept()
#	stream_under_way		prepares it, slow enough for the size, starts $stream_size
#					bytes, waits until a third has come and both paths carry it
#	stream_begin_chunks BYTES MARKS STEP...
#					1 KB, then so many in these steps, over both paths
#	stream_all_met			neither of two chunks was late
#	stream_reached BYTES		waits until so many have come
#	stream_complete [SECONDS]	it ends well, all came in order
#	stream_whole [SECONDS]		that, and the kernel took chunks of it
#	stream_survives [SECONDS]	that, and not all had come before
#	stream_ended [SECONDS]		it ends, whole or with an error
#	nothing_stays			sockets, state and users are gone
#
# Sourced after lib.sh and topology.sh.

port=${port:-5000}

stream_size=4000000
[ -z "${QUICK:-}" ] || stream_size=1200000
# of it one path has four seconds, so that what is to spoil it comes before its end
slow_kbit=$((stream_size * 8 / 4000))

# how the sockets of the next stream are made
stream_family=4
stream_listener=mptcp
# steps of the client before connect()
declare -a stream_before=()

at_server() { [ "$stream_family" = 6 ] && echo $server6 || echo $server4; }

# stream_prepare [KBIT [DELAY]]: two paths, the second one costly
stream_prepare() {
	stream_kbit=${1:-20000}
	topology 2 "${stream_kbit}kbit" "${2:-10ms}" 65536 || return
	mptcp_before=$(mptcp_sockets)
	attach || { fail "cannot attach"; return 1; }
	scheduler "${STREAM_SCHEDULER:-mpdpa}"
	endpoint 2 4 subflow backup
	endpoint 2 6 subflow backup id 12 2>/dev/null
	# what is silent is given up within the test's time
	sysctl_in "$client" net.ipv4.tcp_syn_retries=2 \
		net.ipv4.tcp_orphan_retries=3 net.ipv4.tcp_retries2=8
	sysctl_in "$server" net.ipv4.tcp_orphan_retries=3 net.ipv4.tcp_retries2=8
	stream_family=4
	stream_listener=mptcp
	stream_before=()
}

# The bytes go as eight chunks, the first one long before the paths are full. One path
# alone would take 4/3 of the time that they have, so that deadlines, misses and both
# paths are in play whatever happens.
stream_begin() {
	local bytes=$1 part i part_ms
	local -a steps=() marks=()

	shift
	part=$((bytes / 8))
	part_ms=$((part * 8 / stream_kbit * 3 / 4))
	for ((i = 0; i < 8; i++)); do
		steps+=("chunk len=$part ms=$((100 + (i + 1) * part_ms)) => any"
			"send $part")
		marks+=("$part")
	done
	stream_bytes=$((part * 8 + 1000))
	start "$tmp/server" in_ns "$server" "$files/dpa_sock" \
		"socket $stream_family $stream_listener" \
		"listen $(at_server) $port" accept "$@" \
		"drain 1000 ${marks[*]}" shutdown
	stream_server=$last_pid
	wait_until 10 is_listening "$server" $port || fail "nothing listens"
	start "$tmp/client" client "$client" "socket $stream_family mptcp" \
		"${stream_before[@]}" "connect $(at_server) $port" "send 1000" \
		"${steps[@]}" shutdown drain
	stream_client=$last_pid
}

stream_under_way() {
	stream_prepare $slow_kbit || return
	stream_begin $stream_size
	stream_reached $((stream_size / 3))
	wait_until 20 has_sent 2 20000 || fail "path 2 carries nothing"
}

stream_begin_chunks() {
	local arrivals=$2

	stream_bytes=$((1000 + $1))
	shift 2
	server "$server" $server4 $port "$tmp/server" \
		"buffers receive 4000000" accept "drain 1000 $arrivals" shutdown
	stream_server=$last_pid
	start "$tmp/client" client "$client" "connect $server4 $port" \
		"send 1000" "wait subflows=2" "sleep 100" "$@" info shutdown drain
	stream_client=$last_pid
}

stream_all_met() {
	expect_eq "chunks met" "$(field "$tmp/client" info met)" 2
	expect_eq "chunks missed" "$(field "$tmp/client" info missed)" 0
}

stream_arrived() {
	local got

	got=$(sed -n 's/.*"step":"arrival".*"received":\([0-9]*\).*/\1/p' \
		"$tmp/server" | tail -n 1)
	[ "${got:-0}" -ge "$1" ]
}

# stream_reached BYTES: of the stream at the receiver, as far as marks tell
stream_reached() {
	wait_until "${2:-60}" stream_arrived "$1" ||
		fail "$1 bytes did not come: $(tail -n 2 "$tmp/client" "$tmp/server")"
}

# What the sockets look like, for whoever reads the log of a failed case.
show_sockets() {
	local ns

	for ns in "$client" "$server"; do
		in_ns "$ns" ss -tiMeaO
	done
}

stream_ended() {
	stream_status=0
	wait_until "${1:-120}" is_over "$stream_client" || show_sockets
	finish "$stream_client" 1 || stream_status=1
	finish "$stream_server" 120 || stream_status=1
}

stream_complete() {
	stream_ended "${1:-120}"
	[ $stream_status = 0 ] ||
		fail "it ended: $(tail -n 2 "$tmp/client"; tail -n 2 "$tmp/server")"
	expect_eq "received" "$(field "$tmp/server" drain received)" "$stream_bytes"
	expect_eq "hash at the receiver" "$(field "$tmp/server" drain hash)" \
		"$(field "$tmp/client" send hash)"
}

# Chunks of a stream may be refused once it is spoilt; without any, nothing was tested
# but TCP.
stream_whole() {
	stream_complete "$@"
	grep -q '"step":"chunk","due_ns"' "$tmp/client" ||
		fail "no chunk was taken: $(grep -m 1 '"step":"chunk"' "$tmp/client")"
}

stream_survives() {
	stream_arrived "$stream_bytes" && fail "all had come before it was spoilt"
	stream_whole "$@"
}

# sockets NAMESPACE: of MPTCP, whatever their state
sockets() {
	in_ns "$1" cat /proc/net/protocols |
		awk '$1 ~ /^MPTCP/ { n += $3 } END { print n + 0 }'
}

# connections NAMESPACE: those whose state the module holds
connections() { stat_of "$1" connections; }

slabs_are_back() {
	[ "$(states)" = 0 ] && [ "$(mptcp_sockets)" -le "$mptcp_before" ]
}

is_quiet() { [ "$(sockets "$1")" = 0 ] && [ "$(connections "$1")" = 0 ]; }

# What was closed is over when both ends have given it up: a minute and more
# where a path is silent.
nothing_stays() {
	local ns

	for ns in "$client" "$server"; do
		wait_until 240 is_quiet "$ns" && continue
		fail "${ns##*[0-9]}: $(sockets "$ns") sockets, $(connections "$ns") connections stay"
		show_sockets
	done
	# a subflow that is closed holds its connection until TCP gives it up
	wait_until 240 slabs_are_back ||
		fail "in the slabs: $(states) connections," \
			"$(mptcp_sockets) sockets, $mptcp_before before"
}
