#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Things that go wrong in mid-chunk: whatever it is, every byte arrives in order
# and intact (the receiver compares each with what was sent), the connection ends
# when it should, and nothing of it is left.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"

port=5000
bytes=3000000

mptcp_slab() { awk '$1 == "MPTCP" || $1 == "MPTCPv6" { n += $2 } END { print n + 0 }' /proc/slabinfo; }
settled() { [ "$(mptcp_slab)" -le $(($1 + 16)) ]; }

prepare() {
	slab_before=$(mptcp_slab)
	topology 2 8mbit 10ms 65536 || return
	attach || { fail "cannot attach"; return 1; }
	scheduler mpdpa
	sysctl_in "$client" net.ipv4.tcp_syn_retries=2
	endpoint 2 4 subflow
}

in_mid_chunk() { grep -q '"step":"chunk"' "$tmp/client" && sleep 1; }

# survives FAULT [SECONDS [RECEIVER-STEP...]]: a chunk of $bytes, FAULT while it
# is on its way, and how long all of it may take. Empty: nothing in mid-way.
survives() {
	local fault=$1 seconds=${2:-40} client_pid server_pid

	shift $(($# < 2 ? $# : 2))
	server "$server" $server4 $port "$tmp/server" \
		"${server_first[@]}" accept "$@" drain shutdown
	server_pid=$last_pid
	start "$tmp/client" client "$client" "connect $server4 $port" \
		"${client_first[@]}" "send 1000" "${until[@]}" \
		"chunk len=$bytes ms=4000" "send $bytes" shutdown drain info
	client_pid=$last_pid
	if [ -n "$fault" ]; then
		wait_until 15 in_mid_chunk || fail "no chunk: $(cat "$tmp/client")"
		$fault || fail "$fault"
	fi
	finish "$server_pid" "$seconds" || fail "receiver: $(tail -n 3 "$tmp/server")"
	finish "$client_pid" 30 || fail "sender: $(tail -n 3 "$tmp/client")"
	expect_eq "received" "$(field "$tmp/server" drain received)" $((bytes + 1000))
	nothing_left
}

nothing_left() {
	detach
	topology_down
	wait_until 70 is_unused || fail "the module has $(module_users) users"
	wait_until 70 settled "$slab_before" ||
		fail "MPTCP sockets: $(mptcp_slab), before $slab_before"
}

server_first=("buffers receive 2000000")
client_first=("buffers send 1000000")
until=("wait subflows=2")

subflow_killed() { in_ns "$client" ss -KHt src 10.0.2.1 >/dev/null; }
device_down() { ip -n "$client" link set c2 down; }
address_gone() {
	ip -n "$client" mptcp endpoint delete id 2 &&
		ip -n "$client" addr del 10.0.2.1/24 dev c2
}
first_silent() { path_silent 1; }
both_netem() {
	local i

	for i in 1 2; do
		in_ns "dpa$$b$i" tc qdisc replace dev "s$i" root \
			netem delay 10ms limit 10000 $1 || return
	done
}
lossy() {
	in_ns "dpa$$b"2 tc qdisc replace dev s2 root netem delay 10ms loss 30%
}
reordering() { both_netem "reorder 75% 50%"; }
duplicating() { both_netem "duplicate 10%"; }
corrupting() { both_netem "corrupt 0.5%"; }
clock_steps() { date -s "@$(($(date +%s) + 3600))" >/dev/null; }
scheduler_goes() { detach; }
scheduler_changes() {
	register "$(find_file burst.bpf.o)" burst && scheduler burst &&
		detach && attach
}
unload_refused() { ! rmmod $module 2>/dev/null; }

subflow_reset() { prepare && survives subflow_killed; }
interface_down() { prepare && survives device_down; }
address_removed() { prepare && survives address_gone; }
blackhole() { prepare && survives first_silent 60; }
loss_of_30_percent() { prepare && survives lossy 90; }
reordered() { prepare && survives reordering; }
duplicated() { prepare && survives duplicating; }
corrupted() { prepare && survives corrupting 90; }
clock_stepped() { prepare && survives clock_steps; }
detached() { prepare && survives scheduler_goes; }
replaced() {
	prepare && survives scheduler_changes
	unregister burst || fail "burst stays"
}
unload_in_use() { prepare && survives unload_refused; }

checksum_on() {
	prepare || return
	sysctl_in "$client" net.mptcp.checksum_enabled=1
	sysctl_in "$server" net.mptcp.checksum_enabled=1
	survives corrupting 90
}

# The receiver does not read for three seconds.
zero_window() {
	local -a server_first=("buffers receive 10000")

	prepare && survives "" 90 "sleep 3000"
}

tiny_buffers() {
	local bytes=300000
	local -a server_first=("buffers receive 4608") client_first=("buffers send 4608")

	prepare && survives "" 90
}

peer_without_mptcp() {
	local -a until=()

	prepare || return
	listen_options=tcp survives ""
}

peer_refuses_join() {
	local -a until=()

	prepare || return
	ip -n "$server" mptcp limits set subflows 0 add_addr_accepted 0
	survives ""
}

# The sender's namespace goes with its sockets, which a process outside holds.
namespace_deleted() {
	prepare || return
	server "$server" $server4 $port "$tmp/server" accept drain
	start "$tmp/client" client "$client" "connect $server4 $port" \
		"send 1000" "wait subflows=2" "chunk len=$bytes ms=4000" \
		"send $bytes" "sleep 20000"
	wait_until 15 in_mid_chunk || fail "no chunk"
	ip netns del "$client"
	stop "$last_pid"
	namespaces=("${namespaces[@]/$client/}")
	client=
	nothing_left
}

run_cases "$@" -- subflow_reset interface_down address_removed blackhole \
	loss_of_30_percent reordered duplicated corrupted checksum_on \
	zero_window tiny_buffers peer_without_mptcp peer_refuses_join detached \
	replaced unload_in_use namespace_deleted clock_stepped
