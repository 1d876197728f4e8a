package baseline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

var zen = host.Platform{GOOS: "linux", GOARCH: "amd64", CPUID: "amd-epyc-7763-f25m1s1-sha"}

// day is a commit's date.
func day(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }

// run is a sound measurement of 8 rounds at ms per hash.
func run(target, id, commit string, date time.Time, ms float64) result.Run {
	r := result.Run{
		Host: host.Fingerprint{GOOS: zen.GOOS, GOARCH: zen.GOARCH, CPUID: zen.CPUID, CPU: "AMD EPYC 7763 64-Core Processor",
			SHA: "sha_ni", HostID: "h-" + id},
		Yardstick: "1 sha-ni", Workload: workload.Reference(),
		Plan:   result.Plan{SliceIterations: 3200, Slices: 120, WarmUp: 2, Yardstick: 400 * time.Microsecond},
		Target: target, Side: result.Head, ID: id, Outcome: result.Measured, Commit: commit, Date: date,
	}
	for i := range 8 {
		ns := ms * 1e6 * (1 + 0.001*float64(i-4))
		r.Rounds = append(r.Rounds, result.Round{Clean: 60, NsPerOp: ns, RelCost: ns / r.Workload.Compressions() / 37, ChainNs: 37, LanesNs: 19.4, CleanShare: 0.5})
	}
	return r
}

// released is run as a baseline file has it.
func released(release, id string, date time.Time, ms float64) result.Run {
	r := run("go", id, "c-"+release, date, ms)
	r.Release = release
	return r
}

func with(r result.Run, edits ...func(*result.Run)) result.Run {
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

// write puts runs in the platform's file as they are.
func write(t testing.TB, dir string, p host.Platform, runs ...result.Run) string {
	t.Helper()
	path, err := path(dir, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := result.WriteFile(path, runs); err != nil {
		t.Fatal(err)
	}
	return path
}

func stored(t *testing.T, dir string) []result.Run {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := s.Load(zen)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// names lists runs as "release/target/id".
func names(runs []result.Run) string {
	var s []string
	for _, r := range runs {
		s = append(s, r.Release+"/"+r.Target+"/"+r.ID)
	}
	return strings.Join(s, " ")
}

func update(t *testing.T, dir, release string, runs ...result.Run) Report {
	t.Helper()
	rep, err := Update(dir, release, runs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// reasons lists what was left out as "target/id: reason".
func reasons(rep Report) []string {
	var s []string
	for _, l := range rep.LeftOut {
		s = append(s, fmt.Sprintf("%s/%s: %s", l.Run.Target, l.Run.ID, l.Reason))
	}
	return s
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func equals(t *testing.T, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
