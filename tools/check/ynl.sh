#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ynl.sh write	writes what is generated from the netlink spec
# ynl.sh check	fails when the tree differs from what would be written, or the
#		spec is not valid
#
# Runs in the build environment, which has the kernel's YNL tools.
set -euo pipefail

root=$(realpath "$(dirname "$0")/../..")
linux=${MPDPA_LINUX:-/usr/local/share/mpdpa/linux}
spec=Documentation/netlink/specs/mptcp_dpa.yaml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# the generator looks for schemas beside the spec, in something like a kernel tree
mkdir -p "$work/Documentation/netlink/specs"
touch "$work/MAINTAINERS"
cp "$linux"/Documentation/netlink/*.yaml "$work/Documentation/netlink/"
cp "$root/$spec" "$work/$spec"

generate() { # MODE PART FILE
	local to
	to="$work/new/$(basename "$3")"
	mkdir -p "$work/new"
	python3 "$linux/tools/net/ynl/pyynl/ynl_gen_c.py" --spec "$work/$spec" \
		--mode "$1" "--$2" -o "$to"
	sed -i 's|To regenerate run: .*|To regenerate run: make ynl */|' "$to"
}

# nothing but the underscore in its name needs more than the genetlink schema
validate() {
	python3 - "$work/$spec" "$linux/Documentation/netlink/genetlink.yaml" <<'PY'
import sys, jsonschema, yaml
spec, schema = (yaml.safe_load(open(f)) for f in sys.argv[1:])
spec["name"] = spec["name"].replace("_", "-")
spec["protocol"] = "genetlink"
jsonschema.validate(spec, schema)
PY
}

validate
generate uapi header kernel/uapi/linux/mptcp_dpa.h
generate kernel header kernel/netlink_gen.h
generate kernel source kernel/netlink_gen.c

# the page, without the marks that the kernel's own build wants
python3 "$linux/tools/net/ynl/pyynl/ynl_gen_rst.py" -i "$work/$spec" -o "$work/mptcp_dpa.rst"
sed '/^\.\. LINENO/d' "$work/mptcp_dpa.rst" | cat -s > "$work/new/mptcp_dpa.rst"

status=0
for file in kernel/uapi/linux/mptcp_dpa.h kernel/netlink_gen.h kernel/netlink_gen.c \
	Documentation/netlink/mptcp_dpa.rst; do
	new="$work/new/$(basename "$file")"
	case ${1:-} in
	write)	cmp -s "$new" "$root/$file" || cp "$new" "$root/$file" ;;
	check)	diff -u "$root/$file" "$new" || status=1 ;;
	*)	echo "usage: ynl.sh write|check" >&2; exit 2 ;;
	esac
done
exit $status
