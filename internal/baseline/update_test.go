package baseline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

func TestUpdateReplacesItsRelease(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "baselines")
	short := func(r *result.Run) { r.Workload.Iterations, r.Plan.SliceIterations = 1000, 1000 }

	rep := update(t, dir, "v1", run("go", "a", "c1", day(1), 154), run("node", "a", "c1", day(1), 197))
	path := filepath.Join(dir, "linux-amd64", zen.CPUID+".txt")
	if len(rep.Files) != 1 || rep.Files[0].State != Written || rep.Files[0].Path != path || names(rep.Files[0].Runs) != "v1/go/a v1/node/a" {
		t.Errorf("report: %+v", rep.Files)
	}
	equals(t, names(stored(t, dir)), "v1/go/a v1/node/a")

	update(t, dir, "v2", run("go", "b", "c2", day(2), 154), run("go", "c", "c2", day(2), 155))
	equals(t, names(stored(t, dir)), "v1/go/a v1/node/a v2/go/b v2/go/c")

	// The same commit measured anew: its target's runs go, the other target's stay.
	update(t, dir, "v1", run("go", "d", "c1", day(1), 154), run("go", "e", "c1", day(1), 154))
	equals(t, names(stored(t, dir)), "v1/go/d v1/go/e v1/node/a v2/go/b v2/go/c")

	// Another workload of the target stands beside.
	update(t, dir, "v1", with(run("go", "f", "c1", day(1), 1), short))
	equals(t, names(stored(t, dir)), "v1/go/f v1/go/d v1/go/e v1/node/a v2/go/b v2/go/c")
}

func TestUpdateOrdersByDate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	update(t, dir, "v2", run("go", "b", "c2", day(2), 154))
	update(t, dir, "v4", run("go", "d", "c4", day(4), 154))
	update(t, dir, "v1", run("go", "a", "c1", day(1), 154))
	update(t, dir, "v3", run("go", "c", "c3", day(3), 154))
	update(t, dir, "v4-again", run("go", "e", "c4", day(4), 154))
	equals(t, names(stored(t, dir)), "v1/go/a v2/go/b v3/go/c v4/go/d v4-again/go/e")
	// Recording one anew does not move it among those of its date.
	update(t, dir, "v4", run("go", "f", "c4", day(4), 154))
	equals(t, names(stored(t, dir)), "v1/go/a v2/go/b v3/go/c v4/go/f v4-again/go/e")
}

func TestUpdateIsIdempotent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs := []result.Run{run("node", "b", "c1", day(1), 197), run("go", "a", "c1", day(1), 154), run("go", "b", "c1", day(1), 154)}
	update(t, dir, "v0", run("go", "z", "c0", day(1), 150))
	path := update(t, dir, "v1", runs...).Files[0].Path
	// A comment shows that the file is not even written with equal content.
	before := "# kept\n" + content(t, path)
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	then := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		rep := update(t, dir, "v1", runs...)
		if len(rep.Files) != 1 || rep.Files[0].State != Unchanged || len(rep.Files[0].Runs) != 3 {
			t.Errorf("report: %+v", rep.Files)
		}
		slices.Reverse(runs)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if content(t, path) != before || !info.ModTime().Equal(then) {
		t.Errorf("the file was touched: %v\n%s", info.ModTime(), content(t, path))
	}
}

func TestUpdateKeepsTheNewerCommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	update(t, dir, "v1", run("go", "new", "c2", day(2), 154))
	late := []result.Run{run("go", "late", "c1", day(1), 150), run("node", "late", "c1", day(1), 190)}
	rep := update(t, dir, "v1", late...)
	equals(t, names(stored(t, dir)), "v1/go/new")
	equals(t, reasons(rep), []string{"go/late: release v1 holds commit c2 of 2026-01-02, which is newer", "node/late: release v1 holds commit c2 of 2026-01-02, which is newer"})
	// A release is one commit on every CPU.
	elsewhere := run("go", "late", "c1", day(1), 150)
	elsewhere.Host.CPUID = "another"
	if rep := update(t, dir, "v1", elsewhere); len(rep.Files) > 0 || len(rep.LeftOut) != 1 {
		t.Errorf("a late run of another CPU: %+v", rep)
	}

	rep = update(t, dir, "v1", late[0])
	if len(rep.Files) > 0 || len(rep.LeftOut) != 1 {
		t.Errorf("only a late run: %+v", rep)
	}
	// The same commit, and a newer one, replace.
	update(t, dir, "v1", run("go", "again", "c2", day(2), 154))
	equals(t, names(stored(t, dir)), "v1/go/again")
	update(t, dir, "v1", run("go", "newer", "c3", day(3), 154))
	equals(t, names(stored(t, dir)), "v1/go/newer")
}

