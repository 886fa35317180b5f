# shellcheck shell=bash
# Read by every bash of the kernel's tests (BASH_ENV), which run unmodified: what
# they draw at random is the same each time, and each network namespace begins
# with the column's scheduler instead of the kernel's default one.

RANDOM=${UPSTREAM_SEED:-1}

# What a namespace decided is lost with it: a line NAME DECISIONS CONNECTIONS SEGMENTS
# for each, the latter two as the kernel counts MPTCP connections and segments
# with data. Connections that ended up with plain TCP do not count.
upstream_count() {
	local decisions

	command ip netns exec "$1" true 2>/dev/null || return
	decisions=$(command ip netns exec "$1" mpdpa stat 2>/dev/null |
		awk '$1 == "decisions" { print $2 }')
	[ -n "$decisions" ] || echo "$1 has no count of decisions" >>/results/broken
	command ip netns exec "$1" awk -v name="$1" -v decisions="${decisions:-0}" '
		$1 != kind { kind = $1; split($0, names); next }
		{ for (i = 2; i <= NF; i++) value[names[i]] = $i; kind = "" }
		END {
			began = value["MPCapableSYNACKRX"] + value["MPCapableACKRX"]
			fell = value["MPCapableFallbackACK"] + value["MPCapableFallbackSYNACK"]
			print name, decisions, began - fell, value["TCPOrigDataSent"] + 0
		}' /proc/net/netstat >>"/results/$UPSTREAM_TEST.decisions" ||
		echo "$1 has no counters" >>/results/broken
}

# A namespace without the scheduler would compare the default with itself.
upstream_begin() {
	local found

	command ip netns exec "$1" sysctl -qw net.mptcp.scheduler="$UPSTREAM_SCHEDULER"
	found=$(command ip netns exec "$1" sysctl -n net.mptcp.scheduler)
	[ "$found" = "$UPSTREAM_SCHEDULER" ] ||
		echo "$1 begins with '$found'" >>/results/broken
}

ip() {
	local status

	case ${UPSTREAM_SCHEDULER:-default}:${1-}:${2-} in
	default:*)
		command ip "$@" ;;
	*:netns:add)
		command ip "$@"
		status=$?
		[ $status != 0 ] || upstream_begin "$3"
		return $status ;;
	*:netns:del*)
		upstream_count "$3"
		command ip "$@" ;;
	*)
		command ip "$@" ;;
	esac
}
