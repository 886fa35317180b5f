# SPDX-License-Identifier: GPL-2.0-only
#
# For tests of chunks over two paths of 8 Mbit/s with 50 ms of round trip and 64 KB
# of queue (topology.sh draws them). A full packet of 1514 bytes carries 1428 of
# payload, so a path has a goodput of 943 KB/s. Sourced after lib.sh.

source "$(dirname "$0")/topology.sh"

port=5000
goodput=943
need python3

# what the chunk of most cases is: 4.2 s of one path
length=4000000

# prepare [FLAG...]: the topology, the scheduler, and an endpoint for path 2.
# Each connection begins with 1000 bytes without a deadline: an MPTCP client
# opens further subflows when the first data were acknowledged.
prepare() {
	topology 2 8mbit 25ms 65536 || return
	attach || { fail "cannot attach"; return 1; }
	scheduler mpdpa
	sysctl_in "$client" net.ipv4.tcp_congestion_control=cubic
	[ $# -gt 0 ] || set -- subflow
	endpoint 2 "${family:-4}" "$@"
}

at_server() { [ "${family:-4}" = 6 ] && echo $server6 || echo $server4; }

# set_cost endpoint|ifindex NUMBER COST
set_cost() {
	in_ns "$client" python3 "$here/dpa_netlink.py" set "$1" "$2" cost "$3" ||
		fail "cannot set a cost"
}

index_of() { in_ns "$client" cat "/sys/class/net/$1/ifindex"; }

# client_bytes PATH: what went out there, by the interface's count
client_bytes() { in_ns "$client" cat "/sys/class/net/c$1/statistics/tx_bytes"; }
has_sent() { [ "$(client_bytes "$1")" -ge "$2" ]; }
second_is_gone() { [ -z "$(in_ns "$client" ss -Htn src 10.0.2.1)" ]; }

# receiver MARK...: a server that tells when so many bytes had come
receiver() {
	server "$server" "$(at_server)" $port "$tmp/server" \
		"buffers receive 4000000" accept "drain 1000 $*" shutdown
	server_pid=$last_pid
}

# sender STEP...: over two subflows, on which 1000 bytes have gone
sender() {
	local at

	at=$(at_server)
	client "$client" "socket ${family:-4} mptcp" "connect $at $port" \
		"buffers send 2000000" "send 1000" "wait subflows=2" \
		"sleep 100" \
		"$@" >"$tmp/client" && return
	fail "the client: $(tail -n 3 "$tmp/client")"
	stop "$server_pid"
	return 1
}

# transfer LENGTH CHUNK-ARGUMENTS...: one chunk, to its end
transfer() {
	local bytes=$1

	shift
	receiver "$bytes"
	sender "chunk len=$bytes $*" "send $bytes" "wait queued=0" info \
		shutdown drain || return
	expect_ok "the receiver" finish "$server_pid" 30
}

# bytes_on SELECTION: of the last info, payload on subflows that match
bytes_on() {
	grep '^{"step":"info"' "$tmp/client" | tail -n 1 |
		jq "[.path[] | select($1) | .bytes_sent] | add // 0"
}

costly_permille() {
	echo $((1000 * $(bytes_on '.costly == 1') / $(bytes_on true)))
}

# due INDEX, arrival INDEX: of the chunks set; the first mark is the 1000 bytes
due() { jq -s "map(select(.step == \"chunk\"))[$1].due_ns" "$tmp/client"; }
arrival() {
	jq -s "map(select(.step == \"arrival\"))[$(($1 + 1))].at_ns" "$tmp/server"
}

# expect_in_time COUNT: by the receiver's clock, which is the sender's, and by
# the kernel's verdict
expect_in_time() {
	local i left

	for ((i = 0; i < $1; i++)); do
		left=$(($(due $i) - $(arrival $i)))
		note "chunk $i came $((left / 1000000)) ms before its deadline"
		[ $left -ge 0 ] || fail "chunk $i was late"
	done
	expect_eq "chunks met" "$(field "$tmp/client" info met)" "$1"
	expect_eq "chunks missed" "$(field "$tmp/client" info missed)" 0
}

# chunk_under_way LENGTH MS MARKS: a chunk due then, of which the first mark has come
chunk_under_way() {
	receiver $3
	start "$tmp/background" sender "chunk len=$1 ms=$2" \
		"send $1" "wait queued=0 within=60000" info shutdown
	chunk_pid=$last_pid
	wait_until 20 grep -q '"index":1' "$tmp/server" ||
		fail "nothing came: $(tail -n 2 "$tmp/client")"
}

# To the end of both; $gap_ms is the receiver's longest gap.
chunk_over() {
	expect_ok "the client" finish "$chunk_pid" 70
	expect_ok "the receiver" finish "$server_pid" 30
	gap_ms=$(($(field "$tmp/server" drain gap_ns) / 1000000))
}
