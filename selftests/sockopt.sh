#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The socket options, from a process without privileges: every error that
# MPTCP_DPA_CHUNK promises, that none of them leaves a trace, and the sockets
# on which the options do not work, or no longer.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"

info_size=520
default_port=5000

# what a chunk that is in order looks like
good="len=1000 ms=60000"

# ARGUMENTS => ERROR, one a line: whatever the state of the connection
refusals() {
	local max=9223372036854775807 over=9223372036854775808
	local far=4611686018427387905

	cat <<-EOF
		$good size=0 => EINVAL
		$good size=31 => EINVAL
		$good flags=8 => EINVAL
		$good flags=0x80000000 => EINVAL
		$good alpha=99 => EINVAL
		$good alpha=4001 => EINVAL
		$good alpha=0xffffffff => EINVAL
		$good size=40 tail=1 => E2BIG
		$good size=4096 tail=1 => E2BIG
		$good size=5000 => E2BIG
		len=0 ms=60000 => ENODATA
		len=$far ms=60000 => EFBIG
		len=0xffffffffffffffff ms=60000 => EFBIG
		len=1000 ms=0 => ETIME
		len=1000 ns=1 flags=1 => ETIME
		len=1000 by=0 => ETIME
		len=1000 ns=0 flags=1 => ETIME
		len=1000 ns=$max => EOVERFLOW
		len=1000 ns=$over => EOVERFLOW
		len=1000 ns=$over flags=1 => EOVERFLOW
		len=1000 ns=0xffffffffffffffff => EOVERFLOW
	EOF
}

# read_refusals ARRAY: as steps, each followed by "same"
read_refusals() {
	local -n into=$1
	local line

	into=(mark)
	while read -r line; do
		into+=("chunk $line" same)
	done < <(refusals)
}

# nobody NAMESPACE STEP...
nobody() {
	local ns=$1

	shift
	in_ns "$ns" setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$files/dpa_sock" "$@"
}

address() { [ "$1" = 6 ] && echo $server6 || echo $server4; }

# prepare [SCHEDULER]
prepare() {
	[ -n "$client" ] || direct 2
	attach || { fail "cannot attach"; return 1; }
	scheduler "${1:-mpdpa}"
	sysctl_in "$server" net.mptcp.scheduler="${1:-mpdpa}"
}

# listening FAMILY STEP...
listening() {
	local at

	at=$(address "$1")
	shift
	server "$server" "$at" $default_port "$tmp/server" "$@"
}

# all refusals, with no chunk set and with one, before and after connect
check_refusals() {
	local -a steps

	prepare || return
	read_refusals steps
	nobody "$client" "socket $1 mptcp" "${steps[@]}" >"$tmp/out" ||
		fail "unconnected: $(tail -n 3 "$tmp/out")"
	nobody "$client" "socket $1 mptcp" "chunk $good" "${steps[@]}" \
		>"$tmp/out" || fail "unconnected, with a chunk: $(tail -n 3 "$tmp/out")"
	listening "$1" accept drain accept drain
	nobody "$client" "connect $(address "$1") $default_port" \
		"${steps[@]}" >"$tmp/out" ||
		fail "connected: $(tail -n 3 "$tmp/out")"
	nobody "$client" "connect $(address "$1") $default_port" \
		"chunk $good cookie=7 alpha=2000" "send 500" \
		"wait acked=500" "sleep 300" "${steps[@]}" >"$tmp/out" ||
		fail "connected, with a chunk: $(tail -n 3 "$tmp/out")"
}

refusals_v4() { check_refusals 4; }
refusals_v6() { check_refusals 6; }

# the ends of every range, and longer structures whose tail is zero
check_accepted() {
	prepare || return
	listening "$1" accept drain
	nobody "$client" "connect $(address "$1") $default_port" \
		"chunk $good" "chunk $good size=32" "chunk $good size=33" \
		"chunk $good size=40" "chunk $good size=4096" \
		"chunk $good alpha=0" "chunk $good alpha=100" \
		"chunk $good alpha=4000" "chunk len=1 ms=60000" \
		"chunk len=1 by=60000" "chunk $good cookie=0xffffffffffffffff" \
		"chunk len=1 ns=9223372036854775807 flags=1" \
		"info got=$info_size" >"$tmp/out" ||
		fail "$(tail -n 3 "$tmp/out")"
	expect_eq "queued" "$(field "$tmp/out" info queued)" 12
	nobody "$client" "socket $1 mptcp" "chunk len=4611686018427387904 ms=60000" \
		"chunk len=4611686018427387904 ms=60000 => EFBIG" >"$tmp/out" ||
		fail "2^62: $(tail -n 3 "$tmp/out")"
}

