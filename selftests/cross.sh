#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A path that others use, too, or that has become a longer way: its queue is not the
# connection's, and to put less there would only be to get less. Over two paths of
# 20 Mbit/s, which is 2359 KB/s of payload, with 50 ms of round trip (chunk.sh).

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/chunk.sh"

# one chunk each second, and it has as much time
count=20
bytes=500000

# with a queue of 0.1 s
prepare_cross() {
	prepare subflow backup || return
	shape 1 20mbit 25ms 250000 && shape 2 20mbit 25ms 250000
}

# begin_stream: in the background; $tmp/client has what it says, and when the first
# chunk is over
begin_stream() {
	local i steps=() marks=()

	for ((i = 1; i <= count; i++)); do
		steps+=("until $((i * 1000))" "chunk len=$bytes ms=1000" "send $bytes")
		marks+=("$bytes")
		[ $i -gt 1 ] || steps+=("wait queued=0" "say first")
	done
	receiver "${marks[@]}"
	start "$tmp/client" client "$client" "connect $server4 $port" \
		"buffers send 2000000" "send 1000" "wait subflows=2" \
		"${steps[@]}" "wait queued=0 within=30000" subflows info shutdown drain
	client_pid=$last_pid
}

# expect_stream LATE COSTLY: so many chunks, by the receiver's clock, and percent of all
# bytes, at most. What the sender hears of the last of them is up to 40 ms late.
expect_stream() {
	local costly i late=0

	finish "$client_pid" 60 || fail "the client: $(tail -n 3 "$tmp/client")"
	expect_ok "the receiver" finish "$server_pid" 30
	costly=$(($(first_sent "$tmp/client" 1) * 100 / (count * bytes)))
	for ((i = 0; i < count; i++)); do
		[ "$(ms_late $i $i)" -lt 0 ] || late=$((late + 1))
	done
	note "$late late, $costly % on the costly path"
	expect_between "late chunks" "$late" 0 "$1"
	expect_between "percent on the costly path" "$costly" 0 "$2"
}

# beside_us LATE COSTLY: the same beside a TCP connection with cubic, which has always
# something to send on the first path, from when the first chunk is over
beside_us() {
	local other

	server "$server" $server4 $((port + 1)) "$tmp/other_server" accept drain
	begin_stream
	wait_said first
	sysctl_in "$client" net.ipv4.tcp_congestion_control=cubic
	start "$tmp/other" client "$client" "socket 4 tcp" \
		"connect $server4 $((port + 1))" "send 1000000000"
	other=$last_pid
	expect_stream "$@"
	! is_over "$other" || fail "nobody was beside it: $(<"$tmp/other")"
}

# Half of the cheap path would do. Where all of its queue counts as the chunks' own less
# and less is put there, which brings less and less: 83 % went over the other one. One
# chunk in 400 is late: a last packet that the full queue lost is found missing a round
# trip of 0.15 s later, and what the other one adds to the queue meanwhile nobody knows.
beside_tcp() {
	prepare_cross && beside_us 1 45
}

# (25 %)
bbr_beside_tcp() {
	prepare_cross || return
	sysctl_in "$client" net.ipv4.tcp_congestion_control=bbr
	beside_us 0 8
}

# For some chunks the way is longer by 125 ms, which the least round trip does not tell.
# (64 %)
longer_way() {
	prepare_cross || return
	begin_stream
	wait_until 20 has_sent 1 $((5 * bytes)) || fail "nothing was sent"
	delay_more 1 150ms
	wait_until 20 has_sent 1 $((11 * bytes)) || fail "nothing was sent"
	delay_more 1 25ms
	expect_stream 1 20
}

run_cases "$@" -- beside_tcp bbr_beside_tcp longer_way
