# shellcheck shell=bash
# The build environment: a root of its own, made by debootstrap, with compilers,
# QEMU, Python and a libbpf newer than the suite's.

env_prune=(-o -path ./var -o -path ./tmp -o -path ./etc/resolv.conf -o -path ./etc/hosts)

make_env() {
	local work=$1
	mkdir -p "$work"
	step "environment: base system ($suite)" bootstrap_env "$work/tree"
	step "environment: compilers, QEMU, Python" install_env "$work/tree"
	step "environment: libbpf and kernel sources" in_env "$work/tree" \
		bash /src/tools/vm/lib/source.sh
	step "environment: check" check_env "$work"
	seal "$work" "${env_prune[@]}"
}

bootstrap_env() {
	local root=$1
	# A mount namespace of its own: what debootstrap mounts goes with it.
	unshare -m --propagation private debootstrap --variant=minbase \
		--include=ca-certificates "$suite" "$root" "$(main_mirror)"
	configure_apt "$root"
	mkdir -p "$root"/{src,cache,kernel}
	# Headers and modules of every kernel series live in trees of their own,
	# one of which is mounted at /kernel.
	rm -rf "$root/usr/src" "$root/usr/lib/modules"
	ln -s ../kernel/usr/src "$root/usr/src"
	ln -s ../../kernel/usr/lib/modules "$root/usr/lib/modules"
}

install_env() {
	local root=$1
	in_env "$root" bash /src/tools/vm/lib/install.sh /src/tools/vm/packages/environment.list
	ln -sf clang-19 "$root/usr/bin/clang"
	local tool
	for tool in llvm-strip llvm-objdump llvm-objcopy llvm-readelf llc ld.lld; do
		[[ -e $root/usr/bin/$tool-19 ]] && ln -sf "$tool-19" "$root/usr/bin/$tool"
	done
	rm -rf "$root"/var/cache/apt/archives/*.deb
}

check_env() {
	local work=$1
	in_env "$work/tree" bash /src/tools/vm/lib/versions.sh >"$work/versions"
	cat "$work/versions"
	[[ -s $work/versions ]]
}

# in_env ROOT CMD...: runs CMD as root in a root that is still being made, with
# network and with write access.
in_env() {
	local root=$1
	shift
	env -i PATH="$env_path" HOME=/tmp LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
		${no_proxy:+no_proxy="$no_proxy"} MPDPA_SUITE="$suite" \
		unshare -m --propagation private bash "$here/lib/enter.sh" rw "$root" "$top" "$cache" "" \
		"$@"
}