accepted_v4() { check_accepted 4; }
accepted_v6() { check_accepted 6; }

# what the info says of a chunk is what was set
info_tells() {
	prepare || return
	listening 4 accept drain
	nobody "$client" "connect $server4 $default_port" \
		"chunk len=5000 ms=20000 cookie=0xabcdef0123456789 alpha=1500" \
		"send 2000" "wait acked=2000" "info got=$info_size" \
		>"$tmp/out" || fail "$(tail -n 3 "$tmp/out")"
	expect_eq "chunk" "$(jq -r 'select(.step == "info") |
		[.queued, .flags, .length, .sent, .acked, .alpha_milli, .met,
		.missed, .path_size] | join(" ")' "$tmp/out")" \
		"1 1 5000 2000 2000 1500 0 0 48"
	# jq's numbers are doubles
	grep -q '"cookie":12379813738877118345,' "$tmp/out" ||
		fail "the cookie is another"
	expect_between "deadline, ns after what was asked for" \
		$(($(field "$tmp/out" info deadline_ns) -
		$(field "$tmp/out" chunk due_ns))) 0 20000000
}

# by_clock_of OFFSET: of a process whose CLOCK_MONOTONIC is so many seconds ahead
by_clock_of() {
	in_ns "$client" unshare --time --monotonic "$1" --fork "$files/dpa_sock" \
		"socket 4 mptcp" "chunk len=1000 by=20000" info
}

# An absolute deadline is on the caller's clock, and so is what is told of it.
time_namespace() {
	prepare || return
	[ -e /proc/self/ns/time ] || { skip "needs TIME_NS"; return; }
	by_clock_of 86400 >"$tmp/out" || fail "$(tail -n 3 "$tmp/out")"
	expect_between "ms left" "$((($(field "$tmp/out" info deadline_ns) -
		$(field "$tmp/out" info now_ns)) / 1000000))" 15000 20000
	expect_eq "deadline" "$(field "$tmp/out" info deadline_ns)" \
		"$(field "$tmp/out" chunk due_ns)"
	expect_between "s on that clock" \
		"$(($(field "$tmp/out" info deadline_ns) / 1000000000))" 86400 1000000
}

info_sizes() {
	prepare || return
	listening 4 accept drain
	nobody "$client" "connect $server4 $default_port" \
		"info size=0 => EINVAL" "info size=15 => EINVAL" \
		"info size=16 got=16" "info size=96 got=96" \
		"info size=$info_size got=$info_size" \
		"info size=1024 got=$info_size" \
		"info size=4096 got=$info_size" "info size=5000 got=$info_size" \
		"chunk $good" "send 10" "wait acked=10" \
		"info size=15 => EINVAL" "info size=100 got=100" \
		"info size=4096 got=$info_size" "info size=5000 got=$info_size" \
		>"$tmp/out" || fail "$(tail -n 3 "$tmp/out")"
}

# the other way round, and numbers beside ours
wrong_options() {
	prepare || return
	nobody "$client" "socket 4 mptcp" \
		"option set 0x4451 520 => ENOPROTOOPT" \
		"option get 0x4450 32 => ENOPROTOOPT" \
		"option set 0x444f 32 => any" "option set 0x4455 32 => any" \
		"chunk $good" >"$tmp/out" || fail "$(tail -n 3 "$tmp/out")"
	nobody "$client" "socket 4 mptcp" "option set 0x4455 32" >"$tmp/out" &&
		fail "an unknown option was taken"
	# the kernel's own options work as without the programs
	listening 4 accept drain
	nobody "$client" "connect $server4 $default_port" "option get 1 64" \
		"wait subflows=1" >"$tmp/out" || fail "$(tail -n 3 "$tmp/out")"
}

