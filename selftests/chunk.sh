# SPDX-License-Identifier: GPL-2.0-only
#
# For tests of chunks over two paths of 8 Mbit/s with 50 ms of round trip and 64 KB
# of queue (topology.sh draws them). A full packet of 1514 bytes carries 1428 of
# payload, so a path has a goodput of 943 KB/s. Sourced after lib.sh.

source "$(dirname "$0")/topology.sh"

port=5000
need python3

# prepare [FLAG...]: the topology of two paths, or $paths, the scheduler, and an endpoint
# for each but the first.
# Each connection begins with 1000 bytes without a deadline: an MPTCP client
# opens further subflows when the first data were acknowledged.
prepare() {
	local i

	topology "${paths:-2}" 8mbit 25ms 65536 || return
	attach || { fail "cannot attach"; return 1; }
	scheduler mpdpa
	sysctl_in "$client" net.ipv4.tcp_congestion_control=cubic
	[ $# -gt 0 ] || set -- subflow
	for ((i = 2; i <= ${paths:-2}; i++)); do
		endpoint $i "${family:-4}" "$@" || return
	done
}

at_server() { [ "${family:-4}" = 6 ] && echo $server6 || echo $server4; }

# set_cost endpoint|ifindex NUMBER COST
set_cost() {
	in_ns "$client" python3 "$here/dpa_netlink.py" set "$1" "$2" cost "$3" ||
		fail "cannot set a cost"
}

index_of() { in_ns "$client" cat "/sys/class/net/$1/ifindex"; }

# wait_said WORD: until the client has come to "say" that
wait_said() {
	wait_until 20 grep -q "$1" "$tmp/client" ||
		fail "not $1: $(tail -n 2 "$tmp/client")"
}

# receiver MARK...: a server that tells when so many bytes had come, with room for
# $receive_buffer
receive_buffer=4000000
receiver() {
	server "$server" "$(at_server)" $port "$tmp/server" \
		"buffers receive $receive_buffer" accept "drain 1000 $*" shutdown
	server_pid=$last_pid
}

# sender STEP...: over a subflow on each path, on which 1000 bytes have gone
sender() {
	local at

	at=$(at_server)
	client "$client" "socket ${family:-4} mptcp" "connect $at $port" \
		"buffers send 2000000" "send 1000" "wait subflows=${paths:-2}" \
		"sleep 100" \
		"$@" >"$tmp/client" && return
	fail "the client: $(tail -n 3 "$tmp/client")"
	stop "$server_pid"
	return 1
}

# exchange STEP...: the same, and then the end of both sides
exchange() {
	sender "$@" shutdown drain || return
	expect_ok "the receiver" finish "$server_pid" 30
}

# what the chunk of most cases is: 4.2 s of one path
length=4000000

# transfer LENGTH CHUNK-ARGUMENTS...: one chunk, to its end
transfer() {
	local bytes=$1

	shift
	receiver "$bytes"
	exchange "chunk len=$bytes $*" "send $bytes" "wait queued=0" info
}

# due INDEX, arrival INDEX: of the chunks set; the first mark is the 1000 bytes
due() { jq -s "map(select(.step == \"chunk\"))[$1].due_ns" "$tmp/client"; }
arrival() {
	jq -s "map(select(.step == \"arrival\"))[$(($1 + 1))].at_ns" "$tmp/server"
}

# ms_late ARRIVAL CHUNK: from the chunk's deadline to the arrival
ms_late() { echo $((($(arrival "$1") - $(due "$2")) / 1000000)); }

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

# probe FUNCTION: from now on hits FUNCTION says how often the kernel has called it
probe() {
	at_end drop_probe "$1"
	echo "p:dpa/$1 $1" >>/sys/kernel/tracing/kprobe_events &&
		echo 1 >"/sys/kernel/tracing/events/dpa/$1/enable" ||
		fail "no probe of $1"
}
hits() { awk -v name="$1" '$1 == name { print $2 }' /sys/kernel/tracing/kprobe_profile; }
drop_probe() {
	echo 0 >"/sys/kernel/tracing/events/dpa/$1/enable"
	echo "-:dpa/$1" >>/sys/kernel/tracing/kprobe_events
}
