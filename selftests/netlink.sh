#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The costs of paths: the generic netlink family mptcp_dpa, used directly and
# by the command mpdpa. Ranges, errors, privileges, namespaces, limits.

source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/topology.sh"

need python3
limit=1024

prepare() {
	module_load || { fail "insmod"; return 1; }
	[ -n "$client" ] || direct 2
	path clear || { fail "path clear"; return 1; }
}

# path WORDS...: in the client
path() { in_ns "$client" python3 "$here/dpa_netlink.py" "$@"; }

# path_at NAMESPACE WORDS...
path_at() {
	local ns=$1

	shift
	in_ns "$ns" python3 "$here/dpa_netlink.py" "$@"
}

# expect_answer WANTED WORDS...: the whole answer
expect_answer() {
	local wanted=$1

	shift
	expect_eq "$*" "$(path "$@")" "$wanted"
}

# expect_error NAMES WORDS...: one of these, A|B
expect_error() {
	local names=$1 said

	shift
	said=$(path "$@") && fail "$*: it was taken"
	[[ $said =~ ^($names)( |$) ]] || fail "$*: $said, expected $names"
}

set_get_del() {
	prepare || return
	expect_answer "" set endpoint 3 cost 5
	expect_answer "endpoint 3 cost 5" get endpoint 3
	expect_answer "" set ifindex 3 cost 6
	expect_answer "ifindex 3 cost 6" get ifindex 3
	expect_answer "endpoint 3 cost 5" get endpoint 3
	expect_answer "" set endpoint 3 cost 1000000
	expect_answer "endpoint 3 cost 1000000" get endpoint 3
	expect_eq "dump" "$(path dump | xargs)" \
		"endpoint 3 cost 1000000 ifindex 3 cost 6 messages 2"
	expect_answer "" del endpoint 3
	expect_error ENOENT get endpoint 3
	expect_answer "ifindex 3 cost 6" get ifindex 3
	expect_answer "" del ifindex 3
	expect_eq "dump" "$(path dump)" "messages 1"
}

# the ends of each range are in it
ranges() {
	local one

	prepare || return
	for one in "endpoint 1 cost 1" "endpoint 255 cost 1000000" \
		   "ifindex 1 cost 1000000" "ifindex 2147483647 cost 1"; do
		# shellcheck disable=SC2086
		expect_answer "" set $one
		# shellcheck disable=SC2086
		expect_answer "$one" get ${one% cost *}
	done
	for one in "endpoint 0 cost 1" "ifindex 0 cost 1" \
		   "ifindex 2147483648 cost 1" "ifindex 4294967295 cost 1" \
		   "endpoint 1 cost 0" "endpoint 1 cost 1000001" \
		   "ifindex 1 cost 4294967295"; do
		# shellcheck disable=SC2086
		expect_error "ERANGE" set $one
	done
	expect_answer "endpoint 1 cost 1" get endpoint 1
}

# a path has exactly one name, a cost is needed, attributes have a form
malformed() {
	prepare || return
	expect_error EINVAL set cost 5
	expect_error EINVAL set endpoint 1 ifindex 1 cost 5
	expect_error EINVAL set endpoint 1
	expect_error EINVAL set
	expect_error EINVAL get
	expect_error EINVAL get endpoint 1 ifindex 1
	expect_error EINVAL del
	expect_error EINVAL del endpoint 1 ifindex 1
	expect_error 'EINVAL|ERANGE' set endpoint 1 raw 3 0100
	expect_error 'EINVAL|ERANGE' set raw 1 01000000 cost 5
	expect_error 'EINVAL|ERANGE' set raw 2 01 cost 5
	expect_error 'EINVAL|ERANGE' set endpoint 1 raw 3 ""
	expect_error EINVAL set endpoint 1 cost 5 raw 40 01000000
	expect_eq "dump" "$(path dump)" "messages 1"
}

not_there() {
	prepare || return
	expect_error ENOENT del endpoint 9
	expect_error ENOENT get ifindex 9
	path set endpoint 9 cost 2
	expect_error ENOENT del ifindex 9
	expect_answer "" del endpoint 9
	expect_error ENOENT del endpoint 9
}

nobody_path() {
	in_ns "$client" setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$@"
}

# who may look, and who may change
unprivileged() {
	local said

	prepare || return
	path set endpoint 4 cost 4
	said=$(nobody_path python3 "$here/dpa_netlink.py" set endpoint 5 cost 5)
	expect_eq "set" "${said%% *}" EPERM
	said=$(nobody_path python3 "$here/dpa_netlink.py" del endpoint 4)
	expect_eq "del" "${said%% *}" EPERM
	expect_eq "get" "$(nobody_path python3 "$here/dpa_netlink.py" \
		get endpoint 4)" "endpoint 4 cost 4"
	expect_eq "dump" "$(nobody_path python3 "$here/dpa_netlink.py" dump |
		head -n 1)" "endpoint 4 cost 4"
	# root in a user namespace of its own, but not in the one of this
	# network namespace
	said=$(nobody_path unshare -Ur python3 "$here/dpa_netlink.py" \
		set endpoint 5 cost 5)
	expect_eq "set by another's root" "${said%% *}" EPERM
}

