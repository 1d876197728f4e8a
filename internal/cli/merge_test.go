package cli

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// resultFiles writes a file a leg, each of a platform of its own, with the
// given number of targets.
func resultFiles(tb testing.TB, legs, targets int) (dir string, files []string) {
	tb.Helper()
	dir = tb.TempDir()
	w := workload.Reference()
	for leg := range legs {
		var runs []result.Run
		for target := range targets {
			r := result.Run{
				Host:      host.Fingerprint{GOOS: "linux", GOARCH: "amd64", CPU: fmt.Sprintf("Some CPU %d", leg), CPUID: fmt.Sprintf("some-cpu-%d-sha", leg), SHA: "sha_ni", HostID: fmt.Sprintf("h%d", leg)},
				Yardstick: "1 sha-ni", Workload: w,
				Plan:   result.Plan{SliceIterations: 1000, Slices: 320, WarmUp: 2, Yardstick: 250 * time.Microsecond},
				Target: fmt.Sprintf("target%c", 'a'+target), Side: result.Head, Leg: fmt.Sprintf("runner-%d", leg), ID: fmt.Sprintf("run-%d", leg),
				Toolchain: "go1.26.8", Outcome: result.Measured, Date: time.Date(2026, 11, 3, 9, 30, 0, 0, time.UTC),
			}
			for i := range 30 {
				ns := 154e6 * (1 + float64(i%7-3)/3000)
				r.Rounds = append(r.Rounds, result.Round{Clean: 100, NsPerOp: ns, RelCost: ns / w.Compressions() / 37, ChainNs: 37, LanesNs: 19.4, CleanShare: 100. / 320})
			}
			runs = append(runs, r)
		}
		name := filepath.Join(dir, fmt.Sprintf("result-%d.txt", leg))
		if err := result.WriteFile(name, runs); err != nil {
			tb.Fatal(err)
		}
		files = append(files, name)
	}
	return dir, files
}

// merged is the Markdown report of the files.
func merged(tb testing.TB, dir string, files []string) string {
	tb.Helper()
	var out, errs bytes.Buffer
	c := &Command{Stdout: &out, Stderr: &errs, Dir: dir}
	if code := c.Run(context.Background(), append([]string{"report", "--format", "markdown"}, files...)); code != 0 {
		tb.Fatalf("exit %d: %s", code, errs.String())
	}
	return out.String()
}

// A comment of 300 machines and five targets is one that GitHub takes and a
// reader can use.
func TestManyPlatforms(t *testing.T) {
	dir, files := resultFiles(t, 300, 5)
	md := merged(t, dir, files)
	if len(md) > 60_000 {
		t.Errorf("%d bytes", len(md))
	}
	for _, want := range []string{"no baseline", "1,500", "targeta"} {
		if !strings.Contains(md, want) {
			t.Errorf("it lacks %q:\n%.600s", want, md)
		}
	}
}

// BenchmarkMerge reports what merging 1,000 files takes, and the memory that
// is allocated for it in all.
func BenchmarkMerge(b *testing.B) {
	dir, files := resultFiles(b, 1000, 1)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for b.Loop() {
		merged(b, dir, files)
		n++
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(n)/(1<<20), "MB/op")
	b.ReportMetric(float64(after.Sys)/(1<<20), "MB-from-system")
}
