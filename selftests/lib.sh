#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# For every test here: cases and their KTAP, the module and what is attached,
# processes, and what the kernel's log has to say. A test sources this file,
# defines functions, and ends with
#
#	run_cases "$@" -- case_one case_two ...
#
# A case passes unless it calls fail (or expect_*, which does) or skip. "$@"
# may name the cases to run; all by default. With QUICK=2, where a kernel takes
# ten times as long, those that the test gives to quick_cases.

set -u
shopt -s extglob

ksft_pass=0
ksft_fail=1
ksft_skip=4

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# what was built: beside the tests, or where the caller says
files=${DPA_FILES:-$here}
test_name=$(basename "$0" .sh)
module=mptcp_dpa
mpdpa=${MPDPA:-$(command -v mpdpa)}

tmp=
cgroup=
cgroup_before=
pins=
loaded_by_us=no
attached_by=
gate=
declare -a pids=()
declare -a quick=()
declare -a undo=()

# the case that runs, and the mark with which it begins in the kernel's log
case_now=
case_mark=
case_failed=no
case_skipped=

# ---------------------------------------------------------------- reporting

# What a case prints goes to a file and is shown if it fails; notes always are.
note() { printf '# %s\n' "$*" >&3; }

fail() {
	case_failed=yes
	sed 's/^/# /' <<<"$case_now: $*" >&3
}

skip() { case_skipped=$*; }

expect_eq() {
	[ "$2" = "$3" ] || fail "$1 is \"$2\", expected \"$3\""
}

# expect_between WHAT VALUE LOW HIGH: integers, ends included
expect_between() {
	local number='^-?[0-9]+$'

	if ! [[ $2 =~ $number ]]; then
		fail "$1 is \"$2\", expected a number"
	elif ! [[ $3 =~ $number && $4 =~ $number ]]; then
		fail "$1 is $2, expected \"$3\" .. \"$4\": no numbers"
	elif [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
		fail "$1 is $2, expected $3 .. $4"
	fi
}

# expect_ok WHAT COMMAND...
expect_ok() {
	local what=$1 status

	shift
	"$@"
	status=$?
	[ $status -eq 0 ] || fail "$what: exit status $status"
	return $status
}

expect_fails() {
	local what=$1

	shift
	if "$@"; then
		fail "$what: it succeeded"
	fi
}

# ------------------------------------------------------------- the kernel log

# a crash of a program in user space is not the kernel's
log_good='traps: |Command line:'

log_mark() { echo "$module selftest: $1" >/dev/kmsg; }

# log_since MARK: what the kernel said after it (all, if that has scrolled out)
log_since() {
	dmesg | awk -v mark="$module selftest: $1" \
		'{ if (index($0, mark)) n = 0; else line[n++] = $0 }
		 END { for (i = 0; i < n; i++) print line[i] }'
}

# check_log MARK [PATTERN]: fails for what is bad after it; lines of this pattern are
# forgiven
check_log() {
	local bad

	bad=$(log_since "$1" | grep -Ef "$here/complaints" | grep -vE "$log_good${2:+|$2}")
	[ -z "$bad" ] && return
	fail "the kernel's log has"
	sed 's/^/#   /' <<<"$bad" >&3
}

# --------------------------------------------------------------------- waiting

now_ms() { local t=${EPOCHREALTIME//[.,]/}; now=${t:0:-3}; }

# wait_until SECONDS COMMAND...: polls, ever more seldom
wait_until() {
	local now end naps=0

	now_ms
	end=$((now + $1 * 1000))
	shift
	until "$@" >/dev/null 2>&1; do
		now_ms
		[ "$now" -lt $end ] || return 1
		case $((naps++)) in
		?|1?)	sleep 0.02 ;;
		[2-4]?)	sleep 0.1 ;;
		*)	sleep 0.5 ;;
		esac
	done
}

is_listening() { ip netns exec "$1" ss -Hltn "sport = :$2" | grep -q LISTEN; }
is_over() { ! kill -0 "$1" 2>/dev/null; }

# ------------------------------------------------------------------- processes

# start OUTPUT COMMAND...: in the background, as a process group of its own, so
# that a function's children can be killed with it; last_pid tells which
start() {
	local output=$1

	shift
	# at once: who waits for a word in it must not find that of the last one
	: >"$output"
	set -m
	"$@" >"$output" 2>&1 3>&- &
	set +m
	last_pid=$!
	pids+=("$last_pid")
}

