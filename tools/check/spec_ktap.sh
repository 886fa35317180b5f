#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The netlink spec is valid, and what is generated from it is in the tree.
if out=$("$(dirname "$0")/ynl.sh" check 2>&1); then
	echo "ok 1 valid, and the generated files are its own"
else
	echo "not ok 1 valid, and the generated files are its own"
	printf '%s\n' "$out" | sed 's/^/# /'
	exit 1
fi
