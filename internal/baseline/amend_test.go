package baseline

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// remote is a folder of baselines in memory.
type remote map[string][]byte

func (m remote) files(branch string) Files {
	return Files{
		Names: slices.Sorted(maps.Keys(m)),
		Read: func(name string) ([]byte, error) {
			if data, ok := m[name]; ok {
				return data, nil
			}
			return nil, fs.ErrNotExist
		},
		Where: func(name string) string { return branch + ":" + name },
	}
}

// amend returns the folder as it is after an Amend, and its report.
func amend(t *testing.T, base, pending remote, opt Options, release string, runs ...result.Run) (remote, Report) {
	t.Helper()
	var p *Files
	if pending != nil {
		f := pending.files("topic")
		p = &f
	}
	changed, rep, err := Amend(base.files("main"), p, release, runs, opt)
	if err != nil {
		t.Fatal(err)
	}
	out := maps.Clone(base)
	for _, a := range changed {
		if bytes.Equal(out[a.Path], a.Data) {
			t.Errorf("%s is no change", a.Path)
		}
		out[a.Path] = a.Data
	}
	return out, rep
}

func (m remote) names(t *testing.T, p host.Platform) string {
	t.Helper()
	runs, err := m.files("x").load(p)
	if err != nil {
		t.Fatal(err)
	}
	return names(runs)
}

var (
	arm         = func(r *result.Run) { r.Host.GOARCH, r.Host.CPUID = "arm64", "neoverse-n2" }
	armPlatform = host.Platform{GOOS: "linux", GOARCH: "arm64", CPUID: "neoverse-n2"}
)