# stop PID: kills a process that was started, and its children
stop() {
	kill -KILL -- "-$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# finish PID SECONDS: its exit status; killed when it takes longer
finish() {
	if ! wait_until "$2" is_over "$1"; then
		stop "$1"
		fail "process $1 did not end within $2 s"
		return 124
	fi
	wait "$1"
}

stop_processes() {
	local pid

	for pid in "${pids[@]}"; do
		stop "$pid"
	done
	pids=()
}

# server NAMESPACE ADDRESS PORT OUTPUT STEP...: dpa_sock that listens
server() {
	local ns=$1 address=$2 port=$3 output=$4

	shift 4
	start "$output" ip netns exec "$ns" "$files/dpa_sock" \
		"listen $address $port" "$@"
	wait_until 10 is_listening "$ns" "$port" ||
		fail "nothing listens at $address port $port"
}

# client NAMESPACE STEP...
client() {
	local ns=$1

	shift
	ip netns exec "$ns" "$files/dpa_sock" "$@"
}

# field FILE STEP KEY: from the last such line that dpa_sock printed
field() {
	grep "^{\"step\":\"$2\"" "$1" | tail -n 1 | jq -r ".$3"
}

# first_field FILE STEP KEY: from the first such line
first_field() {
	grep -m 1 "^{\"step\":\"$2\"" "$1" | jq -r ".$3"
}

# new_gate: a FIFO, at which dpa_sock's "await $gate" waits until it is opened
new_gate() {
	gate=$tmp/gate
	rm -f "$gate"
	mkfifo "$gate"
}

# open_gate: for who waits there, or comes within 20 s
open_gate() { timeout 20 bash -c ': >"$1"' - "$gate"; }

# first_sent FILE INDEX [WHICH]: payload that the subflow had been given when
# dpa_sock printed them for the last time, or the WHICHth; what TCP repeated is
# not counted
first_sent() {
	grep '^{"step":"subflows"' "$1" | sed -n "${3:-\$}p" |
		jq ".subflows[$2] | .bytes_sent - .bytes_retrans"
}

# slabs PATTERN EXPRESSION: what it comes to over the kernel's caches of such names,
# in awk's words: $2 objects are in use, of $4 bytes each. Without the shrink also
# those that a processor keeps at hand.
slabs() {
	local cache

	for cache in /sys/kernel/slab/*; do
		[[ ${cache##*/} =~ $1 ]] && echo 1 >"$cache/shrink"
	done
	awk -v names="$1" "\$1 ~ names { n += $2 } END { print n + 0 }" /proc/slabinfo
}

# slab_bytes PATTERN: in use, after what waits for RCU is gone
slab_bytes() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	slabs "$1" '$2 * $4'
}

# slab_objects PATTERN: in use, all together
slab_objects() { slabs "$1" '$2'; }

# on the whole machine: MPTCP's sockets, and connections whose state the module holds
mptcp_sockets() { slab_objects '^MPTCP(v6)?$'; }
states() { slab_objects '^mptcp_dpa_conn$'; }

# ------------------------------------------------------- module and attachments

find_file() {
	local at

	for at in "$files/$1" "/usr/local/lib/mpdpa/$1" "/usr/lib/mpdpa/$1"; do
		[ -e "$at" ] && echo "$at" && return
	done
	return 1
}

module_file() {
	[ -n "${DPA_MODULE:-}" ] && echo "$DPA_MODULE" && return
	find_file $module.ko && return
	modinfo -n $module 2>/dev/null
}

is_loaded() { [ -d /sys/module/$module ]; }
module_users() { echo "$(</sys/module/$module/refcnt)"; }
is_unused() { ! is_loaded || [ "$(</sys/module/$module/refcnt)" = 0 ]; }
has_scheduler() { grep -qw "$1" /proc/sys/net/mptcp/available_schedulers; }
lacks_scheduler() { ! has_scheduler "$1"; }

module_load() {
	is_loaded && return
	insmod "$(module_file)" || return
	loaded_by_us=yes
}

# The last users leave by RCU and work items: that takes a moment.
module_unload() {
	is_loaded || return 0
	wait_until 30 rmmod $module
}

# register OBJECT [NAME]: attaches a scheduler by bpftool and pins its link.
# Some versions of bpftool crash after that is done: only the pin counts.
register() {
	local name=${2:-$(basename "$1" .bpf.o)}

	(bpftool struct_ops register "$1" "$pins") >"$tmp/register" 2>&1
	[ -e "$pins/$name" ]
}

unregister() {
	rm -f "$pins/$1"
	wait_until 20 lacks_scheduler "$1"
}

attach_options() {
	local object hook

	object=$(find_file sockopt.bpf.o) || return
	bpftool prog loadall "$object" "$pins/sockopt" >/dev/null || return
	for hook in setsockopt getsockopt; do
		bpftool cgroup attach "$1" $hook \
			pinned "$pins/sockopt/mpdpa_$hook" multi || return
	done
}

detach_options() {
	local hook

	for hook in setsockopt getsockopt; do
		[ -e "$pins/sockopt/mpdpa_$hook" ] &&
			bpftool cgroup detach "$1" $hook \
				pinned "$pins/sockopt/mpdpa_$hook"
	done
	rm -rf "$pins/sockopt"
}

# attach: scheduler and options for what runs in our cgroup
attach() {
	[ -z "$attached_by" ] || return 0
	module_load || return
	if [ -n "$mpdpa" ] && [ "${DPA_ATTACH:-}" != bpftool ]; then
		"$mpdpa" load --cgroup "$cgroup" && attached_by=mpdpa
	else
		register "$(find_file mpdpa.bpf.o)" mpdpa &&
			attach_options "$cgroup" && attached_by=bpftool
	fi
}

