package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
)

// severity orders verdicts for readers, the worst first.
var severity = []verdict.Kind{verdict.WrongKey, verdict.Implausible, verdict.Failed, verdict.Missing, verdict.Slower,
	verdict.WorkloadChanged, verdict.Faster, verdict.Inconclusive, verdict.NotComparable, verdict.NoBaseline, verdict.OK}

// kindWords writes a verdict for people.
func kindWords(k verdict.Kind) string { return strings.ReplaceAll(string(k), "-", " ") }

// bySeverity has the indices of the targets, what fails and what is worse
// first, then the larger change; those that are ok stay in their order.
func (r Report) bySeverity() []int {
	at := make([]int, len(r.Targets))
	size := make([]float64, len(r.Targets))
	for i, t := range r.Targets {
		at[i] = i
		if c := t.decider(); c != nil && t.Verdict != verdict.OK {
			if ch, _ := c.shown(); ch != nil {
				size[i] = ch.size()
			}
		}
	}
	rank := func(t Target) int {
		n := slices.Index(severity, t.Verdict)
		if t.Fails {
			n -= len(severity)
		}
		return n
	}
	slices.SortStableFunc(at, func(a, b int) int {
		return cmp.Or(cmp.Compare(rank(r.Targets[a]), rank(r.Targets[b])), cmp.Compare(size[b], size[a]))
	})
	return at
}

// decider is the comparison that the target's verdict comes from; nil where
// it comes from none.
func (t Target) decider() *Comparison {
	var d *Comparison
	for i := range t.Comparisons {
		c := &t.Comparisons[i]
		if c.Decides && (d == nil || c.Verdict == t.Verdict && d.Verdict != t.Verdict) {
			d = c
		}
	}
	return d
}

// shown is the change that people are told: of the time, or of the cost
// relative to the yardstick (and true) where only that bears the verdict out,
// as when the whole host is slower.
func (c Comparison) shown() (*Change, bool) {
	fits := func(ch *Change) bool {
		switch {
		case ch == nil:
			return false
		case c.Verdict == verdict.OK:
			return max(math.Abs(ch.Lo), math.Abs(ch.Hi)) <= c.ThresholdPercent
		case c.Verdict == verdict.Slower:
			return ch.Lo > c.ThresholdPercent
		case c.Verdict == verdict.Faster:
			return ch.Hi < 0
		}
		return true
	}
	if !fits(c.ChangePercent) && fits(c.RelativeChangePercent) {
		return c.RelativeChangePercent, true
	}
	return c.ChangePercent, false
}

// worst finds the headline's comparison.
func (r Report) worst() *Worst {
	var w *Worst
	ofVerdict := false
	for i, t := range r.Targets {
		c := t.decider()
		if c == nil {
			continue
		}
		ch, relative := c.shown()
		if ch == nil {
			continue
		}
		is := t.Verdict == r.Verdict
		if w == nil || is && !ofVerdict || is == ofVerdict && r.weight(*ch) > r.weight(w.ChangePercent) {
			w, ofVerdict = &Worst{t.Name, t.Leg, c.Against, *ch, relative, i}, is
		}
	}
	return w
}

// weight orders changes: the slower the worse, but for verdicts without a
// direction the larger.
func (r Report) weight(ch Change) float64 {
	switch r.Verdict {
	case verdict.OK, verdict.Inconclusive, verdict.WorkloadChanged:
		return ch.size()
	case verdict.Faster:
		return -ch.Est
	}
	return ch.Est
}

// size is how far the change is from none, equal for twice and half the time.
func (c Change) size() float64 {
	return math.Abs(math.Log1p(max(c.Est, -99.9999) / 100))
}

// leg is the label, else the platform.
func (t Target) leg() string {
	switch {
	case t.Leg != "":
		return t.Leg
	case t.Platform != "":
		return t.Platform
	}
	return "this machine"
}

// on says where a target ran, when there is more than one place.
func (r Report) on(t Target, esc func(string) string) string {
	if len(r.perLeg) < 2 {
		return ""
	}
	return " on " + esc(t.leg())
}

// than names a reference after "than" or "against".
func than(against string, esc func(string) string) string {
	if against == "base" {
		return "the base"
	}
	return esc(against)
}

// limit says what the deciding comparisons were held to: "5 % of the
// baseline".
func (r Report) limit() string {
	lo, hi, pair, stored := math.Inf(1), 0.0, false, false
	for _, t := range r.Targets {
		if c := t.decider(); c != nil {
			lo, hi = min(lo, c.ThresholdPercent), max(hi, c.ThresholdPercent)
			pair, stored = pair || c.Against == "base", stored || c.Against != "base"
		}
	}
	switch {
	case pair && stored:
		return percent(r.ThresholdPercent) + " of the base, or " + percent(r.BaselineThresholdPercent) + " of the baseline"
	case pair && lo == hi:
		return percent(hi) + " of the base"
	case stored && lo == hi:
		return percent(hi) + " of the baseline"
	}
	return "its limit"
}

// workloadChanged reports whether a change of workload explains a part.
func (c Comparison) workloadChanged() bool {
	return c.ExpectedFactor > 0 && c.ExpectedFactor != 1
}

// expected writes what a change of workload explains: "+20 %" or "12x".
func expected(factor float64) string {
	if factor >= 2 {
		return three(factor) + "x"
	}
	return signed(100*(factor-1), 0) + " %"
}

// workloadDiff writes the parameters that changed: "iterations 600,000 →
// 720,000".
func (t Target) workloadDiff(c Comparison, esc func(string) string) string {
	var d []string
	for _, f := range c.Differs {
		switch f.Name {
		case "prf", "iterations", "salt-bytes", "key-bytes":
			d = append(d, f.Name+" "+esc(f.Then)+" → "+esc(f.Now))
		}
	}
	return strings.Join(d, ", ")
}

// otherHardware reports whether the comparison was refused for the machine.
func (c Comparison) otherHardware() bool {
	return slices.ContainsFunc(c.Differs, func(d Difference) bool {
		return slices.Contains([]string{"os", "arch", "cpu", "cpu-id", "sha"}, d.Name)
	})
}

// lostSHA reports whether the reference's CPU had SHA instructions and this
// one shows none.
func (c Comparison) lostSHA() bool {
	return slices.ContainsFunc(c.Differs, func(d Difference) bool {
		return d.Name == "sha" && d.Now == "none" && d.Then != ""
	})
}

// builtWith is what the target says of its library and how it was built.
func (s *Side) builtWith(esc func(string) string) string {
	var built []string
	for _, x := range []string{s.TargetVersion, s.Toolchain, s.Mode} {
		if x != "" && !slices.Contains(built, esc(x)) {
			built = append(built, esc(x))
		}
	}
	return strings.Join(built, ", ")
}
