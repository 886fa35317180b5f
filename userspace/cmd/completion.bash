# SPDX-License-Identifier: GPL-2.0
# bash completion for mpdpa(8)                             -*- shell-script -*-

# Words that are not options, nor the value of one, before the cursor.
_mpdpa_words() {
	local i skip=no
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ $skip == yes ]]; then
			skip=no
			continue
		fi
		case ${COMP_WORDS[i]} in
		-n | --netns | --object | --cgroup) skip=yes ;;
		-*) ;;
		*) printf '%s\n' "${COMP_WORDS[i]}" ;;
		esac
	done
}

_mpdpa_netns() {
	local path
	for path in /run/netns/*; do
		[[ -e $path ]] && printf '%s\n' "${path##*/}"
	done
}

_mpdpa_interfaces() {
	local path
	for path in /sys/class/net/*; do
		printf '%s\n' "${path##*/}"
	done
}

_mpdpa_endpoints() {
	ip mptcp endpoint show 2>/dev/null | sed -n 's/.* id \([0-9]*\).*/\1/p'
}

_mpdpa_schedulers() {
	local name
	for name in $(</proc/sys/net/mptcp/available_schedulers); do
		[[ $name == default ]] || printf '%s\n' "$name"
	done 2>/dev/null
}

# What may follow the words so far of "mpdpa path".
_mpdpa_path() {
	local action=${1-} last=${*: -1}
	if (($# == 0)); then
		echo set del show
		return
	fi
	case $last in
	dev) _mpdpa_interfaces ;;
	endpoint) _mpdpa_endpoints ;;
	cost) ;;
	set | del | show) echo dev endpoint ;;
	*) [[ $action == set && " $* " != *" cost "* ]] && echo cost ;;
	esac
}

_mpdpa_options() {
	echo --help
	case ${1-} in
	'') echo --json --netns --verbose --version ;;
	load) echo --object --cgroup --no-sockopt --verbose ;;
	path | status | doctor) echo --json --netns ;;
	esac
}

_mpdpa() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words
	COMPREPLY=()
	mapfile -t words < <(_mpdpa_words)
	case $prev in
	-n | --netns)
		mapfile -t COMPREPLY < <(compgen -W "$(_mpdpa_netns)" -- "$cur")
		return
		;;
	--object)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
		;;
	--cgroup)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_mpdpa_options "${words[@]:0:1}")" -- "$cur")
		return
	fi
	case ${words[0]-} in
	'') mapfile -t COMPREPLY < <(compgen -W "load unload status path doctor help" -- "$cur") ;;
	help) mapfile -t COMPREPLY < <(compgen -W "load unload status path doctor" -- "$cur") ;;
	path) mapfile -t COMPREPLY < <(compgen -W "$(_mpdpa_path "${words[@]:1}")" -- "$cur") ;;
	unload) mapfile -t COMPREPLY < <(compgen -W "$(_mpdpa_schedulers)" -- "$cur") ;;
	esac
}

complete -F _mpdpa mpdpa
