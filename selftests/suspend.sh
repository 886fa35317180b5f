#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The machine is suspended to memory in mid-chunk, and the real-time clock wakes it:
# connections and chunks go on where they were, and no deadline comes nearer meanwhile.
#
#	SUSPEND=1	this machine may be suspended; without it all is skipped

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"
source "$(dirname "$0")/stream.sh"

need mpdpa

alarm=/sys/class/rtc/rtc0/wakealarm
# until the alarm, of which most is slept; longer than a chunk has, and that is long
# for a host that has other things to do, since the clock is the host's
seconds=17
chunk_ms=12000
chunk_bytes=2000000

# what CLOCK_BOOTTIME counts and CLOCK_MONOTONIC does not, in ms
asleep() {
	python3 -c 'from time import *
print(round(1e3 * (clock_gettime(CLOCK_BOOTTIME) - clock_gettime(CLOCK_MONOTONIC))))'
}

# Says for how many ms at most it did not run, each time that this is more than before.
watch_clock() {
	start "$tmp/clock" python3 -u -c 'import time
worst, last = 0, time.monotonic()
while True:
    time.sleep(0.1)
    now = time.monotonic()
    if now - last > worst:
        worst = now - last
        print(round(1e3 * worst))
    last = now'
}

suspend() {
	local before

	before=$(asleep)
	echo 0 >$alarm
	echo +$seconds >$alarm
	expect_ok "the suspension" bash -c "echo mem >/sys/power/state"
	expect_between "ms asleep" $(($(asleep) - before)) \
		$((chunk_ms + 500)) $((seconds * 1000 + 2000))
}

# Half a chunk is with the paths, or has arrived, when the machine is suspended; the
# next one begins after that.
halves() {
	local half=$((chunk_bytes / 2)) chunk="chunk len=$chunk_bytes ms=$chunk_ms"

	new_gate
	stream_begin_chunks $((2 * chunk_bytes)) $((half / 4)) \
		"$chunk" "send $half" "await $gate" "send $half" "wait queued=0" \
		"$chunk" "send $chunk_bytes" "wait queued=0"
	stream_reached $((1000 + half / 4))
}

# Late chunks say nothing about suspensions when nothing ran on the machine for long.
machine_stood_still() {
	local still

	still=$(tail -n 1 "$tmp/clock")
	[ "$(field "$tmp/client" info missed)" != 0 ] &&
		[ "$still" -gt $((chunk_ms / 3)) ] || return
	log_mark "the machine stood still for $still ms"
}

once() {
	local clock

	watch_clock
	clock=$last_pid
	halves
	suspend
	open_gate
	stream_whole
	stop "$clock"
}

in_mid_chunk() {
	[ -n "${SUSPEND:-}" ] || { skip "needs SUSPEND=1"; return; }
	grep -qw mem /sys/power/state && [ -e $alarm ] ||
		{ skip "needs suspension to memory and an alarm that ends it"; return; }
	stream_prepare 4000 || return
	for _ in 1 2 3; do
		once
		machine_stood_still || break
	done
	# a kernel that takes ten times as long for everything is late for that
	[ "${QUICK:-}" = 2 ] || stream_all_met
	nothing_stays
}

run_cases "$@" -- in_mid_chunk
