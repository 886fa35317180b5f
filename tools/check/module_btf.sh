#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A module without BTF loads, but no BPF program ever finds its struct_ops.
set -eu

module=$1
for section in .BTF .BTF_ids; do
	if ! readelf -SW "$module" | grep -q " \\$section "; then
		echo "$module: no $section section; is pahole installed, and does" \
		     "the header package carry a vmlinux with BTF?" >&2
		rm -f "$module"
		exit 1
	fi
done
