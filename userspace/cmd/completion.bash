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
		-n | --netns | --object | --cgroup | -d | --delay) skip=yes ;;
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

# "-n NAME" where the line has it: mpdpa and ip take it alike
_mpdpa_there() {
	local i
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-n | --netns) printf '%s\n' -n "${COMP_WORDS[i + 1]}" ;;
		esac
	done
}

_mpdpa_interfaces() {
	ip "${there[@]}" -o link show 2>/dev/null | sed -n 's/^[0-9]*: \([^:@]*\).*/\1/p'
}

_mpdpa_endpoints() {
	ip "${there[@]}" mptcp endpoint show 2>/dev/null | sed -n 's/.* id \([0-9]*\).*/\1/p'
}

_mpdpa_addresses() {
	ip "${there[@]}" -o addr show 2>/dev/null | sed -n 's|.* inet6\{0,1\} \([^/ ]*\).*|\1|p'
}

# names that have a cost, of a kind; an interface that is gone is "if" and its number
_mpdpa_costs() {
	mpdpa "${there[@]}" path show 2>/dev/null | sed -n "s/^$1 \([^ ]*\) cost .*/\1/p"
}

# id or token of the connections that there are
_mpdpa_conns() {
	case $1 in
	id) mpdpa "${there[@]}" conn show 2>/dev/null | sed -n 's/^conn \([0-9]*\) .*/\1/p' ;;
	token) mpdpa "${there[@]}" conn show 2>/dev/null | sed -n 's/^conn .* token \([0-9a-f]*\) .*/\1/p' ;;
	esac
}

_mpdpa_schedulers() {
	local name
	for name in $(</proc/sys/net/mptcp/available_schedulers); do
		[[ $name == default ]] || printf '%s\n' "$name"
	done 2>/dev/null
}

# What may follow the words so far of "mpdpa path".
_mpdpa_path() {
	local action=${1-} last=${*: -1} given=" $* "
	if (($# == 0)); then
		echo set del show
		return
	fi
	if [[ $action != set && $last == @(dev|endpoint|addr) ]]; then
		_mpdpa_costs "$last"
		return
	fi
	case $last in
	dev) _mpdpa_interfaces ;;
	endpoint) _mpdpa_endpoints ;;
	addr) _mpdpa_addresses ;;
	quota | cheap-rate) echo none ;;
	cost | per) ;;
	set | del | show) echo dev endpoint addr ;;
	*)
		[[ $action == set ]] || return
		case ${*: -2:1}:$last in
		quota:none) ;;
		quota:*)
			echo per
			return
			;;
		per:*) echo soft ;;
		esac
		[[ $given == *" cost "* ]] || echo cost
		[[ $given == *" quota "* ]] || echo quota
		[[ $given == *" cheap-rate "* ]] || echo cheap-rate
		;;
	esac
}

# What may follow the words so far of "mpdpa conn".
_mpdpa_conn() {
	local action=${1-} last=${*: -1} before=
	if (($# == 0)); then
		echo show set
		return
	fi
	(($# > 1)) && before=${*: -2:1}
	case $last in
	show | set) echo id token ;;
	id | token) _mpdpa_conns "$last" ;;
	dev) _mpdpa_interfaces ;;
	endpoint) _mpdpa_endpoints ;;
	addr) _mpdpa_addresses ;;
	pref) echo dev endpoint addr ;;
	alpha) echo default ;;
	overflow) echo off default ;;
	cost) echo forbidden none ;;
	late) echo spend cheap tell ;;
	chunk | in | cookie) ;;
	*)
		[[ $action == set ]] || return
		case $before in
		dev | endpoint | addr) echo cost ;;
		chunk) echo in ;;
		in | late | cookie) echo cookie late alpha overflow pref ;;
		*) echo alpha overflow pref chunk ;;
		esac
		;;
	esac
}

_mpdpa_options() {
	echo --help
	case ${1-} in
	'') echo --json --netns --verbose --version ;;
	load) echo --object --cgroup --no-sockopt --verbose ;;
	unload) echo --verbose ;;
	path | conn | show | stat | status | doctor) echo --json --netns ;;
	monitor) echo --json --netns --timestamps ;;
	top) echo --netns --delay --once ;;
	esac
}

_mpdpa() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words there
	COMPREPLY=()
	mapfile -t there < <(_mpdpa_there)
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
	'') mapfile -t COMPREPLY < <(compgen -W "load unload status path conn show stat monitor top doctor help" -- "$cur") ;;
	help) mapfile -t COMPREPLY < <(compgen -W "load unload status path conn show stat monitor top doctor" -- "$cur") ;;
	path) mapfile -t COMPREPLY < <(compgen -W "$(_mpdpa_path "${words[@]:1}")" -- "$cur") ;;
	conn) mapfile -t COMPREPLY < <(compgen -W "$(_mpdpa_conn "${words[@]:1}")" -- "$cur") ;;
	show) mapfile -t COMPREPLY < <(compgen -W "$(_mpdpa_conn show "${words[@]:1}")" -- "$cur") ;;
	unload) mapfile -t COMPREPLY < <(compgen -W "$(_mpdpa_schedulers)" -- "$cur") ;;
	esac
}

complete -F _mpdpa mpdpa
