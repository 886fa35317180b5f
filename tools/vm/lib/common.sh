# shellcheck shell=bash
# Messages, progress, checksums and locks shared by the parts of buildenv.

progress_tty_secs=1
progress_plain_secs=15

die() {
	printf 'buildenv: %s\n' "$*" >&2
	exit 1
}

usage_error() {
	printf 'buildenv: %s (try: buildenv --help)\n' "$*" >&2
	exit 2
}

note() {
	printf '%s\n' "$*" >&2
}

now_ms() {
	local t=$EPOCHREALTIME
	t=${t/[.,]/}
	echo $((t / 1000))
}

seconds_since() {
	local ms=$(($(now_ms) - $1))
	printf '%d.%d' $((ms / 1000)) $((ms % 1000 / 100))
}

# Last line of the log in a form that fits beside the name of a step.
log_hint() {
	local line
	line=$(tail -c 400 "$log_file" 2>/dev/null | tr '\r\t' '\n ' | tail -n 1)
	line=${line//[^[:print:]]/}
	printf '%s' "${line:0:60}"
}

# The running step's process group, for the trap that ends it.
step_pid=

stop_step() {
	[[ -n $step_pid ]] || return 0
	kill -TERM -- "-$step_pid" 2>/dev/null || true
	wait "$step_pid" 2>/dev/null || true
	step_pid=
}

on_signal() {
	stop_step
	note
	note "buildenv: interrupted; nothing half-made is kept"
	exit 130
}

watch_step() {
	local title=$1 start=$2 period=$progress_plain_secs next elapsed
	[[ -t 2 ]] && period=$progress_tty_secs
	next=$period
	while kill -0 "$step_pid" 2>/dev/null; do
		sleep 0.2
		elapsed=$((($(now_ms) - start) / 1000))
		((elapsed >= next)) || continue
		next=$((elapsed + period))
		if [[ -t 2 ]]; then
			printf '\r\033[K  %4ds  %s: %s' "$elapsed" "$title" "$(log_hint)" >&2
		else
			note "  ${elapsed}s  ... $title: $(log_hint)"
		fi
	done
}

# step TITLE FUNCTION ARGS...: runs the function in a process group of its own,
# output to the log, and prints one line when it is done.
step() {
	local title=$1 start rc=0
	shift
	start=$(now_ms)
	printf '\n==> %s\n' "$title" >>"$log_file"
	set -m
	(
		set -euo pipefail
		trap - INT TERM EXIT
		"$@"
	) >>"$log_file" 2>&1 </dev/null &
	step_pid=$!
	set +m
	watch_step "$title" "$start"
	wait "$step_pid" || rc=$?
	step_pid=
	[[ -t 2 ]] && printf '\r\033[K' >&2
	if ((rc)); then
		note "FAILED after $(seconds_since "$start") s: $title"
		note "last lines of $log_file:"
		tail -n 20 "$log_file" | sed 's/^/  | /' >&2
		exit 1
	fi
	printf '%6s s  %s\n' "$(seconds_since "$start")" "$title" >&2
}

# A short key for "made from": the named files' contents and the given words.
key_of() {
	local words=$1
	shift
	{ printf '%s\n' "$words" && cat -- "$@"; } | sha256sum | cut -c1-12
}

# Everything below a directory that its content depends on: type, size, path.
listing() {
	local dir=$1
	shift
	(cd "$dir" && find . -xdev \( -false "$@" \) -prune -o ! -type d -printf '%y %s %p\n' | LC_ALL=C sort)
}

# seal DIR PRUNE...: writes the manifest and, last, the stamp that makes a cache
# entry valid. PRUNE are further find(1) tests, such as "-o -path ./tmp", for what may change.
seal() {
	local dir=$1
	shift
	listing "$dir/tree" "$@" >"$dir/manifest"
	printf '%s\n' "$*" >"$dir/prune"
	sha256sum "$dir/manifest" | cut -d' ' -f1 >"$dir/stamp.new"
	sync -f "$dir/manifest"
	mv "$dir/stamp.new" "$dir/stamp"
}

# Whether a cache entry is complete: the stamp fits the manifest, and the files
# of the manifest that matter most are still there with their size.
sealed() {
	local dir=$1
	[[ -s $dir/stamp && -s $dir/manifest && -d $dir/tree ]] || return 1
	[[ $(sha256sum <"$dir/manifest") == "$(<"$dir/stamp")  -" ]]
}

# The thorough form: every file of the entry has the size that was recorded.
intact() {
	local dir=$1 prune
	sealed "$dir" || return 1
	read -ra prune <"$dir/prune" || true
	listing "$dir/tree" "${prune[@]}" | cmp -s - "$dir/manifest"
}
