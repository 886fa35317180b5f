#!/bin/bash
# Runs inside a new mount namespace: makes ROOT usable as a root, enters it and
# becomes the command.  enter.sh ro|rw ROOT REPO CACHE KERNEL CMD ARGS...
set -euo pipefail

mode=$1 root=$2 repo=$3 cache=$4 kernel=$5
shift 5

mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount --bind "$repo" "$root/src"
mount --bind "$cache" "$root/cache"
[[ -z $kernel ]] || mount --bind "$kernel" "$root/kernel"
if [[ $mode == ro ]]; then
	mount -t tmpfs -o mode=1777 tmpfs "$root/var/tmp"
	mount -o remount,bind,ro "$root"
	[[ -z $kernel ]] || mount -o remount,bind,ro "$root/kernel"
fi
exec chroot "$root" /usr/bin/env --chdir=/src "$@"