# a TCP socket, and one that a listener accepted from a peer without MPTCP
plain_tcp() {
	prepare || return
	nobody "$client" "socket 4 tcp" "chunk $good => ENOPROTOOPT" \
		"info => ENOPROTOOPT" >"$tmp/out" ||
		fail "a TCP socket: $(tail -n 3 "$tmp/out")"
	listening 4 accept "chunk $good => ENOPROTOOPT" "info => ENOPROTOOPT" drain
	nobody "$client" "socket 4 tcp" "connect $server4 $default_port" \
		"send 1000" shutdown drain >/dev/null || fail "the TCP client"
	finish "$last_pid" 10 || fail "accepted: $(tail -n 3 "$tmp/server")"
}

# A raw socket of MPTCP's number is none of MPTCP's: nothing of it is looked at.
raw_socket() {
	local family

	prepare || return
	for family in 4 6; do
		client "$client" "socket $family raw" \
			"chunk $good => ENOPROTOOPT" "info => ENOPROTOOPT" \
			"prefer 1 5 => ENOPROTOOPT" >"$tmp/out" ||
			fail "IPv$family: $(tail -n 3 "$tmp/out")"
	done
}

# tcp_listening FAMILY: the peer does not do MPTCP
tcp_listening() {
	start "$tmp/server" in_ns "$server" "$files/dpa_sock" "socket $1 tcp" \
		"listen $(address "$1") $default_port" accept drain
	wait_until 10 is_listening "$server" $default_port
}

# fallen_back FAMILY
fallen_back() {
	prepare || return
	tcp_listening "$1"
	nobody "$client" "socket $1 mptcp" "chunk $good" \
		"connect $(address "$1") $default_port" \
		"chunk $good => EPROTONOSUPPORT" "send 100000" \
		"chunk $good => EPROTONOSUPPORT" info shutdown drain \
		>"$tmp/out" || fail "$(tail -n 3 "$tmp/out")"
	finish "$last_pid" 10 || fail "the server: $(tail -n 3 "$tmp/server")"
	expect_eq "received" "$(field "$tmp/server" drain received)" 100000
}

# All over before anybody looks: what TCP was given was acknowledged before its FIN.
fell_back_and_ended() {
	prepare || return
	tcp_listening 4
	nobody "$client" "socket 4 mptcp" "chunk len=100000 ms=60000" \
		"connect $server4 $default_port" "send 100000" shutdown drain info \
		>"$tmp/out" || fail "$(tail -n 3 "$tmp/out")"
	finish "$last_pid" 10 || fail "the server: $(tail -n 3 "$tmp/server")"
	expect_eq "met" "$(field "$tmp/out" info met)" 1
	expect_eq "missed" "$(field "$tmp/out" info missed)" 0
}

fell_back_v4() { fallen_back 4; }
fell_back_v6() { fallen_back 6; }

shut_down() {
	prepare || return
	listening 4 accept drain "sleep 300" "send 1000" shutdown
	nobody "$client" "connect $server4 $default_port" "chunk $good" \
		"send 1000" "wait queued=0" shutdown mark "chunk $good => EPIPE" \
		same "recv 1000" "chunk $good => any" info >"$tmp/out" ||
		fail "$(tail -n 3 "$tmp/out")"
}

ended() {
	prepare || return
	listening 4 accept "recv 1000" abort
	nobody "$client" "connect $server4 $default_port" "chunk $good" \
		"send 1000" "recv 1 => ECONNRESET" "mark" \
		"chunk $good => ENOTCONN" same >"$tmp/out" ||
		fail "reset by the peer: $(tail -n 3 "$tmp/out")"
	nobody "$client" "connect $server4 9 => ECONNREFUSED" \
		"chunk $good => any" info >"$tmp/out" ||
		fail "connection refused: $(tail -n 3 "$tmp/out")"
}

listener() {
	prepare || return
	nobody "$server" "listen $server4 $default_port" mark \
		"chunk $good => ENOTCONN" same >"$tmp/out" ||
		fail "$(tail -n 3 "$tmp/out")"
}

other_scheduler() {
	prepare default || return
	listening 4 accept drain
	nobody "$client" "socket 4 mptcp" "chunk $good => EOPNOTSUPP" \
		"info => EOPNOTSUPP" "connect $server4 $default_port" \
		"chunk $good => EOPNOTSUPP" "info => EOPNOTSUPP" \
		"send 1000" shutdown drain >"$tmp/out" ||
		fail "$(tail -n 3 "$tmp/out")"
}

