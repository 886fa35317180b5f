#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Schedulers that the kernel has to survive. Those named no_* must not get in,
# those named bad_* pass the verifier and are for the guard: with each of them a
# transfer over two subflows ends, or makes no progress and can be killed;
# nothing locks up, and connections with the default scheduler work as before.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"

port=5000

prepare() {
	module_load || { fail "insmod"; return 1; }
	[ -z "$client" ] || { shape 2 20mbit 5ms 65536; return; }
	topology 2 20mbit 5ms || return
	endpoint 2 4 subflow
	# a subflow whose SYNs are lost is given up after 1 + 2 + 4 s
	sysctl_in "$client" net.ipv4.tcp_syn_retries=2
}

# transfer BYTES SECONDS: did it end in that time, with every byte?
transfer() {
	local client_pid server_pid status=0

	server "$server" $server4 $port "$tmp/server" accept "drain $1" shutdown
	server_pid=$last_pid
	start "$tmp/client" client "$client" "connect $server4 $port" \
		"send 1000" "send $(($1 - 1000))" shutdown drain subflows
	client_pid=$last_pid
	[ -z "${meanwhile:-}" ] || $meanwhile
	wait_until "$2" is_over "$client_pid" || status=1
	stop "$client_pid"
	[ $status = 0 ] && wait_until 5 is_over "$server_pid" || status=1
	stop "$server_pid"
	grep -q "\"received\":$1" "$tmp/server" || status=1
	return $status
}

second_subflow_used() {
	jq -es 'map(select(.step == "subflows"))[0].subflows[1].bytes_sent > 0' \
		"$tmp/client" >/dev/null
}

silence_one() {
	wait_until 10 grep -q '"send".*"sent":1000}' "$tmp/client" ||
		fail "nothing was sent: $(tail -n 1 "$tmp/client")"
	sleep 0.2
	path_silent 1
}

# Everything works with the default scheduler, and nobody holds the module.
check_recovery() {
	shape 1 20mbit 5ms 65536
	shape 2 20mbit 5ms 65536
	scheduler default
	transfer 400000 20 || fail "after $1 the default scheduler"
	unregister "$1" || fail "$1 stays"
	# closed with data that nobody sends: would go by itself after 60 s
	abort_connections "$client"
	wait_until 60 is_unused || fail "the module has $(module_users) users"
}

# check_ends NAME [fragile]: transfers end: over two paths, with the first path
# dying on the way, and over one while the other does not answer SYNs
check_ends() {
	prepare || return
	register "$files/$1.bpf.o" || { fail "register: $(cat "$tmp/register")"; return; }
	scheduler "$1"
	transfer 400000 20 || fail "a transfer over two subflows"
	[ "${2:-}" = fragile ] || meanwhile=silence_one transfer 2000000 60 ||
		fail "a transfer whose first path dies"
	shape 1 20mbit 5ms 65536
	path_silent 2
	transfer 400000 30 || fail "a transfer beside a subflow in SYN_SENT"
	check_recovery "$1"
}

# check_stalls NAME: no progress, no lock-up, and the sender can be killed
check_stalls() {
	prepare || return
	register "$files/$1.bpf.o" || { fail "register: $(cat "$tmp/register")"; return; }
	scheduler "$1"
	transfer 400000 3 && fail "it ended: is this scheduler not bad?"
	path_silent 2
	transfer 400000 3 && fail "it ended beside a subflow in SYN_SENT"
	check_recovery "$1"
}

good_round_robin() {
	check_ends rr
	prepare || return
	register "$files/rr.bpf.o" || { fail "register"; return; }
	scheduler rr
	transfer 2000000 20 || fail "a transfer"
	second_subflow_used || fail "the second subflow carried nothing"
	unregister rr
}

bad_nothing() { check_stalls bad_nothing; }
bad_refuses() { check_stalls bad_refuses; }
# it waits for a dead path for as long as TCP keeps that
bad_inactive() {
	check_ends bad_inactive fragile
	expect_between "picks that could not be used" \
		"$(stat_of "$client" guard_drops)" 1 1000000
}
bad_all() { check_ends bad_all; }
bad_again() { check_ends bad_again; }
bad_burst() { check_ends bad_burst; }
bad_moment() { check_ends bad_moment; }

