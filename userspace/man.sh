#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# man.sh install|uninstall DIR PAGE...: man pages, and for each further name in
# a page's NAME section a page of that name that refers to it.
set -eu

action=$1 dir=$2
shift 2

# The names that a page documents.
names() {
	sed -n '/^\.SH NAME/{n;s/ *\\-.*//;s/,//g;p;q;}' "$1"
}

for page in "$@"; do
	file=${page##*/}
	section=${file##*.}
	to=$dir/man$section
	if [ "$action" = install ]; then
		install -D -m 644 "$page" "$to/$file"
	else
		rm -f "$to/$file"
	fi
	for name in $(names "$page"); do
		[ "$name.$section" != "$file" ] || continue
		rm -f "$to/$name.$section"
		[ "$action" != install ] || echo ".so man$section/$file" >"$to/$name.$section"
	done
done
