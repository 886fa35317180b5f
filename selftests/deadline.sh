#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Deadlines met, at the least cost: over the two paths of chunk.sh.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/chunk.sh"

# of one path, KB a second
goodput=943

# bytes_on SELECTION: of the last info, payload on subflows that match
bytes_on() {
	grep '^{"step":"info"' "$tmp/client" | tail -n 1 |
		jq "[.path[] | select($1) | .bytes_sent] | add // 0"
}

costly_permille() {
	echo $((1000 * $(bytes_on '.costly == 1') / $(bytes_on true)))
}

# One path has time enough: the other carries nothing.
check_loose() {
	prepare subflow backup || return
	transfer $length ms=8000 || return
	expect_in_time 1
	expect_between "payload on the costly path, permille" \
		"$(costly_permille)" 0 9
}

loose_v4() { family=4 check_loose; }
loose_v6() { family=6 check_loose; }

# Written at half the speed of one path, and not to its end by the deadline: that has
# room for all of it. A fragment or two may go the other way just before the deadline,
# where it is late on the cheap path only, and with the last that is written, which is
# late whatever its path.
slow_writer() {
	local i steps=()

	prepare subflow backup || return
	for ((i = 0; i < 100; i++)); do
		steps+=("send 40000" "sleep 80")
	done
	receiver $length
	exchange "chunk len=$length ms=7000" "${steps[@]}" "wait queued=0" info ||
		return
	note "$(bytes_on '.costly == 1') bytes over the costly path"
	expect_between "payload on the costly path, permille" \
		"$(costly_permille)" 0 25
}

# One path alone would miss: the other carries what is over, and little more.
# At best that is all but what the cheap path delivers from the moment the
# chunk is set to half a round trip before the deadline. Room above that: one
# window that is not full at first on the cheap path, what may come to nothing
# later, and 15 ms of margin.
check_tight() {
	local least

	prepare subflow backup || return
	transfer $length ms=3000 || return
	expect_in_time 1
	least=$((length - goodput * (3000 - 25)))
	note "costly: $(bytes_on '.costly == 1') bytes, at best $least"
	expect_between "bytes on the costly path" "$(bytes_on '.costly == 1')" \
		$((least - length * 3 / 100)) $((least + length * 5 / 100))
}

tight_v4() { family=4 check_tight; }
tight_v6() { family=6 check_tight; }

# Two readings each half second, the second of them just after the deadline of 200 ms:
# that one is no part of what is due then.
late_readings() {
	local i steps=()

	prepare subflow || return
	for ((i = 0; i < 4; i++)); do
		steps+=("send 6000" "sleep 210" "send 6000" "sleep 290")
	done
	receiver 48000
	exchange "stream every=500 ms=200" "${steps[@]}" "wait queued=0" info ||
		return
	expect_eq "intervals met" "$(field "$tmp/client" info met)" 4
	expect_eq "intervals missed" "$(field "$tmp/client" info missed)" 0
}

# expect_falling WHAT NUMBER...
expect_falling() {
	local what=$1 last=$2 next

	note "$what: ${*:2}"
	for next in "${@:3}"; do
		[ "$next" -lt "$last" ] || fail "$what does not fall: ${*:2}"
		last=$next
	done
}

# The smaller alpha is, the earlier the costly path comes in.
alpha_of_namespace() {
	local alpha
	local -a shares=()

	prepare subflow backup || return
	for alpha in 500 800 1500; do
		sysctl_in "$client" net.mptcp_dpa.alpha_milli=$alpha
		transfer $length ms=4400 || return
		shares+=("$(costly_permille)")
	done
	expect_falling "costly share with alpha 0.5, 0.8, 1.5" "${shares[@]}"
}

alpha_of_chunk() {
	local alpha
	local -a shares=()

	prepare subflow backup || return
	# the chunk's own comes first
	sysctl_in "$client" net.mptcp_dpa.alpha_milli=3000
	for alpha in 500 800 1500; do
		transfer $length ms=4400 alpha=$alpha || return
		shares+=("$(costly_permille)")
	done
	expect_falling "costly share with alpha 0.5, 0.8, 1.5" "${shares[@]}"
}

