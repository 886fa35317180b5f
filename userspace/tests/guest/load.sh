#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mpdpa load and unload on a kernel with the module: all or nothing, and back.
# Run by "make check-userspace-guest"; needs root, leaves everything unloaded.
set -u

here=$(cd "$(dirname "$0")" && pwd)
pins=/sys/fs/bpf/mpdpa
count=0
failed=0

# result STATUS NAME
result() {
	count=$((count + 1))
	if (($1)); then
		failed=$((failed + 1))
		echo "not ok $count $2"
		sed 's/^/# /' /tmp/said
	else
		echo "ok $count $2"
	fi
}

# says STATUS TEXT NAME CMD...: the command ends with the status and says the text.
says() {
	local status=$1 text=$2 name=$3 got
	shift 3
	"$@" >/tmp/said 2>&1
	got=$?
	echo "(exit status $got)" >>/tmp/said
	[[ $got -eq $status ]] && grep -qF -- "$text" /tmp/said
	result $? "$name"
}

nothing_left() {
	[[ ! -e $pins ]] && [[ $(</proc/sys/net/mptcp/available_schedulers) == default ]] &&
		! bpftool -j link show 2>/dev/null | grep -q cgroup
	result $? "$1: nothing is left"
}

available() {
	local have
	have=$(tr ' ' '\n' </proc/sys/net/mptcp/available_schedulers | sort | tr '\n' ' ')
	echo "available: $have" >/tmp/said
	[[ $have == "$1 " ]]
	result $? "available: $1"
}

hold_socket() {
	exec python3 -c 'import socket, time; s = socket.socket(2, 1, 262); print(flush=True); time.sleep(60)'
}

# What the library's probe says of a socket made now.
state_is() {
	mpdpa status >/tmp/said
	grep -qF "$1" /tmp/said
	result $? "deadlines: $1"
}

test_without_module() {
	says 1 "modprobe mptcp_dpa" "load without the module" mpdpa load
	says 1 "modprobe mptcp_dpa" "load a scheduler alone without the module" \
		mpdpa load --object "$here/pair.bpf.o" --no-sockopt
	says 0 "nothing is loaded" "unload with nothing loaded" mpdpa unload
	state_is "mptcp_dpa is not loaded"
}

test_load() {
	state_is "scheduler mpdpa is not attached"
	says 0 "" "load" mpdpa load
	available "default mpdpa"
	[[ $(cd $pins && echo *) == "mpdpa sockopt-get sockopt-set" ]]
	result $? "pins"
	says 0 "loaded already" "load again" mpdpa load
	says 0 "alpha       adaptive" "status: alpha" mpdpa status
	says 0 '"alpha_milli":0' "status: alpha in JSON" mpdpa status -j
	sysctl -qw net.mptcp_dpa.alpha_milli=800
	says 0 "alpha       0.800" "status: alpha, fixed" mpdpa status
	sysctl -qw net.mptcp_dpa.alpha_milli=0 net.mptcp_dpa.policy=1
	says 0 "alpha       1, that" "status: alpha, threshold" mpdpa status
	sysctl -qw net.mptcp_dpa.policy=0
	says 1 "unload it first" "another one of that name" \
		mpdpa load --object /usr/local/lib/mpdpa/mpdpa.bpf.o
	state_is "another scheduler is selected"
	sysctl -qw net.mptcp.scheduler=mpdpa
	state_is "ready"
	says 0 "a socket made here and now can have deadlines" "doctor" mpdpa doctor
	says 0 "" "unload" mpdpa unload
	nothing_left "unload"
	says 1 "which is not attached" "doctor finds the setting that was left" mpdpa doctor
	sysctl -qw net.mptcp.scheduler=default
}

scheduler_link() {
	mpdpa status | sed -n 's/^attached *mpdpa: \(link [0-9]*\),.*/\1/p'
}

# The rest is attached, what is there stays.
test_partial() {
	local before

	says 0 "" "load without the socket options" mpdpa load --no-sockopt
	says 0 "loaded already" "and again" mpdpa load --no-sockopt
	before=$(scheduler_link)
	says 0 "" "load the rest" mpdpa load
	[[ $(cd $pins && echo *) == "mpdpa sockopt-get sockopt-set" ]]
	result $? "the rest is there"
	rm $pins/sockopt-set
	says 0 "" "load one program" mpdpa load
	[[ -e $pins/sockopt-set ]]
	result $? "it is there"
	scheduler_link >/tmp/said
	[[ -n $before && $(</tmp/said) == "$before" ]]
	result $? "the scheduler is the same"
	rm $pins/mpdpa
	until_gone mpdpa
	says 0 "" "load the scheduler" mpdpa load
	available "default mpdpa"
	says 0 "" "unload" mpdpa unload
	nothing_left "after a partial load"
}

