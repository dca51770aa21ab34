# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-only
# The things a guest is made of, each built when the cache has none for the present sources.

. "$(dirname "${BASH_SOURCE[0]}")/kernel.sh"

qemu_series=10.0
kernel_sources=6.1

# The key's part for what Debian's packages contribute to a build.
toolchain() {
	dpkg-query -W gcc libc6-dev "$@"
}

need_qemu() {
	local sources key
	entry qemu-source "$qemu_series" "fetching Debian's source of QEMU $qemu_series (40 MB)" \
		"$harness/fetch-qemu" "$qemu_series"
	sources=$entry
	key=$( (cat "$sources/version" && hash_tree qemu/patches qemu/model qemu/harness/build-qemu) | hash_of)
	if [[ ! -d $cache/qemu/$key ]]; then
		need "to build QEMU" gcc libc6-dev make pkg-config dpkg-dev patch xz-utils ninja-build \
			python3 python3-venv libglib2.0-dev zlib1g-dev
	fi
	need "to run QEMU" libglib2.0-0 zlib1g
	entry qemu "$key" "building QEMU $(<"$sources/version") with a Debug Store, about 3 minutes" \
		"$harness/build-qemu" "$sources"
	qemu=$entry
}

need_module() {
	local key
	key=$( (echo "$release $(readlink -f "$headers") $(toolchain "linux-headers-$release" 2>/dev/null || true)" &&
		hash_tree "${module_sources[@]}" qemu/harness/build-module) | hash_of)
	entry module "$key" "building debugstore.ko for $release" "$harness/build-module" "$headers"
	module=$entry/debugstore.ko
}

need_btsdump() {
	local key
	need "to build btsdump" gcc make libc6-dev libdw-dev libelf-dev
	key=$( (toolchain libdw-dev && hash_tree tools/btsdump include/uapi) | hash_of)
	entry btsdump "$key" "building btsdump" "$harness/build-tool" "$top/tools/btsdump"
	btsdump=$entry
}

# The few files of Debian's kernel source that no other package has: kselftest's headers and checkpatch.
need_linux_source() {
	need "to unpack Debian's kernel source" xz-utils
	entry linux-source "$kernel_sources" \
		"fetching kselftest's headers and checkpatch from Debian's linux-source-$kernel_sources (140 MB)" \
		"$harness/fetch-linux-source" "$kernel_sources"
	linux_source=$entry
}

need_selftests() {
	local key
	need_linux_source
	need "to build the tests" gcc make libc6-dev libcapstone-dev
	key=$( (toolchain libcapstone-dev && cd "$linux_source" && sha256sum ./*.h &&
		hash_tree selftests include/uapi | grep -v ' selftests/machine/') | hash_of)
	entry selftests "$key" "building the tests" "$harness/build-tool" "$top/selftests" "KSFT=$linux_source"
	selftests=$entry
}

need_firmware() {
	local key
	need "to build the tests of the machine" gcc make binutils
	key=$( (toolchain binutils && hash_tree selftests/machine) | hash_of)
	entry firmware "$key" "building the tests of the machine" "$harness/build-tool" "$top/selftests/machine"
	firmware=$entry
}

# add TARGET SOURCE: one file of the guest.
add() {
	manifest+="$1 $2"$'\n'
}

# add_program PATH: a program of this machine with all its libraries.
add_program() {
	local library
	add "/usr/bin/${1##*/}" "$1"
	for library in $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*'); do
		add "$library" "$library"
	done
}

# need_initramfs IMAGE: demo, or check with the tests and perf.
need_initramfs() {
	local file key
	manifest=
	need "for the guest's file system" busybox-static bash dash util-linux ncurses-base cpio
	need_btsdump
	add /init "$harness/init"
	add /usr/bin/busybox /usr/bin/busybox
	add_program /usr/bin/dash
	add_program /usr/bin/bash
	add_program /usr/bin/setpriv
	add_program "$btsdump/btsdump"
	add_program "$btsdump/crash"
	for file in l/linux v/vt100 x/xterm x/xterm-256color s/screen-256color t/tmux-256color; do
		[[ ! -e /lib/terminfo/$file ]] || add "/lib/terminfo/$file" "/lib/terminfo/$file"
	done
	for file in "$kernel"/modules/*; do
		add "/lib/modules/${file##*/}" "$file"
	done
	add /lib/modules/debugstore.ko "$module"
	if [[ $1 == check ]]; then
		need_selftests
		need "for the tests, which look whether perf still works" linux-perf
		add_program /usr/bin/perf
		for file in "$selftests"/*; do
			[[ ! -x $file || -d $file ]] || add "/selftests/${file##*/}" "$file"
		done
	fi
	manifest=$(sort -u <<<"$manifest" | sed '/^$/d')
	key=$( (cut -d' ' -f1 <<<"$manifest" && cut -d' ' -f2 <<<"$manifest" | xargs sha256sum | cut -d' ' -f1 &&
		hash_tree qemu/harness/build-initramfs) | hash_of)
	if [[ ! -d $cache/initramfs/$key ]]; then
		echo "$manifest" >"$cache/manifest.$$"
	fi
	entry initramfs "$key" "building the guest's file system ($1)" \
		"$harness/build-initramfs" "$cache/manifest.$$"
	rm -f "$cache/manifest.$$"
	initramfs=$entry/initramfs
}

# need_all IMAGE
need_all() {
	select_kernel
	need_module
	need_qemu
	need_initramfs "$1"
}
