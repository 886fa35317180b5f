#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The claims of Documentation/security.md: who may do what, and how little a
# hostile application or a hostile peer can do. The claims have numbers there;
# each case names those that it tests.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"
source "$(dirname "$0")/stream.sh"

need mpdpa tc unshare

# two users; neither may touch what is the other's
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs)
mallory=(setpriv --reuid=12345 --regid=12345 --clear-groups --no-new-privs)

# held_by_nobody [STEP...]: one connection, by default with a chunk and until it is
# stopped; its steps say "ready"
held_by_nobody() {
	[ $# -gt 0 ] || set -- "chunk len=100000 ms=60000 cookie=77" \
		"send 1000" "wait acked=1000" "say ready" "sleep 60000"
	server "$server" $server4 $port "$tmp/server" accept "drain => any"
	start "$tmp/held" in_ns "$client" "${nobody[@]}" "$files/dpa_sock" \
		"connect $server4 $port" "$@"
	held=$last_pid
	wait_until 10 grep -q ready "$tmp/held" || fail "$(cat "$tmp/held")"
	held_id=$(in_ns "$client" "$mpdpa" -j conn | jq '.[0].id')
	held_token=$(in_ns "$client" "$mpdpa" -j conn | jq -r '.[0].token')
}

# 1, 2, 3: an unprivileged user has its own sockets and nothing else
unprivileged_users() {
	local seen

	stream_prepare || return
	held_by_nobody
	seen=$(in_ns "$client" "${mallory[@]}" "$mpdpa" -j conn | jq length)
	expect_eq "connections that another user sees" "$seen" 0
	seen=$(in_ns "$client" "${nobody[@]}" "$mpdpa" -j conn | jq length)
	expect_eq "connections that their owner sees" "$seen" 1
	expect_fails "read by number" in_ns "$client" "${mallory[@]}" \
		"$mpdpa" conn show id "$held_id"
	expect_fails "read by token" in_ns "$client" "${mallory[@]}" \
		"$mpdpa" conn show token "$held_token"
	expect_fails "set by another" in_ns "$client" "${mallory[@]}" \
		"$mpdpa" conn set id "$held_id" alpha 2
	expect_fails "set by its owner" in_ns "$client" "${nobody[@]}" \
		"$mpdpa" conn set id "$held_id" alpha 2
	expect_fails "a cost" in_ns "$client" "${nobody[@]}" "$mpdpa" path set dev c1 cost 9
	expect_fails "a setting" in_ns "$client" "${nobody[@]}" bash -c \
		"echo 500 >/proc/sys/net/mptcp_dpa/alpha_milli"
	in_ns "$client" "${nobody[@]}" timeout 5 "$mpdpa" monitor >"$tmp/monitor" 2>&1
	grep -q "not allowed" "$tmp/monitor" || fail "events: $(tail -n 1 "$tmp/monitor")"
	expect_fails "attach" "${nobody[@]}" "$mpdpa" load
	expect_fails "detach" "${nobody[@]}" "$mpdpa" unload
	has_scheduler mpdpa || fail "the scheduler is gone"
	stop "$held"
	nothing_stays
}

# 4: a preference may raise what a path costs, never undercut the operator
preferences_do_not_undercut() {
	local python=$here/dpa_pref.py

	stream_prepare || return
	in_ns "$client" "$mpdpa" path set dev c2 cost 50 || fail "cost"
	server "$server" $server4 $port "$tmp/server" accept "drain => any"
	in_ns "$client" "${nobody[@]}" python3 "$python" $server4 $port c2 50 10 90 \
		>"$tmp/pref" || fail "$(cat "$tmp/pref")"
	expect_eq "answers to the same, less, more" "$(xargs <"$tmp/pref")" \
		"ok EPERM ok"
	nothing_stays
}

# 4: nor what root has said of one connection, by whatever name of the path
preferences_of_root_stand() {
	stream_prepare || return
	held_by_nobody "chunk len=100000 ms=60000" "send 1000" \
		"wait active=2" "say ready" "wait alpha=2000" "prefer 2 9 => EPERM" \
		"prefer 2 0 => EPERM" "prefer 1 3" "sleep 100" info
	expect_ok "conn set" in_ns "$client" "$mpdpa" conn set id "$held_id" \
		pref endpoint 2 cost forbidden pref addr 10.0.1.1 cost 7 alpha 2
	expect_ok "the application" finish "$held" 20
	expect_eq "costs" "$(jq -c 'select(.step == "info") | [.path[].cost]' \
		"$tmp/held")" "[7,4294967295]"
	nothing_stays
}

# 8: the last deadline that there is does not come, whatever timers others have
last_deadline() {
	local before after

	stream_prepare || return
	sysctl_in "$client" net.ipv4.tcp_congestion_control=bbr
	held_by_nobody "send 1000" "wait subflows=2" \
		"chunk len=1 ns=9223372036854775807 flags=1" "say ready" \
		"sleep 60000"
	server "$server" $server4 $((port + 1)) "$tmp/other_server" accept drain
	before=$(stat_of "$client" ticks)
	# TCP's own timers pace it
	client "$client" "socket 4 tcp" "connect $server4 $((port + 1))" \
		"send 1000000" shutdown drain >"$tmp/other" ||
		fail "$(tail -n 2 "$tmp/other")"
	after=$(stat_of "$client" ticks)
	expect_between "looks, with nothing to send" $((after - before)) 0 5
	stop "$held"
	nothing_stays
}

# 3, 5: root of a user namespace rules its own network namespace alone
foreign_root() {
	local said alpha

	stream_prepare || return
	alpha=$(in_ns "$client" sysctl -n net.mptcp_dpa.alpha_milli)
	held_by_nobody
	said=$(in_ns "$client" "${nobody[@]}" unshare -Urn bash -c "
		$mpdpa path set dev lo cost 7 && $mpdpa -j path &&
		$mpdpa -j conn && sysctl -qw net.mptcp_dpa.alpha_milli=700 && echo ruled
		$mpdpa conn set token $held_token alpha 2 && echo reached
		$mpdpa load && echo attached")
	grep -q '"cost": *7' <<<"$said" || fail "cannot rule its own: $said"
	grep -q ruled <<<"$said" || fail "it has no settings of its own: $said"
	grep -q attached <<<"$said" && fail "it attached a scheduler"
	grep -q reached <<<"$said" && fail "it changed a foreign connection"
	grep -q "$held_token" <<<"$said" && fail "it sees a foreign connection"
	said=$(in_ns "$client" "${nobody[@]}" unshare -Ur bash -c \
		"$mpdpa path set dev c1 cost 7" 2>&1) &&
		fail "root without its own network set a cost: $said"
	expect_eq "costs outside" "$(in_ns "$client" "$mpdpa" -j path | jq length)" 0
	expect_eq "alpha outside" \
		"$(in_ns "$client" sysctl -n net.mptcp_dpa.alpha_milli)" "$alpha"
	stop "$held"
	nothing_stays
}

# 5: connections, costs, settings and counters of one namespace are its own
nothing_across_namespaces() {
	local alpha

	stream_prepare || return
	alpha=$(in_ns "$server" sysctl -n net.mptcp_dpa.alpha_milli)
	held_by_nobody
	in_ns "$client" "$mpdpa" path set dev c1 cost 9
	sysctl_in "$client" net.mptcp_dpa.alpha_milli=1234
	expect_eq "connections of the server's" \
		"$(in_ns "$server" "$mpdpa" -j conn | jq length)" 0
	expect_fails "by token" in_ns "$server" "$mpdpa" conn show token "$held_token"
	expect_fails "by number" in_ns "$server" "$mpdpa" conn set id "$held_id" alpha 2
	expect_eq "costs" "$(in_ns "$server" "$mpdpa" -j path | jq length)" 0
	expect_eq "alpha" \
		"$(in_ns "$server" sysctl -n net.mptcp_dpa.alpha_milli)" "$alpha"
	expect_eq "chunks" "$(stat_of "$server" chunks_set)" 0
	stop "$held"
	nothing_stays
}

# slab_of GROUP: what the kernel allocated for it, in bytes; told every 2 s only
slab_of() { awk '$1 == "slab" { print $2 }' "$1/memory.stat"; }
has_slab() { [ "$(slab_of "$1")" -ge "$2" ]; }

# 6, 7: chunks of a connection are bounded, and so is what they take; a cgroup
# pays for them: little more than 2 KiB for each connection and 4 KiB for its 64 chunks.
bounded_memory() {
	local group=${cgroup}m before least=$((200 * 4096)) pid

	memory_controller && stream_prepare || return
	mkdir "$group" && attach_options "$group" || { fail "no group"; return; }
	start "$tmp/out" bash -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' \
		- "$group" ip netns exec "$client" python3 "$here/dpa_many.py" 200 70
	pid=$last_pid
	wait_until 20 grep -q open "$tmp/out" || fail "$(cat "$tmp/out")"
	# sockets have their own, and have had time to be counted
	sleep 5
	before=$(slab_of "$group")
	kill -USR1 $pid
	wait_until 20 grep -q refused "$tmp/out" || fail "$(cat "$tmp/out")"
	expect_eq "chunks" "$(tail -n 1 "$tmp/out")" "refused $((200 * 6))"
	wait_until 20 has_slab "$group" $((before + least)) ||
		fail "charged: $(($(slab_of "$group") - before)) of $least bytes"
	note "a connection with 64 chunks: $((($(slab_of "$group") - before) / 200)) bytes"
	expect_between "charged" $(($(slab_of "$group") - before)) $least \
		$((200 * (2048 + 128 + 4096)))
	stop $pid
	nothing_stays
	detach_options "$group"
	wait_until 10 rmdir "$group"
}

# 8: however an application asks, its connection is looked at no more often than
# every 5 ms, or once a call, and tells the peer at most ten times a second.
bounded_timers() {
	local i ticks prio began now
	local -a steps=()

	stream_prepare || return
	# a path that is no backup but dear: its priority changes with each chunk
	endpoints_flush
	endpoint 2 4 subflow
	in_ns "$client" "$mpdpa" path set dev c2 cost 5
	for ((i = 0; i < 60; i++)); do
		steps+=("chunk len=20000 ms=2000" "send 20000" "wait queued=0"
			"sleep 20")
	done
	now_ms
	began=$now
	server "$server" $server4 $port "$tmp/server" accept drain shutdown
	client "$client" "connect $server4 $port" "send 1000" "wait subflows=2" \
		"${steps[@]}" shutdown drain >"$tmp/client" ||
		fail "$(tail -n 2 "$tmp/client")"
	now_ms
	ticks=$(stat_of "$client" ticks)
	prio=$(counter "$client" MPTcpExtMPPrioTx)
	note "in $((now - began)) ms: $ticks looks, $prio MP_PRIO"
	# besides timers, a chunk asks for one look and its decisions for one
	expect_between "looks" "$ticks" 1 $(((now - began) / 5 + 60 * 4))
	expect_between "MP_PRIO" "$prio" 4 $(((now - began) / 100 * 2 + 4))
	nothing_stays
}

# 8: with intervals as short as they can be, and calls as fast as they come
hostile_timers() {
	local most calls ms looks

	stream_prepare || return
	server "$server" $server4 $port "$tmp/server" accept "drain => any" \
		accept "drain => any"
	for most in 1 1000000000; do
		looks=$(stat_of "$client" ticks)
		client "$client" "connect $server4 $port" \
			"hammer 500 most=$most every=1 ms=50" >"$tmp/client" ||
			fail "$(tail -n 1 "$tmp/client")"
		looks=$(($(stat_of "$client" ticks) - looks))
		calls=$(field "$tmp/client" hammer calls)
		ms=$(field "$tmp/client" hammer ms)
		note "$calls calls in $ms ms, $looks looks"
		expect_between "looks" "$looks" 1 $((calls + ms + ms / 5 + 5))
	done
	nothing_stays
}

# workers_wait MOST: no more than so many of those that look at connections are asleep,
# each for an owner
workers_wait() {
	[ "$(grep -ls '^State:.D' /proc/[0-9]*/status |
		xargs -r grep -ls 'Name:.*mptcp_dpa' | wc -l)" -le "$1" ]
}

# 8: who owns a socket for as long as it likes keeps no worker from others, but for some
# milliseconds now and then.
owned_for_long() {
	local held=200 pid

	[ "$(uname -m)" = x86_64 ] || { skip "userfaultfd by its number on x86-64"; return; }
	stream_prepare || return
	endpoints_flush
	start "$tmp/sink" in_ns "$server" python3 -c "
import socket, signal
s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
s.bind(('$server4', $port))
s.listen(4096)
print('listens', flush=True)
signal.pause()"
	wait_until 20 grep -q listens "$tmp/sink" || fail "$(cat "$tmp/sink")"
	start "$tmp/held" in_ns "$client" python3 "$here/dpa_held.py" $server4 $port $held
	pid=$last_pid
	wait_until 120 grep -q held "$tmp/held" || fail "$(cat "$tmp/held")"
	wait_until 20 workers_wait $((held / 2)) || fail "workers wait for owners"
	port=$((port + 1)) stream_begin 1000000
	stream_whole 20
	stop "$pid"
	stop_processes
	nothing_stays
}

# netlink_most COLUMN: of the client's netlink sockets
netlink_most() {
	in_ns "$client" awk -v n="$1" \
		'$n + 0 > most + 0 { most = $n } END { print most + 0 }' /proc/net/netlink
}
has_dropped() { [ "$(netlink_most 9)" -gt 0 ]; }

# 9: who listens to events and does not read loses some; nothing piles up
bounded_events() {
	local held pid

	stream_prepare || return
	start_monitor
	held=$last_pid
	kill -STOP -- "-$held"
	# 64 chunks on each of 100, all missed
	start "$tmp/out" ip netns exec "$client" python3 "$here/dpa_many.py" 100 64 1
	pid=$last_pid
	wait_until 20 grep -q open "$tmp/out" || fail "$(cat "$tmp/out")"
	kill -USR1 $pid
	wait_until 20 has_dropped || fail "nothing was lost"
	note "queued for it: $(netlink_most 5) bytes, $(netlink_most 9) events lost"
	# the library asks for 1 MiB, which the kernel doubles; the last one may exceed it
	expect_between "bytes queued for who does not read" "$(netlink_most 5)" 1000 \
		$((2 * 1048576 + 4096))
	kill -CONT -- "-$held"
	wait_until 10 grep -q "were lost" "$tmp/monitor" ||
		fail "it was not told: $(tail -n 1 "$tmp/monitor")"
	stop $pid
	stop "$held"
	nothing_stays
}

# A chunk of 1 MB that is hopeless on the cheap path among 4 MB without one.
costly_transfer() {
	server "$server" $server4 $port "$tmp/server" \
		${1:+"buffers receive $1"} accept ${2:+"sleep $2"} drain shutdown
	stream_server=$last_pid
	start "$tmp/client" client "$client" "connect $server4 $port" \
		"send 1000" "wait subflows=2" "sleep 100" "send 500000" \
		"chunk len=1000000 ms=300" "send 1000000" \
		"send 500000" "wait queued=0 within=60000" subflows \
		shutdown drain
	stream_client=$last_pid
	stream_bytes=2001000
}

# expect_costly_bound [LEAST [DECLARED]]: a 20th more than the declared bytes, or
# a fragment, what TCP retransmits not counted; Documentation/security.md
expect_costly_bound() {
	local bytes declared=${2:-1000000} more

	more=$((declared / 20 > 32768 ? declared / 20 : 32768))
	bytes=$(first_sent "$tmp/client" 1)
	note "costly: $bytes of $declared declared bytes"
	expect_between "bytes on the costly path" "$bytes" "${1:-1}" \
		$((declared + more))
}

# 10: bytes in front of a chunk have no deadline, and are not declared
bytes_ahead() {
	stream_prepare 8000 25ms || return
	server "$server" $server4 $port "$tmp/server" accept drain shutdown
	stream_server=$last_pid
	start "$tmp/client" client "$client" "connect $server4 $port" \
		"buffers send 8000000" "send 1000" "wait subflows=2" \
		"sleep 100" "send 3000000" "chunk len=500000 ms=300" \
		"send 500000" "wait queued=0 within=60000" subflows \
		shutdown drain
	stream_client=$last_pid
	stream_bytes=3501000
	stream_whole
	expect_costly_bound 400000 500000
	nothing_stays
}

# 10: the peer orders other priorities as fast as it can
peer_floods_prio() {
	local flood now began

	stream_prepare 8000 25ms || return
	now_ms
	began=$now
	costly_transfer
	wait_until 10 grep -q '"sent":501000' "$tmp/client"
	start "$tmp/flood" in_ns "$server" bash -c "
		ip mptcp endpoint add $server4 id 1
		while :; do
			ip mptcp endpoint change $server4 backup
			ip mptcp endpoint change $server4 nobackup
		done"
	flood=$last_pid
	stream_whole
	stop "$flood"
	note "MP_PRIO received: $(counter "$client" MPTcpExtMPPrioRx)"
	expect_between "MP_PRIO received" "$(counter "$client" MPTcpExtMPPrioRx)" \
		20 100000
	now_ms
	note "MP_PRIO sent: $(counter "$client" MPTcpExtMPPrioTx)"
	expect_between "MP_PRIO sent" "$(counter "$client" MPTcpExtMPPrioTx)" \
		0 $(((now - began) / 100 * 2 + 4))
	expect_costly_bound
	nothing_stays
}

# peer_with_buffer BYTES [LEAST]: it opens its window by little, and closes it
peer_with_buffer() {
	stream_prepare 8000 25ms || return
	costly_transfer "$1" 2000
	stream_whole
	expect_costly_bound "${2:-1}"
	nothing_stays
}

peer_plays_with_window() {
	local size

	for size in 66000 98600 99500 100000 150000 300000; do
		peer_with_buffer "$size"
	done
}

# So little that a second path brings nothing sooner.
peer_has_little_room() { peer_with_buffer 8000 0; }

# 10: each acknowledgment comes as five, each for a fifth of the bytes
peer_divides_acks() {
	local i out object

	object=$(find_file ack_division.bpf.o) || { skip "needs the program"; return; }
	stream_prepare 8000 25ms || return
	for i in 1 2; do
		in_ns "dpa$$a$i" tc qdisc add dev mid clsact
		in_ns "dpa$$a$i" tc filter add dev mid ingress bpf da \
			obj "$object" sec tc || { fail "no program"; return; }
	done
	costly_transfer
	stream_whole
	i=$(counter "$client" TcpInSegs)
	out=$(counter "$server" TcpOutSegs)
	note "segments in: $i, out: $out"
	expect_between "acknowledgments at the client" "$i" $((out * 2)) 1000000
	expect_costly_bound
	nothing_stays
}

# From when the subflow is up, or else nothing would be asked of the path.
lose_costly() {
	wait_until 10 grep -q '"sent":501000' "$tmp/client"
	in_ns "dpa$$b2" tc qdisc replace dev s2 root netem delay 25ms loss 30%
}

# 10: a third of what the costly path carries is lost on purpose
peer_loses_costly() {
	stream_prepare 8000 25ms || return
	costly_transfer
	lose_costly
	stream_whole
	expect_costly_bound
	nothing_stays
}

# 10: however little it acknowledges and however much is lost, a quota holds
peer_within_quota() {
	stream_prepare 8000 25ms || return
	in_ns "$client" "$mpdpa" path set dev c2 cost 5 quota 400k per 60s ||
		fail "no quota"
	costly_transfer 100000 2000
	lose_costly
	stream_whole
	note "costly: $(first_sent "$tmp/client" 1) bytes"
	expect_between "bytes on the costly path" "$(first_sent "$tmp/client" 1)" 1 400000
	nothing_stays
}

quick_cases unprivileged_users nothing_across_namespaces bounded_timers owned_for_long
run_cases "$@" -- unprivileged_users preferences_do_not_undercut \
	preferences_of_root_stand last_deadline foreign_root \
	nothing_across_namespaces bounded_memory bounded_timers hostile_timers \
	owned_for_long \
	bounded_events \
	bytes_ahead peer_floods_prio peer_plays_with_window peer_has_little_room \
	peer_divides_acks peer_loses_costly peer_within_quota
