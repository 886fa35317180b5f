#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Network namespaces for tests that need paths, two by default:
#
#	                 a1 ---------------------- b1
#	               /  tbf >        < -    netem >  \
#	  10.0.1.1  c1    < netem                       s1
#	 client --<                                        >-- server 10.9.0.1
#	  10.0.2.1  c2    < netem                       s2       fd00:9::1
#	               \  tbf >        < -    netem >  /
#	                 a2 ---------------------- b2
#
# Towards the server, router a shapes: a token bucket with a drop-tail queue.
# Router b, one hop later, delays. Towards the client router a delays. So a
# rate can change in mid-flow without a delay line hiding it, and the endpoints
# have no queueing discipline at all, which would throttle senders early.
#
# The server has one address, on lo; the client has one on each path, and a
# subflow takes the path of its source address. IPv6: fd00:0:N::1.

server4=10.9.0.1
server6=fd00:9::1
client=
server=
# has paths of its own to the same server, if a test wants it
other_client=
declare -a namespaces=()

new_namespace() {
	ip netns add "$1" || return
	namespaces+=("$1")
	ip -n "$1" link set lo up
}

in_ns() { ip netns exec "$@"; }

# counter NAMESPACE NAME: of those that nstat shows
counter() { in_ns "$1" nstat -asz "$2" | awk -v n="$2" '$1 == n { print $2 }'; }

# stat_of NAMESPACE FIELD: of the module's counters
stat_of() { in_ns "$1" "$mpdpa" stat -j | jq ".$2"; }

# client_bytes PATH: what went out there, by the interface's count
client_bytes() { in_ns "$client" cat "/sys/class/net/c$1/statistics/tx_bytes"; }
# has_sent PATH BYTES: at least
has_sent() { [ "$(client_bytes "$1")" -ge "$2" ]; }

# start_monitor: mpdpa writes the client's events to $tmp/monitor from now on;
# last_pid tells which process
start_monitor() {
	start "$tmp/monitor" in_ns "$client" "$mpdpa" monitor -j
	wait_until 5 in_ns "$client" awk \
		'$2 == 16 && $4 !~ /^0+$/ { n++ } END { exit !n }' \
		/proc/net/netlink || fail "nobody listens"
}

# sysctl_in NAMESPACE NAME=VALUE...
sysctl_in() {
	local ns=$1

	shift
	ip netns exec "$ns" sysctl -qw "$@" || { fail "sysctl $*"; return 1; }
}

# What new namespaces shall have is gathered, and then made in one go: where a
# kernel watches itself, a process for each line would take longer than a test.
declare -A want_sysctl=() want_ip=() want_ip6=() want_plain=() want_tc=()
declare -a want_namespaces=()
want_links=

# namespace NAME [SYSCTL=VALUE...]: names of sysctls with slashes
namespace() {
	local ns=$1 one

	want_namespaces+=("$ns")
	want_ip[$ns]="link set lo up"$'\n'
	want_sysctl[$ns]='' want_ip6[$ns]='' want_plain[$ns]='' want_tc[$ns]=''
	shift
	for one in net/ipv4/conf/all/rp_filter=0 \
		   net/ipv4/conf/default/rp_filter=0 \
		   net/ipv6/conf/default/dad_transmits=0 "$@"; do
		want_sysctl[$ns]+="echo ${one#*=} >/proc/sys/${one%%=*}"$'\n'
	done
}

router() {
	namespace "$1" net/ipv4/ip_forward=1 net/ipv6/conf/all/forwarding=1
}

# veth NAMESPACE DEVICE NAMESPACE DEVICE
veth() {
	want_links+="link add $2 netns $1 type veth peer name $4 netns $3"$'\n'
}

# up NAMESPACE DEVICE IPV4/LENGTH IPV6/LENGTH
up() {
	want_ip[$1]+="addr add $3 dev $2"$'\n'
	want_ip[$1]+="addr add $4 dev $2 nodad"$'\n'
	want_ip[$1]+="link set $2 up"$'\n'
	# one segment is one packet, for the token bucket's sake
	[ "${plain_links:-yes}" = no ] ||
		want_plain[$1]+="ethtool -K $2 tso off gso off gro off"$'\n'
}

