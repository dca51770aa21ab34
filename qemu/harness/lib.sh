# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: GPL-2.0-only
# What every script of the harness starts with: messages, the cache, long steps.

set -euo pipefail
umask 022
unset MAKEFLAGS MFLAGS MAKELEVEL
export LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin

harness=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$harness/../.." && pwd)

# The log of a step that failed without a word should at least name the line.
[[ ! ${DEBUGSTORE_STEP:-} ]] || trap 'echo "${0##*/}: line $LINENO: status $?" >&2' ERR

say() {
	echo "debugstore: $*" >&2
}

die() {
	say "$@"
	exit 1
}

# Kbuild and QEMU's configure cannot work below such a path.
check_path() {
	[[ $2 != *[[:space:]:\"\'\\\$\#\&\;,%]* ]] ||
		die "$1 is '$2'; the builds need a path without blanks, quotes and the like: $3"
}

case ${XDG_CACHE_HOME:-} in
/*) cache=$XDG_CACHE_HOME/debugstore ;;
*) cache=${HOME:?is not set, nor is XDG_CACHE_HOME}/.cache/debugstore ;;
esac
check_path "the checkout's directory" "$top" "move the checkout"
check_path "the cache's directory" "$cache" "set XDG_CACHE_HOME to another one"
mkdir -p "$cache/logs"

# What the module is built from.
module_sources=(Kbuild include ds bts pebs ptrace_ext compat)

# Runs a command in an environment that is the same for everybody.
clean_env() {
	env -i HOME="$HOME" PATH="$PATH" LC_ALL="$LC_ALL" "$@"
}

# hash_of: a short hash of stdin, good for a directory's name.
hash_of() {
	sha256sum | cut -c1-16
}

# hash_tree PATH...: what tells one state of these files of the checkout from another.
hash_tree() {
	local existing=() path
	for path; do
		[[ ! -e $top/$path ]] || existing+=("$path")
	done
	((${#existing[@]})) || return 0
	(cd "$top" && find "${existing[@]}" -type f ! -name '.*' -print0 | sort -z | xargs -0r sha256sum)
}

# step WHAT LOG COMMAND...: one line now, the command's own words in the log.
step() {
	local what=$1 log=$2 start=$SECONDS
	shift 2
	say "$what (log: $log)"
	if ! DEBUGSTORE_STEP=1 "$@" >"$log" 2>&1 </dev/null; then
		tail -n 20 "$log" | sed 's/^/  | /' >&2
		die "failed: $what; the whole log: $log"
	fi
	((SECONDS - start < 10)) || say "  took $((SECONDS - start)) s"
}

# entry NAME KEY WHAT COMMAND...: sets $entry to the cache's directory for NAME in the state KEY. If there is none yet,
# COMMAND makes it: it gets as last argument an empty directory that takes its place when COMMAND has succeeded.
entry() {
	local name=$1 key=$2 what=$3 lock
	shift 3
	entry=$cache/$name/$key
	if [[ ! -d $entry ]]; then
		mkdir -p "$cache/$name"
		exec {lock}>"$cache/$name/.lock"
		flock -n "$lock" || { say "waiting for another make: $what" && flock "$lock"; }
		if [[ ! -d $entry ]]; then
			rm -rf "$cache/$name"/*.part
			mkdir "$entry.part"
			step "$what" "$cache/logs/$name.log" "$@" "$entry.part"
			mv -T "$entry.part" "$entry"
			prune "$name"
		fi
		exec {lock}>&-
	fi
	touch "$entry"
}

# Old states of NAME: the latest four stay.
prune() {
	find "$cache/$1" -mindepth 1 -maxdepth 1 -type d -printf '%T@ %p\n' | sort -rn | tail -n +5 | cut -d' ' -f2- |
		xargs -d '\n' -r rm -rf
}
