#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Loading and unloading: many times with traffic, refusals without a trace of
# them, and no unloading while anything needs the module.
#
#	ROUNDS=N	how often to load and unload (100)
#	QUICK=1		10 times, QUICK=2 3 times

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"

rounds=${ROUNDS:-100}
case ${QUICK:-} in
1)	rounds=10 ;;
2)	rounds=3 ;;
esac

# within one load, for the leak of a connection's state
connections=200

# chunk_transfer ADDRESS PORT: 64 KB as a chunk, both ways acknowledged
chunk_transfer() {
	client "$client" "connect $1 $2" "chunk len=65536 ms=2000" \
		"send 65536" shutdown drain
}

# A server that takes connections until it is killed.
forever() {
	local i steps=()

	for ((i = 0; i < $1; i++)); do
		steps+=(accept drain)
	done
	server "$server" $server4 5000 "$tmp/server" "${steps[@]}"
}

kmalloc_bytes() { slab_bytes '^(kmalloc|mptcp_dpa)'; }

vmalloc_kb() { awk '/^VmallocUsed/ { print $2 }' /proc/meminfo; }

one_round() {
	module_load || { fail "insmod"; return 1; }
	register "$(find_file mpdpa.bpf.o)" mpdpa || { fail "attach"; return 1; }
	attach_options "$cgroup" || { fail "attach the programs"; return 1; }
	scheduler mpdpa
	chunk_transfer $server4 5000 >/dev/null || { fail "transfer"; return 1; }
	detach_options "$cgroup"
	rm "$pins/mpdpa"
	module_unload || { fail "rmmod"; return 1; }
}

# The first rounds fill caches. What kmalloc holds after them goes up and down
# by some 16 KB whatever the number of rounds, so 24 KB is the limit: over 80
# rounds, 300 bytes a round, where a connection's state has 2 KB. No mapping may
# stay: the module's text alone would be 80 KB a round.
load_and_unload() {
	local i warm=$((rounds / 5)) begun=$SECONDS slab vmalloc

	direct 1
	module_unload || { fail "the module is in use"; return; }
	forever "$rounds"
	for ((i = 0; i < rounds; i++)); do
		if [ $i = $warm ]; then
			slab=$(kmalloc_bytes)
			vmalloc=$(vmalloc_kb)
		fi
		one_round || { note "in round $i"; return; }
	done
	note "$rounds rounds in $((SECONDS - begun)) s"
	slab=$(($(kmalloc_bytes) - slab))
	vmalloc=$(($(vmalloc_kb) - vmalloc))
	note "kept: $slab bytes of kmalloc, $vmalloc KB of vmalloc"
	[ -n "${QUICK:-}" ] && return
	expect_between "kmalloc kept" $slab -100000000 24576
	expect_between "vmalloc kept, KB" $vmalloc -100000 1024
	expect_eq "loaded" "$(is_loaded && echo yes)" ""
}

# Two batches of connections within one load. The state of a connection has 2
# KB, so a batch that leaves it behind is eight times over the limit.
connections_leave_nothing() {
	local batch i kept
	local -a steps=()

	direct 1
	attach || { fail "cannot attach"; return; }
	scheduler mpdpa
	for ((i = 0; i < connections; i++)); do
		steps+=("connect $server4 5000" "chunk len=3000 ms=2000" \
			"send 3000" shutdown drain close)
	done
	for batch in 1 2; do
		forever $connections
		kept=$(kmalloc_bytes)
		client "$client" "${steps[@]}" >/dev/null || fail "a transfer"
		finish "$last_pid" 10
		kept=$(($(kmalloc_bytes) - kept))
		note "$connections connections kept $kept bytes"
	done
	detach
	expect_between "kept" $kept -100000000 $((connections * 256))
	wait_until 10 is_unused || fail "the module has $(module_users) users"
}

# nothing_left: no part of a module that refused to load
nothing_left() {
	local what

	for what in /sys/module/$module /proc/sys/net/$module \
		    /sys/kernel/btf/$module; do
		[ -e "$what" ] && fail "$what is there"
	done
	genl ctrl get name $module >/dev/null 2>&1 &&
		fail "the netlink family is there"
	register "$(find_file mpdpa.bpf.o)" mpdpa && fail "a scheduler can attach"
}

