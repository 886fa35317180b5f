#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# units.sh sparse|analyse DIRECTORY KDIR: the tool on every unit of the module that
# was built there, with the flags it was built with. (The kernel's own "make C=1"
# needs a script that header packages lack.) ANALYSE_NODES=N: the analyser goes no
# further into a function than that; its own limit takes three times as long as 40000.
set -uo pipefail

tool=$1 built=$2 headers=$3

# what only gcc knows
gcc_only='-mpreferred-stack-boundary=|-mindirect-branch|-mfunction-return|-mrecord-mcount|-fconserve-stack'
gcc_only+='|-fno-allow-store-data-races|-fzero-init-padding-bits=|-fmin-function-alignment=|-fsanitize|-fplugin'

case $tool in
sparse)
	# it does not know that kfuncs need no declaration (gcc looks for missing
	# ones), nor two of gcc's words
	run='sparse -D__linux__ -Dlinux -D__STDC__ -Dunix -D__unix__ -D__x86_64__'
	run+=' --arch=x86 -mlittle-endian -m64 -Wbitwise -Wno-return-void'
	run+=' -Wno-unknown-attribute -Wno-decl -D__typeof_unqual__=__typeof__'
	run+=' "-D__builtin_strlen(s)=(sizeof(s) - 1)"' ;;
analyse)
	run='clang --analyze -Xclang -analyzer-output=text -Xclang -analyzer-werror'
	run+=${ANALYSE_NODES:+ -Xclang -analyzer-config -Xclang max-nodes=$ANALYSE_NODES}
	run+=' -Wno-everything -o /dev/null' ;;
*)
	echo "units.sh: $tool: expected sparse or analyse" >&2
	exit 2 ;;
esac

checked=0
for record in "$built"/kernel/.*.o.cmd; do
	flags=$(sed -n 's/^savedcmd_[^ ]* := *[^ ]* \(.*\) -c -o [^ ]* \([^ ;]*\).*/\1 \2/p' "$record")
	[[ $flags == *.c ]] || continue
	# vmlinux.h is no code of ours
	[[ $flags != *kernel/msk.c ]] || continue
	[ "$tool" = sparse ] ||
		flags=$(tr ' ' '\n' <<<"$flags" | grep -vE -e "^($gcc_only)" | paste -sd ' ')
	# kernels before 6.13 compile from within their headers
	where=$built
	[[ ${flags##* } != /* ]] || where=$headers
	# the flags are quoted for a shell
	(cd "$where" && eval "$run $flags") || echo "$tool of ${flags##*/} failed"
	checked=$((checked + 1))
done
[ $checked -gt 20 ] || echo "$tool saw only $checked files"
