package baseline

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// history has a release a day with these times, v1 first.
func history(target string, ms ...float64) []result.Run {
	var runs []result.Run
	for i, x := range ms {
		runs = append(runs, with(released(fmt.Sprintf("v%d", i+1), "r", day(i+1), x), func(r *result.Run) { r.Target = target }))
	}
	return runs
}

func TestPrune(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runs []result.Run
		keep int
		want string
	}{
		"fewer than asked":          {history("go", 100, 100), 3, "v1/go/r v2/go/r"},
		"the anchor stays":          {history("go", 100, 100, 100, 100, 100), 2, "v1/go/r v4/go/r v5/go/r"},
		"what is before it goes":    {history("go", 100, 110, 110, 110, 110), 2, "v2/go/r v4/go/r v5/go/r"},
		"the anchor is recent":      {history("go", 100, 100, 100, 110, 110), 2, "v4/go/r v5/go/r"},
		"creep keeps a step":        {history("go", 100, 104, 108, 108), 1, "v1/go/r v2/go/r v4/go/r"},
		"creep that goes back":      {history("go", 100, 104, 108, 104, 100), 1, "v1/go/r v5/go/r"},
		"a release beside its date": {append(history("go", 100, 100), released("v0", "r", day(1), 100)), 1, "v1/go/r v2/go/r"},
		"a target that the newest have not keeps its last": {
			append(history("old", 100, 100), history("go", 100, 100, 100, 100)...), 2, "v1/old/r v2/old/r v1/go/r v3/go/r v4/go/r"},
		"one target's anchor keeps that target only": {
			append(history("go", 100, 100, 100), history("node", 100, 200, 200)...), 1, "v1/go/r v3/go/r v2/node/r v3/node/r"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, zen, c.runs...)
			rep, err := Prune(dir, c.keep, 0.05)
			if err != nil {
				t.Fatal(err)
			}
			kept := stored(t, dir)
			equals(t, names(kept), c.want)
			if len(rep.Files) != 1 || len(rep.Files[0].Runs)+len(kept) != len(c.runs) || (rep.Files[0].State == Unchanged) != (len(kept) == len(c.runs)) {
				t.Errorf("report: %+v", rep.Files)
			}
			again, err := Prune(dir, c.keep, 0.05)
			if err != nil || again.Files[0].State != Unchanged {
				t.Errorf("pruned again: %+v, %v", again.Files, err)
			}
		})
	}
}

// Whatever the history, pruning moves neither the latest release nor the
// anchor.
func TestPruneKeepsTheAnchor(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		ms := []float64{100}
		for range rnd.IntN(30) {
			ms = append(ms, ms[len(ms)-1]*(1+0.12*(rnd.Float64()-0.5)))
		}
		runs := history("go", ms...)
		keep := 1 + rnd.IntN(5)
		// Another target's late commit makes an old release a recent one.
		if rnd.IntN(3) == 0 {
			old := runs[rnd.IntN(len(runs))].Release
			runs = append(runs, with(released(old, "late", day(90), 1), func(r *result.Run) { r.Target = "node" }))
		}
		kept, _ := prune(runs, keep, 0.05)
		if again, dropped := prune(kept, keep, 0.05); len(dropped) > 0 {
			t.Fatalf("keep %d of %v: pruned again, %d became %d", keep, ms, len(kept), len(again))
		}
		before := Select(runs, "go", workload.Reference(), "1", 0.05)
		after := Select(kept, "go", workload.Reference(), "1", 0.05)
		if before.AnchorRelease != after.AnchorRelease || before.LatestRelease != after.LatestRelease {
			t.Fatalf("keep %d of %v: the anchor was %s and is %s, the latest %s and %s", keep, ms,
				before.AnchorRelease, after.AnchorRelease, before.LatestRelease, after.LatestRelease)
		}
	}
}

func TestPruneRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, keep := range []int{0, -1} {
		if _, err := Prune(dir, keep, 0.05); err == nil || !strings.Contains(err.Error(), "keep at least 1") {
			t.Errorf("keep %d: %v", keep, err)
		}
	}
	none := filepath.Join(dir, "none")
	if rep, err := Prune(none, 1, 0.05); err != nil || len(rep.Files) > 0 {
		t.Errorf("no folder: %+v, %v", rep, err)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a folder was made for nothing")
	}
}
