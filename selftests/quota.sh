#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Quotas and cheap rates of paths. Over two paths of 8 Mbit/s (chunk.sh); the
# second one costs more and has a quota. Chunks that nothing could bring in time
# want all they can get of it.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/chunk.sh"

need mpdpa

# prepare_costly WORD...: of "path set" for the second path
prepare_costly() {
	prepare subflow backup || return
	path_set "$@"
}

path_set() {
	now_ms
	set_ms=$now
	expect_ok "path set" in_ns "$client" "$mpdpa" path set dev c2 cost 5 "$@"
}

# begin PORT STEP...: a client over two subflows; $senders has the two ends
begin_sender() {
	local port=$1

	shift
	server "$server" $server4 "$port" "$tmp/server$port" \
		"buffers receive 4000000" accept drain shutdown
	senders+=("$last_pid")
	start "$tmp/client$port" client "$client" "connect $server4 $port" \
		"buffers send 2000000" "send 1000" "wait subflows=2" \
		"sleep 100" "$@" "wait queued=0 within=30000" info subflows \
		shutdown drain
	senders+=("$last_pid")
}

# all senders, to the end
end_senders() {
	local pid

	for pid in "${senders[@]}"; do
		expect_ok "process $pid" finish "$pid" 60
	done
	senders=()
}

# costly_bytes PORT: payload on the second path
costly_bytes() { first_sent "$tmp/client$1" 1; }

# begin_twice MS: two chunks that want all there is, with that pause between
begin_twice() {
	begin_sender 5000 "chunk len=1500000 ms=200" "send 1500000" \
		"wait queued=0 within=20000" subflows "sleep $1" \
		"chunk len=1500000 ms=200" "send 1500000"
}

# end_twice: $first and $later get what each put on the second path
end_twice() {
	end_senders
	first=$(first_sent "$tmp/client5000" 1 1)
	later=$(($(costly_bytes 5000) - first))
	note "costly: $first bytes, then $later"
}

# free_by_now: bytes of a million in 60 s that became free since it was set; a
# quarter is at once
free_by_now() {
	now_ms
	echo $((250000 + (now - set_ms) * 1000 / 60))
}

# quota FIELD [DEVICE]
quota() { in_ns "$client" "$mpdpa" path show dev "${2:-c2}" -j | jq ".[0].quota.$1"; }

# A quarter is free at once, the rest as the period passes, and never more is
# spent.
never_over() {
	local senders=() bytes

	prepare_costly quota 1M per 60s || return
	begin_sender 5000 "chunk len=2000000 ms=300" "send 2000000"
	end_senders
	bytes=$(costly_bytes 5000)
	note "costly: $bytes bytes"
	expect_between "bytes on the costly path" "$bytes" 180000 "$(free_by_now)"
	expect_between "shown as spent" "$(quota spent)" $((bytes - 5000)) \
		$((bytes + 5000))
	expect_eq "shown" "$(quota bytes) $(quota period_ns) $(quota soft)" \
		"1000000 60000000000 false"
}

# want_all COUNT LENGTH: so many connections with a chunk each that nothing could bring
# in time; $bytes is what they put on the second path together
want_all() {
	local port senders=()

	for ((port = 5000; port < 5000 + $1; port++)); do
		begin_sender $port "chunk len=$2 ms=300" "send $2"
	done
	end_senders
	bytes=0
	for ((port = 5000; port < 5000 + $1; port++)); do
		bytes=$((bytes + $(costly_bytes $port)))
	done
	note "costly: $bytes bytes"
}

# Connections share one: together they get no more.
shared() {
	local bytes

	prepare_costly quota 1M per 60s || return
	want_all 4 1000000
	expect_between "bytes on the costly path" "$bytes" 120000 "$(free_by_now)"
	expect_between "shown as spent" "$(quota spent)" $((bytes - 20000)) \
		$((bytes + 20000))
}

