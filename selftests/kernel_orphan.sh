#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A defect of Linux 7.2 and 7.3, without module and programs: closed MPTCP sockets
# that stay for good (Documentation/testing.md). Not run by default; fails where
# the defect is seen, and prints the stack of the socket's last change of state.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"

port=5000
seconds=${ORPHAN_SECONDS:-50}
trace=/sys/kernel/tracing/instances/dpa-orphan
need python3

# Takes connections, and ends each a while after its peer has: eight pieces and
# the end, which meet the other's socket in FIN_WAIT2.
slow_peer='
import socket, sys, threading, time, random
listener = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=512)
waiting = []
def finish():
    while True:
        time.sleep(0.2)
        for entry in [e for e in waiting if e[0] < time.monotonic()]:
            waiting.remove(entry)
            try:
                for _ in range(8):
                    entry[1].send(b"x" * 100)
            except OSError:
                pass
            entry[1].close()
threading.Thread(target=finish, daemon=True).start()
while True:
    waiting.append((time.monotonic() + 0.5 + random.random(), listener.accept()[0]))
'

closer='
import socket, sys, time
end = time.monotonic() + float(sys.argv[3])
while time.monotonic() < end:
    batch = [socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) for _ in range(50)]
    for s in batch:
        s.connect((sys.argv[1], int(sys.argv[2])))
        s.send(b"y" * 1000)
    for s in batch:
        s.close()
'

# Each line makes the kernel own every MPTCP socket for a moment.
own_all() {
	local i

	for ((i = 0; i < 3000; i++)); do
		echo mptcp endpoint change id 1 backup
		echo mptcp endpoint change id 1 nobackup
	done >"$tmp/batch"
	while :; do
		ip -n "$client" -batch "$tmp/batch"
	done
}

watch() {
	local filter='protocol == 262 && oldstate == 5 && newstate == 7'

	mkdir "$trace" && echo 16384 >"$trace/buffer_size_kb" || return
	cd "$trace/events/sock/inet_sock_set_state" || return
	echo "$filter" >filter
	echo "stacktrace if $filter" >trigger
	echo 1 >enable
	cd / || return
}

stays() { in_ns "$client" ss -HMatne | grep '^UNCONN.*ino:0 '; }
is_all_over() { [ -z "$(in_ns "$client" ss -HMa)" ]; }

orphans_end() {
	local owner

	direct 1
	endpoint 1 4
	watch || { fail "no trace"; return; }
	start "$tmp/peer" ip netns exec "$server" python3 -c "$slow_peer" 10.0.1.2 $port
	wait_until 60 is_listening "$server" $port || { fail "no peer"; return; }
	start "$tmp/owner" own_all
	owner=$last_pid
	in_ns "$client" python3 -c "$closer" 10.0.1.2 $port "$seconds" ||
		fail "the connections failed"
	stop "$owner"
	if ! wait_until 130 is_all_over; then
		fail "$(stays | wc -l) sockets stay, such as $(stays | head -n 1)"
		grep -A12 "sport=$(stays | head -n 1 | awk '{ sub(/.*:/, "", $4); print $4 }') " \
			"$trace/trace" | head -n 14 | sed 's/^/#   /' >&3
	fi
	rmdir "$trace"
}

run_cases "$@" -- orphans_end