# expect_costly SUBFLOW COST: the one whose number it is; a chunk with time
# enough leaves it idle
expect_costly() {
	local other=$((3 - $1)) costs

	transfer 1000000 ms=4000 || return
	costs=$(field "$tmp/client" info \
		"path | map(select(.costly == 1) | [.subflow_id, .cost]) | tostring")
	expect_eq "costly subflows and their costs" "$costs" "[[$1,$2]]"
	expect_in_time 1
	# the first subflow has carried the bytes before the chunk
	expect_between "bytes on subflow $1" \
		"$(bytes_on ".subflow_id == $1")" 0 11000
	expect_between "bytes on subflow $other" \
		"$(bytes_on ".subflow_id == $other")" 990000 1100000
}

cost_by_backup_flag() {
	prepare subflow backup || return
	expect_costly 2 2
}

cost_by_interface() {
	prepare || return
	set_cost ifindex "$(index_of c2)" 7
	expect_costly 2 7
}

cost_by_endpoint() {
	prepare || return
	set_cost endpoint 2 1000000
	# the interface's is looked at only where the endpoint has none
	set_cost ifindex "$(index_of c2)" 1
	set_cost ifindex "$(index_of c1)" 5
	expect_costly 2 1000000
}

first_costly_by_interface() {
	prepare || return
	set_cost ifindex "$(index_of c1)" 3
	expect_costly 1 3
}

# the first subflow has local id 0, whatever endpoint its address is
first_costly_by_endpoint() {
	prepare || return
	endpoint 1 4 subflow
	set_cost endpoint 1 9
	expect_costly 1 9
}

# A cost beats the flag: the backup is the cheap one.
backup_is_cheap() {
	prepare subflow backup || return
	set_cost endpoint 2 1
	set_cost ifindex "$(index_of c1)" 4
	expect_costly 1 4
}

# backup flags of the subflows that ss shows: b ours, B the peer's
ulp_backup() {
	in_ns "$1" ss -Htni "sport = :$port or dport = :$port" |
		grep -o 'tcp-ulp-mptcp flags:[A-Za-z]*' | grep -c "$2"
}

# Each change is told to the peer, at most every 100 ms for a subflow. After
# the last chunk the subflow is what its endpoint says.
priorities_told() {
	local sent seen took_ms

	prepare subflow backup || return
	receiver $length
	sender "chunk len=$length ms=2700" "send $length" "wait queued=0" \
		"wait backups=2 within=2000" "sleep 200" info || return
	sent=$(counter "$client" MPTcpExtMPPrioTx)
	seen=$(counter "$server" MPTcpExtMPPrioRx)
	took_ms=$(($(ms_late 0 0) + 2700))
	note "MP_PRIO sent $sent, seen $seen, activations $(field \
		"$tmp/client" info 'path[1].activations'), in $took_ms ms"
	expect_between "MP_PRIO sent" "$sent" 2 $((took_ms / 100 + 4))
	expect_eq "MP_PRIO seen by the peer" "$seen" "$sent"
}

# What the peer knows, in mid-chunk and after it: the chunk is not over before all
# of it is sent, however little a send buffer holds. FLAGS are the endpoint's.
check_priorities() {
	local after=$1 pid

	shift
	prepare "$@" || return
	set_cost endpoint 2 2
	receiver 1500000
	: >"$tmp/client"
	start "$tmp/background" sender "chunk len=1500000 ms=8000" \
		"send 750000" "wait backups=2 within=1000" "sleep 200" \
		"say held" "sleep 500" "send 750000" "wait queued=0" \
		"wait backups=$after within=2000" "sleep 200" "say over" \
		"sleep 1500"
	pid=$last_pid
	wait_said held
	expect_eq "our flags in mid-chunk" "$(ulp_backup "$client" b)" 1
	expect_eq "the peer's flags in mid-chunk" "$(ulp_backup "$server" B)" 1
	wait_said over
	expect_eq "our flags afterwards" "$(ulp_backup "$client" b)" \
		$((after / 2))
	expect_eq "the peer's flags afterwards" "$(ulp_backup "$server" B)" \
		$((after / 2))
	expect_ok "the client" finish $pid 20
}

priority_back_to_none() { check_priorities 0 subflow; }
priority_back_to_backup() { check_priorities 2 subflow backup; }

# A path that joins in mid-chunk is kept back as soon as it is up, not only as long
# after its SYN as two changes have to be apart.
priority_of_joining() {
	prepare subflow || return
	set_cost endpoint 2 2
	sysctl_in "$client" net.mptcp_dpa.hysteresis_us=3000000
	receiver 3000000
	expect_ok "the client" client "$client" "socket 4 mptcp" \
		"connect $server4 $port" "chunk len=3001000 ms=20000" \
		"send 3001000" "wait subflows=2 within=1000" \
		"wait backups=2 within=300" >"$tmp/client"
	stop "$server_pid"
}