# What is too little to be of use to one goes to another: together they leave less than
# a pick has to have.
leaves_little() {
	local bytes

	prepare_costly quota 1600k per 24h || return
	want_all 6 600000
	expect_between "bytes on the costly path" "$bytes" $((400000 - 65536)) 405000
}

# Who sets its chunk before it connects spends what it sends, and not the number that its
# TCP begins to count from.
chunk_before_connect() {
	local i

	prepare subflow backup || return
	expect_ok "path set" in_ns "$client" "$mpdpa" path set dev c1 cost 5 \
		quota 1G per 60s
	for i in 1 2 3 4; do
		server "$server" $server4 $((port + i)) "$tmp/server" \
			accept "drain 0 1000" shutdown
		client "$client" "socket 4 mptcp" "bind 10.0.1.1" \
			"chunk len=1000 ms=2000" "connect $server4 $((port + i))" \
			"send 1000" "wait queued=0" shutdown drain \
			>"$tmp/client" || fail "$(tail -n 3 "$tmp/client")"
		expect_ok "the receiver" finish "$last_pid" 30
	done
	expect_between "shown as spent" "$(quota spent c1)" 4000 4100
}

# Who ends its connection at once with a reset, or begins another in the same socket, pays
# for what it sent all the same.
reset_at_once() {
	local how i port=$port

	prepare subflow backup || return
	expect_ok "path set" in_ns "$client" "$mpdpa" path set dev c1 cost 5 \
		quota 1G per 60s
	for how in abort unspec; do
		for i in 1 2 3 4; do
			server "$server" $server4 $((++port)) "$tmp/server" \
				accept "drain => any"
			client "$client" "connect $server4 $port" \
				"chunk len=13001 ms=2000" "send 1" "sleep 3" \
				"send 13000" $how \
				>"$tmp/client" || fail "$(tail -n 3 "$tmp/client")"
			finish "$last_pid" 30
		done
		note "after $how: $(quota spent c1) bytes spent"
	done
	expect_between "shown as spent" "$(quota spent c1)" 104000 104100
}

# What it was given last is spent once, though the path goes when all of it has come.
reset_after_chunk() {
	local before client_pid server_pid

	prepare subflow backup || return
	expect_ok "path set" in_ns "$client" "$mpdpa" path set dev c1 cost 5 \
		quota 1G per 60s
	new_gate
	server "$server" $server4 $port "$tmp/server" accept drain shutdown
	server_pid=$last_pid
	start "$tmp/client" client "$client" "connect $server4 $port" \
		"chunk len=14000 ms=2000" "send 1000" "wait subflows=2" \
		"send 13000" "wait queued=0" "say through" "await $gate" \
		"chunk len=1000 ms=2000" "send 1000" "wait queued=0" shutdown drain
	client_pid=$last_pid
	wait_said through
	before=$(quota spent c1)
	kill_subflow "$client" src 10.0.1.1
	open_gate
	expect_ok "the client" finish "$client_pid" 30
	expect_ok "the receiver" finish "$server_pid" 30
	expect_between "spent by the chunk" "$before" 13000 14100
	expect_eq "spent at the end" "$(quota spent c1)" "$before"
}

# Of a path without a route nobody can tell the interface: it was the one that it had.
without_route() {
	prepare subflow || return
	expect_ok "path set" in_ns "$client" "$mpdpa" path set dev c1 cost 5 \
		quota 1G per 60s
	new_gate
	receiver 100000
	start "$tmp/background" sender "chunk len=1 ms=5000" "send 1" "wait cost=5" \
		"say ready" "await $gate" "chunk len=100000 ms=3000" "send 100000" \
		"wait queued=0" info "say over" "sleep 1000"
	wait_said ready
	ip -n "$client" link set c1 down
	open_gate
	wait_said over
	expect_eq "cost of the first path" "$(field "$tmp/client" info path[0].cost)" 5
}

# The next period has its own; what was not needed of one is not added.
next_period() {
	local senders=() first later

	prepare_costly quota 400k per 10s || return
	begin_twice 10000
	end_twice
	expect_between "bytes at first" "$first" 80000 300000
	expect_between "bytes then" "$later" 80000 300000
}