# A moment after its link is gone.
until_gone() {
	local i

	for ((i = 0; i < 100; i++)); do
		grep -qw "$1" /proc/sys/net/mptcp/available_schedulers || return
		sleep 0.05
	done
}

# by_hand WORDS: the commands of the README below the line that ends so.
by_hand() {
	awk -v words="$1\$" '$0 ~ words { on = 1; next }
		on && sub(/^    /, "") { print; seen = 1; next }
		seen { exit }' "$here/README.md" | sed 's|/usr/lib/mpdpa|/usr/local/lib/mpdpa|'
}

# What the README says can be done without the command; it does not stand in its way.
test_by_hand() {
	by_hand "without our command:" >/tmp/hand
	by_hand "take that away:" >/tmp/away
	[[ $(wc -l </tmp/hand) -eq 5 && $(wc -l </tmp/away) -eq 3 ]]
	result $? "the README's commands"
	# bpftool crashes once the scheduler is attached
	bash /tmp/hand >/tmp/said 2>&1
	available "default mpdpa"
	sysctl -qw net.mptcp.scheduler=mpdpa
	state_is "ready"
	says 0 "are attached, but not by" "doctor" mpdpa doctor
	bpftool cgroup detach /sys/fs/cgroup getsockopt \
		pinned /sys/fs/bpf/by-hand/sockopt/mpdpa_getsockopt
	says 1 "the socket options are not attached" "doctor, of one half" mpdpa doctor
	bpftool cgroup attach /sys/fs/cgroup getsockopt \
		pinned /sys/fs/bpf/by-hand/sockopt/mpdpa_getsockopt multi
	says 1 "but not by this command" "load beside it" mpdpa load
	says 0 "nothing is loaded" "unload beside it" mpdpa unload
	sysctl -qw net.mptcp.scheduler=default
	says 0 "" "take it away" bash -e /tmp/away
	until_gone mpdpa
	available "default"
	! bpftool cgroup show /sys/fs/cgroup 2>/dev/null | grep -q mpdpa_ && [[ ! -e /sys/fs/bpf/by-hand ]]
	result $? "by hand: nothing is left"
}

# A link in the place of the directory.
test_name_taken() {
	bpftool struct_ops register /usr/local/lib/mpdpa/mpdpa.bpf.o /sys/fs/bpf >/dev/null 2>&1
	[[ -f $pins ]]
	result $? "something else is pinned"
	says 1 "something else is pinned there" "load" mpdpa load
	says 1 "something else is pinned there" "unload" mpdpa unload
	says 0 "something else is pinned there" "status" mpdpa status
	says 1 "rm $pins" "doctor" mpdpa doctor
	rm $pins
	until_gone mpdpa
	nothing_left "something else was pinned"
}

test_objects() {
	says 0 "" "two schedulers" mpdpa load --object "$here/pair.bpf.o" --no-sockopt
	available "default pair_a pair_b"
	says 0 "" "mpdpa beside them" mpdpa load
	says 1 "no scheduler \"sockopt-set\"" "unload names schedulers" mpdpa unload sockopt-set
	says 1 "no scheduler \"pair_c\"" "unload one that is not there" mpdpa unload pair_a pair_c
	says 0 "" "unload one" mpdpa unload pair_a
	available "default mpdpa pair_b"
	[[ -e $pins/sockopt-set ]]
	result $? "the socket options stay with the others"
	says 0 "" "unload the others by name" mpdpa unload pair_b mpdpa
	nothing_left "unload by name"
	says 0 "" "one for several kernels" mpdpa load --object "$here/flavours.bpf.o"
	available "default flavour"
	mpdpa unload
}

test_refusals() {
	says 1 "holds no scheduler" "no scheduler" mpdpa load --object "$here/none.bpf.o"
	says 1 "for other kernels only" "no scheduler that fits" \
		mpdpa load --object "$here/unfit.bpf.o"
	says 1 "no usable name" "bad name" mpdpa load --object "$here/badname.bpf.o"
	says 1 "1 to 15 letters" "a name too long" mpdpa load --object "$here/longname.bpf.o"
	says 1 "No such file" "no file" mpdpa load --object /none
	says 1 "cannot open /etc/passwd" "no BPF object" mpdpa load --object /etc/passwd
	says 1 "no write access" "the verifier's words" mpdpa load --object "$here/refused.bpf.o"
	(($(wc -l </tmp/said) < 25))
	result $? "not too many of them"
	nothing_left "refused by the verifier"
	says 1 "the name is taken" "name taken" mpdpa load --object "$here/taken.bpf.o"
	nothing_left "refused while attaching"
	says 1 "cannot open cgroup /none" "no cgroup" mpdpa load --cgroup /none
	nothing_left "no cgroup"
	says 1 "is it of cgroup v2" "not a cgroup" mpdpa load --cgroup /tmp
	nothing_left "not a cgroup"
	mkdir -p $pins/sockopt-get
	says 1 "cannot" "no room for the last pin" mpdpa load
	[[ ! -e $pins/mpdpa && ! -e $pins/sockopt-set ]]
	result $? "no room for the last pin: the others are gone"
	rmdir $pins/sockopt-get $pins
	nothing_left "no room for the last pin"
}

