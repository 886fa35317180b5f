#!/bin/bash
# Runs inside the environment: finds the newest kernel of a series and unpacks it.
#   kernel.sh resolve SERIES        prints "RELEASE DEB_VERSION"
#   kernel.sh unpack RELEASE DIR    headers, image and modules below DIR
set -euo pipefail

arch=$(dpkg --print-architecture)

all_packages() {
	apt-cache pkgnames linux- | sort
}

# Releases of a series that have a headers package, newest first. Only the plain
# flavour: "7.2.12+deb13-amd64", not "-rt-amd64" or "-cloud-amd64".
releases() {
	local series=${1//./\\.}
	all_packages | sed -nE "s/^linux-headers-(${series}(\.[0-9]+)*(\+[a-z0-9.]+)?-${arch})\$/\1/p" |
		sort -Vr
}

version_of() {
	apt-cache show --no-all-versions "$1" 2>/dev/null | sed -n 's/^Version: //p'
}

# The packages whose contents make up a release's image: the newer layout splits
# what was once linux-image alone, and may come without its signed form.
image_packages() {
	local release=$1 name found=()
	for name in linux-{binary,binary-unsigned,image,image-unsigned}-"$release"; do
		[[ -n $(version_of "$name") ]] && found+=("$name") && break
	done
	((${#found[@]})) || return 1
	for name in linux-{modules,base}-"$release"; do
		[[ -n $(version_of "$name") ]] && found+=("$name")
	done
	if [[ ${found[0]} == linux-binary-* && ${#found[@]} -lt 2 ]]; then
		return 1
	fi
	printf '%s\n' "${found[@]}"
}

headers_packages() {
	local release=$1
	printf 'linux-headers-%s\n' "$release"
	apt-cache show --no-all-versions "linux-headers-$release" | sed -n 's/^Depends: //p' |
		tr ',' '\n' | sed -E 's/^ *([^ ]+).*/\1/' | grep -E '^linux-(headers|kbuild)-'
}

resolve() {
	local series=$1 release age
	age=$(find /var/lib/apt/lists -maxdepth 1 -name '*Packages*' -mmin -60 | head -n 1)
	if [[ -z $age || ${2-} == refresh ]]; then
		apt-get update >&2
	fi
	while read -r release; do
		image_packages "$release" >/dev/null || continue
		printf '%s %s\n' "$release" "$(version_of "linux-headers-$release")"
		return
	done < <(releases "$series")
	echo "no kernel $series with image and headers; there is: $(releases '[0-9.]+' | tr '\n' ' ')" >&2
	return 1
}

unpack() {
	local release=$1 dir=$2 work names deb
	work=$(mktemp -d -p /var/tmp)
	mapfile -t names < <(image_packages "$release" && headers_packages "$release")
	printf '%s\n' "${names[@]}"
	cd "$work"
	apt-get download "${names[@]}"
	mkdir -p "$dir"
	for deb in ./*.deb; do
		echo "unpack $deb"
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir" --exclude='./usr/share/*'
		rm "$deb"
	done
	rmdir "$work"
	usrmerge "$dir"
	find_image "$release" "$dir"
	[[ -f $dir/usr/src/linux-headers-$release/Module.symvers ]]
	[[ -f $dir/usr/lib/modules/$release/modules.order ]]
}

# Older packages still use /lib.
usrmerge() {
	local dir=$1
	if [[ -d $dir/lib ]]; then
		mkdir -p "$dir/usr/lib"
		cp -a --link "$dir/lib/." "$dir/usr/lib/"
		rm -rf "${dir:?}/lib"
	fi
}

find_image() {
	local release=$1 dir=$2 image
	for image in "$dir/boot/vmlinuz-$release" "$dir/usr/lib/modules/$release/vmlinuz"; do
		[[ -s $image ]] || continue
		ln -f "$image" "$dir/vmlinuz"
		return
	done
	echo "no vmlinuz among the packages of $release" >&2
	return 1
}

cd /
"$@"