# root of the user namespace that owns a network namespace may change it
owner_of_the_namespace() {
	local said

	prepare || return
	said=$(nobody_path unshare -Urn bash -c "
		python3 '$here/dpa_netlink.py' set endpoint 5 cost 55 &&
		python3 '$here/dpa_netlink.py' get endpoint 5 &&
		python3 '$here/dpa_netlink.py' del endpoint 5")
	expect_eq "set, get, del" "$said" "endpoint 5 cost 55"
	expect_error ENOENT get endpoint 5
}

independent_namespaces() {
	prepare || return
	path set endpoint 1 cost 11
	path_at "$server" set endpoint 1 cost 22
	path_at "$server" set endpoint 2 cost 33
	expect_answer "endpoint 1 cost 11" get endpoint 1
	expect_error ENOENT get endpoint 2
	expect_eq "the server's" "$(path_at "$server" get endpoint 1)" \
		"endpoint 1 cost 22"
	path del endpoint 1
	expect_eq "the server's" "$(path_at "$server" get endpoint 1)" \
		"endpoint 1 cost 22"
	expect_eq "ours" "$(python3 "$here/dpa_netlink.py" dump)" "messages 1"
	path_at "$server" clear
}

# As many as a namespace may hold. They do not fit into one message.
many() {
	local messages

	prepare || return
	expect_ok "filling" path fill 1 $limit
	expect_error ENOSPC set ifindex $((limit + 1)) cost 1
	expect_error ENOSPC set endpoint 1 cost 1
	expect_answer "" set ifindex 7 cost 77
	path dump >"$tmp/dump"
	expect_eq "paths" "$(grep -c cost "$tmp/dump")" $limit
	expect_eq "different paths" \
		"$(grep cost "$tmp/dump" | sort -u | wc -l)" $limit
	expect_eq "changed" "$(grep -c 'ifindex 7 cost 77' "$tmp/dump")" 1
	messages=$(sed -n 's/^messages //p' "$tmp/dump")
	expect_between "messages" "$messages" 3 100
	expect_answer "" del ifindex 500
	expect_answer "" set endpoint 1 cost 1
	expect_error ENOSPC set endpoint 2 cost 1
	if [ -n "$mpdpa" ]; then
		expect_eq "paths that mpdpa shows" \
			"$("$mpdpa" -j -n "$client" path | jq length)" $limit
	fi
	# a change in the middle of a dump is told
	path del endpoint 1
	expect_answer interrupted interrupted
	path clear
	expect_eq "dump" "$(path dump)" "messages 1"
}

by_command() {
	if [ -z "$mpdpa" ]; then
		skip "the command mpdpa is not installed"
		return
	fi
	prepare || return
	set -- "$mpdpa" -n "$client" path
	expect_ok "set an endpoint" "$@" set endpoint 2 cost 5
	expect_answer "endpoint 2 cost 5" get endpoint 2
	expect_ok "set a device" "$@" set dev c1 cost 9
	expect_eq "cost of c1" "$(path get ifindex \
		"$(in_ns "$client" cat /sys/class/net/c1/ifindex)")" \
		"ifindex $(in_ns "$client" cat /sys/class/net/c1/ifindex) cost 9"
	"$@" show | grep -qw c1 || fail "c1 is not shown: $("$@" show)"
	expect_eq "costs as JSON" "$("$mpdpa" -j -n "$client" path |
		jq -c 'map(.cost) | sort')" "[5,9]"
	expect_ok "delete" "$@" del endpoint 2
	expect_error ENOENT get endpoint 2
	expect_fails "delete again" "$@" del endpoint 2
	expect_fails "no such device" "$@" set dev nosuch cost 1
	expect_fails "cost 0" "$@" set dev c1 cost 0
	expect_fails "cost 1000001" "$@" set dev c1 cost 1000001
	expect_fails "endpoint 256" "$@" set endpoint 256 cost 1
	expect_fails "two names" "$@" set dev c1 endpoint 1 cost 1
	nobody_path "$mpdpa" path set endpoint 2 cost 5 && fail "set by nobody"
	expect_ok "shown to nobody" nobody_path "$mpdpa" path show
}

# A new cost counts for connections that exist, soon.
live_connection() {
	prepare || return
	attach || { fail "cannot attach"; return; }
	scheduler mpdpa
	server "$server" $server4 5000 "$tmp/server" accept drain
	start "$tmp/client" client "$client" "connect $server4 5000" \
		"chunk len=100000 ms=30000" "send 20000" "wait cost=1" \
		"say first" "wait cost=12" "say second" "wait cost=1" \
		"send 80000" "wait queued=0"
	wait_until 10 grep -q first "$tmp/client" || fail "$(cat "$tmp/client")"
	path set ifindex "$(in_ns "$client" cat /sys/class/net/c1/ifindex)" cost 12
	wait_until 10 grep -q second "$tmp/client" || fail "$(cat "$tmp/client")"
	path clear
	expect_ok "the client" finish "$last_pid" 20
}

# The costs of a namespace go with it.
gone_with_the_namespace() {
	prepare || return
	path fill 1 100
	topology_down
	direct 1
	expect_eq "the next namespace's" "$(path dump)" "messages 1"
}

without_the_module() {
	detach
	wait_until 20 is_unused
	module_unload || { fail "the module is in use"; return; }
	[ -n "$client" ] || direct 1
	expect_error ENOENT get endpoint 1
	[ -z "$mpdpa" ] || expect_fails "mpdpa path" "$mpdpa" -n "$client" path
}

quick_cases set_get_del malformed many live_connection \
	gone_with_the_namespace
run_cases "$@" -- set_get_del ranges malformed not_there unprivileged \
	owner_of_the_namespace independent_namespaces many by_command \
	live_connection gone_with_the_namespace without_the_module