# What is left of it is less than a path may be given at once, so it does not count.
remainder() {
	local senders=()

	prepare_costly || return
	new_gate
	begin_sender 5000 "chunk len=500000 ms=3000" "send 500000" \
		"wait queued=0" "say ready" "await $gate" \
		"chunk len=50000 ms=1000" "send 50000"
	wait_until 20 grep -q ready "$tmp/client5000" ||
		fail "$(tail -n 2 "$tmp/client5000")"
	expect_ok "a quota of the cheap path" in_ns "$client" "$mpdpa" \
		path set dev c1 cost 1 quota 240k per 24h
	open_gate
	end_senders
	expect_eq "chunks met" "$(field "$tmp/client5000" info met)" 2
	# and nothing waits for more until it is nearly too late
	expect_between "ms left at its end" $((($(field "$tmp/client5000" chunk due_ns) -
		$(field "$tmp/client5000" info now_ns)) / 1000000)) 500 1000
}

# Of the cheap path nothing is left, and bytes that nobody declared wait in front of a
# chunk: the other path is the cheapest that there is then.
cheap_is_spent() {
	local senders=()

	prepare subflow || return
	expect_ok "a cost" in_ns "$client" "$mpdpa" path set dev c2 cost 10
	expect_ok "a quota of the cheap path" in_ns "$client" "$mpdpa" \
		path set dev c1 cost 1 quota 400k per 24h
	begin_sender 5000 "chunk len=200000 ms=5000" "send 200000" "wait queued=0" \
		"chunk len=100000 ms=5000" "send 100000" "wait queued=0" \
		"send 1500000" "chunk len=200000 ms=5000" "send 200000"
	end_senders
	expect_eq "chunks met" "$(field "$tmp/client5000" info met)" 3
}

# A path of which nothing is left, nor known, between two that have room.
spent_unknown() {
	local senders=() paths=3

	prepare_costly quota 100k per 24h || return
	expect_ok "a cost" in_ns "$client" "$mpdpa" path set dev c3 cost 20
	begin_sender 5000 "wait subflows=3" "chunk len=4000000 ms=2900" \
		"send 4000000"
	end_senders
	expect_eq "chunks met" "$(field "$tmp/client5000" info met)" 1
	expect_between "bytes on the spent path" "$(costly_bytes 5000)" 0 5000
}

# Who has nothing to send keeps nothing of it from those who have.
idle_take_none() {
	local senders=() bytes i

	prepare_costly quota 1M per 60s || return
	server "$server" $server4 5001 "$tmp/idle" accept drain accept drain \
		accept drain accept drain
	for i in 1 2 3 4; do
		start "$tmp/idle$i" client "$client" "connect $server4 5001" \
			"send 1000" "wait subflows=2" "chunk len=1 ms=60000" \
			"say ready" "sleep 60000"
		wait_until 20 grep -q ready "$tmp/idle$i" ||
			fail "$(tail -n 2 "$tmp/idle$i")"
	done
	begin_sender 5000 "chunk len=2000000 ms=300" "send 2000000"
	end_senders
	bytes=$(costly_bytes 5000)
	expect_between "bytes on the costly path" "$bytes" 180000 "$(free_by_now)"
}

# Told so, a quota is no end: it is told when it is spent.
soft() {
	local senders=() bytes

	prepare_costly quota 100k per 60s soft || return
	start_monitor
	begin_sender 5000 "chunk len=2000000 ms=300" "send 2000000"
	end_senders
	bytes=$(costly_bytes 5000)
	note "costly: $bytes bytes"
	expect_between "bytes on the costly path" "$bytes" 500000 2100000
	wait_until 5 grep -q quota-reached "$tmp/monitor" ||
		fail "no event: $(tail -n 3 "$tmp/monitor")"
	expect_eq "events" "$(grep -c quota-reached "$tmp/monitor")" 1
}

