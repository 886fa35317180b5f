#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# all.sh TEST...: runs tests of this directory one by one; the last line sums up.
cd "$(dirname "$0")" || exit 1

# what the kernel says must not land in the middle of our lines
console=$(cut -f 1 /proc/sys/kernel/printk)
trap 'echo "$console" >/proc/sys/kernel/printk' EXIT
echo 1 >/proc/sys/kernel/printk
export MPDPA_LIBRARY=/usr/local/lib/libmpdpa.so.0

number=0
failed=0
echo "KTAP version 1"
echo "1..$#"
for test in "$@"; do
	number=$((number + 1))
	case $test in
	*.py) python3 "$test" ;;
	*) "./$test" /usr/local/lib/mpdpa/mptcp_dpa.ko ;;
	esac 2>&1 | sed 's/^/    /'
	if ((PIPESTATUS[0])); then
		failed=$((failed + 1))
		echo "not ok $number $test"
	else
		echo "ok $number $test"
	fi
	# each begins with nothing there
	for name in $(ip netns list | cut -d ' ' -f 1); do
		ip netns del "$name"
	done
	mpdpa unload >/dev/null 2>&1
	for ((i = 0; i < 50; i++)); do
		rmmod mptcp_dpa 2>/dev/null
		[[ -e /sys/module/mptcp_dpa ]] || break
		sleep 0.1
	done
	if [[ -e /sys/module/mptcp_dpa ]]; then
		failed=$((failed + 1))
		echo "# $test: the module is still in use"
	fi
done
exit $((failed != 0))
