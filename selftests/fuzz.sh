#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Structured random calls of every socket option and netlink operation, while
# connections live, die, fall back, lose paths, and the scheduler is detached.
#
#	FUZZ_CALLS=N	that many calls (default: 0, no limit)
#	FUZZ_SECONDS=N	for so long (default: 60; 0: no limit), and until the
#			scheduler has been detached twice
#	FUZZ_SEED=N	another course
#	FUZZ_STOCK=1	without module and programs, on the default scheduler:
#			what is found then is the kernel's

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"

port=5000
calls=${FUZZ_CALLS:-0}
seconds=${FUZZ_SECONDS:-60}
seed=${FUZZ_SEED:-1}
stock=${FUZZ_STOCK:-}

trace=/sys/kernel/tracing/instances/dpa-fuzz
closing=$trace/events/sock/inet_sock_set_state
trace_reader=

# The kernel leaves orphans behind, with any scheduler: a socket that somebody else
# than its worker closes, because nobody frees it then (Documentation/testing.md).
# The stack of each such change tells who made it, so that nobody else's orphan
# is taken for one of these. They are written down as they come: a million calls
# close more than the trace can hold.
watch_closings() {
	local to_close='protocol == 262 && newstate == 7'

	at_end stop_watching
	# one that a killed test left
	stop_watching
	mkdir "$trace" || { fail "no trace instance"; return 1; }
	echo 8192 >"$trace/buffer_size_kb"
	echo "$to_close" >"$closing/filter"
	echo "stacktrace if $to_close" >"$closing/trigger"
	echo 1 >"$closing/enable"
	start "$tmp/trace" grep --line-buffered -E \
		'inet_sock_set_state:|<stack trace>|=> .*mptcp|tracing_mark_write:' \
		"$trace/trace_pipe"
	trace_reader=$last_pid
}

stop_watching() {
	[ -z "$trace_reader" ] || stop "$trace_reader"
	trace_reader=
	[ ! -d "$trace" ] || rmdir "$trace"
}