# refused NAME OTHER-NAME LOG: a copy of the module that looks for OTHER-NAME
refused() {
	local mark="refused $1 $$" said

	module_unload || { fail "the module is in use"; return; }
	LC_ALL=C sed -z "s/^$1\$/$2/" "$(module_file)" >"$tmp/other.ko"
	cmp -s "$(module_file)" "$tmp/other.ko" &&
		{ fail "$1 is not a string of the module"; return; }
	log_mark "$mark"
	expect_fails "insmod without $1" insmod "$tmp/other.ko" 2>/dev/null
	said=$(log_since "$mark" | grep "$module: " | grep -v 'taint')
	expect_eq "lines in the log" "$(grep -c . <<<"$said")" 1
	grep -qE "$3" <<<"$said" || fail "the log says: $said"
	note "${said##*] }"
	nothing_left
}

missing_function() {
	refused mptcp_subflow_get_send mptcp_subflow_get_senx \
		'no symbol mptcp_subflow_get_senx'
}

missing_object() {
	refused bpf_sk_storage_get_proto bpf_sk_storage_get_protx \
		'no symbol bpf_sk_storage_get_protx'
}

missing_member() {
	refused snd_burst snd_bursx 'struct mptcp_sock has no member snd_bursx'
}

# of the same length, so that the module finds another member there
moved_member() {
	refused snd_nxt snd_una 'mptcp_sock::snd_una at byte .* built for'
}

moved_flag() {
	refused request_bkup request_join \
		'mptcp_subflow_context::request_join at byte .* built for'
}

other_size() {
	refused mptcp_sock hlist_head 'struct hlist_head has 8 bytes.* built for'
}

loads_after_refusals() {
	expect_ok "insmod" module_load
	expect_eq "users" "$(module_users)" 0
	expect_ok "rmmod" module_unload
}

expect_busy() {
	local said

	said=$(rmmod $module 2>&1) && fail "rmmod succeeded $1"
	grep -qE 'in use|temporarily unavailable' <<<"$said" ||
		fail "rmmod $1 said: $said"
}

busy_while_attached() {
	module_load || { fail "insmod"; return; }
	register "$(find_file mpdpa.bpf.o)" mpdpa || { fail "register"; return; }
	expect_busy "with a scheduler attached"
	has_scheduler mpdpa || fail "the scheduler is gone"
	unregister mpdpa
	expect_ok "rmmod" module_unload
}

busy_with_programs() {
	module_load || { fail "insmod"; return; }
	attach_options "$cgroup" || { fail "attach the programs"; return; }
	expect_busy "with programs attached"
	detach_options "$cgroup"
	expect_ok "rmmod" module_unload
}

# A live connection keeps scheduler and module after the detach, and goes on.
busy_while_connected() {
	direct 1
	attach || { fail "cannot attach"; return; }
	scheduler mpdpa
	server "$server" $server4 5000 "$tmp/server" accept "drain 100000 300000"
	new_gate
	start "$tmp/client" client "$client" "connect $server4 5000" \
		"chunk len=100000 ms=5000" "send 100000" "say first" \
		"await $gate" "send 200000" "wait subflows=1" shutdown drain
	local client_pid=$last_pid
	wait_until 10 grep -q first "$tmp/client" || fail "no first part"
	detach
	wait_until 5 lacks_scheduler mpdpa || fail "still among the schedulers"
	expect_busy "with a connection"
	open_gate
	finish "$client_pid" 20 || fail "the client: $(cat "$tmp/client")"
	expect_eq "received" "$(field "$tmp/server" drain received)" 300000
	expect_ok "rmmod afterwards" module_unload
}

quick_cases load_and_unload busy_while_connected
run_cases "$@" -- load_and_unload connections_leave_nothing missing_function \
	missing_object missing_member moved_member moved_flag other_size \
	loads_after_refusals busy_while_attached busy_with_programs \
	busy_while_connected