# expect_estimate SUBFLOW KB-PER-SECOND
expect_estimate() {
	local found

	found=$(field "$tmp/client" info \
		"path[] | select(.subflow_id == $1) | .goodput")
	note "subflow $1: $found bytes a second"
	expect_between "goodput of subflow $1" "$found" \
		$(($2 * 900)) $(($2 * 1100))
}

estimates() {
	prepare subflow backup || return
	transfer $length ms=2700 || return
	expect_estimate 1 $goodput
	expect_estimate 2 $goodput
	path_rate 2 4mbit 65536
	transfer $length ms=3400 || return
	expect_estimate 1 $goodput
	expect_estimate 2 $((goodput / 2))
}

# Bytes that wait on a slow path fill a small window, and the fast one has to wait
# for them: alone it would take 5.3 s, and both 4.7.
small_window() {
	local receive_buffer=512000

	prepare subflow backup || return
	path_rate 1 1mbit
	transfer 5000000 ms=6000 || return
	expect_in_time 1
}

# The chunk begins with the stream, before there is a connection.
set_before_connect() {
	local bytes=2000000

	prepare subflow backup || return
	server "$server" $server4 $port "$tmp/server" \
		"buffers receive 4000000" accept "drain 0 $bytes" shutdown
	client "$client" "socket 4 mptcp" "chunk len=$bytes ms=2200 cookie=5" \
		"connect $server4 $port" "buffers send 2000000" info \
		"send $bytes" "wait queued=0" info shutdown drain \
		>"$tmp/client" || fail "$(tail -n 3 "$tmp/client")"
	expect_ok "the receiver" finish "$last_pid" 30
	expect_in_time 1
	expect_eq "cookie" "$(first_field "$tmp/client" info cookie)" 5
}

# Both wait at once, the second with more time; their order is the stream's.
two_queued() {
	prepare subflow backup || return
	receiver 1500000 1500000
	exchange "chunk len=1500000 ms=1500 cookie=1" \
		"chunk len=1500000 ms=4500 cookie=2" info \
		"send 3000000" "wait queued=1" info "wait queued=0" info || return
	expect_in_time 2
	expect_eq "cookies" "$(jq -r 'select(.step == "info") | .cookie' \
		"$tmp/client" | xargs)" "1 2 0"
	note "costly: $(costly_permille) permille"
}

# A chunk with little time behind one with much: all of the first has to be there with it,
# so that in the end nothing goes over the path on which it would come too late.
urgent_is_last() {
	prepare subflow backup || return
	shape 1 8mbit 25ms 65536 && shape 2 8mbit 300ms 262144 || return
	receiver 4500000 100000
	exchange "chunk len=4500000 ms=20000" "chunk len=100000 ms=4400" \
		"send 4600000" "wait queued=0" info || return
	expect_in_time 2
	note "costly: $(costly_permille) permille"
}

# The application waits for its send buffer, which the cheap path alone could hold.
small_buffer() {
	prepare subflow backup || return
	receiver 5300000
	exchange "buffers send 90000" "chunk len=5300000 ms=4200" \
		"send 5300000" "wait queued=0" info || return
	expect_in_time 1
	note "costly: $(costly_permille) permille"
}

back_to_back() {
	local i
	local -a steps=() marks=()

	prepare subflow backup || return
	for ((i = 0; i < 6; i++)); do
		steps+=("until $((1000 + i * 700))" "chunk len=500000 ms=700" \
			"send 500000")
		marks+=(500000)
	done
	receiver "${marks[@]}"
	exchange "${steps[@]}" "wait queued=0" info || return
	expect_in_time 6
	note "costly: $(costly_permille) permille"
}

# check_unequal RATE DELAY QUEUE RATE DELAY QUEUE LENGTH MS: two paths, and a chunk
check_unequal() {
	prepare subflow backup || return
	sysctl_in "$client" net.ipv4.tcp_congestion_control=bbr
	shape 1 "${@:1:3}" && shape 2 "${@:4:3}" || return
	transfer "$7" "ms=$8" || return
	expect_in_time 1
}

# The last bytes wait for the cheap path: the other has room, but is far longer.
longer_path() {
	check_unequal 14600kbit 21ms 300000 7200kbit 100ms 200000 35000000 18600
}

# And where that is the long one, its acknowledgments say so later than the other's could.
longer_cheap_path() {
	check_unequal 3300kbit 108ms 45000 4800kbit 5ms 75000 3990000 5000
}