# What an operator changes counts at once, and what was spent stays so.
changed() {
	local senders=() first later

	prepare_costly quota 100k per 60s || return
	begin_twice 1000
	wait_until 30 grep -q '"step":"subflows"' "$tmp/client5000"
	path_set quota none
	end_twice
	expect_between "bytes with a quota" "$first" 0 60000
	expect_between "bytes without" "$later" 300000 1600000
	expect_eq "shown" "$(quota bytes)" null
}

# Another amount leaves what was spent as it is, another period begins with nothing.
another_period() {
	local senders=() spent

	prepare_costly quota 1M per 60s || return
	begin_sender 5000 "chunk len=1500000 ms=200" "send 1500000"
	end_senders
	spent=$(quota spent)
	expect_between "spent" "$spent" 100000 300000
	path_set quota 2M per 60s
	expect_eq "spent, of another amount" "$(quota spent)" "$spent"
	path_set quota 2M per 30s
	expect_eq "spent, in another period" "$(quota spent)" 0
}

# Where every path waits for its quota none is kept back for another: whoever watches
# would be told so, and of the contrary, each time that a little comes.
all_metered() {
	local senders=() i

	prepare subflow || return
	for i in 1 2; do
		expect_ok "a quota of path $i" in_ns "$client" "$mpdpa" \
			path set dev c$i cost 1 quota 4M per 8s
	done
	start_monitor
	begin_sender 5000 "chunk len=5000000 ms=1000" "send 5000000" \
		"wait queued=0 within=20000"
	end_senders
	expect_between "bytes on the second path" "$(costly_bytes 5000)" 1500000 3500000
	wait_until 5 grep -q chunk-missed "$tmp/monitor" ||
		fail "no event: $(tail -n 3 "$tmp/monitor")"
	expect_eq "times that a path was kept back" \
		"$(grep -c path-released "$tmp/monitor")" 0
	expect_eq "times that one was not" "$(grep -c path-activated "$tmp/monitor")" 0
}

# A path that counts for 300 KB a second leaves to the costly one what is more,
# though it could carry three times that.
cheap_rate() {
	local senders=() with

	prepare_costly || return
	expect_ok "cheap rate" in_ns "$client" "$mpdpa" path set dev c1 cost 1 \
		cheap-rate 300k
	begin_sender 5000 "chunk len=2000000 ms=4000" "send 2000000"
	end_senders
	with=$(costly_bytes 5000)
	expect_ok "no cheap rate" in_ns "$client" "$mpdpa" path set dev c1 \
		cost 1 cheap-rate none
	begin_sender 5001 "chunk len=2000000 ms=4000" "send 2000000"
	end_senders
	note "costly: $with bytes, without $(costly_bytes 5001)"
	expect_between "bytes on the costly path" "$with" 300000 1500000
	expect_between "without a cheap rate" "$(costly_bytes 5001)" 0 50000
}

# takes: $ms is how long 12 MB take that are wanted sooner than 108 Mbit/s allow
takes() {
	begin_sender 5000 "chunk len=12000000 ms=900" "send 12000000"
	end_senders
	ms=$(jq -s 'map(select(.step == "drain"))[0] |
		(.last_ns - .first_ns) / 1000000 | floor' "$tmp/server5000")
}

# Bytes of a quota are taken a little at a time; a fast path does not wait for
# them.
keeps_speed() {
	local senders=() ms free

	prepare_costly || return
	shape 2 100mbit 25ms 1000000
	takes
	free=$ms
	path_set quota 1G per 60s
	takes
	note "$free ms without a quota, $ms with"
	expect_between "milliseconds with a quota" "$ms" 1 $((free * 11 / 10))
}

quick_cases changed
run_cases "$@" -- never_over remainder spent_unknown cheap_is_spent idle_take_none \
	shared leaves_little \
	chunk_before_connect reset_at_once reset_after_chunk without_route next_period soft \
	changed another_period all_metered cheap_rate keeps_speed
