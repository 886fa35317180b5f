#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What is stuck on one path is sent again on the other when the deadline needs it:
# over the two paths of chunk.sh.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/chunk.sh"

second_is_gone() { [ -z "$(in_ns "$client" ss -Htn src 10.0.2.1)" ]; }

# mark INDEX: waits until so many marks of the receiver have been reached
mark() {
	wait_until 20 grep -q "\"index\":$1\b" "$tmp/server" ||
		fail "no mark $1: $(tail -n 2 "$tmp/client" "$tmp/server")"
}

# chunk_under_way LENGTH MS MARKS: a chunk due then, of which the first mark has come
chunk_under_way() {
	receiver $3
	start "$tmp/background" sender "chunk len=$1 ms=$2" \
		"send $1" "wait queued=0 within=60000" info shutdown
	chunk_pid=$last_pid
	mark 1
}

# To the end of both; $gap_ms is the receiver's longest gap.
chunk_over() {
	expect_ok "the client" finish "$chunk_pid" 70
	expect_ok "the receiver" finish "$server_pid" 30
	gap_ms=$(($(field "$tmp/server" drain gap_ns) / 1000000))
}

# expect_gap LEAST MOST: of what chunk_over found, in milliseconds
expect_gap() {
	note "the longest gap is $gap_ms ms"
	expect_between "the longest gap, ms," "$gap_ms" "$1" "$2"
}

# expect_met BYTES: so many have arrived, 1000 before the chunk among them, which is met
expect_met() {
	expect_eq "received" "$(field "$tmp/server" drain received)" "$1"
	expect_eq "chunks met" "$(field "$tmp/client" info met)" 1
}

# close() with half of the chunk written: that half arrives. Then a reset.
closed_in_mid_chunk() {
	prepare subflow backup || return
	receiver 1000000
	sender "chunk len=2000000 ms=2000" "send 1000000" close || return
	expect_ok "the receiver" finish "$server_pid" 30
	expect_eq "received" "$(field "$tmp/server" drain received)" 1001000
	receiver 1000000
	sender "chunk len=2000000 ms=2000" "send 1000000" abort || return
	finish "$server_pid" 30 && fail "the receiver saw no reset"
	detach
	wait_until 20 is_unused || fail "the module has $(module_users) users"
}

# SILENT-PATH MS: after a third of the chunk its routers lose everything
check_silent() {
	local twice

	prepare subflow backup || return
	chunk_under_way 3000000 "$2" "1000000 2000000"
	path_silent "$1"
	chunk_over
	expect_eq "received" "$(field "$tmp/server" drain received)" 3001000
	twice=$(counter "$server" MPTcpExtDuplicateData)
	# the kernel alone takes 0.9 .. 1.4 s
	expect_gap 0 300
	# of some 2100
	note "$twice packets came twice"
	expect_between "packets that came twice" "$twice" 0 42
}

cheap_path_silent() {
	check_silent 1 6000
	expect_eq "chunks met" "$(field "$tmp/client" info met)" 1
}

costly_path_silent() { check_silent 2 2000; }

# The path loses the last 40 KB of all that there is to send, and the sender has closed: what
# is missing is sent again from its first byte on. (When that one was left out, MPTCP's own
# timer repeated it: 405 ms instead of 250.)
check_last_lost() {
	prepare subflow backup || return
	router_rule 1 "ip saddr 10.0.1.1 quota over 1012000 bytes drop"
	receiver 920000 80000
	start "$tmp/background" sender "chunk len=1000000 ms=6000" "send 1000000" \
		"$1" "sleep 3000"
	chunk_pid=$last_pid
	chunk_over
	expect_eq "received" "$(field "$tmp/server" drain received)" 1001000
	gap_ms=$((($(arrival 1) - $(arrival 0)) / 1000000))
	note "$gap_ms ms for the last 80 KB," \
		"$(counter "$client" MPTcpExtMPTCPRetrans) packets repeated by MPTCP's timer"
	expect_eq "packets repeated by MPTCP's timer" \
		"$(counter "$client" MPTcpExtMPTCPRetrans)" 0
	expect_between "ms for the last 80 KB" $gap_ms 85 380
}

last_lost_after_shutdown() { check_last_lost shutdown; }
last_lost_after_close() { check_last_lost close; }

