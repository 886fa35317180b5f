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

# what CLOCK_BOOTTIME counts and CLOCK_MONOTONIC does not, in ms
asleep() {
	python3 -c 'from time import *
print(round(1e3 * (clock_gettime(CLOCK_BOOTTIME) - clock_gettime(CLOCK_MONOTONIC))))'
}

# suspend_after BYTES: of the stream at the receiver
suspend_after() {
	local before

	before=$(asleep)
	stream_reached "$1"
	echo 0 >$alarm
	echo +$seconds >$alarm
	expect_ok "the suspension" bash -c "echo mem >/sys/power/state"
	expect_between "ms asleep" $(($(asleep) - before)) \
		$((chunk_ms + 500)) $((seconds * 1000 + 2000))
}

in_mid_chunk() {
	[ -n "${SUSPEND:-}" ] || { skip "needs SUSPEND=1"; return; }
	grep -qw mem /sys/power/state && [ -e $alarm ] ||
		{ skip "needs suspension to memory and an alarm that ends it"; return; }
	stream_prepare || return
	stream_begin_relaxed $chunk_ms
	suspend_after 1001000
	suspend_after 3001000
	stream_whole
	# a kernel that takes ten times as long is late anyway
	[ "${QUICK:-}" = 2 ] || stream_all_met
	nothing_stays
}

run_cases "$@" -- in_mid_chunk
