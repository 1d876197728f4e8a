package baseline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, dangling, link := filepath.Join(dir, "file"), filepath.Join(dir, "dangling"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for l, to := range map[string]string{dangling: "nowhere", link: "real"} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.Base(l))); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "real"), zen, released("v1", "a", day(1), 154))

	for path, want := range map[string]string{file: "is not a folder", dangling: "symbolic link to nothing"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	equals(t, names(stored(t, filepath.Join(dir, "none"))), "")
	equals(t, names(stored(t, link)), "v1/go/a")
	s, err := Open(filepath.Join(dir, "none"))
	if err != nil {
		t.Fatal(err)
	}
	if files, err := s.All(); err != nil || len(files) > 0 {
		t.Errorf("All: %v, %v", files, err)
	}
	if entries, err := s.List(); err != nil || len(entries) > 0 {
		t.Errorf("List: %v, %v", entries, err)
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := t.TempDir()
	path := write(t, dir, zen, released("v1", "a", day(1), 154))
	for _, p := range []string{path, filepath.Dir(path), dir} {
		if err := os.Chmod(p, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(p, 0o700) })
		s, err := Open(dir)
		if err == nil {
			_, err = s.All()
		}
		if err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("%s: %v", p, err)
		}
		if err := os.Chmod(p, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for _, p := range []host.Platform{
		zen,
		{GOOS: "darwin", GOARCH: "arm64", CPUID: "apple-m1-virtual"},
		{GOOS: "linux", GOARCH: "arm64", CPUID: "0x41+0xd49_r0.1"},
		{GOOS: "linux", GOARCH: "amd64", CPUID: "-"},
	} {
		got, err := path("b", p)
		if want := filepath.Join("b", p.GOOS+"-"+p.GOARCH, p.CPUID+".txt"); err != nil || got != want {
			t.Errorf("%v: %q, %v", p, got, err)
		}
	}
	for _, p := range []host.Platform{
		{},
		{GOOS: "linux", GOARCH: "amd64"},
		{GOOS: "linux", GOARCH: "amd64", CPUID: "."},
		{GOOS: "linux", GOARCH: "amd64", CPUID: ".."},
		{GOOS: "linux", GOARCH: "amd64", CPUID: ".hidden"},
		{GOOS: "linux", GOARCH: "amd64", CPUID: "../x"},
		{GOOS: "linux", GOARCH: "amd64", CPUID: "a/b"},
		{GOOS: "linux", GOARCH: "amd64", CPUID: strings.Repeat("x", 129)},
		{GOOS: "linux-x", GOARCH: "amd64", CPUID: "a"},
		{GOOS: "linux", GOARCH: "x-amd64", CPUID: "a"},
		{GOOS: "..", GOARCH: "amd64", CPUID: "a"},
		{GOOS: "linux", GOARCH: "", CPUID: "a"},
	} {
		if got, err := path("b", p); err == nil {
			t.Errorf("%+v: %s", p, got)
		}
		if _, err := (&Store{t.TempDir()}).Load(p); err == nil {
			t.Errorf("%+v is loaded", p)
		}
	}
}

// A file that is not wholly a baseline of its platform is an error with file
// and line, for readers and for Update, which leaves it as it is.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	good := released("v1", "a", day(1), 154)
	encoded, err := result.Encode([]result.Run{good, released("v2", "b", day(2), 154)})
	if err != nil {
		t.Fatal(err)
	}
	file := string(encoded)
	for name, c := range map[string]struct{ file, want string }{
		"empty":       {"", ":1: the file holds no block"},
		"cut":         {file[:len(file)-30], "the file was cut short"},
		"conflict":    {"<<<<<<< HEAD\n" + file + "=======\n" + file + ">>>>>>> b\n", ":1: a merge conflict marker"},
		"newer":       {strings.ReplaceAll(file, "pbkdf2-gate/1", "pbkdf2-gate/2"), ":1: format \"pbkdf2-gate/2\" is newer"},
		"other CPU":   {strings.Replace(file, "cpu-id: amd", "cpu-id: intel", 1), ":5: cpu-id \"intel-epyc-7763-f25m1s1-sha\" is not the file's platform"},
		"other OS":    {strings.Replace(file, "goos: linux", "goos: darwin", 1), ":2: goos \"darwin\" is not the file's platform"},
		"no release":  {strings.Replace(file, "release: v1", "release:", 1), ":34: release is empty in a baseline file"},
		"base":        {strings.Replace(file, "side: head", "side: base", 1), ":21: side \"base\" is no baseline's"},
		"failed":      {file + "\n" + block(t, with(good, func(r *result.Run) { r.Outcome, r.Message, r.Rounds = result.Failed, "died", nil })), ": outcome \"failed\" is no baseline's"},
		"no rounds":   {block(t, with(good, func(r *result.Run) { r.Rounds = nil })), ":40: rounds is 0"},
		"second file": {file + "\n" + strings.Replace(file, "goarch: amd64", "goarch: arm64", 1), ": goarch \"arm64\" is not the file's platform"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := write(t, dir, zen, good)
			if err := os.WriteFile(path, []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			_, loadErr := s.Load(zen)
			_, allErr := s.All()
			rep, updateErr := Update(dir, "v3", []result.Run{run("go", "c", "c3", day(3), 154)}, Options{})
			_, pruneErr := Prune(dir, 1, 0.05)
			for what, err := range map[string]error{"Load": loadErr, "All": allErr, "Update": updateErr, "Prune": pruneErr} {
				if err == nil || !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: got %v, want %q", what, err, c.want)
				}
			}
			if len(rep.Files) > 0 || content(t, path) != c.file {
				t.Errorf("the file was changed: %v", rep.Files)
			}
		})
	}
}

