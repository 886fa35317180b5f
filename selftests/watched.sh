#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
#	watched.sh [TEST...]	as run.sh; then the kernel's log since the boot
#				and what kmemleak finds, as cases of their own
#
# For kernels built to watch themselves. What such a kernel lacks is no skip:
# without KASAN, lockdep and kmemleak these cases fail.

cd "$(dirname "$0")" || exit 1
leaks=/sys/kernel/debug/kmemleak

watched_by() {
	[ -d /sys/kernel/debug/kmemleak ] || [ -e $leaks ] || return
	[ -e /proc/lockdep ] && grep -q ' kasan_report' /proc/kallsyms
}

# report NUMBER NAME TEXT: not ok if there is any
report() {
	if [ -z "$3" ]; then
		echo "ok $1 $2"
	else
		echo "not ok $1 $2"
		sed 's/^/# /' <<<"$3"
		status=1
	fi
}

# An object counts as lost when two looks, five seconds old, find no pointer.
find_leaks() {
	local i

	for i in 1 2; do
		sleep 6
		echo scan >$leaks || echo "kmemleak does not scan"
	done
	cat $leaks
}

echo "KTAP version 1"
echo "1..4"
status=0
why=
watched_by || why="this kernel has no KASAN, lockdep or kmemleak"
report 1 watched "$why"
trap 'exit 130' INT TERM
# what an interrupted test still has to say is shown, too
./run.sh "$@" 2>&1 | { trap '' INT; sed 's/^/    /'; }
[ "${PIPESTATUS[0]}" = 0 ] || status=1
[ $status = 0 ] && echo "ok 2 selftests" || echo "not ok 2 selftests"
report 3 kernel_log "$(dmesg | grep -Ef complaints -A 30 | grep -v 'Command line' | head -n 200)"
report 4 kmemleak "$(find_leaks | head -n 100)"
exit $status
