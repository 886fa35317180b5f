#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Static checks, in the build environment; every finding fails.
set -uo pipefail

cd "$(dirname "$0")/../.."
linux=${MPDPA_LINUX:-/usr/local/share/mpdpa/linux}
status=0

step() {
	echo "  LINT    $1"
	shift
	"$@" || status=1
}

# generated files, and lines that checkpatch would have in a kernel tree alone
checkpatch() {
	perl "$linux/scripts/checkpatch.pl" --strict --no-tree --terse --quiet \
		--file --no-summary --max-line-length=100 \
		--ignore SPDX_LICENSE_TAG,FILE_PATH_CHANGES,LINUX_VERSION_CODE,MACRO_ARG_REUSE,COMPLEX_MACRO,MACRO_WITH_FLOW_CONTROL,MULTISTATEMENT_MACRO_USE_DO_WHILE,MACRO_ARG_UNUSED \
		"$@"
}

mapfile -t kernel < <(find kernel bpf -name '*.[ch]' ! -name 'netlink_gen.*' ! -path '*/mptcp_dpa.h')
mapfile -t shell < <(grep -rlE '^#!/bin/(ba)?sh' --include='*' tools selftests .ci 2>/dev/null)

step "checkpatch kernel bpf" checkpatch "${kernel[@]}"
step "shellcheck" shellcheck -x -S warning "${shell[@]}"
if command -v ruff > /dev/null; then
	step "ruff" ruff check --quiet tools userspace selftests
fi
step "netlink spec" tools/check/ynl.sh check
exit $status
