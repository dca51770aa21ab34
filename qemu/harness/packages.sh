# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# What comes from Debian: packages to install, packages to unpack, and sources through an apt configuration of our own.

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[[ $(dpkg --print-architecture 2>/dev/null) == amd64 ]] || die "this needs Debian on x86-64 (amd64)"

installed() {
	local have
	have=$(dpkg-query -W -f '${db:Status-Status} ${Version}' "${1%=*}" 2>/dev/null) || return 1
	[[ $have == "installed ${1#*=}" || $1 != *=* && $have == installed\ * ]]
}

# ask_for_root COMMAND...: sets sudo, or says what root has to run.
ask_for_root() {
	sudo=()
	((EUID)) || return 0
	command -v sudo >/dev/null || die "this needs root and there is no sudo; as root, run: $*"
	sudo -v || die "this needs root and sudo refused; as root, run: $*"
	sudo=(sudo)
}

# as_root WHAT COMMAND...
as_root() {
	local what=$1
	shift
	ask_for_root "$@"
	step "$what" "$cache/logs/apt.log" "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive "$@"
}

apt_update() {
	# One broken third-party source must not stop what Debian's can serve.
	(as_root "refreshing apt's lists" apt-get -q update) || say "apt-get update had errors, going on"
}

known() {
	local policy
	policy=$(apt-cache policy "${1%=*}")
	[[ $policy == *Candidate:* && $policy != *"Candidate: (none)"* ]] &&
		[[ $1 != *=* || $policy == *" ${1#*=} "* ]]
}

# need WHY PACKAGE[=VERSION]...: installs those that are not.
need() {
	local why=$1 package missing=() unknown=()
	shift
	for package; do
		installed "$package" || missing+=("$package")
	done
	((${#missing[@]})) || return 0
	ask_for_root "apt-get update && apt-get install --no-install-recommends ${missing[*]}    ($why)"
	for package in "${missing[@]}"; do
		known "$package" || unknown+=("$package")
	done
	((!${#unknown[@]})) || apt_update
	local command=(apt-get -qy --no-install-recommends -o DPkg::Lock::Timeout=300 install "${missing[@]}")
	if ! (as_root "installing ${missing[*]}: $why" "${command[@]}"); then
		((${#unknown[@]})) || apt_update
		as_root "once more: installing ${missing[*]}" "${command[@]}"
	fi
}

# fetch_deb DIR PACKAGE [VERSION]: downloads a package, the newest version that can be had, and does not install it.
fetch_deb() {
	local dir=$1 package=$2 version versions pass
	for pass in 1 2; do
		versions=${3:-$(apt-cache madison "$package" | awk '{ print $3 }' | sort -Vru)}
		for version in $versions; do
			(cd "$dir" && apt-get -q download "$package=$version") && return
			echo "debugstore: $package $version is listed but cannot be had, trying the next"
		done
		((pass == 2)) || apt_update
	done
	die "no version of $package can be had from the machine's apt sources (tried: ${versions//$'\n'/ })"
}

# mirror LABEL SUITE: the machine's own mirror of it, as "URI SOURCESENTRY".
mirror() {
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(CODENAME)|$(RELEASE)|$(REPO_URI)|$(SOURCESENTRY)' \
		'Identifier: Packages' |
		awk -F'|' -v label="$1" -v suite="$2" '
			$5 ~ /^cdrom:/ { next }
			$1 == "Debian" && $2 == label && $3 == suite || $1 == "" && $4 == suite { print $5, $6; exit }'
}

# private_source TYPE URI SOURCESENTRY SUITE: one source like the machine's own, with its options (keys, say).
private_source() {
	local type=$1 uri=$2 file=${3%:*} line=${3##*:} suite=$4 options=
	if [[ $file == *.sources ]]; then
		grep -v '^#' "$file" | awk -v uri="${uri%/}" -v new="Types: $type\nURIs: $uri\nSuites: $suite\nComponents: main" '
			BEGIN { RS = ""; FS = "\n" }
			index($0, uri) {
				print new
				for (i = 1; i <= NF; i++) {
					if ($i ~ /^[^ \t]/)
						skip = tolower($i) ~ /^(types|uris|suites|components|enabled):/
					if (!skip)
						print $i
				}
				print ""
				exit
			}' >>"$private/parts/private.sources"
	else
		options=$(sed -n "${line}s/^[^[]*\(\[[^]]*\]\).*/\1/p" "$file")
		echo "$type $options $uri $suite main" >>"$private/parts/private.list"
	fi
}

# Sets up apt for what Debian 12's own sources do not list, below $cache/apt. The machine's apt is read, never changed.
private_apt() {
	private=$cache/apt
	rm -rf "$private/parts"
	mkdir -p "$private/parts" "$private/none" "$private/lists/partial" "$private/cache/archives/partial"
	cat >"$private/apt.conf" <<-END
		#clear APT::Update;
		#clear APT::Default-Release;
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Dir::Etc::sourcelist "$private/none/list";
		Dir::Etc::sourceparts "$private/parts";
		Dir::Etc::preferences "$private/none/preferences";
		Dir::Etc::preferencesparts "$private/none";
		Dir::State::lists "$private/lists";
		Dir::Cache "$private/cache";
	END
	local main security
	main=$(mirror Debian bookworm)
	if [[ -z $main ]]; then
		apt_update
		main=$(mirror Debian bookworm)
	fi
	[[ $main ]] || die "none of the machine's apt sources is Debian 12's (bookworm) main archive"
	security=$(mirror Debian-Security bookworm-security)
	# shellcheck disable=SC2086
	{
		private_source deb-src $main trixie
		private_source deb $main bookworm-backports
		[[ -z $security ]] || private_source deb-src $security trixie-security
	}
	apt-get -q -c "$private/apt.conf" update || echo "debugstore: going on with the lists that could be had"
}
