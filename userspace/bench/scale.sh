#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# scale.sh MODULE [CONNECTIONS]: a namespace for the bench, with room for it.
set -eu

here=$(dirname "$0")
insmod "$1"
mpdpa load
ip netns add bench
ip -n bench link set lo up
ip netns exec bench sysctl -qw net.mptcp.scheduler=mpdpa net.core.somaxconn=4096 \
	net.ipv4.ip_local_port_range="1024 65535"
shift
if [ -f "$here/sizes" ]; then
	cat "$here/sizes"
fi
ip netns exec bench "$here/scale" "$@"
