package baseline

import (
	"fmt"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

func TestLatest(t *testing.T) {
	t.Parallel()
	for want, files := range map[string][]File{
		"":   nil,
		"v3": {{Runs: history("go", 1, 1, 1)}, {Runs: history("go", 1, 1)}},
		// By date, wherever the newest lies.
		"v9": {{Runs: history("go", 1, 1)}, {Runs: []result.Run{released("v9", "r", day(9), 1)}}, {Runs: history("go", 1, 1, 1)}},
		// Of one commit, the one recorded last.
		"b": {{Runs: []result.Run{released("a", "r", day(1), 1)}}, {Runs: []result.Run{released("a", "r", day(1), 1), released("b", "r", day(1), 1)}}, {Runs: []result.Run{released("a", "r", day(1), 1)}}},
	} {
		if got := Latest(files); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCover(t *testing.T) {
	t.Parallel()
	cpu := func(name string) host.Platform { return host.Platform{GOOS: "linux", GOARCH: "amd64", CPUID: name} }
	on := func(leg, name string) func(*result.Run) {
		return func(r *result.Run) { r.Leg, r.Host.CPUID = leg, name }
	}
	file := func(name string, runs ...result.Run) File { return File{Platform: cpu(name), Runs: runs} }
	// v2 met a and b on the label, v1 c as well; d is another label's. A run
	// has several targets.
	node := func(r *result.Run) { r.Target = "node" }
	files := []File{
		file("a", with(released("v1", "r1", day(1), 100), on("u", "a")), with(released("v1", "r1", day(1), 100), on("u", "a"), node),
			with(released("v2", "r4", day(2), 100), on("u", "a")), with(released("v2", "r5", day(2), 100), on("u", "a"))),
		file("b", with(released("v2", "r6", day(2), 100), on("u", "b"))),
		file("c", with(released("v1", "r2", day(1), 100), on("u", "c")), with(released("v1", "r3", day(1), 100), on("u", "c"))),
		file("d", with(released("v3", "r7", day(3), 100), on("arm", "d"))),
	}
	now := []result.Run{with(run("go", "n", "c3", day(3), 100), on("u", "e")), with(run("node", "n", "c3", day(3), 100), on("u", "e")),
		with(run("go", "n", "c3", day(3), 100), on("arm", "d"))}

	got := Cover(files, "u", now)
	equals(t, got, Coverage{"u", "v2", []CPU{{cpu("a"), true}, {cpu("b"), true}, {cpu("c"), false}, {cpu("e"), false}}, 7, 4})
	equals(t, Cover(files, "arm", now), Coverage{"arm", "v3", []CPU{{cpu("d"), true}}, 2, 2})
	equals(t, Cover(files, "arm", nil), Coverage{"arm", "v3", []CPU{{cpu("d"), true}}, 1, 1})
	// Nothing is known of a label that no release was recorded on.
	equals(t, Cover(files, "macos", nil), Coverage{Leg: "macos"})
	equals(t, Cover(nil, "u", now), Coverage{"u", "", []CPU{{cpu("e"), false}}, 1, 0})

	// Only the last runs count: these are older than twenty of v3.
	for i := range 20 {
		files[1].Runs = append(files[1].Runs, with(released("v3", fmt.Sprint("x", i), day(3), 100), on("u", "b")))
	}
	got = Cover(files, "u", nil)
	equals(t, got, Coverage{"u", "v3", []CPU{{cpu("a"), false}, {cpu("b"), true}, {cpu("c"), false}}, 20, 20})
}
