#!/bin/bash
# Runs inside the environment: builds a kernel that watches itself, from the
# distribution's source package, and lays out what the other kernels' packages
# hold: headers, modules, image.
#   debug.sh resolve            prints "RELEASE DEB_VERSION"
#   debug.sh build DIR JOBS RELEASE
#                               below DIR/tree, working in DIR/work
set -euo pipefail

package=linux-source-7.2
fragment=/src/tools/vm/packages/debug.config
flavour=-debug

version() {
	apt-cache show --no-all-versions "$package" | sed -n 's/^Version: //p'
}

resolve() {
	local version upstream
	apt-get update >&2
	version=$(version)
	upstream=${version%%-*}
	printf '%s%s %s\n' "$upstream" "$flavour" "$version"
}

fetch() {
	local work=$1
	mkdir -p "$work"
	cd "$work"
	apt-get download "$package"
	dpkg-deb --fsys-tarfile ./*.deb | tar -x --wildcards --strip-components=3 './usr/src/*.tar.xz'
	rm -f ./*.deb
	xz -dc -T0 ./*.tar.xz | tar -x --strip-components=1
	rm -f ./*.tar.xz
}

# A setting that Kconfig dropped would watch nothing, silently. "n" may be
# overruled: another option can need it.
check_config() {
	local line missing=0
	while read -r line; do
		grep -qxF "$line" .config && continue
		# y may have come out as m where there is no choice
		echo "not in the configuration: $line"
		missing=1
	done < <(grep -E '^CONFIG_.*=' "$fragment" | grep -v '=n$')
	return $missing
}

configure() {
	make -s x86_64_defconfig kvm_guest.config
	scripts/kconfig/merge_config.sh -m .config "$fragment" >/dev/null
	scripts/config --set-str LOCALVERSION "$flavour" --disable LOCALVERSION_AUTO
	make -s olddefconfig
	# what kernelrelease reads
	make -s syncconfig
	check_config
}

lay_out() {
	local tree=$1 release=$2 headers
	headers=$tree/usr/src/linux-headers-$release
	make -s run-command \
		KBUILD_RUN_COMMAND="\$(srctree)/scripts/package/install-extmod-build $headers"
	# modules are built against types alone, as the stock kernels' headers have them
	objcopy -j .BTF --set-section-flags .BTF=alloc,readonly vmlinux "$headers/vmlinux"
	mkdir -p "$tree/usr/lib"
	make -s INSTALL_MOD_PATH="$tree/usr" INSTALL_MOD_STRIP=1 modules_install
	rm -f "$tree/usr/lib/modules/$release"/{build,source}
	cp arch/x86/boot/bzImage "$tree/vmlinuz"
	cp .config "$tree/usr/src/config-$release"
}

build() {
	local dir=$1 jobs=$2 release=$3 made
	rm -rf "${dir:?}"/{work,tree}
	fetch "$dir/work"
	configure
	made=$(make -s kernelrelease)
	[[ $made == "$release" ]] || {
		echo "the source is of $made, its package of $release"
		return 1
	}
	make -j"$jobs" bzImage modules
	mkdir -p "$dir/tree"
	lay_out "$dir/tree" "$release"
	cd /
	rm -rf "$dir/work"
}

"$@"