# an accepted socket begins with nothing, whatever others were told
accepted_socket() {
	prepare || return
	listening 4 accept info "chunk len=50000 ms=5000 cookie=3" info \
		"send 50000" "wait queued=0" info shutdown drain
	nobody "$client" "socket 4 mptcp" "chunk $good" \
		"connect $server4 $default_port" "recv 50000" shutdown drain \
		>"$tmp/out" || fail "$(tail -n 3 "$tmp/out")"
	finish "$last_pid" 10 || fail "accepted: $(tail -n 3 "$tmp/server")"
	expect_eq "queued" "$(jq -r 'select(.step == "info") | .queued' \
		"$tmp/server" | xargs)" "0 1 0"
	expect_eq "met" "$(field "$tmp/server" info met)" 1
}

# 64 may wait; when one has left there is room for another
one_too_many() {
	local i
	local -a steps=()

	prepare || return
	for ((i = 0; i < 64; i++)); do
		steps+=("chunk len=100 ms=30000 cookie=$i")
	done
	listening 4 accept drain
	nobody "$client" "connect $server4 $default_port" "${steps[@]}" mark \
		"chunk $good => ENOBUFS" same "send 250" "wait queued=62" \
		"chunk $good" "chunk $good" mark "chunk $good => ENOBUFS" same \
		info >"$tmp/out" || fail "$(tail -n 3 "$tmp/out")"
	expect_eq "head" "$(field "$tmp/out" info cookie)" 2
	expect_eq "queued" "$(field "$tmp/out" info queued)" 64
	expect_eq "met" "$(field "$tmp/out" info met)" 2
}

# the state belongs to the socket, not to a process
shared_socket() {
	prepare || return
	listening 4 accept drain accept drain
	nobody "$client" "connect $server4 $default_port" "chunk $good cookie=1" \
		fork "chunk $good cookie=2" join "send 500" "wait acked=500" \
		info >"$tmp/out" || fail "forked: $(tail -n 3 "$tmp/out")"
	expect_eq "queued after fork" "$(field "$tmp/out" info queued)" 2
	nobody "$client" "connect $server4 $default_port" "chunk $good cookie=1" \
		pass "chunk $good cookie=2" "info" join info >"$tmp/out" ||
		fail "passed: $(tail -n 3 "$tmp/out")"
	expect_eq "queued after passing" "$(field "$tmp/out" info queued)" 2
}

# connect(AF_UNSPEC) and a second connection in the same socket
restarted() {
	prepare || return
	listening 4 accept "drain => any" accept drain
	nobody "$client" "connect $server4 $default_port" \
		"chunk len=100000 ms=60000 cookie=1" "send 50000" \
		"wait acked=50000" unspec info \
		"connect $server4 $default_port" info \
		"chunk len=2000 ms=5000 cookie=2" info "send 2000" \
		"wait queued=0" info shutdown drain >"$tmp/out" ||
		fail "$(tail -n 3 "$tmp/out")"
	expect_eq "queued" "$(jq -r 'select(.step == "info") | .queued' \
		"$tmp/out" | xargs)" "0 0 1 0"
	expect_eq "cookie and length" "$(jq -r 'select(.queued == 1) |
		[.cookie, .length] | join(" ")' "$tmp/out")" "2 2000"
	expect_eq "met" "$(field "$tmp/out" info met)" 1
}

# The peer takes no more: what it did not acknowledge is not part of the next stream,
# and no chunk of that is met, or lost, before there are bytes of it.
restarted_unacked() {
	prepare || return
	new_gate
	server "$server" $server4 $default_port "$tmp/server" \
		"buffers receive 8192" accept "await $gate" accept drain
	start "$tmp/out" client "$client" "connect $server4 $default_port" \
		"buffers send 400000" \
		"chunk len=100000 ms=60000 cookie=1" "send 100000" "sleep 200" \
		info unspec "chunk len=2000 ms=5000 cookie=2" info \
		"say between" "sleep 200" info \
		"connect $server4 $default_port" info "send 2000" \
		"wait queued=0" info shutdown drain
	wait_until 10 grep -q between "$tmp/out" || fail "$(tail -n 3 "$tmp/out")"
	open_gate
	finish "$last_pid" 20 || fail "$(tail -n 3 "$tmp/out")"
	expect_eq "queued" "$(jq -r 'select(.step == "info") | .queued' \
		"$tmp/out" | xargs)" "1 1 1 1 0"
	expect_eq "met" "$(jq -r 'select(.step == "info") | .met' \
		"$tmp/out" | xargs)" "0 0 0 0 1"
}