func block(t *testing.T, r result.Run) string {
	t.Helper()
	b, err := result.Encode([]result.Run{r})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAllAndList(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	arm := host.Platform{GOOS: "linux", GOARCH: "arm64", CPUID: "neoverse-n2"}
	node := func(r *result.Run) { r.Target = "node" }
	short := func(r *result.Run) { r.Workload.Iterations = 1000; r.Plan.SliceIterations = 1000 }
	write(t, dir, zen,
		released("v1", "a", day(1), 150),
		released("v2", "b", day(2), 160), released("v2", "c", day(2), 170),
		with(released("v2", "b", day(2), 200), node),
		with(released("v1", "a", day(1), 1), short))
	write(t, dir, arm, with(released("v1", "x", day(1), 300), func(r *result.Run) {
		r.Host.GOARCH, r.Host.CPUID, r.Host.CPU = arm.GOARCH, arm.CPUID, ""
	}))
	for _, name := range []string{"README.md", "linux-amd64/notes.md", "linux-amd64/.x.txt123", "linux-amd64/.hidden.txt", "old/x.txt"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.All()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, f.Platform.String()+": "+names(f.Runs))
	}
	equals(t, got, []string{
		"linux/amd64 amd-epyc-7763-f25m1s1-sha: v1/go/a v2/go/b v2/go/c v2/node/b v1/go/a",
		"linux/arm64 neoverse-n2: v1/go/x",
	})

	entries, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	small := workload.Reference()
	small.Iterations = 1000
	amd := "AMD EPYC 7763 64-Core Processor"
	equals(t, entries, []Entry{
		{zen, amd, "go", small, 1, "v1", day(1), 0.9995e6, 1},
		{zen, amd, "go", workload.Reference(), 2, "v2", day(2), 164.9e6, 2},
		{zen, amd, "node", workload.Reference(), 1, "v2", day(2), 199.9e6, 1},
		{arm, "", "go", workload.Reference(), 1, "v1", day(1), 299.85e6, 1},
	})
}

// A store of 20 releases, three replicas each, of five targets on six
// platforms.
func BenchmarkAll(b *testing.B) {
	dir := b.TempDir()
	for cpu := range 6 {
		var runs []result.Run
		for release := range 20 {
			for target := range 5 {
				for replica := range 3 {
					runs = append(runs, with(released(fmt.Sprint("v", release), fmt.Sprint("r", replica), day(release+1), 154), func(r *result.Run) {
						r.Target, r.Host.CPUID = fmt.Sprint("t", target), fmt.Sprint("cpu", cpu)
						for len(r.Rounds) < 40 {
							r.Rounds = append(r.Rounds, r.Rounds...)
						}
						r.Rounds = r.Rounds[:40]
					}))
				}
			}
		}
		write(b, dir, runs[0].Host.Platform(), runs...)
	}
	s, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if files, err := s.All(); err != nil || len(files) != 6 {
			b.Fatal(len(files), err)
		}
	}
}