# A deadline that no use of the paths can meet: late, said so, and complete.
hopeless() {
	prepare subflow backup || return
	transfer $length ms=800 || return
	expect_eq "chunks met" "$(field "$tmp/client" info met)" 0
	expect_eq "chunks missed" "$(field "$tmp/client" info missed)" 1
	expect_between "bytes on the costly path" \
		"$(bytes_on '.costly == 1')" $((length * 2 / 5)) $((length * 3 / 5))
}

# hopeless_costs WHO LEAST MOST [CHUNK-ARGUMENT...]: bytes that a chunk which cannot
# be met puts on the costly path; a connection that has used both paths can tell
hopeless_costs() {
	local who=$1 least=$2 most=$3 costly

	shift 3
	receiver 3000000 $((3000000 + length))
	exchange "chunk len=3000000 ms=2000" "send 3000000" "wait queued=0" \
		subflows "chunk len=$length ms=800 $*" "send $length" \
		"wait queued=0" info subflows || return
	expect_eq "chunks missed" "$(field "$tmp/client" info missed)" 1
	costly=$(($(first_sent "$tmp/client" 1) - $(first_sent "$tmp/client" 1 1)))
	note "$who: $costly bytes"
	expect_between "bytes on the costly path" "$costly" "$least" "$most"
}

# What cannot be met stays on the cheap path, if the namespace or the chunk says so;
# the chunk's word counts. Flags are the policy and one, times two.
hopeless_and_cheap() {
	local policy few=$((length / 50))

	prepare subflow backup || return
	for policy in 1 2; do
		sysctl_in "$client" net.mptcp_dpa.late_policy=$policy
		hopeless_costs "policy $policy of the namespace" 0 $few
	done
	hopeless_costs "spend, by the chunk" \
		$((length * 2 / 5)) $((length * 3 / 5)) flags=2
	sysctl_in "$client" net.mptcp_dpa.late_policy=0
	hopeless_costs "cheap, by the chunk" 0 $few flags=4
}

# bulk STEP...: $took_ms is what the receiver needs for 16 MB, which is 17 s of
# one path
bulk() {
	server "$server" $server4 $port "$tmp/server" \
		"buffers receive 4000000" accept drain shutdown
	client "$client" "connect $server4 $port" "buffers send 2000000" \
		"send 1000" "wait subflows=2" "$@" "send 16000000" subflows \
		shutdown drain >"$tmp/client" ||
		fail "the client: $(tail -n 3 "$tmp/client")"
	expect_ok "the receiver" finish "$last_pid" 30
	took_ms=$(field "$tmp/server" drain 'last_ns - .first_ns | . / 1000000 | floor')
}

# BBR empties a path after ten seconds, for 200 ms and a round trip. A path that
# rests just before that loses the round trip alone.
rests_for_bbr() {
	local took_ms rested

	prepare subflow backup || return
	sysctl_in "$client" net.ipv4.tcp_congestion_control=bbr
	bulk "chunk len=16000000 ms=60000"
	rested=$took_ms
	expect_eq "payload on the costly path" "$(first_sent "$tmp/client" 1)" 0
	scheduler default
	bulk
	note "16 MB in $rested ms, with the kernel's default in $took_ms"
	expect_between "time, ms" "$rested" 16900 $((took_ms - 60))
}

# kbit/s that a subflow's TCP may send at, as ss has it; nothing: any
most_paced() {
	in_ns "$client" ss -Htni "dport = :$port" |
		sed -n 's|.*pacing_rate [^ /]*/\([0-9]*\)[0-9]\{3\}bps.*|\1|p'
}
is_paced() { [ "$(most_paced)" ]; }
is_not_paced() { ! is_paced; }

# one subflow, at 3/2 of its goodput, give or take a twentieth
has_settled() {
	local most

	most=$(most_paced)
	[ "$(wc -l <<<"$most")" = 1 ] &&
		[ $((most * 20)) -gt $((goodput * 12 * 19)) ] &&
		[ $((most * 20)) -lt $((goodput * 12 * 21)) ]
}

# After idle time BBR on a known path sends half as much again as that carries; on one of
# which nothing is known, or after the last chunk, what it likes.
paced() {
	local pid

	prepare subflow backup || return
	sysctl_in "$client" net.ipv4.tcp_congestion_control=bbr
	receiver 2000000
	: >"$tmp/client"
	start "$tmp/background" sender "chunk len=2000000 ms=9000" \
		"send 1500000" "sleep 2000" "send 250000" "sleep 2000" \
		"send 250000" "wait queued=0" \
		"say over" "sleep 1500"
	pid=$last_pid
	wait_until 20 is_paced || fail "never: $(tail -n 2 "$tmp/client")"
	wait_until 20 has_settled ||
		fail "kbit/s at most: $(most_paced) of $((goodput * 12))"
	wait_said over
	wait_until 1 is_not_paced || fail "still: $(most_paced) kbit/s"
	expect_ok "the client" finish $pid 20
}

