package verdict

import (
	"math"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

func executes(n float64) func(*result.Run) { return func(r *result.Run) { r.Instructions = n } }

// The instructions say what a change is about and change no verdict.
func TestInstructions(t *testing.T) {
	for _, c := range []struct {
		name      string
		ns        float64 // the base takes 154e6 and 61.25 instructions
		now, then float64
		kind      Kind
		meaning   string
	}{
		{"slower, the same work", 163e6, 61.25, 61.25, Slower, "the same instructions took longer: the machine, its memory, or another layout"},
		{"slower, more work", 163e6, 65, 61.25, Slower, "the code does more work"},
		{"slower, a little more work", 163e6, 62.5, 61.25, Slower, "the code does more work, which accounts for a part only"},
		{"slower, less work", 163e6, 55, 61.25, Slower, "the code does less work and takes longer: it is other work"},
		{"faster, the same work", 145e6, 61.25, 61.25, Faster, "the same instructions took less long: the machine, its memory, or another layout"},
		{"faster, less work", 145e6, 58, 61.25, Faster, "the code does less work"},
		{"faster, more work", 145e6, 70, 61.25, Faster, "the code does more work and takes less long: it is other work"},
		{"ok", 154e6, 70, 61.25, OK, ""},
		{"on the threshold, the same work", 158.6e6, 61.25, 61.25, Inconclusive, "the code does the same work: if it takes longer or less long, that is the machine, its memory, or another layout"},
		{"on the threshold, more work", 158.6e6, 63.1, 61.25, Inconclusive, "the code does more work"},
		{"on the threshold, a little more work", 158.6e6, 61.6, 61.25, Inconclusive, ""},
		{"not counted now", 163e6, 0, 61.25, Slower, ""},
		{"not counted then", 163e6, 65, 0, Slower, ""},
	} {
		base, head := run(takes(154e6, 20, 2), executes(c.then)), run(takes(c.ns, 20, 3), executes(c.now))
		got := one(Case{Head: &head, Base: &base}).Comparisons[0]
		if got.Kind != c.kind || got.Meaning() != c.meaning {
			t.Errorf("%s: %s, %q", c.name, got.Kind, got.Meaning())
		}
		if counted := c.now > 0 && c.then > 0; counted != (got.Instructions != Instructions{}) || counted && math.Abs(got.Instructions.Change()-(c.now/c.then-1)) > 1e-12 {
			t.Errorf("%s: %+v", c.name, got.Instructions)
		}
		head.Instructions = 0
		without := one(Case{Head: &head, Base: &base}).Comparisons[0]
		got.Instructions = Instructions{}
		if without.Kind != got.Kind || without.Raw != got.Raw || without.Reason != got.Reason {
			t.Errorf("%s: the verdict without them is %+v, with them %+v", c.name, without, got)
		}
	}
}

// Too few undisturbed rounds leave the instructions known, another plan does not.
func TestInstructionsWithoutTime(t *testing.T) {
	base, head := run(executes(61.25)), run(takes(154e6, 3, 2), executes(61.26))
	c := one(Case{Head: &head, Base: &base}).Comparisons[0]
	if c.Kind != Inconclusive || c.Instructions != (Instructions{61.25, 61.26}) || c.Meaning() == "" {
		t.Errorf("%s, %+v, %q", c.Kind, c.Instructions, c.Meaning())
	}
	head.Plan.Slices++
	if c = one(Case{Head: &head, Base: &base}).Comparisons[0]; c.Instructions != (Instructions{}) {
		t.Errorf("another plan: %+v", c.Instructions)
	}
}

// Of several replicas the median of those that have it.
func TestInstructionsOfReplicas(t *testing.T) {
	head := run(executes(62))
	c := one(Case{Head: &head, Stored: stored("v1", run(boot("a"), executes(61)), run(boot("b")), run(boot("c"), executes(60)), run(boot("d"), executes(80)))}).Comparisons[0]
	if c.Instructions != (Instructions{61, 62}) {
		t.Errorf("%+v", c.Instructions)
	}
}
