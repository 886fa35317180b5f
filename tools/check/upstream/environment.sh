# shellcheck shell=bash
# Read by every bash of the kernel's tests (BASH_ENV), which run unmodified: what
# they draw at random is the same each time, and each network namespace begins
# with the column's scheduler instead of the kernel's default one.

RANDOM=${UPSTREAM_SEED:-1}

# What a namespace decided is lost with it.
upstream_count() {
	command ip netns exec "$1" mpdpa stat 2>/dev/null |
		awk '$1 == "decisions" { print $2 }' >>/results/decisions
}

ip() {
	local status

	case ${UPSTREAM_SCHEDULER:-default}:${1-}:${2-} in
	default:*)
		command ip "$@" ;;
	*:netns:add)
		command ip "$@"
		status=$?
		[ $status != 0 ] || command ip netns exec "$3" \
			sysctl -qw net.mptcp.scheduler="$UPSTREAM_SCHEDULER"
		return $status ;;
	*:netns:del*)
		upstream_count "$3"
		command ip "$@" ;;
	*)
		command ip "$@" ;;
	esac
}
