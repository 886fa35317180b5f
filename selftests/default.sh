#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Without a chunk in force, mpdpa picks what the kernel's default scheduler
# picks, and costs next to nothing; with one, little.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"

port=5000
need python3

# transfer SCHEDULER BYTES [STEP...]: into $tmp/client and $tmp/server
transfer() {
	local bytes=$2

	scheduler "$1"
	shift 2
	server "$server" $server4 $port "$tmp/server" \
		"buffers receive 4000000" accept drain shutdown
	client "$client" "connect $server4 $port" "buffers send 2000000" \
		"send 1000" "wait subflows=2" "sleep 200" "$@" \
		"send $bytes" shutdown drain subflows >"$tmp/client" ||
		{ fail "$1: $(tail -n 3 "$tmp/client")"; return 1; }
	expect_ok "the receiver" finish "$last_pid" 30
}

# bytes on each subflow, without retransmissions
bytes_on_each() {
	jq -r 'select(.step == "subflows") |
		[.subflows[] | .bytes_sent - .bytes_retrans] | join(" ")' \
		"$tmp/client"
}

prepare() {
	topology 2 8mbit 10ms 65536 || return
	shape 2 16mbit 30ms 65536
	attach || { fail "cannot attach"; return 1; }
	endpoint 2 4 "$@"
	# what a connection learnt of a path is not for the next one; the first
	# one in a namespace differs all the same, so it is not compared
	sysctl_in "$client" net.ipv4.tcp_no_metrics_save=1
	transfer default 100000
}

# sum NUMBER...
sum() { local IFS=+; echo $(($*)); }

# expect_near SUBFLOW BYTES: mpdpa's bytes on it are those of the default scheduler's
# two runs, or between them, give or take so many
expect_near() {
	local of_one=${one[$1]} of_again=${again[$1]}

	expect_between "bytes on subflow $1" "${ours[$1]}" \
		$(((of_one < of_again ? of_one : of_again) - $2)) \
		$(((of_one < of_again ? of_again : of_one) + $2))
}

# compare BYTES STEP...: the steps are for both, but chunks, which the default
# scheduler does not know. In virtual time two runs of the default scheduler are equal
# to the byte, and mpdpa's is, too, but for what MPTCP's timer sends again: that
# depends on microseconds, and makes the sum another one. Where time is real, the
# default scheduler's runs differ: then mpdpa has to be where they are, give or take
# two bursts.
compare() {
	local bytes=$1 step more
	local -a steps=() ours one again

	shift
	for step in "$@"; do
		[[ $step = chunk* ]] || steps+=("$step")
	done
	transfer mpdpa "$bytes" "$@" || return
	read -ra ours <<<"$(bytes_on_each)"
	transfer default "$bytes" "${steps[@]}" || return
	read -ra one <<<"$(bytes_on_each)"
	note "bytes on each subflow: default ${one[*]}, mpdpa ${ours[*]}"
	[ "${ours[*]}" != "${one[*]}" ] || return
	transfer default "$bytes" "${steps[@]}" || return
	read -ra again <<<"$(bytes_on_each)"
	note "default once more: ${again[*]}"
	expect_near 0 131072
	[ "${again[*]}" = "${one[*]}" ] || return
	more=$(($(sum "${ours[@]}") - $(sum "${one[@]}")))
	expect_near 0 ${more#-}
	expect_near 1 ${more#-}
}

same_picks() {
	prepare subflow || return
	compare 6000000
}

same_picks_beside_a_backup() {
	prepare subflow backup || return
	compare 3000000
}

# where every subflow is a backup they are equals
same_picks_with_two_backups() {
	prepare subflow backup || return
	endpoint 1 4 subflow backup
	compare 3000000
}

# A chunk kept the second path back. When it is over nothing of that is left.
same_picks_after_a_chunk() {
	prepare subflow || return
	in_ns "$client" python3 "$here/dpa_netlink.py" set endpoint 2 cost 3 ||
		fail "cannot set a cost"
	compare 6000000 "chunk len=1000 ms=5000" "send 1000" "sleep 500"
}

# Mbit/s, by the receiver
goodput() {
	jq -s 'map(select(.step == "drain"))[0] |
		.received * 8000 / (.last_ns - .first_ns) | floor' "$tmp/server"
}

# keeps_up LEAST [STEP...]: 100 MB over unshaped links are bound by the CPU alone;
# mpdpa, with the steps, reaches so many permille of the default's goodput. The
# better of two runs counts; of more where other processes disturb them.
keeps_up() {
	local i round which rate least=$1
	local -A best=([default]=0 [mpdpa]=0)
	local -a steps

	shift

	direct 2
	attach || { fail "cannot attach"; return; }
	endpoint 2 4 subflow
	# a delayed ACK that both ends wait for is 40 ms of doing nothing
	for i in 1 2; do
		ip -n "$server" route change "10.0.$i.0/24" dev "s$i" quickack 1
	done
	for round in 1 2 3 4 5 6; do
		for which in default mpdpa; do
			steps=("$@")
			[ $which = mpdpa ] || steps=()
			transfer $which 100000000 "${steps[@]}" || return
			rate=$(goodput)
			[ "$rate" -le "${best[$which]}" ] || best[$which]=$rate
		done
		rate=$((1000 * best[mpdpa] / best[default]))
		[ $round -ge 2 ] && [ $rate -ge "$least" ] && break
	done
	note "default ${best[default]}, mpdpa ${best[mpdpa]} Mbit/s: $rate permille"
	expect_between "mpdpa's share of the default's goodput, permille" \
		"$rate" "$least" 1200
}

no_slower() { keeps_up 970; }

# both paths cost the same, so both are used
hardly_slower_with_a_chunk() { keeps_up 950 "chunk len=100000000 ms=60000"; }

run_cases "$@" -- same_picks same_picks_beside_a_backup \
	same_picks_with_two_backups same_picks_after_a_chunk no_slower \
	hardly_slower_with_a_chunk