// On a disk and in memory the same updates make the same files.
func TestAmendIsUpdate(t *testing.T) {
	t.Parallel()
	dir, mem := t.TempDir(), remote{}
	for i, u := range []struct {
		release string
		runs    []result.Run
	}{
		{"v1", []result.Run{run("go", "a", "c1", day(1), 154), run("go", "b", "c1", day(1), 155), with(run("go", "c", "c1", day(1), 300), arm)}},
		{"v3", []result.Run{run("go", "d", "c3", day(3), 154), run("node", "d", "c3", day(3), 197)}},
		{"v2", []result.Run{run("go", "e", "c2", day(2), 154), with(run("go", "f", "c2", day(2), 300), arm)}},
		{"v3", []result.Run{run("go", "g", "c1", day(1), 154), run("node", "h", "c4", day(4), 197)}[1:]},
		{"v3", []result.Run{run("go", "i", "c1", day(1), 154)}},
		{"v2", []result.Run{run("go", "e", "c2", day(2), 154), with(run("go", "f", "c2", day(2), 300), arm)}},
	} {
		onDisk, err := Update(dir, u.release, u.runs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var inMemory Report
		mem, inMemory = amend(t, mem, nil, Options{}, u.release, u.runs...)
		for j := range onDisk.Files {
			onDisk.Files[j].Path, _ = filepath.Rel(dir, onDisk.Files[j].Path)
		}
		equals(t, append([]Change{}, inMemory.Files...), onDisk.Files)
		equals(t, inMemory.LeftOut, onDisk.LeftOut)
		for name, data := range mem {
			if got := content(t, filepath.Join(dir, name)); got != string(data) {
				t.Errorf("update %d: %s differs", i+1, name)
			}
		}
	}
	if len(mem) != 2 {
		t.Errorf("%d files", len(mem))
	}
}

// What waits to be merged is kept as far as it is the release's, and news.
func TestAmendPending(t *testing.T) {
	t.Parallel()
	base, _ := amend(t, remote{}, nil, Options{}, "v1", run("go", "a", "c1", day(1), 154), run("node", "a", "c1", day(1), 197))
	topic, _ := amend(t, base, nil, Options{}, "v2",
		run("go", "b", "c2", day(2), 154), run("node", "b", "c2", day(2), 197), with(run("go", "b", "c2", day(2), 300), arm))
	topic, _ = amend(t, topic, nil, Options{}, "v1", run("go", "edited", "c1", day(1), 90)) // no business of the topic
	topic["README.txt"] = []byte("no baseline")

	got, rep := amend(t, base, topic, Options{}, "v2", run("go", "c", "c2", day(2), 155))
	equals(t, got.names(t, zen), "v1/go/a v1/node/a v2/go/c v2/node/b")
	equals(t, got.names(t, armPlatform), "v2/go/b")
	if len(rep.Files) != 1 || rep.Files[0].State != Written {
		t.Errorf("report: %+v", rep)
	}
	// The same again changes nothing more.
	again, _ := amend(t, base, got, Options{}, "v2", run("go", "c", "c2", day(2), 155))
	equals(t, again, got)

	// What was merged counts, not what is left on the topic branch.
	merged, _ := amend(t, base, nil, Options{}, "v2", run("go", "m", "c2", day(2), 154))
	got, _ = amend(t, merged, topic, Options{}, "v2", with(run("go", "x", "c2", day(2), 300), arm))
	equals(t, got.names(t, zen), "v1/go/a v1/node/a v2/go/m v2/node/b")
	equals(t, got.names(t, armPlatform), "v2/go/x")

	// Another release's topic has nothing to give.
	got, _ = amend(t, base, topic, Options{}, "v3", run("go", "d", "c3", day(3), 154))
	equals(t, got.names(t, zen), "v1/go/a v1/node/a v3/go/d")
}

func TestAmendDamaged(t *testing.T) {
	t.Parallel()
	good, _ := amend(t, remote{}, nil, Options{}, "v1", run("go", "a", "c1", day(1), 154))
	name := fileName(zen)
	cut := remote{name: good[name][:len(good[name])-40]}
	conflict := remote{name: append([]byte("<<<<<<< HEAD\n"), good[name]...)}
	for what, c := range map[string]struct {
		base, pending remote
		want          string
	}{
		"cut":                {cut, nil, "main:" + name + ":"},
		"merged badly":       {conflict, nil, "main:" + name + ":1: "},
		"its topic":          {good, conflict, "topic:" + name + ":1: "},
		"another platform's": {remote{name: bytes.ReplaceAll(good[name], []byte("goos: linux"), []byte("goos: darwin"))}, nil, "is not the file's platform"},
	} {
		var pending *Files
		if c.pending != nil {
			f := c.pending.files("topic")
			pending = &f
		}
		changed, _, err := Amend(c.base.files("main"), pending, "v2", []result.Run{run("go", "b", "c2", day(2), 154)}, Options{})
		var syntax *result.SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), c.want) || changed != nil {
			t.Errorf("%s: got %v, want %q", what, err, c.want)
		}
	}
	// Where it cannot be read, that is the error.
	broken := good.files("main")
	broken.Read = func(string) ([]byte, error) { return nil, errors.New("GitHub answered 500") }
	if _, _, err := Amend(broken, nil, "v2", []result.Run{run("go", "b", "c2", day(2), 154)}, Options{}); err == nil || err.Error() != "GitHub answered 500" {
		t.Errorf("got %v", err)
	}
	// A damaged file that the release does not touch is not looked at.
	if _, _, err := Amend(conflict.files("main"), nil, "v2", []result.Run{with(run("go", "b", "c2", day(2), 300), arm)}, Options{}); err != nil {
		t.Error(err)
	}
}