# closings_told: $tmp/closings has, up to now, the port of each that was closed,
# its state before, and the functions that did it
closings_told() {
	echo end >"$trace/trace_marker"
	wait_until 20 grep -q tracing_mark_write "$tmp/trace" || fail "the trace stands still"
	grep -h '^overrun: ' "$trace"/per_cpu/*/stats | grep -qv ' 0$' &&
		fail "the trace lost events"
	echo 0 >"$closing/enable"
	stop_watching
	awk '
		match($0, /\[[0-9]+\]/) { cpu = substr($0, RSTART, RLENGTH) }
		match($0, /sport=[0-9]+/) { port = substr($0, RSTART + 6, RLENGTH - 6) }
		match($0, /oldstate=[A-Z0-9_]+/) {
			closed[cpu] = port " " substr($0, RSTART + 9, RLENGTH - 9)
		}
		/<stack trace>/ { printf "\n%s", closed[cpu] }
		/=> / { printf " %s", $2 }' "$tmp/trace" >"$tmp/closings"
}

# closed_by_kernel PORT: was a socket of this port closed in release_sock() of
# somebody who owned it, or when its last subflow's endpoint was taken away?
# Not only the last one: the port is free for others while the orphan stays.
closed_by_kernel() {
	local by_owner='TCP_FIN_WAIT2 .*mptcp_release_cb'
	local by_endpoint='[A-Z0-9_]+ __mptcp_close_ssk .*mptcp_pm_nl_[a-z_]*_doit'

	grep -qE "^$1 ($by_owner|$by_endpoint)" "$tmp/closings"
}

# left_in NAMESPACE: adds to $orphans the sockets that the kernel forgot, and
# fails for others
left_in() {
	local line port

	while read -r line; do
		read -r _ _ _ port _ <<<"$line"
		port=${port##*:}
		if [[ $line == UNCONN*"ino:0 "* ]] && closed_by_kernel "$port"; then
			orphans=$((orphans + 1))
		else
			fail "stuck in $1: $line; closed by" \
				"$(grep "^$port " "$tmp/closings")"
		fi
	done < <(in_ns "$1" ss -HMane)
}

# The ends, and a sink that all clients reach. Who moves to the other client's
# namespace leaves its sockets behind, and makes others.
world() {
	local ns

	direct 2 2
	endpoint 2 4 subflow
	client=$other_client endpoint 4 4 subflow
	start "$tmp/sink" ip netns exec "$server" "$files/fuzz" sink $server4 $port
	sink=$last_pid
	wait_until 10 is_listening "$server" $port || fail "no sink"
	for ns in "$client" "$other_client"; do
		expect_ok "a connection of $ns" client "$ns" \
			"connect $server4 $port" "send 1000" "wait subflows=2"
	done
}

attached() {
	[ -z "$stock" ] || return 0
	attach || return
	scheduler mpdpa
	sysctl_in "$other_client" net.mptcp.scheduler=mpdpa
}

# What the machine does meanwhile, until the calls are over; one round of each.
disturb() {
	local round=$1

	case $((round % 7)) in
	0|2)	detach
		lacks_scheduler mpdpa && detached=$((detached + 1))
		attached || fail "the scheduler cannot be attached again" ;;
	1)	ip -n "$client" link set c2 down ;;
	3)	interface_up 2 ;;
	4)	endpoints_flush ;;
	5)	endpoint 2 4 subflow backup ;;
	6)	endpoints_flush
		endpoint 2 4 subflow ;;
	esac
}

# Four that call without a pause would leave little to who disturbs them.
random_calls() {
	local fuzz_pid round=0 before users held=0 ns orphans=0 detached=0 begun

	begin_all || return
	start "$tmp/fuzz" ip netns exec "$client" nice -n 10 "$files/fuzz" calls \
		"$seed" "$calls" 4 $server4 $port "/run/netns/$client" \
		"/run/netns/$client" "/run/netns/$other_client"
	fuzz_pid=$last_pid
	begun=$SECONDS
	until is_over "$fuzz_pid"; do
		disturb $((round++))
		wait_until 3 is_over "$fuzz_pid"
		is_enough && kill -TERM "$fuzz_pid"
	done
	wait "$fuzz_pid" || fail "the caller ended with $?"
	note "$(jq -r '"\(.calls) calls"' "$tmp/fuzz"), $round disturbances"
	covered
	happened
	detach
	stop "$sink"
	all_goes 70
}

is_enough() {
	[ "$seconds" -gt 0 ] && [ $((SECONDS - begun)) -ge "$seconds" ] || return
	[ -n "$stock" ] || [ $detached -ge 2 ]
}

# One orphan of the kernel's, made on purpose: the last subflow's endpoint is taken
# away while the closed socket waits for its peer's end. So what lets those pass
# that come by chance has been seen to work.
kernel_orphan() {
	local before users held=0 ns orphans=0

	begin_all || return
	start "$tmp/client" ip netns exec "$client" "$files/dpa_sock" \
		"connect $server4 $port" "send 1000" "wait subflows=2" "say up" "sleep 60000"
	wait_until 20 grep -q up "$tmp/client" || fail "no connection of two subflows"
	kill -STOP -- "-$sink"
	kill_subflow "$client" src 10.0.1.1
	stop "$last_pid"
	endpoints_flush
	detach
	stop "$sink"
	all_goes 5
	[ $orphans -eq 1 ] || fail "$orphans orphans, expected one"
}

# Threads that wait for one socket, in the state of those that the module looks at without
# owning them: who is woken then has to wake the next one.
waiters() {
	[ -z "$stock" ] || { skip "there are no options without the module"; return; }
	direct 2 2
	attached || { fail "cannot attach"; return 1; }
	expect_ok "threads on one socket" in_ns "$client" "$files/fuzz" waiters 50000
}

# The world, its scheduler attached; what was there before, and what that holds of the
# module, for all_goes.
begin_all() {
	before=$(mptcp_sockets)
	users=0
	[ -n "$stock" ] || module_load || { fail "insmod"; return 1; }
	[ -n "$stock" ] || users=$(module_users)
	watch_closings || return
	world
	attached || { fail "cannot attach"; return 1; }
	[ -n "$stock" ] || held=$(($(module_users) - users))
}

# all_goes SECONDS: after that nothing of $client and $other_client is left, but what
# the kernel forgets: each of those holds the scheduler it was made with, and that the
# module, for good.
all_goes() {
	for ns in "$client" "$other_client"; do
		abort_connections "$ns"
		wait_until "$1" no_sockets "$ns"
	done
	closings_told
	left_in "$client"
	left_in "$other_client"
	topology_down
	[ $orphans -eq 0 ] || note "$orphans orphans that the kernel forgot"
	wait_until 70 has_users_at_most $((users + orphans * held)) ||
		fail "the module has $(module_users) users"
	wait_until 30 freed $((before + orphans)) ||
		fail "MPTCP sockets: $(mptcp_sockets), before $before"
	if [ $((users + orphans)) -gt 0 ]; then
		loaded_by_us=no
		return
	fi
	[ -n "$stock" ] || wait_until 30 no_state ||
		fail "connections' state: $(states) objects"
	module_unload || fail "the module stays"
}

has_users_at_most() { ! is_loaded || [ "$(module_users)" -le "$1" ]; }
no_sockets() { [ -z "$(in_ns "$1" ss -HMa)" ]; }
freed() { [ "$(mptcp_sockets)" -le "$1" ]; }
no_state() { [ "$(states)" = 0 ]; }

# Each kind of call was made and has succeeded, or the calls say nothing: the
# numbers are enum kind's in fuzz.h.
covered() {
	local kind made good missing="" ours

	ours="8 9 11 12 13 18 20 26 27 28 29 30 31 44 45"
	ours+=" 57 58 59 60 61 62 63 64 66 67 68 69 70 71 72 73 74 75 76"
	for kind in 0 1 2 3 4 5 6 7 $([ -n "$stock" ] || echo $ours); do
		read -r made good < <(jq -r ".\"$kind\" // [0, 0] | join(\" \")" "$tmp/fuzz")
		[ "$good" -gt 0 ] || missing+=" $kind ($made made)"
	done
	[ -z "$missing" ] || fail "never succeeded:$missing; $(cat "$tmp/fuzz")"
}

# So did what the calls are meant to meet: connections in either namespace, of
# which some fell back, and a scheduler that goes.
happened() {
	local ns

	for ns in "$client" "$other_client"; do
		expect_between "connections of $ns" \
			"$(counter "$ns" MPTcpExtMPCapableSYNACKRX)" 10 1000000000
		expect_between "fallbacks of $ns" \
			"$(counter "$ns" MPTcpExtMPCapableFallbackSYNACK)" 1 1000000000
	done
	[ -n "$stock" ] && return
	[ "$calls" -eq 0 ] || [ "$calls" -ge 100000 ] || return
	expect_between "times the scheduler was detached" $detached 2 1000000
}

run_cases "$@" -- waiters random_calls kernel_orphan
