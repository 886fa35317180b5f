#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# document.sh BENCH RESULTS DOCUMENT: puts what "make BENCH" measured between the
# document's marks.
set -eu

begin="<!-- measured: make $1 -->"
shift
end='<!-- end of what was measured -->'
grep -qxF "$begin" "$2" && grep -qxF "$end" "$2" || {
	echo "$2: needs the lines \"$begin\" and \"$end\"" >&2
	exit 1
}
{
	sed "/^$begin\$/q" "$2"
	echo
	echo "Kernel $(cat "$1/kernel")."
	echo
	cat "$1/table"
	echo
	sed -n "/^$end\$/,\$p" "$2"
} >"$2.new"
mv "$2.new" "$2"