// What a killed update was writing is removed by the next one, and nothing
// else.
func TestUpdateRemovesAbandoned(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "odd [name]")
	update(t, dir, "v1", run("go", "a", "c1", day(1), 154))
	folder := filepath.Join(dir, "linux-amd64")
	for _, name := range []string{".cpu-13.txt2161311799762783043", ".keep", ".cpu-13.txt", "mine.txt7"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("cut"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	update(t, dir, "v2", run("go", "b", "c2", day(2), 154))
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	equals(t, left, []string{".cpu-13.txt", ".keep", zen.CPUID + extension, "mine.txt7"})
}

// A pipe in the folder is no baseline, and is not waited for.
func TestPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	update(t, dir, "v1", run("go", "a", "c1", day(1), 154))
	if err := unix.Mkfifo(filepath.Join(dir, "linux-amd64/pipe.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.All(); err == nil || !strings.Contains(err.Error(), "pipe.txt is not a regular file") {
		t.Error(err)
	}
}

// A file that is full loses its oldest releases, but not what a run is held
// against.
func TestUpdateFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rounds := run("go", "r", "c", day(1), 100).Rounds
	for len(rounds) < 40 {
		rounds = append(rounds, rounds[0])
	}
	many := func(n int) (runs []result.Run) {
		for i := range 5 {
			for j := range 9 {
				r := run(fmt.Sprintf("t%d", i), fmt.Sprintf("r%d", j), fmt.Sprintf("c%d", n), day(1).AddDate(0, n, 0), 100)
				r.Rounds = rounds
				runs = append(runs, r)
			}
		}
		return runs
	}
	path, err := path(dir, zen)
	if err != nil {
		t.Fatal(err)
	}
	var old []result.Run
	for n := range 22 {
		for _, r := range many(n) {
			r.Release = fmt.Sprintf("v%d", n)
			old = append(old, thin(r))
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	for n := 22; ; n++ {
		if n > 40 {
			t.Fatal("it is never full")
		}
		if n == 22 {
			if err := result.WriteFile(path, old); err != nil {
				t.Fatal(err)
			}
		}
		rep, err := Update(dir, fmt.Sprintf("v%d", n), many(n), Options{Threshold: 0.05})
		if err != nil {
			t.Fatal(err)
		}
		if len(rep.Dropped) == 0 {
			continue
		}
		kept := releases(stored(t, dir))
		if latest(kept).name != fmt.Sprintf("v%d", n) || kept[0].name != "v0" || len(kept) < 20 {
			t.Errorf("kept %d releases, %s to %s", len(kept), kept[0].name, latest(kept).name)
		}
		return
	}
}

func TestUpdateLeavesOut(t *testing.T) {
	t.Parallel()
	unverified := with(run("timed", "a", "c1", day(1), 154), func(r *result.Run) { r.Unverified = true })
	emulated := with(run("go", "q", "c1", day(1), 154), func(r *result.Run) { r.Host.Emulated = "qemu" })
	few := with(run("go", "few", "c1", day(1), 154), func(r *result.Run) { r.Rounds = r.Rounds[:5] })
	dirty := with(run("go", "dirty", "c1", day(1), 154), func(r *result.Run) {
		for i := range 3 {
			r.Rounds[i].Clean, r.Rounds[i].CleanShare = 24, 0.2
		}
	})
	busy := with(run("go", "busy", "c1", day(1), 154), func(r *result.Run) { r.Contended = true })
	runs := []result.Run{
		run("go", "good", "c1", day(1), 154),
		run("go", "good", "c1", day(1), 154),
		with(run("go", "base", "c0", day(0), 154), func(r *result.Run) { r.Side = result.Base }),
		with(run("go", "f", "c1", day(1), 154), func(r *result.Run) { r.Outcome, r.Message, r.Rounds = result.Failed, "died", nil }),
		with(run("go", "n", "c1", day(1), 154), func(r *result.Run) { r.Rounds = nil }),
		unverified, emulated, few, dirty, busy,
	}
	dir := t.TempDir()
	rep := update(t, dir, "v1", runs...)
	equals(t, names(stored(t, dir)), "v1/go/good")
	equals(t, reasons(rep), []string{
		"go/good: the same run was given before",
		"go/base: it is the base of a comparison, not the release",
		"go/f: it is failed: died",
		"go/n: it has no rounds: measure again on a quieter machine",
		"timed/a: its keys could not be checked: allow unverified to record it",
		"go/q: its CPU is emulated (qemu): allow emulated to record it",
		"go/few: it was disturbed (5 usable rounds, a baseline needs 6): measure again, or allow disturbed to record it",
		"go/dirty: it was disturbed (5 usable rounds, a baseline needs 6): measure again, or allow disturbed to record it",
		"go/busy: most of its runs were disturbed, so that they hold beside the other side in their job alone: measure again on a quieter machine",
	})

	for _, c := range []struct {
		opt  Options
		want string
	}{
		{Options{Unverified: true}, "v1/go/good v1/timed/a"},
		{Options{Emulated: true}, "v1/go/good v1/go/q"},
		{Options{Disturbed: true}, "v1/go/dirty v1/go/few v1/go/good"},
	} {
		dir := t.TempDir()
		if _, err := Update(dir, "v1", runs, c.opt); err != nil {
			t.Fatal(err)
		}
		equals(t, names(stored(t, dir)), c.want)
	}

	none := filepath.Join(t.TempDir(), "none")
	if rep := update(t, none, "v1", few); len(rep.Files) > 0 || len(rep.LeftOut) != 1 {
		t.Errorf("nothing to record: %+v", rep)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a folder was made for nothing")
	}
}

func TestUpdateRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	one, other := run("go", "a", "c1", day(1), 154), run("node", "b", "c2", day(2), 154)
	for name, c := range map[string]struct {
		dir, release string
		runs         []result.Run
		want         string
	}{
		"release":         {dir, "../x", []result.Run{one}, "not a release's name"},
		"long release":    {dir, strings.Repeat("v", 300), []result.Run{one}, "not a release's name"},
		"commits":         {dir, "v1", []result.Run{one, other}, "several commits (c1, c2)"},
		"outside git too": {dir, "v1", []result.Run{one, with(other, func(r *result.Run) { r.Commit = "" })}, "several commits (c1, none)"},
		"a file":          {file, "v1", []result.Run{one}, "is not a folder"},
		"cpu-id":          {dir, "v1", []result.Run{with(one, func(r *result.Run) { r.Host.CPUID = "../../x" })}, "names no baseline file"},
		"invalid run":     {dir, "v1", []result.Run{with(one, func(r *result.Run) { r.Host.CPU = "\x00" })}, "not printable"},
	} {
		if rep, err := Update(c.dir, c.release, c.runs, Options{}); err == nil || !strings.Contains(err.Error(), c.want) || len(rep.Files) > 0 {
			t.Errorf("%s: got %v, %v, want %q", name, rep.Files, err, c.want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// Where one of several files cannot be used, none is written.
func TestUpdateAllOrNone(t *testing.T) {
	t.Parallel()
	arm := func(r *result.Run) { r.Host.GOARCH, r.Host.CPUID = "arm64", "neoverse-n2" }
	armPlatform := host.Platform{GOOS: "linux", GOARCH: "arm64", CPUID: "neoverse-n2"}
	dir := t.TempDir()
	bad := write(t, dir, armPlatform, with(released("v0", "x", day(1), 300), arm))
	if err := os.WriteFile(bad, []byte("format: pbkdf2-gate/2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	both := []result.Run{run("go", "a", "c1", day(1), 154), with(run("go", "b", "c1", day(1), 300), arm)}
	if _, err := Update(dir, "v1", both, Options{}); err == nil || len(stored(t, dir)) > 0 {
		t.Errorf("%v, and recorded %v", err, names(stored(t, dir)))
	}

	// A path that fails only when it is written: the report says what was.
	if err := os.Remove(bad); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "linux-amd64"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "blocker"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	edits := []edit{
		{platform: zen, path: filepath.Join(dir, "linux-amd64", "a.txt"), new: both[:1]},
		{platform: zen, path: filepath.Join(dir, "linux-amd64"), new: both[:1]},
		{platform: zen, path: filepath.Join(dir, "linux-amd64", "c.txt"), new: both[:1]},
	}
	changes, err := apply(edits)
	var states []State
	for _, c := range changes {
		states = append(states, c.State)
	}
	equals(t, states, []State{Written, NotWritten, NotWritten})
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
}

func TestUpdateThroughLinks(t *testing.T) {
	t.Parallel()
	elsewhere, dir := t.TempDir(), filepath.Join(t.TempDir(), "baselines")
	if err := os.Symlink(elsewhere, dir); err != nil {
		t.Fatal(err)
	}
	// The file is a link too, out of the folder.
	real := filepath.Join(t.TempDir(), "real.txt")
	if err := result.WriteFile(real, []result.Run{released("v1", "a", day(1), 154)}); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(elsewhere, "linux-amd64", zen.CPUID+".txt")
	if err := os.Mkdir(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	update(t, dir, "v2", run("go", "b", "c2", day(2), 154))
	equals(t, names(stored(t, dir)), "v1/go/a v2/go/b")
	for _, l := range []string{dir, link} {
		if info, err := os.Lstat(l); err != nil || info.Mode().Type() != os.ModeSymlink {
			t.Errorf("%s is no link any more: %v", l, err)
		}
	}
	if runs, err := result.ReadFile(real); err != nil || len(runs) != 2 {
		t.Errorf("behind the link: %d runs, %v", len(runs), err)
	}
}

func TestUpdateReadOnly(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root writes everywhere")
	}
	arm := func(r *result.Run) { r.Host.GOARCH, r.Host.CPUID = "arm64", "neoverse-n2" }
	for _, sub := range []string{"", "linux-arm64"} {
		dir := t.TempDir()
		update(t, dir, "v1", run("go", "a", "c1", day(1), 154), with(run("go", "b", "c1", day(1), 300), arm))
		locked := filepath.Join(dir, sub)
		if err := os.Chmod(locked, 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(locked, 0o700) })
		rep, err := Update(dir, "v2", []result.Run{run("go", "c", "c2", day(2), 154), with(run("go", "d", "c2", day(2), 300), arm)}, Options{})
		if err == nil || !strings.Contains(err.Error(), "permission denied: make the folder writable") {
			t.Errorf("%q: got %v", sub, err)
		}
		for _, f := range rep.Files {
			if f.State != NotWritten {
				t.Errorf("%q: %s is %s", sub, f.Path, f.State)
			}
		}
		equals(t, names(stored(t, dir)), "v1/go/a")
	}
}

// What cannot be compared with any release before is recorded, and said.
func TestUpdateFresh(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		release string
		change  func(*result.Run)
		fresh   bool
	}{
		"the same plan":            {"v2", func(*result.Run) {}, false},
		"another warm-up":          {"v2", func(r *result.Run) { r.Plan.WarmUp = 20 }, false},
		"another plan":             {"v2", func(r *result.Run) { r.Plan.Slices = 160 }, true},
		"another yardstick":        {"v2", func(r *result.Run) { r.Yardstick = "2 sha-ni" }, true},
		"another target":           {"v2", func(r *result.Run) { r.Target = "node"; r.Plan.Slices = 160 }, false},
		"a release measured again": {"v1", func(r *result.Run) { r.Plan.Slices = 160 }, false},
	} {
		dir := t.TempDir()
		update(t, dir, "v1", run("go", "a", "c1", day(1), 154))
		r := run("go", "b", "c2", day(2), 154)
		c.change(&r)
		rep := update(t, dir, c.release, r)
		if got := len(rep.Fresh) == 1; got != c.fresh || len(rep.Files) != 1 {
			t.Errorf("%s: %+v", name, rep)
		}
	}
}