// A later measurement of a release adds the CPUs that it did not meet.
func TestNewPlatforms(t *testing.T) {
	t.Parallel()
	base, _ := amend(t, remote{}, nil, Options{}, "v1", run("go", "a", "c1", day(1), 154))
	base, _ = amend(t, base, nil, Options{}, "v2", with(run("go", "b", "c2", day(2), 300), arm))
	opt := Options{NewPlatforms: true}
	both := []result.Run{run("go", "c", "c2", day(2), 154), with(run("node", "c", "c2", day(2), 300), arm)}
	got, rep := amend(t, base, nil, opt, "v2", both...)
	equals(t, got.names(t, zen), "v1/go/a v2/go/c")
	equals(t, got.names(t, armPlatform), "v2/go/b")
	equals(t, reasons(rep), []string{"node/c: release v2 has a baseline of this CPU already"})
	again, rep := amend(t, got, nil, opt, "v2", both...)
	equals(t, again, got)
	if len(rep.Files) > 0 || len(rep.LeftOut) != 2 {
		t.Errorf("report: %+v", rep)
	}
	// What waits to be merged is there already, too.
	waiting, rep := amend(t, base, got, opt, "v2", run("go", "d", "c2", day(2), 154))
	equals(t, waiting, got)
	if len(rep.Files) > 0 || len(rep.LeftOut) != 1 {
		t.Errorf("report: %+v", rep)
	}
	// And so it is on a disk.
	dir := t.TempDir()
	update(t, dir, "v1", run("go", "a", "c1", day(1), 154))
	if rep, err := Update(dir, "v1", []result.Run{run("node", "b", "c1", day(1), 197)}, opt); err != nil || len(rep.Files) > 0 || len(rep.LeftOut) != 1 {
		t.Errorf("%+v, %v", rep, err)
	}
}

func TestOnePlan(t *testing.T) {
	t.Parallel()
	plan := func(r result.Run, slice int) result.Run { r.Plan.SliceIterations = slice; return r }
	first := func(id string, slice int) result.Run { return plan(run("go", id, "c1", day(1), 154), slice) }
	few := func(r result.Run) result.Run { r.Rounds = r.Rounds[:6]; return r }
	const others, recorded = "it was sampled by another plan than the release's other replicas (%d), and cannot be compared with them: measure it again once they are recorded",
		"it was sampled by another plan than the baseline recorded before, and cannot be compared with it"
	for name, c := range map[string]struct {
		before []result.Run // of v0
		runs   []result.Run
		want   string
		left   []string
	}{
		"the one that most share":  {nil, []result.Run{first("a", 900), first("b", 1000), first("c", 1000)}, "v1/go/b v1/go/c", []string{"go/a: " + fmt.Sprintf(others, 2)}},
		"then more usable rounds":  {nil, []result.Run{few(first("a", 900)), first("b", 1000)}, "v1/go/b", []string{"go/a: " + fmt.Sprintf(others, 1)}},
		"then the shorter slices":  {nil, []result.Run{first("a", 1000), first("b", 900)}, "v1/go/b", []string{"go/a: " + fmt.Sprintf(others, 1)}},
		"the recorded one first":   {[]result.Run{first("z", 900)}, []result.Run{first("a", 900), first("b", 1000), first("c", 1000)}, "v0/go/z v1/go/a", []string{"go/b: " + recorded, "go/c: " + recorded}},
		"unless none has it":       {[]result.Run{first("z", 700)}, []result.Run{first("a", 900), first("b", 1000), first("c", 1000)}, "v0/go/z v1/go/b v1/go/c", []string{"go/a: " + fmt.Sprintf(others, 2)}},
		"each target for itself":   {nil, []result.Run{first("a", 900), with(first("b", 1000), func(r *result.Run) { r.Target = "node" })}, "v1/go/a v1/node/b", nil},
		"each platform for itself": {nil, []result.Run{first("a", 900), with(first("b", 1000), arm)}, "v1/go/a", nil},
		"another yardstick's plan": {[]result.Run{with(first("z", 900), func(r *result.Run) { r.Yardstick = "2 sha-ni" })}, []result.Run{first("a", 900), first("b", 1000), first("c", 1000)},
			"v0/go/z v1/go/b v1/go/c", []string{"go/a: " + fmt.Sprintf(others, 2)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 2 {
				dir := t.TempDir()
				if c.before != nil {
					write(t, dir, zen, with(c.before[0], func(r *result.Run) { r.Release, r.Date = "v0", day(0) }))
				}
				rep := update(t, dir, "v1", c.runs...)
				equals(t, names(stored(t, dir)), c.want)
				equals(t, reasons(rep), c.left)
				if len(c.runs) == 2 { // the order does not matter
					slices.Reverse(c.runs)
				}
			}
		})
	}
}

