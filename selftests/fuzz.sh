#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Structured random calls of every socket option and netlink operation, while
# connections live, die, fall back, lose paths, and the scheduler is detached.
#
#	FUZZ_CALLS=N	that many calls (default: 0, no limit)
#	FUZZ_SECONDS=N	for so long (default: 60)
#	FUZZ_SEED=N	another course

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"

port=5000
calls=${FUZZ_CALLS:-0}
seconds=${FUZZ_SECONDS:-60}
seed=${FUZZ_SEED:-1}

mptcp_slab() { awk '$1 == "MPTCP" || $1 == "MPTCPv6" { n += $2 } END { print n + 0 }' /proc/slabinfo; }

# The two ends, a third namespace that shares the path, and a sink.
world() {
	direct 2
	other=dpa$$o
	new_namespace "$other"
	sysctl_in "$other" net.mptcp.enabled=1
	endpoint 2 4 subflow
	start "$tmp/sink" ip netns exec "$server" "$files/fuzz" sink $server4 $port
	wait_until 10 is_listening "$server" $port || fail "no sink"
}

attached() {
	attach || return
	scheduler mpdpa
	sysctl_in "$other" net.mptcp.scheduler=mpdpa
}

# What the machine does meanwhile, until the calls are over; one round of each.
disturb() {
	local round=$1

	case $((round % 6)) in
	0)	endpoints_flush ;;
	1)	endpoint 2 4 subflow backup ;;
	2)	ip -n "$client" link set c2 down ;;
	3)	ip -n "$client" link set c2 up
		ip -n "$client" route replace default via 10.0.2.2 table 2 ;;
	4)	endpoints_flush
		endpoint 2 4 subflow ;;
	5)	detach
		attached || fail "the scheduler cannot be attached again" ;;
	esac
}

random_calls() {
	local fuzz_pid round=0 before ns

	before=$(mptcp_slab)
	module_load || { fail "insmod"; return; }
	world
	attached || { fail "cannot attach"; return; }
	start "$tmp/fuzz" ip netns exec "$client" "$files/fuzz" calls "$seed" \
		"$calls" "$seconds" 4 $server4 $port "/run/netns/$client" \
		"/run/netns/$client" "/run/netns/$other"
	fuzz_pid=$last_pid
	until is_over "$fuzz_pid"; do
		disturb $((round++))
		wait_until 3 is_over "$fuzz_pid"
	done
	wait "$fuzz_pid" || fail "the caller ended with $?"
	note "$(jq -r '"\(.calls) calls"' "$tmp/fuzz"), $round disturbances"
	covered
	detach
	stop_processes
	for ns in "$client" "$other"; do
		abort_connections "$ns"
		wait_until 70 no_sockets "$ns" ||
			fail "stuck in $ns: $(in_ns "$ns" ss -HMatne | head -n 20)"
	done
	topology_down
	wait_until 70 is_unused || fail "the module has $(module_users) users"
	wait_until 30 freed "$before" ||
		fail "MPTCP sockets: $(mptcp_slab), before $before"
	module_unload || fail "the module stays"
}

no_sockets() { [ -z "$(in_ns "$1" ss -HMa)" ]; }
freed() { [ "$(mptcp_slab)" -le $(($1 + 16)) ]; }

# Each kind of call was made and has succeeded, or the calls say nothing: the
# numbers are enum kind's in fuzz.h.
covered() {
	local kind made good missing=

	for kind in 0 1 2 3 4 5 6 7 8 9 11 12 13 18 26 27 28 29 30 31 44 45; do
		read -r made good < <(jq -r ".\"$kind\" // [0, 0] | join(\" \")" "$tmp/fuzz")
		[ "$good" -gt 0 ] || missing+=" $kind ($made made)"
	done
	[ -z "$missing" ] || fail "never succeeded:$missing; $(cat "$tmp/fuzz")"
}

run_cases "$@" -- random_calls
