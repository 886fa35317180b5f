#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What happens to a scheduler, a module, a namespace, the clock and the memory
# while connections are in the middle of chunks: their bytes arrive all the same,
# and when they are over nothing of them stays.
#
#	QUICK=1		less of everything

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"
source "$(dirname "$0")/stream.sh"

need mpdpa

failslab=/sys/kernel/debug/failslab

module_goes() {
	wait_until 30 is_unused || fail "the module has $(module_users) users"
	expect_ok rmmod module_unload
}

scheduler_detached() {
	stream_under_way || return
	detach
	wait_until 5 lacks_scheduler mpdpa || fail "it is still to be had"
	stream_survives
	wait_until 240 is_quiet "$client" || fail "connections stay"
	module_goes
}

# A second one of the same name: the old connection ends with the old program,
# new ones begin with the new.
scheduler_replaced() {
	local before stream_size=$((stream_size * 2))

	# (of twice the size: a second program takes its time to be verified)
	stream_under_way || return
	detach
	attach || fail "a second one cannot be attached"
	scheduler mpdpa
	before=$(stat_of "$client" chunks_set)
	stream_survives
	stream_begin 400000
	stream_whole
	expect_between "chunks that the new one took" \
		$(($(stat_of "$client" chunks_set) - before)) 1 100
	nothing_stays
	detach
	module_goes
}

# many times, faster than connections end
scheduler_flaps() {
	local i whole=$tmp tmp=$tmp
	local -a clients=() servers=()

	stream_prepare || return
	for i in 1 2 3 4 5 6; do
		attach || fail "attach $i"
		scheduler mpdpa
		port=$((5000 + i))
		tmp=$whole/$i
		mkdir -p "$tmp"
		stream_begin 1000000
		clients[i]=$stream_client
		servers[i]=$stream_server
		stream_reached 300000
		tmp=$whole
		detach
	done
	port=5000
	for i in 1 2 3 4 5 6; do
		tmp=$whole/$i
		stream_client=${clients[i]}
		stream_server=${servers[i]}
		stream_whole
	done
	tmp=$whole
	wait_until 240 is_quiet "$client" || fail "connections stay"
	module_goes
}

# The receiver takes nothing until both attempts were made.
unload_in_use() {
	local said

	stream_prepare || return
	new_gate
	stream_begin $stream_size "buffers receive 100000" "await $gate"
	wait_until 20 grep -q '"step":"chunk"' "$tmp/client" || fail "no chunk"
	said=$(rmmod $module 2>&1) && fail "rmmod succeeded in mid-chunk"
	note "rmmod: ${said##*: }"
	detach
	rmmod $module 2>/dev/null && fail "rmmod succeeded after the detach"
	open_gate
	stream_whole
	wait_until 240 is_quiet "$client" || fail "connections stay"
	module_goes
}

# The application dies in mid-chunk: what it wrote is delivered.
application_killed() {
	stream_under_way || return
	stop "$stream_client"
	expect_ok "the receiver" finish "$stream_server" 120
	expect_between "received" "$(field "$tmp/server" drain received)" \
		$((stream_size / 3)) "$stream_bytes"
	nothing_stays
}

# Each namespace has some sockets of its own as long as it lives; the memory of the
# namespace itself the kernel frees with the next ones that go.
namespace_sockets() { slab_objects '^RAWv6$'; }

none_stays() { [ "$(namespace_sockets)" -le "$sockets_before" ]; }

namespaces_go() {
	topology_down 2>/dev/null
	wait_until 240 none_stays ||
		fail "namespaces stay: $(namespace_sockets) of their sockets, $sockets_before before"
}

# The names go, the processes in them go on; then the processes are killed with
# chunks queued, and the namespaces follow.
namespace_deleted() {
	local ns

	stream_under_way || return
	for ns in "$client" "$server"; do
		ip netns del "$ns"
	done
	stream_survives
	namespaces_go
}

namespace_deleted_with_chunks() {
	local ns

	stream_under_way || return
	for ns in "$client" "$server"; do
		ip netns del "$ns"
	done
	stop "$stream_client"
	stop "$stream_server"
	namespaces_go
	detach
	module_goes
}

# step_clock SECONDS: the time of day, by this much
stepped=0
step_clock() {
	local now=$EPOCHREALTIME

	stepped=$((stepped + $1))
	date -s "@$((${now%[.,]*} + $1)).${now#*[.,]}" >/dev/null
}

step_back() { [ $stepped = 0 ] || step_clock $((-stepped)); }

# Deadlines are on CLOCK_MONOTONIC: no step of the time of day moves one. Either path
# alone could meet these.
clock_steps() {
	local chunk="chunk len=2000000 ms=3000"

	stream_prepare || return
	at_end step_back
	stream_begin_chunks 4000000 "1000000 1000000 1000000 1000000" \
		"$chunk" "send 2000000" "wait queued=0" \
		"$chunk" "send 2000000" "wait queued=0"
	stream_reached 1001000
	step_clock 7200
	stream_reached 3001000
	step_clock -86400
	stream_survives
	step_clock 79200
	stream_all_met
	nothing_stays
}

