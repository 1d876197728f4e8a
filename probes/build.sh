#!/usr/bin/env bash
# Builds the probes whose toolchains are here, each into its own folder:
#
#   probes/build.sh [PROBE...]
#
# A toolchain that is missing is named on standard error, and is no failure
# unless PBKDF2_GATE_REQUIRE lists its word: rust, zig, odin, node, python,
# java or c, separated by commas. Runs in bash 3.2, the one of macOS.
set -u
cd "$(dirname "$0")" || exit 1

all="rust-aws-lc-rs rust-ring zig odin node python java c-openssl"
[ $# -gt 0 ] || set -- $all

log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
status=0

say() { printf 'probes/build.sh: %s\n' "$1" >&2; }

# need WORD HINT PROGRAM ARG: does the program run? macOS has some that only
# offer to install themselves.
need() {
	if "$3" "$4" >/dev/null 2>&1; then return; fi
	missing "$1" "$3 is not on PATH, or does not run: $2"
	return 1
}

missing() {
	case ",${PBKDF2_GATE_REQUIRE:-}," in
	*",$1,"*)
		say "$probe: $2, and PBKDF2_GATE_REQUIRE names $1"
		status=1
		;;
	*) say "$probe skipped: $2" ;;
	esac
}

# run COMMAND...: a step of the build, in the probe's folder.
run() {
	if (cd "$probe" && "$@") >"$log" 2>&1; then return; fi
	tail -n 20 "$log" >&2
	say "$probe: failed, see above: $*"
	status=1
	return 1
}

build() {
	case $probe in
	rust-*)
		need rust "install Rust" cargo --version || return
		run cargo build --release --locked --target-dir target || return
		;;
	zig)
		# PyPI's ziglang calls it python-zig.
		zig=zig
		command -v zig >/dev/null 2>&1 || ! command -v python-zig >/dev/null 2>&1 || zig=python-zig
		need zig "install Zig 0.16 or newer (pip install ziglang)" $zig version || return
		run $zig build || return
		;;
	odin)
		need odin "install Odin" odin version || return
		run odin build . -o:speed -out:odin-probe || return
		;;
	node)
		need node "install Node.js" node --version || return
		run node --check probe.js || return
		;;
	python)
		need python "install Python 3.9 or newer" python3 --version || return
		run python3 -c 'import sys
if sys.version_info < (3, 9): sys.exit("Python 3.9 or newer is needed, this is " + sys.version)
import hashlib, ssl
hashlib.pbkdf2_hmac' || return
		;;
	java)
		need java "install a JDK, 17 or newer" javac -version || return
		need java "install a JDK, 17 or newer" jar --version || return
		need java "install a JDK, 17 or newer" java -version || return
		run javac --release 17 -d classes Probe.java || return
		run jar --create --file probe.jar --main-class Probe -C classes . || return
		;;
	c-openssl)
		cc=${CC:-cc}
		need c "install a C compiler" "${cc%% *}" --version || return
		need c "install make" make --version || return
		if ! (cd "$probe" && make headers) >/dev/null 2>&1; then
			missing c "no headers of OpenSSL 3: install them (libssl-dev; on macOS see probes/c-openssl/README.md)"
			return
		fi
		run make || return
		;;
	*)
		say "no probe $probe: there are $all"
		status=1
		return
		;;
	esac
	printf '%s built\n' "$probe"
}

for probe; do build; done
exit $status
