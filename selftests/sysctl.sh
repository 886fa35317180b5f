#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# net.mptcp_dpa.alpha_milli: its range, per network namespace, and at work.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"

name=net.mptcp_dpa.alpha_milli

alpha() { in_ns "${1:-$client}" sysctl -n $name; }

prepare() {
	module_load || { fail "insmod"; return 1; }
	direct 2
}

default_value() {
	prepare || return
	expect_eq "a new namespace's" "$(alpha)" 0
	expect_eq "ours" "$(sysctl -n $name)" 0
}

# a module that comes when the namespace is there already
older_namespace() {
	module_unload || { fail "the module is in use"; return; }
	direct 1
	[ -e /proc/sys/net/mptcp_dpa ] && fail "there without the module"
	module_load || { fail "insmod"; return; }
	expect_eq "an older namespace's" "$(alpha)" 0
	expect_ok "setting it" sysctl_in "$client" $name=1500
}

range() {
	local value

	prepare || return
	for value in 0 100 101 999 1000 3999 4000; do
		expect_ok "setting $value" sysctl_in "$client" $name=$value
		expect_eq "value" "$(alpha)" $value
	done
}

# refused, with EINVAL, and the value stays
out_of_range() {
	local value said

	prepare || return
	sysctl_in "$client" $name=2000
	for value in 1 99 4001 4294967295 4294967296 -1 -1000 99999999999999 \
		     abc 1000x 0x; do
		said=$(in_ns "$client" bash -c \
			"echo '$value' >/proc/sys/net/mptcp_dpa/alpha_milli" 2>&1) &&
			fail "\"$value\" was taken"
		grep -q 'Invalid argument' <<<"$said" ||
			fail "\"$value\": $said"
		expect_eq "value after \"$value\"" "$(alpha)" 2000
	done
}

per_namespace() {
	prepare || return
	sysctl_in "$client" $name=300
	sysctl_in "$server" $name=3000
	expect_eq "the client's" "$(alpha)" 300
	expect_eq "the server's" "$(alpha "$server")" 3000
	expect_eq "ours" "$(sysctl -n $name)" 0
}

# what a namespace has set goes with it
not_inherited() {
	prepare || return
	sysctl_in "$client" $name=300
	direct 2
	expect_eq "the next namespace's" "$(alpha)" 0
}

# nobody else may write it; root of a user namespace may, in its own namespace
permissions() {
	prepare || return
	expect_eq "mode" "$(in_ns "$client" stat -c %a \
		/proc/sys/net/mptcp_dpa/alpha_milli)" 644
	in_ns "$client" setpriv --reuid=65534 --regid=65534 --clear-groups \
		bash -c 'echo 500 >/proc/sys/net/mptcp_dpa/alpha_milli' &&
		fail "written without privileges"
	expect_eq "value" "$(alpha)" 0
	expect_eq "read without privileges" "$(in_ns "$client" setpriv \
		--reuid=65534 --regid=65534 --clear-groups \
		sysctl -n $name)" 0
	expect_eq "written by root of a user namespace, to its own" \
		"$(setpriv --reuid=65534 --regid=65534 --clear-groups \
		unshare -Urn bash -c '
		echo 700 >/proc/sys/net/mptcp_dpa/alpha_milli &&
		cat /proc/sys/net/mptcp_dpa/alpha_milli')" 700
	expect_eq "value" "$(alpha)" 0
}

# A live connection takes a change at its next decision; a chunk's own stays.
live_connection() {
	prepare || return
	attach || { fail "cannot attach"; return; }
	scheduler mpdpa
	server "$server" $server4 5000 "$tmp/server" accept drain
	start "$tmp/client" client "$client" "connect $server4 5000" \
		"chunk len=100000 ms=30000" "send 20000" "wait alpha=0" \
		"say first" "wait alpha=2500" "send 20000" "say second" \
		"wait alpha=400" "send 60000" "wait queued=0" \
		"chunk len=1000 ms=30000 alpha=1234" info "say third" \
		"wait alpha=1234" "sleep 200" info
	wait_until 10 grep -q first "$tmp/client" || fail "$(cat "$tmp/client")"
	sysctl_in "$client" $name=2500
	wait_until 10 grep -q second "$tmp/client" || fail "not 2500: $(cat "$tmp/client")"
	sysctl_in "$client" $name=400
	wait_until 10 grep -q third "$tmp/client" || fail "not 400: $(cat "$tmp/client")"
	sysctl_in "$client" $name=900
	expect_ok "the client" finish "$last_pid" 20
	expect_eq "the chunk's own" "$(field "$tmp/client" info alpha_milli)" 1234
}

quick_cases range per_namespace live_connection
run_cases "$@" -- default_value older_namespace range out_of_range \
	per_namespace not_inherited permissions live_connection
