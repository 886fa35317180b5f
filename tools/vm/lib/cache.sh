# shellcheck shell=bash
# The cache: what is in it, whether it is good, and how it is filled. An entry is
# made in a directory of its own, checked, sealed, and only then given its name.

cache_names() {
	env_key=$(key_of "$suite" "$here"/lib/{apt,env,install,source,versions}.sh \
		"$here"/packages/{environment,python}.list)
	kernel_key=$(key_of "$env_key" "$here/lib/kernel.sh")
	guest_key=$(key_of "$env_key" "$here"/{vm_image.py,vm_cpio.py,init} "$here/packages/guest.list")
	env_dir=$cache/env-$env_key
	kernels=$cache/kernel-$kernel_key
	guest_dir=$cache/guest-$guest_key
	images=$cache/image-$(key_of "$guest_key" "$here/lib/kernel.sh")
	[[ $series != debug ]] || debug_names
}

# An hour's work: made anew only when what it is made from has changed.
debug_names() {
	local key
	key=$(key_of "$suite" "$here/lib/debug.sh" "$here/packages/debug.config")
	kernels=$cache/debug-$key
	images=$cache/image-$guest_key-$key
}

# The entry name ("release_debversion") that a series was resolved to.
resolved() {
	local file=$kernels/series-$series
	[[ -s $file ]] || return 1
	kernel_entry=$(<"$file")
	kernel_release=${kernel_entry%%_*}
	kernel_dir=$kernels/$kernel_entry
	image_dir=$images/$kernel_entry
}

ready() {
	local check=$1
	"$check" "$env_dir" && resolved && "$check" "$kernel_dir" && "$check" "$guest_dir" &&
		"$check" "$image_dir"
}

# Moves a finished entry into place; a broken one there makes way.
publish() {
	local work=$1 dir=$2
	discard "$dir"
	mkdir -p "${dir%/*}"
	mv -T "$work" "$dir"
}

discard() {
	local dir=$1 bin
	[[ -e $dir ]] || return 0
	bin=$(mktemp -d "$cache/tmp-old.XXXXXX")
	mv -T "$dir" "$bin/x"
	rm -rf --one-file-system "$bin"
}

# Takes the exclusive right to write to the cache, and clears away what an
# interrupted run has left.
lock_for_building() {
	mkdir -p "$cache/home" "$cache/logs"
	exec 8>"$cache/build.lock"
	if ! flock -n 8; then
		note "waiting for another setup that uses $cache"
		flock 8
	fi
	rm -rf --one-file-system "$cache"/tmp-*
	log_file=$cache/logs/setup-$(date +%Y%m%d-%H%M%S).log
	find "$cache/logs" -name 'setup-*.log' -mtime +30 -delete
	: >"$log_file"
}

build_environment() {
	local work=$cache/tmp-build.$$
	need_host_tools
	if ! intact "$env_dir"; then
		make_env "$work"
		publish "$work" "$env_dir"
	fi
	share_host_network "$env_dir/tree"
}

# Others may use the cache meanwhile: this one has a lock and a place of its own.
build_debug_kernel() {
	local work=$cache/debug-build
	resolved || resolve_series
	resolved || die "setup: $kernels/series-$series is missing"
	exec 8>&- 7>"$cache/debug.lock"
	flock 7
	if ! intact "$kernel_dir"; then
		mkdir -p "$work"
		step "kernel $kernel_release: build from source" in_env "$env_dir/tree" \
			bash /src/tools/vm/lib/debug.sh build "/cache/${work##*/}" \
			"${MPDPA_JOBS:-$(nproc)}" "$kernel_release"
		seal "$work"
		publish "$work" "$kernel_dir"
	fi
	exec 7>&-
	lock_for_building
}

build_missing() {
	local work=$cache/tmp-build.$$
	if [[ $refresh == yes ]] || ! resolved; then
		resolve_series
	fi
	resolved || die "setup: $kernels/series-$series is missing"
	if ! intact "$kernel_dir"; then
		step "kernel $kernel_release: headers, image, modules" in_env "$env_dir/tree" \
			bash /src/tools/vm/lib/kernel.sh unpack "$kernel_release" "/cache/${work##*/}/tree"
		seal "$work"
		publish "$work" "$kernel_dir"
	fi
	if ! intact "$guest_dir"; then
		step "guest: root file system" build_image rootfs "${work##*/}"
		seal "$work"
		publish "$work" "$guest_dir"
	fi
	if ! intact "$image_dir"; then
		step "guest: boot image for $kernel_release" build_image image "${work##*/}"
		seal "$work"
		publish "$work" "$image_dir"
	fi
}

resolve_series() {
	step "kernel $series: newest release" write_resolution
}

write_resolution() {
	local release version
	# A failing resolution must stop here, so it is not part of a pipeline.
	if [[ $series == debug ]]; then
		in_env "$env_dir/tree" bash /src/tools/vm/lib/debug.sh resolve
	else
		in_env "$env_dir/tree" bash /src/tools/vm/lib/kernel.sh resolve "$series" \
			"$([[ $refresh == yes ]] && echo refresh)"
	fi >"$cache/tmp-resolved"
	read -r release version <"$cache/tmp-resolved"
	mkdir -p "$kernels"
	printf '%s_%s\n' "$release" "${version//[^A-Za-z0-9.+~-]/-}" >"$kernels/series-$series.new"
	mv "$kernels/series-$series.new" "$kernels/series-$series"
	rm -f "$cache/tmp-resolved"
}

build_image() {
	local what=$1 work=$2
	mkdir -p "$cache/$work/tree"
	in_env "$env_dir/tree" python3 -B /src/tools/vm/vm_image.py "$what" \
		--guest "/cache/${guest_dir#"$cache/"}/tree" \
		--kernel "/cache/${kernel_dir#"$cache/"}/tree" --release "$kernel_release" \
		--output "/cache/$work/tree"
}
