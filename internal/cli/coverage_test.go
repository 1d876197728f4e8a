package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/report"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// command runs the command in a folder.
func command(t *testing.T, dir string, want int, args ...string) (stdout string) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &Command{Stdout: &out, Stderr: &errs, Dir: dir}
	if code := c.Run(context.Background(), args); code != want {
		t.Fatalf("%v: exit %d, want %d:\n%s%s", args, code, want, out.String(), errs.String())
	}
	return out.String()
}

// The report says how well a label's CPUs are covered, from the files alone.
func TestCoverage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file(t, dir, "v1.txt", sample("a", "go", "r1", 150), sample("c", "go", "r2", 150))
	later := func(r *result.Run) { r.Date = r.Date.AddDate(0, 1, 0) }
	file(t, dir, "v2.txt", sample("a", "go", "r3", 150, later), sample("b", "go", "r4", 150, later), sample("a", "go", "r5", 150, later))
	file(t, dir, "now.txt", sample("d", "go", "r6", 150, later))
	command(t, dir, 0, "baseline", "update", "--release", "v1", "v1.txt")
	command(t, dir, 0, "baseline", "update", "--release", "v2", "v2.txt")

	text := strings.Join(strings.Fields(command(t, dir, 0, "report", "now.txt")), " ")
	if want := "this CPU has no baseline yet: 2 of 4 seen on ubuntu-24.04 have one of v2, which 4 of its last 6 runs met"; !strings.Contains(text, want) {
		t.Errorf("it does not say %q:\n%s", want, text)
	}
	var r report.Report
	if err := json.Unmarshal([]byte(command(t, dir, 0, "report", "--format", "json", "now.txt")), &r); err != nil {
		t.Fatal(err)
	}
	want := []report.Coverage{{Leg: "ubuntu-24.04", Release: "v2", CPUs: []report.CoveredCPU{{CPUID: "a", HasBaseline: true}, {CPUID: "b", HasBaseline: true}, {CPUID: "c"}, {CPUID: "d"}},
		Runs: 6, RunsWithBaseline: 4}}
	if d := cmp.Diff(want, r.Coverage); d != "" {
		t.Error(d)
	}
	// Without baselines, and without a name, there is nothing to say.
	for _, args := range [][]string{{"report", "--baselines", "none", "now.txt"}, {"report", "v1.txt"}} {
		if args[1] == "v1.txt" {
			file(t, dir, "v1.txt", sample("d", "go", "r1", 150, func(r *result.Run) { r.Leg = "" }))
		}
		if text := command(t, dir, 0, args...); strings.Contains(text, " seen on ") {
			t.Errorf("%v:\n%s", args, text)
		}
	}
}
