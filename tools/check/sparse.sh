#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# sparse.sh DIRECTORY KDIR: sparse on every unit of the module that was built
# there, with the flags it was built with. (The kernel's own "make C=1" needs a
# script that header packages lack.)
set -uo pipefail

built=$1 headers=$2
checked=0
for record in "$built"/kernel/.*.o.cmd; do
	flags=$(sed -n 's/^savedcmd_[^ ]* := [^ ]* \(.*\) -c -o [^ ]* \([^ ;]*\).*/\1 \2/p' "$record")
	[[ $flags == *.c ]] || continue
	# vmlinux.h is no code of ours
	[[ $flags != *kernel/msk.c ]] || continue
	# kernels before 6.13 compile from within their headers
	where=$built
	[[ ${flags##* } != /* ]] || where=$headers
	# the flags are quoted for a shell
	(cd "$where" && eval "sparse -D__linux__ -Dlinux -D__STDC__ -Dunix -D__unix__ -D__x86_64__ \
		--arch=x86 -mlittle-endian -m64 -Wbitwise -Wno-return-void \
		-Wno-unknown-attribute $flags") || exit 1
	checked=$((checked + 1))
done
[ $checked -gt 20 ] || echo "sparse saw only $checked files"