# One that is told of chunks may write to their state, and to nothing beside it.
bad_rows() {
	prepare || return
	attach_options "$cgroup" || { fail "options"; return; }
	register "$files/mpdpa_rows.bpf.o" || { fail "register: $(cat "$tmp/register")"; return; }
	scheduler mpdpa_rows
	server "$server" $server4 $port "$tmp/server" accept "drain 400000" shutdown
	client "$client" "connect $server4 $port" "chunk len=400000 ms=5000" \
		"send 400000" "wait queued=0" shutdown drain >"$tmp/client" ||
		fail "a chunk: $(tail -n 3 "$tmp/client")"
	detach_options "$cgroup"
	check_recovery mpdpa_rows
}

# check_refused NAME WORDS: and the refusal says why
check_refused() {
	local before

	prepare || return
	before=$(cat /proc/sys/net/mptcp/available_schedulers)
	register "$files/$1.bpf.o" && fail "$1 got in"
	grep -qiE "$2" "$tmp/register" || fail "$1: $(tail -n 5 "$tmp/register")"
	expect_eq "schedulers" \
		"$(cat /proc/sys/net/mptcp/available_schedulers)" "$before"
	wait_until 10 is_unused || fail "the module has $(module_users) users"
}

no_write_to_connection() { check_refused no_write_msk 'no write access.*snd_burst'; }
no_write_to_subflow() { check_refused no_write_sf 'no write access.*snd_burst'; }
no_sleeping() { check_refused no_sleep 'unsupported member|invalid argument'; }
no_get_send() { check_refused no_send 'invalid argument'; }
no_empty_name() { check_refused no_name 'invalid argument'; }
no_endless_name() { check_refused no_end 'invalid argument'; }
no_taken_name() { check_refused no_default 'file exists'; }

no_second_mpdpa() {
	prepare || return
	register "$(find_file mpdpa.bpf.o)" mpdpa || { fail "register"; return; }
	register "$files/no_mpdpa.bpf.o" && fail "a second mpdpa got in"
	grep -qi 'file exists' "$tmp/register" || fail "$(tail -n 5 "$tmp/register")"
	has_scheduler mpdpa || fail "the first is gone"
	unregister mpdpa || fail "mpdpa stays"
	wait_until 10 is_unused || fail "the module has $(module_users) users"
}

# A map that is attached cannot be attached once more; when it is no more, it can.
same_map_again() {
	prepare || return
	"$files/load_sched" "$files/rr.bpf.o" "$pins" again >"$tmp/load" 2>&1 ||
		{ fail "attached again: $(tail -n 3 "$tmp/load")"; return; }
	scheduler rr
	transfer 400000 20 || fail "a transfer"
	second_subflow_used || fail "the second subflow carried nothing"
	check_recovery rr
}

# There are 16 slots; one more scheduler is refused, and a slot that is left
# can be taken again.
slots_run_out() {
	local i name

	prepare || return
	for ((i = 0; i < 17; i++)); do
		name=$(printf 'slot%02d' $i)
		sed "s/slot00/$name/g" "$files/slot00.bpf.o" >"$tmp/slot.bpf.o"
		if register "$tmp/slot.bpf.o" "$name"; then
			[ $i -lt 16 ] || fail "17 schedulers got in"
		else
			[ $i = 16 ] || fail "scheduler $i: $(cat "$tmp/register")"
		fi
	done
	grep -qi 'no space' "$tmp/register" || fail "$(cat "$tmp/register")"
	unregister slot07 || fail "slot07 stays"
	sed "s/slot00/slot07/g" "$files/slot00.bpf.o" >"$tmp/slot.bpf.o"
	register "$tmp/slot.bpf.o" slot07 || fail "slot07: $(cat "$tmp/register")"
	scheduler slot07
	transfer 400000 20 || fail "a transfer"
	rm -f "$pins"/slot*
	wait_until 20 lacks_scheduler slot15 || fail "slot15 stays"
	wait_until 60 is_unused || fail "the module has $(module_users) users"
}

quick_cases bad_nothing bad_again slots_run_out
run_cases "$@" -- good_round_robin bad_nothing bad_refuses bad_inactive \
	bad_all bad_again bad_burst bad_moment bad_rows no_write_to_connection \
	no_write_to_subflow no_sleeping no_get_send no_empty_name \
	no_endless_name no_taken_name no_second_mpdpa same_map_again \
	slots_run_out