# One in 150 packets is lost before a long path goes silent. What the server has behind
# a hole then is TCP's alone: the stream waits for it as long as for the hole, which took
# 860 ms when that was not sent again. (A round trip takes up to 180 ms here.)
silent_with_holes() {
	prepare subflow backup || return
	sysctl_in "$client" net.ipv4.tcp_congestion_control=bbr
	shape 1 40mbit 50ms 400000
	shape 2 40mbit 50ms 400000
	chunk_under_way 12000000 6000 "2000000 4000000 6000000"
	router_rule 1 "tcp dport $port meta length > 1000 numgen inc mod 150 0 drop"
	mark 2
	path_silent 1
	chunk_over
	expect_met 12001000
	expect_gap 0 600
}

# The first of three paths is silent, and while what it held waits for room the second
# is reset: nobody has what was on that. (The kernel alone sent it again bit by bit: 1.2 to
# 1.6 s.)
second_goes_meanwhile() {
	local before paths=3

	prepare subflow backup || return
	chunk_under_way 3000000 4000 "1000000 2000000"
	path_silent 1
	before=$(client_bytes 2)
	wait_until 5 has_sent 2 $((before + 3000)) || fail "path 2 is not used"
	kill_subflow "$client" src 10.0.2.1
	chunk_over
	expect_met 3001000
	expect_gap 0 300
}

# A cheap path that brought next to nothing for some seconds is used again: 240
# chunks of 20 KB, 50 ms apart, of which none is more than a fragment or two.
cheap_path_returns() {
	local before after i
	local -a steps=()

	prepare subflow backup || return
	for ((i = 0; i < 240; i++)); do
		steps+=("chunk len=20000 ms=200 => any" "send 20000" "sleep 50")
	done
	receiver 1000000 1200000 1400000 1200000
	start "$tmp/background" sender "${steps[@]}" "wait queued=0" shutdown
	chunk_pid=$last_pid
	mark 1
	path_rate 1 50kbit
	mark 2
	path_rate 1 8mbit
	mark 3
	before=$(client_bytes 2)
	chunk_over
	expect_eq "received" "$(field "$tmp/server" drain received)" 4801000
	after=$(client_bytes 2)
	note "of the last 1.2 MB the costly path carried $((after - before)) bytes"
	expect_between "costly bytes at last" $((after - before)) 0 120000
}

# The cheaper path goes for good, and the plan does not count on it any more.
cheap_path_goes() {
	prepare || return
	set_cost ifindex "$(index_of c1)" 5
	receiver 3000000
	new_gate
	start "$tmp/background" sender "chunk len=500000 ms=4000" "send 500000" \
		"wait queued=0" "say ready" "await $gate" "chunk len=100000 ms=1000" \
		"send 100000" "wait queued=0" info subflows shutdown
	chunk_pid=$last_pid
	wait_said ready
	expect_between "payload on the cheap path" "$(client_bytes 2)" 400000 600000
	ip -n "$client" mptcp endpoint delete id 2 || fail "endpoint delete"
	wait_until 5 second_is_gone || fail "the subflow stays"
	open_gate
	chunk_over
	expect_eq "chunks met" "$(field "$tmp/client" info met)" 2
}

# What was said to carry nothing carries nothing, whatever becomes of the others.
forbidden_path() {
	prepare || return
	receiver 2000000
	start "$tmp/background" sender "prefer 2 4294967295" \
		"chunk len=1500000 ms=20000" "send 1500000" \
		"wait queued=0 within=60000" info subflows shutdown
	chunk_pid=$last_pid
	wait_until 20 has_sent 1 500000 || fail "$(tail -n 2 "$tmp/client")"
	path_silent 1
	sleep 3
	shape 1 8mbit 25ms 65536
	chunk_over
	expect_eq "chunks met" "$(field "$tmp/client" info met)" 1
	expect_eq "payload on the forbidden path" "$(first_sent "$tmp/client" 1)" 0
}

# other_chunk NAME PORT LENGTH [STEP...]: another connection's, after these steps;
# other_server and last_pid are its ends
other_chunk() {
	server "$server" $server4 "$2" "$tmp/$1_server" accept "drain 20000"
	other_server=$last_pid
	start "$tmp/$1" client "$client" "connect $server4 $2" "${@:4}" \
		"chunk len=$3 ms=60000" "send $3" \
		"wait queued=0 within=60000" close
}