detach() {
	case $attached_by in
	mpdpa)
		"$mpdpa" unload ;;
	bpftool)
		detach_options "$cgroup"
		unregister mpdpa ;;
	esac
	attached_by=
}

# --------------------------------------------------------- beginning and ending

need() {
	local what

	for what in "$@"; do
		command -v "$what" >/dev/null || skip_all "needs the command $what"
	done
}

skip_all() {
	echo "KTAP version 1"
	echo "1..0 # SKIP $*"
	exit $ksft_skip
}

begin() {
	[ "$(id -u)" = 0 ] || skip_all "needs root"
	need ip tc ss jq bpftool ethtool setpriv awk
	[ -e /proc/sys/net/mptcp/enabled ] || skip_all "needs a kernel with MPTCP"
	[ -e /proc/sys/net/mptcp/available_schedulers ] ||
		skip_all "needs net.mptcp.available_schedulers"
	[ -n "$(module_file)" ] || is_loaded || skip_all "needs $module.ko"
	[ -x "$files/dpa_sock" ] || skip_all "needs dpa_sock: run make first"
	is_unused || skip_all "$module is in use already: mpdpa unload"
	ulimit -c 0
	tmp=$(mktemp -d)
	pins=/sys/fs/bpf/dpa-$$
	mkdir -p "$pins" || skip_all "needs a BPF file system at /sys/fs/bpf"
	join_cgroup
	exec 3>&1
}

join_cgroup() {
	local root

	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$root" ] || skip_all "needs a cgroup2 file system"
	cgroup_before=$root$(sed -n 's/^0:://p' /proc/self/cgroup)
	cgroup=$root/dpa-$$
	mkdir "$cgroup" && echo $$ >"$cgroup/cgroup.procs"
}

# at_end COMMAND...: when the test ends, however it does; the last one first
at_end() { undo=("$(printf '%q ' "$@")" "${undo[@]}"); }

# memory_controller: for our cgroup and those beside it, until the test ends; or
# the case is skipped
memory_controller() {
	local parent

	[ -e "$cgroup/memory.max" ] && return
	parent=$(dirname "$cgroup")/cgroup.subtree_control
	{ echo +memory >"$parent"; } 2>/dev/null ||
		{ skip "needs the memory controller"; return 1; }
	at_end eval "echo -memory >$parent"
}

# However the test ends: everything as it was.
end() {
	local command

	trap - EXIT
	stop_processes
	for command in "${undo[@]}"; do
		eval "$command"
	done
	[ "$(type -t topology_down)" = function ] && topology_down
	detach >/dev/null 2>&1
	[ "$loaded_by_us" = no ] || module_unload ||
		fail "$module stays loaded, with $(module_users) users"
	echo $$ >"$cgroup_before/cgroup.procs"
	rmdir "$cgroup"/*/ "$cgroup" 2>/dev/null
	rm -rf "$pins" "$tmp"
}

run_case() {
	case_now=$1
	case_mark="$test_name $1 $$"
	case_failed=no
	case_skipped=
	log_mark "$case_mark"
	if declare -F "$1" >"$tmp/case"; then
		"$1" >"$tmp/case" 2>&1
	else
		fail "there is no such case"
	fi
	stop_processes
	check_log "$case_mark"
	[ $case_failed = yes ] && tail -n 40 "$tmp/case" | sed 's/^/# | /'
	if [ $case_failed = yes ]; then
		echo "not ok $2 $1"
	elif [ -n "$case_skipped" ]; then
		echo "ok $2 $1 # SKIP $case_skipped"
	else
		echo "ok $2 $1"
	fi
}

# quick_cases NAME...: what QUICK=2 runs
quick_cases() { quick=("$@"); }

# run_cases [WANTED...] -- CASE...
run_cases() {
	local number=0 failed=0 skipped=0 one
	local -a wanted=()

	while [ "$1" != -- ]; do
		wanted+=("$1")
		shift
	done
	shift
	[ "${QUICK:-}" = 2 ] && [ ${#quick[@]} -gt 0 ] && set -- "${quick[@]}"
	[ ${#wanted[@]} -gt 0 ] && set -- "${wanted[@]}"

	begin
	trap end EXIT
	trap 'exit 130' INT TERM
	echo "KTAP version 1"
	echo "1..$#"
	for one in "$@"; do
		run_case "$one" $((++number))
		[ $case_failed = yes ] && failed=$((failed + 1))
		[ -n "$case_skipped" ] && skipped=$((skipped + 1))
	done
	mark_end="$test_name end $$"
	log_mark "$mark_end"
	case_failed=no
	case_now=end
	end
	exec 3>&1
	check_log "$mark_end"
	[ $case_failed = yes ] && exit $ksft_fail
	[ $failed -gt 0 ] && exit $ksft_fail
	[ $skipped -eq $number ] && exit $ksft_skip
	exit $ksft_pass
}
