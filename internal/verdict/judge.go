package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
)

// Judge decides every case by the policy's thresholds and fail-on.
func Judge(p policy.Policy, cases []Case) []Target {
	var all []Target
	for _, c := range cases {
		t := judge(p, c)
		t.Fails = p.Fails(string(t.Kind))
		all = append(all, t)
	}
	return all
}

func judge(p policy.Policy, c Case) Target {
	t := Target{Name: c.Name, Leg: c.Leg, Head: c.Head, Base: c.Base}
	if c.Head == nil {
		t.Kind, t.Reason = Missing, NoResult
		if c.Why != "" {
			t.Reason = c.Why
		}
		return t
	}
	h := *c.Head
	t.Host, t.Notes = h.Host, h.Notes
	switch h.Outcome {
	case result.Failed, result.WrongKey, result.Implausible:
		t.Kind, t.Reason = Kind(h.Outcome), h.Message
		return t
	}
	if v := evidence([]result.Run{h}, raw); len(v) > 0 {
		t.NsPerOp = math.Exp(stats.Median(v))
		t.RelCost = math.Exp(stats.Median(evidence([]result.Run{h}, relative)))
	}

	if c.Base != nil {
		for _, n := range c.Base.Notes {
			if !slices.Contains(h.Notes, n) {
				t.Notes = append(slices.Clip(t.Notes), "base: "+n)
			}
		}
		if c.Base.Outcome == result.Measured && len(c.Base.Rounds) > 0 {
			t.Comparisons = append(t.Comparisons, compare(h, "base", []result.Run{*c.Base}, p.Threshold, pairBand(h)))
		} else {
			t.Notes = append(slices.Clip(t.Notes), "the base could not be measured ("+baseTrouble(*c.Base)+"): stored baselines decide")
		}
	}
	paired := len(t.Comparisons) > 0
	for i, ref := range []Reference{c.Stored.Latest, c.Stored.Anchor} {
		if len(ref.Runs) == 0 || i == 1 && ref.Release == c.Stored.Latest.Release {
			continue
		}
		name := ref.Release
		if i == 1 {
			name += " (anchor)"
		}
		runs := nearest(h, ref.Runs)
		t.Comparisons = append(t.Comparisons, compare(h, name, runs, p.BaselineThreshold, storedBand(h, runs, c.Stored.Replicas)))
	}
	if len(t.Comparisons) == 0 {
		for _, other := range [][]result.Run{c.Stored.OtherWorkload, c.Stored.OtherPlatform} {
			if len(other) > 0 {
				ref := other[len(other)-1]
				t.Comparisons = append(t.Comparisons, compare(h, ref.Release, []result.Run{ref}, p.BaselineThreshold, storedBand(h, []result.Run{ref}, nil)))
				break
			}
		}
	}
	decide(&t, paired, c.Stored.Unusable)
	return t
}

// decide takes the verdict from the comparisons: the pair alone where there
// is one, else the worst of the stored ones.
func decide(t *Target, paired bool, unusable string) {
	if len(t.Comparisons) == 0 {
		switch n := len(t.Head.Rounds); {
		case n < result.MinRounds:
			t.Kind, t.Reason = Inconclusive, fmt.Sprintf("%d undisturbed rounds of %d, a verdict needs %d", n, n+t.Head.Disturbed, result.MinRounds)
		case unusable != "":
			t.Kind, t.Reason = NotComparable, unusable
		default:
			t.Kind, t.Reason = NoBaseline, "no release is recorded for this target on this platform"
		}
		return
	}
	worst := 0
	for i := range t.Comparisons {
		if paired && i > 0 {
			break
		}
		if rank(t.Comparisons[i].Kind) > rank(t.Comparisons[worst].Kind) {
			worst = i
		}
	}
	c := &t.Comparisons[worst]
	c.Decides = true
	t.Kind, t.Reason = c.Kind, c.Reason
}

func baseTrouble(r result.Run) string {
	if r.Outcome != result.Measured {
		return r.Message
	}
	return "every round was disturbed"
}

// nearest are the reference's runs on the head's own boot where there are
// any, else all.
func nearest(head result.Run, runs []result.Run) []result.Run {
	var same []result.Run
	for _, r := range runs {
		if sameBoot(head, []result.Run{r}) {
			same = append(same, r)
		}
	}
	if len(same) > 0 {
		return same
	}
	return runs
}

// ranks, from the best news to the worst.
var ranks = []Kind{OK, NoBaseline, NotComparable, Inconclusive, WorkloadChanged, Faster, Slower, Missing, Failed, Implausible, WrongKey}

func rank(k Kind) int { return slices.Index(ranks, k) }

// Overall is the worst verdict; NoBaseline for none at all.
func Overall(ts []Target) Kind {
	if len(ts) == 0 {
		return NoBaseline
	}
	worst := OK
	for _, t := range ts {
		if rank(t.Kind) > rank(worst) {
			worst = t.Kind
		}
	}
	return worst
}

// Exit is the command's exit code for these verdicts: 0; 1 where one fails
// by the policy; 3 where every target failed, or there was none to judge.
func Exit(ts []Target) int {
	code, failed := 0, 0
	for _, t := range ts {
		if t.Fails {
			code = 1
		}
		if t.Kind == Failed {
			failed++
		}
	}
	if failed == len(ts) {
		return 3
	}
	return code
}
