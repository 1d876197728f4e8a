package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/report"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
)

// on is a measurement of the n-th day's commit, on a host of its own.
func onDay(n int) func(*result.Run) {
	return func(r *result.Run) {
		r.Date, r.Commit = r.Date.AddDate(0, 0, n), fmt.Sprint("c", n)
	}
}

// recordRelease records three replicas that differ by 0.3 %.
func recordRelease(t *testing.T, dir, release string, day int, ms float64) {
	t.Helper()
	var runs []result.Run
	for i := range 3 {
		runs = append(runs, sample("a", "go", fmt.Sprintf("%s-%d", release, i), ms*(1+0.003*float64(i-1)), onDay(day)))
	}
	file(t, dir, "release.txt", runs...)
	command(t, dir, 0, "baseline", "update", "--release", release, "release.txt")
}

// judged is the report on a run that takes ms.
func judged(t *testing.T, dir string, exit int, ms float64) report.Target {
	t.Helper()
	file(t, dir, "now.txt", sample("a", "go", "now", ms, onDay(60)))
	var r report.Report
	if err := json.Unmarshal([]byte(command(t, dir, exit, "report", "--baseline-threshold", "10%", "--format", "json", "now.txt")), &r); err != nil {
		t.Fatal(err)
	}
	return r.Targets[0]
}

// From result files to the verdict: small steps add up against the anchor, an
// accepted change sets it anew, and an old commit's late run changes nothing.
func TestBaselineRules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".pbkdf2-gate.yaml"), []byte("baseline-threshold: 10%\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	// Five steps of 3 %.
	ms := 150.0
	for i := range 6 {
		recordRelease(t, dir, fmt.Sprintf("v1.%d", i), i, ms)
		if i < 5 {
			ms *= 1.03
		}
	}
	got := judged(t, dir, 1, ms)
	latest, anchor := got.Comparisons[0], got.Comparisons[1]
	if got.Verdict != verdict.Slower || latest.Against != "v1.5" || latest.Verdict != verdict.OK || anchor.Against != "v1.0 (anchor)" || !anchor.Decides || math.Abs(anchor.ChangePercent.Est-16) > 0.5 {
		t.Errorf("creep: %s, latest %+v, anchor %+v", got.Verdict, latest, anchor)
	}

	// A release that takes 12 % longer, recorded: that was seen and accepted.
	recordRelease(t, dir, "v2.0", 10, ms*1.12)
	got = judged(t, dir, 0, ms*1.12)
	if got.Verdict != verdict.OK || len(got.Comparisons) != 1 || got.Comparisons[0].Against != "v2.0" {
		t.Errorf("accepted: %s against %+v", got.Verdict, got.Comparisons)
	}

	// The first release measured again, late: newer ones stay the latest. And
	// an older commit under a release's name is refused.
	recordRelease(t, dir, "v1.0", 0, 150)
	if got = judged(t, dir, 0, ms*1.12); got.Comparisons[0].Against != "v2.0" {
		t.Errorf("after a late run: against %s", got.Comparisons[0].Against)
	}
	file(t, dir, "late.txt", sample("a", "go", "late", 90, onDay(3)))
	command(t, dir, 3, "baseline", "update", "--release", "v2.0", "late.txt")
	if got = judged(t, dir, 0, ms*1.12); got.Verdict != verdict.OK {
		t.Errorf("after an older commit's run: %s", got.Verdict)
	}

	// Pruning leaves the verdict as it was.
	command(t, dir, 0, "baseline", "prune", "--keep", "1")
	if got = judged(t, dir, 0, ms*1.12); got.Verdict != verdict.OK || got.Comparisons[0].Against != "v2.0" {
		t.Errorf("after pruning: %s against %+v", got.Verdict, got.Comparisons)
	}

	// Of many releases 20 stay, and the anchor.
	many := t.TempDir()
	for i := range 25 {
		recordRelease(t, many, fmt.Sprintf("v1.%d", i), i, 150)
	}
	command(t, many, 0, "baseline", "prune")
	var rows []struct{ Release string }
	if err := json.Unmarshal([]byte(command(t, many, 0, "baseline", "show", "--format", "json", "a")), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3*21 || rows[0].Release != "v1.0" || rows[3].Release != "v1.5" {
		t.Errorf("%d runs are left, from %+v", len(rows), rows[:4])
	}

	// A platform that has none is told, and another's figure is not judged.
	file(t, dir, "now.txt", sample("b", "go", "now", 300, onDay(60)))
	if text := command(t, dir, 0, "report", "now.txt"); !strings.Contains(text, "not comparable") {
		t.Errorf("another CPU:\n%s", text)
	}
}
