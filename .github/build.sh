#!/usr/bin/env bash
# build.sh OUT: builds OUT/pbkdf2-gate from the source that this script is in.
# Everything it writes is in OUT. It needs any Go since 1.21, which fetches the
# one that go.mod asks for. Runs on bash 3.2, which macOS has.
set -euo pipefail

fail() {
	if [ "${GITHUB_ACTIONS:-}" = true ]; then
		echo "::error title=pbkdf2-gate::$1"
	else
		echo "build.sh: $1" >&2
	fi
	exit 3
}

[ $# = 1 ] || fail "usage: build.sh OUT"
case $(uname -s) in
Linux | Darwin) ;;
*) fail "$(uname -s) is not supported: use a runner with Linux or macOS" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=x64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "$(uname -m) is not supported: use a runner with x86-64 or arm64" ;;
esac

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
mkdir -p "$1"
out=$(cd "$1" && pwd -P)

# candidates lists Go programs that may be here: on PATH, where hosted runners
# announce them, and in their tool cache.
candidates() {
	command -v go || true
	local name
	for name in $(compgen -A variable GOROOT_ | grep -i "_$arch\$"); do
		echo "${!name}/bin/go"
	done
	printf '%s\n' "${RUNNER_TOOL_CACHE:-/opt/hostedtoolcache}"/go/*/"$arch"/bin/go
}

# find_go sets go to the newest of them; the first of equals.
find_go() {
	local name version best=0
	while IFS= read -r name; do
		[ -x "$name" ] || continue
		version=$(cd / && GOENV=off GOTOOLCHAIN=local "$name" env GOVERSION 2>/dev/null) || continue
		[[ $version =~ go1\.([0-9]+) ]] || continue
		if [ "${BASH_REMATCH[1]}" -gt "$best" ]; then
			best=${BASH_REMATCH[1]}
			go=$name
		fi
	done < <(candidates)
	[ "$best" != 0 ] || fail "no Go found on PATH, in GOROOT_* or in the runner's tool cache: run actions/setup-go before, or use a runner with Go 1.21 or newer"
	[ "$best" -ge 21 ] || fail "Go 1.$best is too old to fetch a newer one: run actions/setup-go before, or use a runner with Go 1.21 or newer"
}

# A later call in the same job builds with the Go of the first, whatever was
# put on the path in between: with the same source it has nothing to do.
go=$(cat "$out/go" 2>/dev/null) || go=
[ -x "$go" ] || find_go

# The caller's settings of Go are no business of this build, save where
# modules come from: go.sum and the checksum database say what they must be.
for name in $(compgen -e | grep -E '^(GO|CGO_)' || true); do
	case $name in GOPROXY | GOSUMDB) ;; *) unset "$name" ;; esac
done
# HOME: Go's counters are written below it.
export GOENV=off GOFLAGS='' GOWORK=off GOTOOLCHAIN=auto CGO_ENABLED=0 \
	GOCACHE="$out/cache/build" GOPATH="$out/cache/go" GOMODCACHE="$out/cache/mod" HOME="$out/cache/home"
mkdir -p "$HOME"
# Modules are unpacked read-only, which keeps a runner from cleaning up.
trap 'chmod -R u+w "$out/cache" 2>/dev/null || true' EXIT

# What this is: the commit, where the source is a repository of its own, else
# the ref that the workflow named.
stamp=
if [ -e "$source/.git" ]; then
	stamp=$(git -C "$source" rev-parse --short=12 HEAD 2>/dev/null) || stamp=
fi
stamp=${stamp:-${GITHUB_ACTION_REF:-}}
[[ $stamp =~ ^[A-Za-z0-9._/+-]{1,100}$ ]] || stamp=

cd "$source"
"$go" build -trimpath -buildvcs=false \
	-ldflags "-s -w -X github.com/pbkdf2-gate/pbkdf2-gate/internal/cli.stamped=$stamp" \
	-o "$out/pbkdf2-gate" ./cmd/pbkdf2-gate ||
	fail "the build failed, see above: it needs to reach ${GOPROXY:-the Go module proxy} for modules, and for Go where the runner's is older than go.mod asks for"
echo "$go" >"$out/go"
"$out/pbkdf2-gate" version