# What the kernel's log has so far may tell of a process killed for want of memory,
# with a trace of where, and of nothing else.
forgive_oom() {
	check_log "$case_mark" 'Call Trace'
	log_mark "$case_mark"
}

# The application runs where next to no kernel memory is to be had: options say
# ENOMEM, or the process is killed; the rest of the system does not notice.
memory_of_cgroup() {
	local group=$cgroup/small small pid

	memory_controller && stream_prepare || return
	# processes and children: only leaves may have both
	mkdir "$cgroup/rest" "$group"
	for pid in $(<"$cgroup/cgroup.procs"); do
		echo "$pid" >"$cgroup/rest/cgroup.procs" 2>/dev/null
	done
	echo +memory >"$cgroup/cgroup.subtree_control" || {
		skip "the controller cannot be handed down"
		return
	}
	new_gate
	server "$server" $server4 $port "$tmp/server" accept "drain => any"
	stream_server=$last_pid
	start "$tmp/small" bash -c "echo \$\$ >$group/cgroup.procs
		exec ip netns exec $client $files/dpa_sock \
		'connect $server4 $port' 'say connected' 'await $gate' \
		$(printf "'chunk len=100 ms=5000 => any' %.0s" {1..60}) \
		'send 500000'"
	small=$last_pid
	wait_until 20 grep -q connected "$tmp/small" || fail "$(cat "$tmp/small")"
	echo $(($(<"$group/memory.current") + 32768)) >"$group/memory.max"
	open_gate
	finish "$small" 120
	note "it ended with status $?, killed:" \
		"$(awk '/^oom_kill / { print $2 }' "$group/memory.events")," \
		"$(tail -n 1 "$tmp/small")"
	forgive_oom
	expect_between "times at its limit" \
		"$(awk '/^max / { print $2 }' "$group/memory.events")" 1 100000000
	stop "$stream_server"
	stream_begin 1000000
	stream_whole
	nothing_stays
	echo -memory >"$cgroup/cgroup.subtree_control"
	echo $$ >"$cgroup/cgroup.procs"
}

under_pressure() {
	[ $(($(counter "$client" TcpExtTCPMemoryPressures) +
		$(counter "$server" TcpExtTCPMemoryPressures))) -gt 0 ]
}

# TCP as a whole is out of its memory; it goes on with the least. A processor's own
# share of 1 MB is counted later, so the receiver lets more than that pile up.
memory_of_tcp() {
	local before

	before=$(sysctl -n net.ipv4.tcp_mem)
	at_end sysctl -qw net.ipv4.tcp_mem="$before"
	stream_prepare || return
	new_gate
	stream_begin 6000000 "buffers receive 4000000" "await $gate"
	sysctl -qw net.ipv4.tcp_mem="8 16 32"
	wait_until 20 under_pressure || fail "TCP had memory enough"
	sleep 1
	sysctl -qw net.ipv4.tcp_mem="$before"
	open_gate
	stream_whole
	nothing_stays
}

# Each allocation, of system calls and of work done for them, fails once: from the
# socket on, and then from the first option on.
allocations_fail() {
	local i taken=0 short
	local -a open options

	[ -d $failslab ] || { skip "needs a kernel with FAILSLAB"; return; }
	stream_prepare || return
	echo N >$failslab/ignore-gfp-wait
	echo 0 >$failslab/verbose
	options=("chunk len=1000 ms=2000 => any" "chunk len=30000 ms=2000 => any"
		"prefer 1 200 => any" "info => any" "send 31000 => any"
		"info => any")
	for ((i = 0; i < 40; i++)); do
		server "$server" $server4 $((5100 + i)) "$tmp/server" accept \
			"drain => any"
		open=("socket 4 mptcp => any"
			"connect $server4 $((5100 + i)) => any" "send 1000 => any")
		if ((i % 2)); then
			open=("fail $((i / 2 + 1))" "${open[@]}")
		else
			open+=("fail $((i / 2 + 1))")
		fi
		start "$tmp/failing" client "$client" "${open[@]}" "${options[@]}" \
			"fail 0" "shutdown => any" "close => any"
		finish "$last_pid" 60 && taken=$((taken + 1))
		cat "$tmp/failing" >>"$tmp/failures"
		stop_processes
	done
	short=$(grep -c '"error":"ENO\(MEM\|BUFS\)"' "$tmp/failures")
	note "$taken of 40 went to their end, $short calls were short of memory"
	expect_eq "went to their end" $taken 40
	expect_between "calls short of memory" "$short" 5 1000
	stream_begin 1000000
	stream_whole
	nothing_stays
}

sockets_before=$(namespace_sockets)
quick_cases scheduler_detached unload_in_use namespace_deleted_with_chunks \
	allocations_fail
run_cases "$@" -- scheduler_detached scheduler_replaced scheduler_flaps \
	unload_in_use application_killed namespace_deleted \
	namespace_deleted_with_chunks clock_steps memory_of_cgroup \
	memory_of_tcp allocations_fail
