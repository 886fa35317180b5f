# shellcheck shell=bash
# Where packages come from: the host's own apt sources name the mirrors, and the
# build environment's apt uses the same ones.

# Configured package indices of the host, "release|component|uri" per line. apt
# itself reads both source formats, so nothing is parsed here.
host_indices() {
	# shellcheck disable=SC2016 # the fields are apt's
	apt-get indextargets --format '$(RELEASE)|$(COMPONENT)|$(REPO_URI)' \
		'Created-By: Packages' 2>/dev/null | sort -u
}

# A "mirror+file:" source names a file that lists mirrors: take its first.
plain_uri() {
	local uri=$1
	if [[ $uri == mirror+file:* ]]; then
		uri=${uri#mirror+file:}
		uri=$(sed -n -e 's/#.*//' -e '/:/{s/[[:space:]].*//;p;q}' "/${uri##/*(/)}")
	fi
	printf '%s' "${uri%/}"
}

# The first configured mirror whose release matches a pattern.
mirror_of() {
	local pattern=$1 line uri fallback=
	while IFS='|' read -r line; do
		[[ ${line%%|*} =~ ^($pattern)$ && $line == *'|main|'* ]] || continue
		uri=$(plain_uri "${line##*|}")
		[[ $uri =~ ^(https?|file|copy|ftp): ]] || continue
		[[ $uri == */debian || $uri == */debian-security ]] && { echo "$uri" && return; }
		fallback=${fallback:-$uri}
	done < <(host_indices)
	printf '%s' "$fallback"
}

main_mirror() {
	local names='bookworm|trixie|forky|oldstable|stable|testing|unstable|sid'
	printf '%s' "${MPDPA_MIRROR:-$(mirror_of "($names)(-updates|-backports)?")}"
}

security_mirror() {
	printf '%s' "${MPDPA_SECURITY_MIRROR:-$(mirror_of '.*-security|.*/updates')}"
}

# The host's own apt settings that decide whether the mirrors can be reached.
host_apt_settings() {
	apt-config dump | grep -E '^(Acquire::(http|https|ftp)::|Acquire::Check-|Acquire::Retries)' ||
		true
	cat <<-'SETTINGS'
		APT::Install-Recommends "false";
		APT::Install-Suggests "false";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Dpkg::Use-Pty "false";
		APT::Sandbox::User "root";
	SETTINGS
}

deb822_source() {
	printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n\n' "$1" "$2" \
		/usr/share/keyrings/debian-archive-keyring.gpg
}

# configure_apt ROOT: sources, settings and name resolution for a fresh root.
configure_apt() {
	local root=$1 main security
	main=$(main_mirror)
	security=$(security_mirror)
	rm -f "$root/etc/apt/sources.list"
	{
		deb822_source "$main" "$suite $suite-updates $suite-backports"
		[[ -z $security ]] || deb822_source "$security" "$suite-security"
	} >"$root/etc/apt/sources.list.d/mpdpa.sources"
	host_apt_settings >"$root/etc/apt/apt.conf.d/50mpdpa"
	printf 'force-unsafe-io\n' >"$root/etc/dpkg/dpkg.cfg.d/mpdpa"
	printf 'path-exclude=/usr/share/%s/*\n' doc man info locale \
		>>"$root/etc/dpkg/dpkg.cfg.d/mpdpa"
	share_host_network "$root"
}

share_host_network() {
	local root=$1
	cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
	cp -L /etc/hosts "$root/etc/hosts" 2>/dev/null || true
	# A private authority is known to the host alone: pip needs its bundle, and
	# apt where a mirror is https.
	local bundle=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
	[[ ! -r $bundle ]] || install -D -m 644 "$bundle" "$root/etc/ssl/mpdpa-host-bundle.crt"
	if [[ $(main_mirror)$(security_mirror) == *https:* ]]; then
		printf 'Acquire::https::CaInfo "/etc/ssl/mpdpa-host-bundle.crt";\n' \
			>"$root/etc/apt/apt.conf.d/51mpdpa-https"
	fi
}

need_host_tools() {
	local missing=()
	command -v debootstrap >/dev/null || missing+=(debootstrap)
	[[ -r /usr/share/keyrings/debian-archive-keyring.gpg ]] || missing+=(debian-archive-keyring)
	((${#missing[@]})) || return 0
	step "host: install ${missing[*]}" install_on_host "${missing[@]}"
}

install_on_host() {
	export DEBIAN_FRONTEND=noninteractive
	apt-get install -y --no-install-recommends "$@" && return
	apt-get update
	apt-get install -y --no-install-recommends "$@"
}
