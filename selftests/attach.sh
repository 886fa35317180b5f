#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Attaching: by the command mpdpa and by bpftool, selection per network
# namespace, pins, and detaching by taking the pins away.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"

# Does the scheduler of a socket made now take chunks? In the client.
chunk_taken() {
	client "$client" "socket 4 mptcp" "chunk len=1000 ms=1000"
}

chunk_refused() {
	client "$client" "socket 4 mptcp" "chunk len=1000 ms=1000 => $1"
}

carries_data() {
	server "$server" $server4 5000 "$tmp/server" accept "drain 200000"
	client "$client" "connect $server4 5000" "$@" "send 200000" \
		"shutdown" "drain" ||
		fail "the client failed"
	finish "$last_pid" 20 || fail "the server failed"
	expect_eq "received" "$(field "$tmp/server" drain received)" 200000
}

# attach by whatever the library chooses, see it work, detach
check_attached() {
	has_scheduler mpdpa || fail "mpdpa is not among the schedulers"
	scheduler mpdpa
	expect_ok "chunk on a new socket" chunk_taken
	carries_data "chunk len=200000 ms=5000"
	scheduler default
	expect_ok "default does not take chunks" chunk_refused EOPNOTSUPP
}

check_detached() {
	wait_until 10 lacks_scheduler mpdpa || fail "mpdpa is still a scheduler"
	wait_until 10 is_unused || fail "the module still has $(module_users) users"
}

by_command() {
	if [ -z "$mpdpa" ]; then
		skip "the command mpdpa is not installed"
		return
	fi
	direct 1
	DPA_ATTACH=mpdpa expect_ok "mpdpa load" attach || return
	check_attached
	expect_ok "mpdpa unload" detach
	check_detached
}

by_bpftool() {
	direct 1
	DPA_ATTACH=bpftool
	expect_ok "attach by bpftool" attach || return
	check_attached
	expect_ok "detach" detach
	check_detached
}

# The pin is all that holds it.
pins_hold_it() {
	module_load || { fail "insmod"; return; }
	expect_ok "register" register "$(find_file mpdpa.bpf.o)" mpdpa || return
	has_scheduler mpdpa || fail "mpdpa is not among the schedulers"
	expect_ok "attach to the cgroup" attach_options "$cgroup"
	[ "$(module_users)" != 0 ] || fail "the module has no users"
	rm "$pins/mpdpa"
	wait_until 10 lacks_scheduler mpdpa || fail "mpdpa outlived its pin"
	detach_options "$cgroup"
	check_detached
}

# Each namespace selects for itself, and new ones begin at the default.
per_namespace() {
	direct 1
	attach || { fail "cannot attach"; return; }
	scheduler mpdpa
	expect_eq "the other namespace's scheduler" \
		"$(in_ns "$server" sysctl -n net.mptcp.scheduler)" default
	expect_ok "where it is selected" chunk_taken
	in_ns "$server" "$files/dpa_sock" "socket 4 mptcp" \
		"chunk len=1000 ms=1000 => EOPNOTSUPP" ||
		fail "where it is not selected"
	new_namespace "dpa$$n"
	expect_eq "a new namespace's scheduler" \
		"$(in_ns "dpa$$n" sysctl -n net.mptcp.scheduler)" default
	detach
}

# The scheduler of a socket is that of the moment it was made.
fixed_at_socket() {
	direct 1
	attach || { fail "cannot attach"; return; }
	scheduler default
	new_gate
	start "$tmp/early" in_ns "$client" "$files/dpa_sock" "socket 4 mptcp" \
		"say made" "await $gate" "chunk len=1 ms=1000 => EOPNOTSUPP"
	wait_until 10 grep -q made "$tmp/early"
	scheduler mpdpa
	open_gate
	finish "$last_pid" 10 || fail "a socket made before: $(cat "$tmp/early")"
	detach
}

without_programs() {
	direct 1
	module_load || { fail "insmod"; return; }
	expect_ok "register" register "$(find_file mpdpa.bpf.o)" mpdpa || return
	scheduler mpdpa
	client "$client" "socket 4 mptcp" "chunk len=1 ms=1000 => any" \
		"info => EOPNOTSUPP" || fail "info without the programs"
	client "$client" "socket 4 mptcp" "chunk len=1 ms=1000" 2>&1 |
		grep -qE 'ENOPROTOOPT|EOPNOTSUPP' ||
		fail "a chunk without the programs"
	carries_data
	unregister mpdpa || fail "mpdpa stays"
	check_detached
}

quick_cases by_command pins_hold_it
run_cases "$@" -- by_command by_bpftool pins_hold_it per_namespace \
	fixed_at_socket without_programs
