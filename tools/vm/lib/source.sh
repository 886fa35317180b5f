#!/bin/bash
# Runs inside the environment: builds libbpf from the kernel's source package and
# keeps the few parts of that package that the project uses.
set -euo pipefail

package=linux-source-7.2
share=/usr/local/share/mpdpa/linux
work=$(mktemp -d)

fetch() {
	cd "$work"
	apt-get download "$package"
	ls -l ./*.deb
	dpkg-deb -f ./*.deb Version >version
	dpkg-deb --fsys-tarfile ./*.deb | tar -x --wildcards --strip-components=3 './usr/src/*.tar.xz'
	rm -f ./*.deb
}

unpack() {
	local top=$package
	cd "$work"
	xz -dc -T0 ./*.tar.xz | tar -x --wildcards --anchored \
		"$top/Makefile" "$top/scripts" "$top/include" "$top/arch/x86" \
		"$top/Documentation/netlink" "$top/tools/lib" "$top/tools/scripts" \
		"$top/tools/build" "$top/tools/include" "$top/tools/arch/x86" "$top/tools/net/ynl" \
		"$top/tools/testing/selftests/kselftest*" "$top/tools/testing/selftests/lib.mk" \
		"$top/tools/testing/selftests/net/lib*" "$top/tools/testing/selftests/net/mptcp"
	rm -f ./*.tar.xz
}

build_libbpf() {
	local out=$work/libbpf
	mkdir "$out"
	make -C "$work/$package/tools/lib/bpf" -j"$(nproc)" OUTPUT="$out/" prefix=/usr/local \
		libdir=/usr/local/lib "$out/libbpf.a" install_headers install_pkgconfig
	install -D -m 644 "$out/libbpf.a" /usr/local/lib/libbpf.a
	# Trixie's pkg-config looks here first, so "libbpf" means this one.
	pkg-config --exists 'libbpf >= 1.7'
}

# The parts that the project uses, and the kernel's user-space headers, which its
# selftests are built against.
keep() {
	local selftests=tools/testing/selftests part
	make -C "$work/$package" headers
	mkdir -p "$share"
	cd "$work/$package"
	for part in scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch} \
		Documentation/netlink tools/net/ynl/pyynl tools/scripts usr/include \
		"$selftests"/{kselftest*,lib.mk,net/lib*,net/mptcp}; do
		cp -a --parents "$part" "$share/"
	done
	cp "$work/version" "$share/VERSION"
}

fetch
unpack
build_libbpf
keep
rm -rf "$work"
