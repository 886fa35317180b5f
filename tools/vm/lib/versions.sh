#!/bin/bash
# Runs inside the environment: "name version" lines of what it was built for.
# Fails if one of the tools does not work, so that it is a check as well.
set -euo pipefail

show() {
	[[ -n $2 ]] || { echo "versions: $1 does not work" >&2 && exit 1; }
	printf '%s %s\n' "$1" "$2"
}

number() {
	grep -oE '[0-9]+\.[0-9.]*[0-9]' | head -n 1
}

show gcc "$(gcc-14 -dumpfullversion)"
show clang "$(clang-19 --version | number)"
show qemu "$(qemu-system-x86_64 --version | number)"
show libbpf "$(pkg-config --modversion libbpf)"
show bpftool "$(bpftool version | number)"
show pahole "$(pahole --version | number)"
show python "$(python3 -c 'import platform; print(platform.python_version())')"
show linux-source "$(<"/usr/local/share/mpdpa/linux/VERSION")"
python3 -c 'import yaml, jsonschema, pytest, hypothesis, matplotlib, rich, typer, numpy, scipy'
llvm-strip --version >/dev/null
sparse --version >/dev/null 2>&1
shellcheck --version >/dev/null