test_cgroup() {
	local group=/sys/fs/cgroup/mpdpa-test

	mkdir $group
	says 0 "" "one cgroup only" mpdpa load --cgroup $group
	sysctl -qw net.mptcp.scheduler=mpdpa
	state_is "not attached to this cgroup"
	says 0 "but not to the cgroup of this process" "doctor, elsewhere" mpdpa doctor
	(echo $BASHPID >$group/cgroup.procs && mpdpa status >/tmp/said)
	grep -q "deadlines *ready" /tmp/said
	result $? "deadlines in that cgroup"
	says 1 "comes too late" "another cgroup" mpdpa load --object "$here/pair.bpf.o" --cgroup /x
	says 0 "" "unload" mpdpa unload
	sysctl -qw net.mptcp.scheduler=default
	rmdir $group
}

# The library's own tests, where nothing keeps them from running.
test_library() {
	local test

	mpdpa load
	sysctl -qw net.mptcp.scheduler=mpdpa
	for test in test_info test_socket; do
		"$here/$test" >/tmp/said 2>&1
		result $? "the library with the module: $test"
		grep -q "^ok" /tmp/said && ! grep -q SKIP /tmp/said
		result $? "$test: none of it was skipped"
	done
	sysctl -qw net.mptcp.scheduler=default
	mpdpa unload
}

test_live_socket() {
	local holder

	mpdpa load
	sysctl -qw net.mptcp.scheduler=mpdpa
	coproc holder { hold_socket; }
	read -r -u "${holder[0]}"
	says 0 "live sockets keep the scheduler" "unload under a live socket" mpdpa unload
	nothing_left "unload under a live socket"
	# shellcheck disable=SC2154 # coproc sets it
	kill "$holder_PID"
	wait "$holder_PID" 2>/dev/null
	says 0 "" "load once more" mpdpa load
	says 0 "" "unload once more" mpdpa unload
	! grep -q live /tmp/said
	result $? "nobody keeps it"
	sysctl -qw net.mptcp.scheduler=default
}

# A module that is loaded again has another group, in which it would hear nothing.
test_monitor_ends() {
	local monitor again

	timeout 20 mpdpa monitor >/tmp/said 2>&1 &
	monitor=$!
	sleep 1
	rmmod mptcp_dpa
	result $? "no monitor keeps the module"
	insmod "$1"
	wait $monitor
	[[ $? -eq 1 && $(</tmp/said) == "mpdpa: monitor: kernel module mptcp_dpa was unloaded, no more events will come" ]]
	result $? "a monitor says that the module was unloaded"
	timeout 20 mpdpa monitor >/tmp/said 2>&1 &
	again=$!
	sleep 1
	kill $again
	wait $again
	result $? "another one goes on"
}

test_unprivileged() {
	local as=(setpriv --reuid 65534 --clear-groups --inh-caps=-all --bounding-set=-all)

	says 1 "needs root" "load without privilege" "${as[@]}" mpdpa load
	mpdpa load
	says 1 "needs root" "unload without privilege" "${as[@]}" mpdpa unload
	says 1 "needs CAP_NET_ADMIN" "path set without privilege" \
		"${as[@]}" mpdpa path set dev lo cost 3
	says 0 "" "path show without privilege" "${as[@]}" mpdpa path show
	says 0 "" "status without privilege" "${as[@]}" mpdpa status -j
	mpdpa unload
}

echo "KTAP version 1"
trap 'mpdpa unload >/dev/null 2>&1' EXIT
test_without_module
insmod "${1:?path of the module}" || exit 1
test_load
test_partial
test_by_hand
test_name_taken
test_objects
test_refusals
test_cgroup
test_library
test_live_socket
test_unprivileged
test_monitor_ends "$1"
rmmod mptcp_dpa
result $? "the module goes"
echo "1..$count"
exit $((failed != 0))
