# shellcheck shell=bash
# Entering the finished environment.

# What of the caller's environment goes in.
passed_variables() {
	local name
	for name in TERM KERNEL MAKEFLAGS V CI NO_COLOR SOURCE_DATE_EPOCH "${!MPDPA_@}"; do
		[[ -n ${!name+set} ]] && printf '%s=%s\0' "$name" "${!name}"
	done
	return 0
}

cmd_run() {
	local variables
	case ${1-} in
	-h | --help) usage && exit 0 ;;
	--) shift ;;
	-*) usage_error "run: unknown option '$1', expected a command" ;;
	esac
	(($#)) || usage_error "run: expected a command"
	check_series
	[[ $EUID -eq 0 ]] || die "must be root: it mounts and enters a root file system"
	if ! ready sealed; then
		set_up
		resolved
	fi
	# Held for as long as the command lives, so that distclean can tell.
	exec 9>"$cache/use.lock"
	flock -s 9
	mapfile -d '' -t variables < <(passed_variables)
	exec env -i PATH="$env_path" unshare -m --propagation private \
		bash "$here/lib/enter.sh" ro "$env_dir/tree" "$top" "$cache" "$kernel_dir/tree" \
		PATH="$env_path" HOME=/cache/home LANG=C.UTF-8 TZ=UTC PYTHONDONTWRITEBYTECODE=1 \
		"${variables[@]}" MPDPA_BUILDENV=1 KERNEL="$series" KREL="$kernel_release" \
		KDIR="/usr/src/linux-headers-$kernel_release" \
		MPDPA_KERNELS="/cache/${kernels##*/}" MPDPA_IMAGES="/cache/${images##*/}" \
		"$@"
}
