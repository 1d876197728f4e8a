package verdict

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// Pairs that were recorded on a real machine in the situations that are hard:
// what each must be called, and must not. testdata/README.md says how they were
// recorded.
func TestRecorded(t *testing.T) {
	for file, calls := range map[string][]struct {
		threshold float64
		allowed   []Kind
	}{
		// every other process of both sides takes 17 % longer
		"two-modes.txt": {{0.03, []Kind{OK, Inconclusive}}, {0.005, []Kind{OK, Inconclusive}}},
		// every twelfth process of the head takes three times as long
		"outliers.txt": {{0.03, []Kind{OK}}, {0.01, []Kind{OK}}},
		// the neighbours arrive in the middle
		"late-load.txt": {{0.03, []Kind{OK}}, {0.005, []Kind{OK, Inconclusive}}},
		// the head takes 1 % longer, on a quiet machine
		"tight-shift.txt": {{0.03, []Kind{OK}}, {0.005, []Kind{Slower}}, {0.01, []Kind{Inconclusive}}},
		// every core is busy all of the time
		"contended.txt": {{0.03, []Kind{OK, Inconclusive}}, {0.005, []Kind{OK, Inconclusive}}},
	} {
		runs, err := result.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) != 2 || runs[0].Side != result.Base || runs[1].Side != result.Head {
			t.Fatalf("%s is no pair", file)
		}
		for _, c := range calls {
			p := rules()
			p.Threshold = c.threshold
			got := Judge(p, []Case{{Name: runs[1].Target, Head: &runs[1], Base: &runs[0]}})[0]
			if !slices.Contains(c.allowed, got.Kind) {
				t.Errorf("%s at %v: %s (%s) %+v, want %v", file, c.threshold, got.Kind, got.Reason, got.Comparisons, c.allowed)
			}
			// and the sides the other way round
			base, head := runs[1], runs[0]
			base.Side, head.Side = result.Base, result.Head
			mirror := map[Kind]Kind{Slower: Faster, OK: OK, Inconclusive: Inconclusive}
			if back := Judge(p, []Case{{Name: head.Target, Head: &head, Base: &base}})[0]; back.Kind != mirror[got.Kind] {
				t.Errorf("%s at %v: %s, the other way round %s", file, c.threshold, got.Kind, back.Kind)
			}
		}
	}
}
