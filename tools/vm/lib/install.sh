#!/bin/bash
# Runs inside the environment: installs the packages of a list (see the head of
# packages/environment.list for its syntax).
set -euo pipefail

read_list() {
	sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$1"
}

wanted() {
	local item name
	while read -r item; do
		name=${item%%[?/]*}
		if [[ $item == *'?' && -z $(apt-cache search --names-only "^$name\$") ]]; then
			echo "skipped, not in this suite: $name" >&2
			continue
		fi
		printf '%s\n' "${item%'?'}"
	done < <(read_list "$1")
}

apt-get update
mapfile -t packages < <(wanted "$1")
apt-get install -y "${packages[@]}"
# beside the suite's own packages, which they leave alone
bundle=/etc/ssl/mpdpa-host-bundle.crt
[[ -r $bundle ]] && export PIP_CERT=$bundle
pip install --break-system-packages --no-deps --no-cache-dir -r "${1%/*}/python.list"
