#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# More subflows than there are rows for: those get them that are of most use.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/chunk.sh"

# crowded COST1 COST2 OTHERS: as many subflows over the first path as leave room for
# those over others, which join later. There are eight rows; eleven subflows, or as
# many as the kernel allows, nine at least.
crowded() {
	local i n=$((10 - $3)) ns at

	prepare || return
	endpoints_flush
	set_cost ifindex "$(index_of c1)" "$1"
	set_cost ifindex "$(index_of c2)" "$2"
	for ns in "$client" "$server"; do
		ip -n "$ns" mptcp limits set subflows 10 2>/dev/null || n=$((8 - $3))
	done
	for ((i = 1; i <= n; i++)); do
		at=10.0.1.$((100 + i))
		ip -n "$client" addr add "$at/24" dev c1 &&
			ip -n "$client" rule add from "$at" table 1 &&
			ip -n "$client" mptcp endpoint add "$at" dev c1 \
				id $((100 + i)) subflow ||
			{ fail "no address $i"; return 1; }
	done
	endpoint 2 4 subflow || return
	subflows=$((n + 2))
}

note_bytes() {
	local i

	for ((i = 1; i <= $1; i++)); do
		note "over path $i $(client_bytes $i) bytes"
	done
}

# The cheap path joins when all rows are taken, and has time enough for all.
cheapest_last() {
	crowded 5 1 1 && paths=$subflows transfer $length ms=8000 || return
	expect_in_time 1
	note_bytes 2
	expect_between "bytes over the costly path" "$(client_bytes 1)" 0 $((length / 50))
}

# One path, with however many subflows, takes 4.2 s: the other is needed. What seven
# lose together at the end, in the queue that they share, may be late, but not by more
# than TCP takes to mend it.
costly_last() {
	crowded 1 5 1 && paths=$subflows transfer $length ms=3500 || return
	expect_between "ms after the deadline" "$(ms_late 0 0)" -3500 200
	note_bytes 2
	expect_between "bytes over the costly path" "$(client_bytes 2)" \
		$((length / 6)) $((length / 2))
}

# Another cheap path joins in mid-chunk, while subflows of the costly one are held.
joins() {
	local bytes=8000000 pid paths=3

	crowded 5 1 2 || return
	set_cost ifindex "$(index_of c3)" 1
	receiver $bytes
	: >"$tmp/client"
	paths=$subflows start "$tmp/background" sender "chunk len=$bytes ms=7000" \
		"send $((bytes / 2))" "say half" "send $((bytes / 2))" \
		"wait queued=0" info shutdown drain
	pid=$last_pid
	wait_said half
	endpoint 3 4 subflow || return
	expect_ok "the client" finish $pid 30
	expect_ok "the receiver" finish "$server_pid" 30
	expect_in_time 1
	note_bytes 3
	expect_between "bytes over the new path" "$(client_bytes 3)" $((bytes / 5)) $bytes
}

quick_cases cheapest_last

run_cases "$@" -- cheapest_last costly_last joins