func TestInputErrors(t *testing.T) {
	t.Parallel()
	one, other := run("go", "a", "c1", day(1), 154), run("go", "b", "c1", day(1), 154)
	for name, c := range map[string]struct {
		release string
		runs    []result.Run
		want    string
	}{
		"commits":    {"v1", []result.Run{one, with(other, func(r *result.Run) { r.Commit = "c2" })}, "of several commits (c1, c2): record one commit as release v1"},
		"yardsticks": {"v1", []result.Run{one, with(other, func(r *result.Run) { r.Yardstick = "2 sha-ni" })}, `several yardsticks ("1 sha-ni", "2 sha-ni"): measure all with one version`},
		"workloads": {"v1", []result.Run{one, with(other, func(r *result.Run) { r.Workload.Iterations = 600_000 })},
			"the results of go are of several workloads (PBKDF2-HMAC-SHA256, 500,000 iterations, 16-byte salt, 64-byte key; PBKDF2-HMAC-SHA256, 600,000"},
		"a release":   {"v2", []result.Run{with(one, func(r *result.Run) { r.Release = "v1" })}, "is recorded as release v1 already"},
		"its name":    {"../x", []result.Run{one}, "not a release's name"},
		"with spaces": {"v 1", []result.Run{one}, "not a release's name"},
		"a long name": {strings.Repeat("v", 300), []result.Run{one}, "not a release's name"},
	} {
		dir := filepath.Join(t.TempDir(), "none")
		_, onDisk := Update(dir, c.release, c.runs, Options{})
		_, _, inMemory := Amend(remote{}.files("main"), nil, c.release, c.runs, Options{})
		for _, err := range []error{onDisk, inMemory} {
			var input *InputError
			if !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			}
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: a folder was made", name)
		}
	}
	// What is left out anyway does not stop the others; another target may
	// have another workload, and a release may be recorded from its own file.
	dir := t.TempDir()
	update(t, dir, "v1", with(one, func(r *result.Run) { r.Release = "v1" }),
		with(other, func(r *result.Run) { r.Commit, r.Side = "c0", result.Base }),
		with(other, func(r *result.Run) { r.Target, r.Workload.Iterations = "node", 600_000 }))
	equals(t, names(stored(t, dir)), "v1/go/a v1/node/b")
}

func TestSteps(t *testing.T) {
	t.Parallel()
	other := func(r *result.Run) { r.Plan.SliceIterations = 9 }
	node := func(r *result.Run) { r.Target = "node" }
	runs := slices.Concat(history("go", 100, 103, 110),
		[]result.Run{with(released("v2", "x", day(2), 50), other), released("v3", "y", day(3), 112)},
		[]result.Run{with(released("v3", "n", day(3), 200), node)})
	f := File{zen, "linux-amd64/x.txt", runs}
	for release, want := range map[string]string{
		"v1": "go: v1 100 (1)",
		"v2": "go: v2 50 (1) unlike v1", // its newest run's plan has nothing before
		"v3": "go: v2 103 (1) -> v3 111 (2) resets; node: v3 200 (1)",
		"v4": "",
	} {
		var got []string
		for _, s := range f.Steps(release, 0.05) {
			text := s.Target + ": "
			if s.Then.Release != "" {
				text += fmt.Sprintf("%s %.0f (%d) -> ", s.Then.Release, s.Then.NsPerOp/1e6, s.Then.Replicas)
			}
			text += fmt.Sprintf("%s %.0f (%d)", s.Now.Release, s.Now.NsPerOp/1e6, s.Now.Replicas)
			if s.Resets {
				text += " resets"
			}
			if s.Unlike != "" {
				text += " unlike " + s.Unlike
			}
			got = append(got, text)
			if s.Platform != zen || s.CPU == "" || math.Abs(s.Now.RelCost-s.Now.NsPerOp/s.Workload.Compressions()/37) > 1e-9 {
				t.Errorf("step %+v", s)
			}
		}
		equals(t, strings.Join(got, "; "), want)
	}
}
