#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Static checks, in the build environment; every finding fails. KTAP.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
linux=${MPDPA_LINUX:-/usr/local/share/mpdpa/linux}
known=tools/check/checkpatch.known
number=0
failed=0

# step NAME COMMAND...: what it prints are findings
step() {
	local name=$1 output

	shift
	number=$((number + 1))
	if output=$("$@" 2>&1) && [ -z "$output" ]; then
		echo "ok $number $name"
	else
		failed=$((failed + 1))
		sed 's/^/# /' <<<"${output:-exit status without a word}"
		echo "not ok $number $name"
	fi
}

# Drops findings that are listed: lines FILE:LINE: KIND:TYPE: text
unknown() {
	awk -v known=$known '
		BEGIN {
			while ((getline line < known) > 0) {
				if (line ~ /^#/ || split(line, part, " ") < 2)
					continue
				file[++n] = part[1]
				type[n] = part[2]
			}
		}
		{
			split($0, part, ":")
			for (i = 1; i <= n; i++) {
				whole = part[1] == file[i]
				below = file[i] ~ /\/$/ && index(part[1], file[i]) == 1
				if ((whole || below) && part[4] == type[i])
					next
			}
			print
		}'
}

# The ignored types ask for what is usual inside a kernel tree alone, or for
# parentheses that a list of declarations cannot have.
checkpatch() {
	perl "$linux/scripts/checkpatch.pl" --strict --no-tree --terse --quiet \
		--show-types --file --no-summary --max-line-length=100 \
		--ignore SPDX_LICENSE_TAG,FILE_PATH_CHANGES,LINUX_VERSION_CODE,MACRO_ARG_REUSE,COMPLEX_MACRO,MACRO_WITH_FLOW_CONTROL,MULTISTATEMENT_MACRO_USE_DO_WHILE,MACRO_ARG_UNUSED \
		"$@" 2>&1 | grep -v 'git: not found' | sed 's/ //' | unknown
	rm -f .checkpatch-camelcase.*
}

# The kernel's own extra warnings; netlink_gen.c is generated.
warnings() {
	local log=out/lint.log status

	rm -rf out/lint
	mkdir -p out/lint
	make --no-print-directory modules MODULE_DIR=out/lint W=1 >$log 2>&1
	status=$?
	grep -E '(warning|error):' $log | grep -v 'netlink_gen\.c'
	return $status
}

analyse() {
	local file

	tools/check/units.sh analyse out/lint "$KDIR"
	# not tools/check/verifier.c: it takes libbpf's keeping of a log buffer for a leak
	for file in tools/sim/*.c userspace/lib/*.c userspace/cmd/*.c selftests/*.c bpf/*_test.c; do
		clang --analyze -Xclang -analyzer-output=text -Xclang -analyzer-werror \
			-D_GNU_SOURCE -DMPDPA_VERSION='""' -Iuserspace/lib \
			-Iuserspace/cmd -Ikernel -Ikernel/uapi -Ibpf -isystem out/gen \
			-I/usr/local/include -o /dev/null "$file"
	done
}

mapfile -t kernel < <(find kernel bpf -name '*.[ch]' ! -name 'netlink_gen.*' ! -path '*/mptcp_dpa.h')
mapfile -t shell < <(grep -rlE "^(#!/bin/(ba)?sh|# shellcheck shell=)" tools selftests userspace .ci)

echo "KTAP version 1"
echo "1..9"
step checkpatch checkpatch "${kernel[@]}"
step W=1 warnings
step sparse tools/check/units.sh sparse out/lint "$KDIR"
step "clang's analyser" analyse
# sourced files have the variables that SC2154 and SC2034 look for
step shellcheck shellcheck -x -S warning -e SC2154,SC2034 "${shell[@]}"
step ruff ruff check --no-cache --quiet --output-format concise tools/testbed
step "ruff elsewhere" ruff check --no-cache --quiet --output-format concise \
	--config tools/check/ruff.toml tools/check tools/sim tools/vm tools/vm/guest userspace selftests
step "BPF on a kernel with the API" tools/check/api.sh
step "netlink spec" tools/check/ynl.sh check
exit $((failed > 0))