# routes NAMESPACE VIA4 VIA6 DESTINATION4 DESTINATION6 [table N]
routes() {
	want_ip[$1]+="route add $4 via $2 ${*:6}"$'\n'
	want_ip6[$1]+="route add $5 via $3 ${*:6}"$'\n'
}

# wire PATH: from the client to the server through two routers
wire() {
	local i=$1 a=dpa$$a$1 b=dpa$$b$1

	router "$a"
	router "$b"
	veth "$client" "c$i" "$a" "c$i"
	veth "$a" mid "$b" mid
	veth "$b" "s$i" "$server" "s$i"
	up "$client" "c$i" "10.0.$i.1/24" "fd00:0:$i::1/64"
	up "$a" "c$i" "10.0.$i.2/24" "fd00:0:$i::2/64"
	up "$a" mid "10.1.$i.1/24" "fd00:1:$i::1/64"
	up "$b" mid "10.1.$i.2/24" "fd00:1:$i::2/64"
	up "$b" "s$i" "10.2.$i.1/24" "fd00:2:$i::1/64"
	up "$server" "s$i" "10.2.$i.2/24" "fd00:2:$i::2/64"
	routes "$a" "10.1.$i.2" "fd00:1:$i::2" $server4 $server6
	routes "$b" "10.2.$i.2" "fd00:2:$i::2" $server4 $server6
	routes "$b" "10.1.$i.1" "fd00:1:$i::1" "10.0.$i.0/24" "fd00:0:$i::/64"
	routes "$server" "10.2.$i.1" "fd00:2:$i::1" "10.0.$i.0/24" "fd00:0:$i::/64"
	source_route "$client" "$i"
}

# default_route NAMESPACE PATH [table N]: by the router, or the server, at its end
default_route() { routes "$1" "10.0.$2.2" "fd00:0:$2::2" default default "${@:3}"; }

# source_route NAMESPACE PATH: for what comes from the address on this path
source_route() {
	default_route "$1" "$2" table "$2"
	want_ip[$1]+="rule add from 10.0.$2.1 table $2"$'\n'
	want_ip6[$1]+="rule add from fd00:0:$2::1 table $2"$'\n'
}

# direct_paths NAMESPACE FIRST LAST: from there to the server, without routers
direct_paths() {
	local i

	for ((i = $2; i <= $3; i++)); do
		veth "$1" "c$i" "$server" "s$i"
		up "$1" "c$i" "10.0.$i.1/24" "fd00:0:$i::1/64"
		up "$server" "s$i" "10.0.$i.2/24" "fd00:0:$i::2/64"
		source_route "$1" "$i"
	done
	default_route "$1" "$2"
}

# shape_lines PATH RATE ONE-WAY-DELAY QUEUE-BYTES: for tc, as a and b
shape_lines() {
	a="qdisc replace dev mid root tbf rate $2 burst 3100 limit $4"$'\n'
	a+="qdisc replace dev c$1 root netem delay $3 limit 10000"$'\n'
	b="qdisc replace dev s$1 root netem delay $3 limit 10000"$'\n'
}

# shape PATH RATE ONE-WAY-DELAY QUEUE-BYTES
shape() {
	local a b

	shape_lines "$@"
	tc -n "dpa$$a$1" -batch - <<<"$a" && tc -n "dpa$$b$1" -batch - <<<"$b" ||
		{ fail "cannot shape path $1: ${*:2}"; return 1; }
}

# path_rate PATH RATE [QUEUE-BYTES]
path_rate() {
	in_ns "dpa$$a$1" tc qdisc replace dev mid root \
		tbf rate "$2" burst 3100 limit "${3:-65536}" ||
		{ fail "cannot set the rate of path $1: $2"; return 1; }
}

# delay_more PATH DELAY: of what comes to its second router from now on; what has a
# rate stays in order there
delay_more() {
	in_ns "dpa$$b$1" tc qdisc change dev "s$1" root netem delay "$2" rate 10gbit \
		limit 10000 ||
		fail "cannot delay path $1: $2"
}

# path_silent PATH: from now on its routers lose everything, and say nothing
path_silent() {
	in_ns "dpa$$b$1" tc qdisc replace dev "s$1" root netem loss 100% &&
		in_ns "dpa$$a$1" tc qdisc replace dev "c$1" root netem loss 100% ||
		{ fail "cannot silence path $1"; return 1; }
}