# check_unheard MS: a chunk due then loses all on path 1 while another connection
# goes on there, whose slow start, in which it may lose a whole window, is over
check_unheard() {
	local other other_server

	prepare subflow backup || return
	other_chunk other $((port + 1)) 5000000
	other=$last_pid
	wait_until 20 has_sent 1 1000000 ||
		fail "nothing came of the other"
	chunk_under_way 1500000 "$1" "200000 1500000"
	router_rule 1 "tcp dport $port drop"
	chunk_over
	expect_ok "the other client" finish $other 70
	expect_ok "the other server" finish $other_server 30
	expect_eq "chunks met" "$(field "$tmp/client" info met)" 1
}

# TCP's timeout comes after 200 ms and a round trip at the earliest.
unheard_with_time() {
	check_unheard 20000
	expect_gap 300 1000
}

unheard_without_time() {
	check_unheard 2000
	expect_gap 0 300
}

# how many subflows of others send at a pace that is not their own
others_paced() {
	in_ns "$client" ss -Htni "dport > :$port" |
		grep -c 'pacing_rate [^ /]*/[0-9]*bps'
}
most_others_paced() { [ "$(others_paced)" -ge 5 ]; }
no_other_paced() { [ "$(others_paced)" = 0 ]; }

# Six fill one path: what they get is told to each, and BBR sends no more than a quarter
# beyond that, though it has all that it could send. The last of them has nobody beside it.
many_on_a_path() {
	local i clients=() servers=() other_server

	prepare subflow backup || return
	sysctl_in "$client" net.ipv4.tcp_congestion_control=bbr
	for i in {1..6}; do
		other_chunk "other$i" $((port + i)) $((i < 6 ? 1000000 : 3000000))
		clients+=("$last_pid")
		servers+=("$other_server")
	done
	wait_until 20 most_others_paced || fail "$(others_paced) have a pace"
	for i in {0..4}; do
		expect_ok "client $i" finish "${clients[i]}" 70
		expect_ok "server $i" finish "${servers[i]}" 30
	done
	wait_until 5 no_other_paced || fail "the last one still has a pace"
	expect_ok "the last client" finish "${clients[5]}" 70
	expect_ok "the last server" finish "${servers[5]}" 30
}

# A chunk with much time holds up one with little behind it: what of the first is stuck
# on a path that became slow is in time by its own deadline, and not by the other's. What
# stays there comes just in time, by estimates.
urgent_behind() {
	local late

	prepare subflow backup || return
	receiver 400000 1100000 100000
	start "$tmp/background" sender "chunk len=1500000 ms=20000" \
		"chunk len=100000 ms=3500" "send 1600000" \
		"wait queued=0 within=60000" info shutdown
	chunk_pid=$last_pid
	mark 1
	path_rate 1 400kbit
	chunk_over
	late=$(ms_late 2 1)
	note "the second came $late ms after its deadline"
	# when the first one's deadline counts it is 1000 to 1500
	expect_between "ms after the deadline of the second" "$late" -3500 50
}

# A radio scans, five times: nothing comes back for 20 ms, and nothing is lost, where
# round trips take 5 ms and the queue at most 26, and all the time in the world is left.
short_stall() {
	local twice costly i

	prepare subflow backup && shape 1 40mbit 2ms 131072 || return
	sysctl_in "$client" net.ipv4.tcp_congestion_control=bbr
	chunk_under_way 10000000 20000 "1000000 9000000"
	for i in 1 2 3 4 5; do
		delay_more 1 22ms
		sleep 0.02
		delay_more 1 2ms
		sleep 0.2
	done
	chunk_over
	expect_met 10001000
	twice=$(counter "$server" MPTcpExtDuplicateData)
	costly=$(client_bytes 2)
	# of some 7000
	note "$twice packets came twice, $costly bytes over the costly path"
	expect_between "packets that came twice" "$twice" 0 70
	expect_between "bytes over the costly path" "$costly" 0 100000
}

first_path_packets() { in_ns "$client" cat /sys/class/net/c1/statistics/tx_packets; }

