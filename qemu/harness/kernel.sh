# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-only
# Which kernel the guests run: KERNEL= as the user gave it, an image unpacked in the cache, headers installed.

. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

# kernel_candidates SERIES: "RELEASE VERSION" of Debian's standard kernels of that series, newest first.
kernel_candidates() {
	apt-cache show linux-image-amd64 "linux-image-$1-amd64" 2>/dev/null |
		grep -oP "^Depends:.*\blinux-image-\K${1//./\\.}[.+-]\S*-amd64 \(= [^)]+" |
		grep -vE '(rt|cloud)-amd64' | sed 's/ (=//' | sort -Vru
}

# use_kernel RELEASE VERSION: sets release and kernel (a directory as fetch-kernel leaves it).
use_kernel() {
	release=$1
	need "to build the module for the guest's kernel $1" gcc make libc6-dev "linux-headers-$1=$2"
	entry kernel "$1_$2" "fetching Debian's kernel $1 (about 100 MB, unpacked in the cache, not installed)" \
		"$harness/fetch-kernel" "$1" "$2"
	kernel=$entry
}

kernel_of_series() {
	local selected=$cache/kernel/$1.selected candidates was=""
	[[ ! -f $selected ]] || was=$(<"$selected")
	# What was good enough last time is, as long as it is still complete.
	if [[ $was && -d $cache/kernel/${was/ /_} ]] && installed "linux-headers-${was/ /=}"; then
		# shellcheck disable=SC2086
		use_kernel $was
		return
	fi
	need "to unpack Debian's kernel" kmod xz-utils
	candidates=$(kernel_candidates "$1")
	if [[ -z $candidates ]]; then
		apt_update
		candidates=$(kernel_candidates "$1")
	fi
	[[ $candidates ]] || die "KERNEL=$1: the machine's apt sources have no such kernel (Debian 12 has 6.1 in main" \
		"and 6.12 in bookworm-security)"
	while read -r was <&3; do
		# shellcheck disable=SC2086
		if (use_kernel $was); then
			echo "$was" >"$selected"
			use_kernel $was
			return
		fi
		say "kernel ${was% *}: its image or its headers cannot be had, trying the next"
	done 3<<<"$candidates"
	die "KERNEL=$1: none of the kernels that apt lists can be had"
}

# select_kernel: does what KERNEL says; sets release and kernel.
select_kernel() {
	local version
	case ${KERNEL:=6.1} in
	6.1 | 6.12)
		kernel_of_series "$KERNEL"
		;;
	/* | ./* | ../*)
		local tree image
		tree=$(cd "$KERNEL" 2>/dev/null && pwd) || die "KERNEL=$KERNEL: no such directory"
		image=$(find "$tree/boot" -maxdepth 1 -name 'vmlinuz-*' 2>/dev/null)
		release=${image##*/vmlinuz-}
		[[ $image && $image != *$'\n'* && -e $tree/lib/modules/$release/build/Makefile ]] ||
			die "KERNEL=$KERNEL: wanted a tree with one boot/vmlinuz-RELEASE, its lib/modules/RELEASE and" \
				"lib/modules/RELEASE/build"
		need "to build the module for it" gcc make libc6-dev kmod xz-utils
		entry kernel "$(stat -c '%n %s %Y' "$image" "$tree/lib/modules/$release" | hash_of)" \
			"copying the kernel $release" "$harness/fetch-kernel" --tree "$tree" "$release"
		kernel=$entry
		;;
	[1-9]*.*-amd64)
		version=$(apt-cache madison "linux-image-$KERNEL" | awk '{ print $3 }' | sort -Vr | head -n 1)
		[[ $version ]] || die "KERNEL=$KERNEL: apt knows no linux-image-$KERNEL"
		need "to unpack Debian's kernel" kmod xz-utils
		use_kernel "$KERNEL" "$version"
		;;
	*)
		die "KERNEL=$KERNEL: wanted 6.1, 6.12, a release as in linux-image-RELEASE (6.1.0-50-amd64, say)," \
			"or the path of an unpacked tree (starting with / or .)"
		;;
	esac
	headers=$(readlink -e "$kernel/build" || readlink -e "/usr/src/linux-headers-$release") ||
		die "no headers for kernel $release"
}