# Fragments of the stream are up to 32 KB. The costlier path gets no more than is
# short, even of one; the peer's window, which ends there meanwhile, is put back.
# One shortfall may end with a fragment, or be outdone by the other path; not each.
picks_within_fragments() {
	local name ms times="2600 2700 2800 2900 3000 3100"

	# a kernel that takes ten times as long for a packet is late with the tightest
	[ "${QUICK:-}" != 2 ] || times="3200 3300 3400 3500 3600 3700"
	prepare subflow backup || return
	# without BBR so slow a path's picks are all cut before a deadline: its queue is kept short
	sysctl_in "$client" net.ipv4.tcp_congestion_control=bbr
	for name in window_cut window_put_back; do
		probe $name || return
	done
	for ms in $times; do
		transfer $length ms=$ms || return
		expect_in_time 1
		note "within $ms ms: $(hits window_cut) so far"
	done
	expect_between "picks within a fragment" "$(hits window_cut)" 1 100
	expect_eq "windows put back" "$(hits window_put_back)" "$(hits window_cut)"
}

# A stream of short deadlines that leaves little room on a slow path, with cubic: once windows
# are open, none is late for packets that a queue of 100 ms had no room for.
short_queues() {
	local i total=200 begun=40 warm
	local -a steps=()

	prepare subflow backup || return
	shape 1 3700kbit 50ms 46000 && shape 2 11600kbit 50ms 145000 || return
	for ((i = 0; i < total; i++)); do
		[ $i != $begun ] || steps+=(info)
		steps+=("until $((1000 + i * 40))" "chunk len=48000 ms=250" "send 48000")
	done
	receiver $((total * 48000))
	exchange "${steps[@]}" "wait queued=0" info || return
	warm=$(first_field "$tmp/client" info missed)
	note "of the first $begun chunks $warm were late"
	expect_eq "chunks late after that" \
		$(($(field "$tmp/client" info missed) - warm)) 0
	expect_eq "chunks met" "$(field "$tmp/client" info met)" $((total - warm))
}

drop_trace() { [ ! -d "$1" ] || rmdir "$1"; }

# While a chunk is on its way, all of it, looks find nothing to do, and wake no worker.
looks_wake_no_worker() {
	local trace=/sys/kernel/tracing/instances/dpa-works looks works
	local started=$trace/events/workqueue/workqueue_execute_start
	local i steps=()

	prepare subflow backup || return
	at_end drop_trace "$trace"
	mkdir "$trace" || { fail "no trace instance"; return; }
	echo "function == 0x$(awk '$3 == "tick_work" { print $1 }' /proc/kallsyms)" \
		>"$started/filter" || fail "no filter"
	echo 1 >"$started/enable"
	looks=$(stat_of "$client" ticks)
	for i in {1..20}; do
		steps+=("chunk len=10000 ms=2000" "send 10000" "wait queued=0")
	done
	receiver 1000
	exchange "${steps[@]}" info || return
	looks=$(($(stat_of "$client" ticks) - looks))
	echo 0 >"$started/enable"
	works=$(grep -c workqueue_execute_start: "$trace/trace")
	drop_trace "$trace"
	expect_eq "chunks met" "$(field "$tmp/client" info met)" 20
	note "$looks looks, $works by a worker"
	expect_between "looks" "$looks" 20 1000
	expect_between "looks by a worker" "$works" 1 $((looks / 2))
}

quick_cases loose_v6 backup_is_cheap picks_within_fragments

run_cases "$@" -- loose_v4 loose_v6 slow_writer late_readings tight_v4 tight_v6 \
	alpha_of_namespace alpha_of_chunk cost_by_backup_flag cost_by_interface \
	cost_by_endpoint first_costly_by_interface first_costly_by_endpoint \
	backup_is_cheap priorities_told priority_back_to_none \
	priority_back_to_backup priority_of_joining estimates small_window set_before_connect \
	two_queued urgent_is_last small_buffer back_to_back longer_path longer_cheap_path hopeless \
	hopeless_and_cheap rests_for_bbr paced looks_wake_no_worker \
	picks_within_fragments short_queues