# Two connections that lost a path ask whether it is back: together once a second, as
# long as nothing is heard. TCP's own timeouts are 6 s and more apart by then.
silent_path_asked() {
	local one other before asked

	prepare subflow backup || return
	other_chunk one $((port + 1)) 30000000 "buffers send 2000000"
	one=$last_pid
	other_chunk other $((port + 2)) 30000000 "buffers send 2000000"
	other=$last_pid
	wait_until 20 has_sent 1 2000000 || fail "nothing came over path 1"
	path_silent 1
	sleep 6
	before=$(first_path_packets)
	sleep 10
	asked=$(($(first_path_packets) - before))
	note "$asked packets in 10 s"
	expect_between "packets on the silent path" "$asked" 8 16
	stop "$one"
	stop "$other"
}

# What a path is asked with finds no route: it is not asked more often for that. Without a
# bound that went by itself TCP's timeout was made to run out at each look, from 8 s on.
unroutable_path_asked() {
	local one before asked

	prepare subflow backup || return
	probe tcp_retransmit_timer || return
	other_chunk one $((port + 1)) 30000000 "buffers send 2000000"
	one=$last_pid
	wait_until 20 has_sent 1 1000000 || fail "nothing came over path 1"
	expect_ok "c1 down" in_ns "$client" ip link set c1 down
	sleep 9
	before=$(hits tcp_retransmit_timer)
	sleep 10
	asked=$(($(hits tcp_retransmit_timer) - before))
	note "$asked timeouts in 10 s"
	expect_between "timeouts" "$asked" 1 24
	stop "$one"
}

# A path brings a packet a second for a while, by which round trips grow to many
# seconds and TCP's timeout to half a minute, and is back.
crawling_path_returns() {
	local before soon later

	prepare subflow backup || return
	sysctl_in "$client" net.ipv4.tcp_congestion_control=bbr
	other_chunk one $((port + 1)) 30000000 "buffers send 2000000"
	wait_until 20 has_sent 1 2000000 || fail "nothing came over path 1"
	path_rate 1 16kbit 5000
	sleep 20
	path_rate 1 8mbit
	before=$(client_bytes 1)
	sleep 5
	soon=$(($(client_bytes 1) - before))
	sleep 10
	later=$(($(client_bytes 1) - before))
	note "over path 1: $soon bytes in 5 s, $later in 15"
	# as it was it would have carried 10000; how soon it is fast is BBR's
	expect_between "bytes in 5 s" "$soon" 100000 5300000
	expect_between "bytes in 15 s" "$later" 3000000 15900000
	stop "$last_pid"
}

# The cheap path's interface goes down while it has nothing to send, so that what it gets
# then never leaves the host. Of the second chunk's 2.8 s the other path needs 2.1. When
# the interface is back a second tells, and not TCP's timeout, by then of 5 s.
down_when_idle() {
	local left before after

	prepare subflow backup || return
	new_gate
	receiver 1000000 2000000 1000000
	start "$tmp/client" client "$client" "connect $server4 $port" \
		"buffers send 4000000" "send 1000" "wait subflows=2" \
		"chunk len=1000000 ms=3000" "send 1000000" "wait queued=0" "say idle" \
		"await $gate" "chunk len=2000000 ms=2800" "send 2000000" \
		"wait queued=0" info "await $gate" \
		"chunk len=1000000 ms=3000" "send 1000000" "wait queued=0" shutdown drain
	chunk_pid=$last_pid
	wait_said idle
	ip -n "$client" link set c1 down
	open_gate
	mark 2
	wait_said '"step":"info"'
	expect_eq "chunks met" "$(field "$tmp/client" info met)" 2
	left=$(($(due 1) - $(arrival 1)))
	note "the chunk came $((left / 1000000)) ms before its deadline"
	# by then timeouts are far apart, and the next one is some seconds away
	sleep 3
	interface_up 1
	sleep 2
	before=$(client_bytes 2)
	open_gate
	chunk_over
	after=$(client_bytes 2)
	note "of the last chunk the costly path carried $((after - before)) bytes"
	expect_between "costly bytes of the last" $((after - before)) 0 200000
}

quick_cases closed_in_mid_chunk cheap_path_silent

run_cases "$@" -- closed_in_mid_chunk cheap_path_silent costly_path_silent \
	silent_with_holes last_lost_after_shutdown last_lost_after_close \
	second_goes_meanwhile cheap_path_goes \
	cheap_path_returns forbidden_path unheard_with_time \
	unheard_without_time many_on_a_path urgent_behind short_stall silent_path_asked \
	unroutable_path_asked crawling_path_returns down_when_idle
