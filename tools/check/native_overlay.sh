#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# native_overlay.sh DIR: lays into DIR what "make demo VM=no" needs on a machine
# whose own kernel can do it, so that the guest is such a machine: the module and
# the command as they were built, nothing installed, make, and the Python packages
# of the host side. Runs in the build environment, after "make guest".
set -euo pipefail

overlay=$1
packages=/usr/lib/python3/dist-packages
python="PIL contourpy cycler dateutil kiwisolver markdown_it matplotlib mdurl mpl_toolkits
	numpy packaging pygments pyparsing rich scipy six.py fontTools linkify_it uc_micro"

put() { # FILE...: at the same place in the overlay
	cp -a --parents "$@" "$overlay"
}

rm -rf "$overlay"
built=opt/mpdpa/src/out
mkdir -p "$overlay/$built/module/$KREL" "$overlay/$built/bin"
cp "out/module/$KREL/mptcp_dpa.ko" "$overlay/$built/module/$KREL/"
cp out/bin/mpdpa "$overlay/$built/bin/"
cp -a Makefile tools userspace "$overlay/opt/mpdpa/src/"
put /usr/bin/make /usr/lib/python3.13
for name in $python; do
	[ ! -e "$packages/$name" ] || put "$packages/$name"
done
# No tests of the large ones; numpy imports from its own.
find "$overlay$packages/scipy" "$overlay$packages/matplotlib" -type d -name tests -prune -exec rm -rf {} +
# Byte code that holds whatever the sources' times are: in the guest those are fixed.
python3 -m compileall -q -f -j2 --invalidation-mode unchecked-hash "$overlay/usr/lib/"python3* "$overlay/opt/mpdpa/src/tools"
put /usr/share/matplotlib /usr/share/fonts /etc/matplotlibrc 2>/dev/null || true

# the libraries that the compiled parts and make want; /lib is a link there
{ find "$overlay$packages" -name '*.so' -exec ldd {} +; ldd /usr/bin/make; } |
	awk '$3 ~ /^\// { print $3 }' | sed 's|^/lib/|/usr/lib/|' | sort -u |
	while read -r library; do
		cp -L --parents "$library" "$overlay"
	done