# router_rule PATH RULE: for what its client's router forwards, in nft's words
router_rule() {
	in_ns "dpa$$a$1" nft -f - <<-EOF
		table ip router {
			chain c {
				type filter hook forward priority 0;
				$2
			}
		}
	EOF
	[ $? -eq 0 ] || { fail "no rule on path $1: $2"; return 1; }
}

# mptcp_end NAMESPACE
mptcp_end() {
	namespace "$1" net/mptcp/enabled=1
	want_ip[$1]+="mptcp limits set subflows 8 add_addr_accepted 8"$'\n'
}

ends() {
	client=dpa$$c
	server=dpa$$s
	want_sysctl=() want_ip=() want_ip6=() want_plain=() want_tc=()
	want_namespaces=()
	want_links=
	mptcp_end "$client"
	mptcp_end "$server"
	want_ip[$server]+="addr add $server4/32 dev lo"$'\n'
	want_ip[$server]+="addr add $server6/128 dev lo nodad"$'\n'
}

# Makes what is wanted.
build() {
	local ns

	namespaces+=("${want_namespaces[@]}")
	{
		printf 'netns add %s\n' "${want_namespaces[@]}"
		echo -n "$want_links"
	} | ip -batch - || return
	for ns in "${want_namespaces[@]}"; do
		in_ns "$ns" "$BASH" -e -s <<-EOF || return
			${want_sysctl[$ns]}
			ip -batch - <<'IP'
			${want_ip[$ns]}
			IP
			ip -6 -batch - <<'IP'
			${want_ip6[$ns]}
			IP
			${want_plain[$ns]}
			tc -batch - <<'TC'
			${want_tc[$ns]}
			TC
		EOF
	done
}

# topology [PATHS [RATE [ONE-WAY-DELAY [QUEUE-BYTES]]]]
topology() {
	local i a b

	topology_down
	ends
	for ((i = 1; i <= ${1:-2}; i++)); do
		wire $i
		shape_lines $i "${2:-8mbit}" "${3:-25ms}" "${4:-65536}"
		want_tc[dpa$$a$i]=$a
		want_tc[dpa$$b$i]=$b
	done
	default_route "$client" 1
	build || { fail "no topology"; return 1; }
}

# direct [PATHS [OTHER]]: client and server back to back, nothing shaped; so many
# paths more, whose numbers follow, are the other client's
direct() {
	local paths=${1:-2} plain_links=no

	topology_down
	ends
	direct_paths "$client" 1 "$paths"
	if [ -n "${2:-}" ]; then
		other_client=dpa$$o
		mptcp_end "$other_client"
		direct_paths "$other_client" $((paths + 1)) $((paths + $2))
	fi
	build || { fail "no topology"; return 1; }
}

# endpoint PATH 4|6 [FLAG...]: an MPTCP endpoint of the client, its id the path
endpoint() {
	local i=$1 address="10.0.$1.1"

	[ "$2" = 6 ] && address="fd00:0:$1::1"
	shift 2
	ip -n "$client" mptcp endpoint add "$address" dev "c$i" id "$i" "$@" ||
		{ fail "no endpoint $i: $*"; return 1; }
}

endpoints_flush() { ip -n "$client" mptcp endpoint flush; }
scheduler() { sysctl_in "$client" net.mptcp.scheduler="$1"; }

# interface_up PATH: the client's, with the route that went when it was set down
interface_up() {
	ip -n "$client" link set "c$1" up
	ip -n "$client" route replace default via "10.0.$1.2" dev "c$1" table "$1"
}

# kill_subflow NAMESPACE FILTER...: as a reset from this end
kill_subflow() {
	local ns=$1

	shift
	in_ns "$ns" ss -KHtn "$@" >"$tmp/killed"
	[ -s "$tmp/killed" ] || fail "no subflow $*"
}

# What is closed but not over would keep the module in use for a minute.
abort_connections() { in_ns "$1" ss -KHt >/dev/null 2>&1; }

# A test may have taken some of it down itself.
topology_down() {
	local ns

	for ns in $client $server $other_client; do
		abort_connections "$ns"
	done
	if [ ${#namespaces[@]} -gt 0 ]; then
		printf 'netns pids %s\n' "${namespaces[@]}" | ip -force -batch - |
			xargs -r kill -KILL
		printf 'netns del %s\n' "${namespaces[@]}" | ip -force -batch -
	fi
	namespaces=()
	client=
	server=
	other_client=
}
