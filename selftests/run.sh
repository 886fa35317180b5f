#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
#	run.sh [TEST...]		all tests in order, or those named
#
# Prints KTAP, the tests' own nested in it, and as the last line how many
# cases passed, failed and were skipped. Exit status 0: nothing failed.
#
#	STRICT=1	a skip is a failure
#	TEST_TIMEOUT=N	seconds for one test, instead of what settings says
#	DPA_FILES=DIR	where make put what it built, if not here
#
# On a terminal of its own or in a virtual machine, as root. A test leaves
# everything as it found it, also when it is interrupted (exit status 130), but
# two must not run at the same time.

cd "$(dirname "$0")" || exit 1

tests="load attach sockopt deadline crowd stuck turns cross guard default netlink sysctl schedulers
       overflow quota fault_path fault_life suspend security soak"
limit=${TEST_TIMEOUT:-$(sed -n 's/^timeout=//p' settings)}
passed=0
failed=0
skipped=0
running=
shown=
scratch=$(mktemp -d) || exit 1

# nest OUTPUT: the test's own lines, indented, and its numbers added up
nest() {
	sed 's/^/    /'
}

# count PATTERN FILE
count() { grep -cE "$1" "$2"; }

tally() {
	local ok bad skips planned seen

	bad=$(count '^not ok ' "$1")
	skips=$(count '^ok .* # SKIP' "$1")
	ok=$(($(count '^ok ' "$1") - skips))
	planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p;' "$1" | head -n 1)
	seen=$((ok + bad + skips))
	# cases that a test promised but never came to
	[ "${planned:-0}" -gt $seen ] && bad=$((bad + planned - seen))
	grep -qE '^1\.\.0 # SKIP' "$1" && skips=$((skips + 1))
	passed=$((passed + ok))
	failed=$((failed + bad))
	skipped=$((skipped + skips))
	cases_bad=$bad
	cases_skipped=$skips
}

verdict() {
	local number=$1 name=$2 status=$3 seconds=$4 why=

	case $status in
	0) ;;
	4) why=" # SKIP" ;;
	124) why=" # took more than $limit s" ;;
	*) why=" # exit status $status" ;;
	esac
	if [ "$status" != 0 ] && [ "$status" != 4 ]; then
		# whatever the cases say, the test did not pass
		[ "$cases_bad" = 0 ] && failed=$((failed + 1))
		echo "not ok $number $name.sh$why"
	elif [ -n "${STRICT:-}" ] && [ "$cases_skipped" != 0 ]; then
		echo "not ok $number $name.sh # skipped cases, and STRICT is set"
	else
		echo "ok $number $name.sh$why"
	fi
	echo "# $name.sh took $seconds s"
}

# Waits for the test in the background, so that a signal is heard at once. With
# -m the test itself does not begin with SIGINT ignored.
run_one() {
	local number=$1 name=${2%.sh} output=$scratch/output status begun=$SECONDS

	{ trap '' INT; tee "$output" <"$scratch/lines" | nest; } &
	shown=$!
	set -m
	timeout --kill-after=20 "$limit" "./$name.sh" >"$scratch/lines" 2>&1 </dev/null &
	running=$!
	set +m
	wait $running
	status=$?
	wait $shown
	running=
	tally "$output"
	verdict "$number" "$name" "$status" $((SECONDS - begun))
}

# The test, and what it runs, are told by timeout; it cleans up, and is waited for.
interrupted() {
	trap '' INT TERM
	if [ -n "$running" ]; then
		kill "$running"
		wait "$running" "$shown"
	fi
	exit 130
}

# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $tests

# what the kernel says must not land in the middle of our lines
console=$(cut -f 1 /proc/sys/kernel/printk)
trap 'echo "$console" >/proc/sys/kernel/printk; rm -rf "$scratch"' EXIT
trap interrupted INT TERM
mkfifo "$scratch/lines" || exit 1
echo 1 >/proc/sys/kernel/printk

number=0
echo "KTAP version 1"
echo "1..$#"
for name in "$@"; do
	run_one $((++number)) "$name"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && { [ -z "${STRICT:-}" ] || [ "$skipped" = 0 ]; }