# After a fallback no decision looks at what is written: the second stream in the socket is
# longer by then than the first.
restarted_as_tcp() {
	prepare || return
	start "$tmp/server" in_ns "$server" "$files/dpa_sock" "socket 4 tcp" \
		"listen $server4 $default_port" accept "drain => any" accept drain
	wait_until 10 is_listening "$server" $default_port
	nobody "$client" "socket 4 mptcp" "chunk len=100000 ms=60000" \
		"connect $server4 $default_port" "send 10000" "sleep 200" info \
		unspec "connect $server4 $default_port" "send 20000" info \
		shutdown drain >"$tmp/out" || fail "$(tail -n 3 "$tmp/out")"
	expect_eq "queued" "$(jq -r 'select(.step == "info") | .queued' \
		"$tmp/out" | xargs)" "1 0"
}

# What goes with the SYN is part of the chunk that was set before, and of no other.
sent_with_syn() {
	prepare || return
	sysctl_in "$client" net.ipv4.tcp_fastopen=0x607
	sysctl_in "$server" net.ipv4.tcp_fastopen=0x607
	listening 4 accept drain accept drain accept drain
	client "$client" "socket 4 mptcp" lazy "chunk len=500 ms=5000 cookie=1" \
		"chunk len=20000 ms=5000 cookie=2" "connect $server4 $default_port" \
		"send 20500" "wait queued=0" info "chunk len=30000 ms=5000" \
		"send 30000" "wait queued=0" info shutdown drain >"$tmp/out" ||
		fail "$(tail -n 3 "$tmp/out")"
	expect_between "SYNs with data" "$(counter "$client" TcpExtTCPFastOpenActive)" 1 1
	expect_eq "met" "$(jq -r 'select(.step == "info") | .met' "$tmp/out" | xargs)" "2 3"
	client "$client" "socket 4 mptcp" lazy "connect $server4 $default_port" \
		"send 1000" "chunk len=20000 ms=5000" "send 19000" "sleep 300" info \
		"send 1000" "wait queued=0" info shutdown drain >"$tmp/out" ||
		fail "set later: $(tail -n 3 "$tmp/out")"
	expect_eq "met" "$(jq -r 'select(.step == "info") | .met' "$tmp/out" | xargs)" "0 1"
}

# Intervals that are longer than their deadlines: a reading each half second.
readings() {
	prepare || return
	listening 4 accept drain shutdown
	nobody "$client" "connect $server4 $default_port" "stream every=500 ms=200" \
		"send 6000" "sleep 500" "send 6000" "sleep 500" "send 6000" \
		"wait queued=0" info shutdown drain >"$tmp/out" ||
		fail "$(tail -n 3 "$tmp/out")"
	expect_eq "met" "$(field "$tmp/out" info met)" 3
	expect_eq "missed" "$(field "$tmp/out" info missed)" 0
}

# in a cgroup beside ours, where the programs are not
other_cgroup() {
	local beside=${cgroup}b

	prepare || return
	mkdir "$beside"
	start "$tmp/out" bash -c "echo \$\$ >$beside/cgroup.procs
		exec ip netns exec $client $files/dpa_sock 'socket 4 mptcp' \
		'info => EOPNOTSUPP' 'chunk $good'"
	wait "$last_pid" && fail "a chunk was taken"
	grep -qE 'ENOPROTOOPT|EOPNOTSUPP' "$tmp/out" || fail "$(cat "$tmp/out")"
	grep -q '^# chunk' "$tmp/out" || fail "$(cat "$tmp/out")"
	rmdir "$beside"
}

quick_cases refusals_v4 accepted_v6 fell_back_v4 ended shared_socket \
	restarted
run_cases "$@" -- refusals_v4 refusals_v6 accepted_v4 accepted_v6 info_tells time_namespace \
	info_sizes wrong_options plain_tcp raw_socket fell_back_v4 fell_back_v6 \
	fell_back_and_ended \
	shut_down ended listener other_scheduler accepted_socket one_too_many \
	shared_socket restarted restarted_unacked restarted_as_tcp sent_with_syn \
	readings other_cgroup
