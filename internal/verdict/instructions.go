package verdict

import (
	"math"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
)

// Instructions are those of a nominal compression on both sides; zero where
// either side's were not counted. No noise moves them, and they decide nothing:
// they say what a change of the time is about.
type Instructions struct{ Then, Now float64 }

// Change is that of their number, 0.03 for 3 % more.
func (i Instructions) Change() float64 { return i.Now/i.Then - 1 }

func instructions(then []result.Run, head result.Run) Instructions {
	var all []float64
	for _, r := range then {
		if r.Instructions > 0 {
			all = append(all, r.Instructions)
		}
	}
	if len(all) == 0 || head.Instructions == 0 {
		return Instructions{}
	}
	return Instructions{stats.Median(all), head.Instructions}
}

// Part of a change of the time from which instructions share in it, and from
// which they account for it.
const (
	sharesIn   = 0.1
	accountFor = 0.5
)

// Meaning says what the instructions make of a change of the time, or of a
// doubt about one; empty where they add nothing.
func (c Comparison) Meaning() string {
	if c.Instructions == (Instructions{}) {
		return ""
	}
	work := math.Log1p(c.Instructions.Change())
	more, longer := "more", "longer"
	if work < 0 {
		more = "less"
	}
	switch c.Kind {
	case Inconclusive:
		switch part := math.Abs(work) / math.Log1p(c.Threshold); {
		case part < sharesIn:
			return "the code does the same work: if it takes longer or less long, that is the machine, its memory, or another layout"
		case part >= accountFor:
			return "the code does " + more + " work"
		}
		return ""
	case Slower, Faster:
	default:
		return ""
	}
	// Of the changes that bear the verdict out the smaller: a part of the other
	// may be another host's.
	time := math.Inf(1)
	for _, i := range []Interval{c.Raw, c.Relative} {
		if t := math.Log1p(i.Est); past(i, c.Threshold) == c.Kind && math.Abs(t) < math.Abs(time) {
			time = t
		}
	}
	if math.IsInf(time, 0) {
		return ""
	}
	if time < 0 {
		longer = "less long"
	}
	switch part := work / time; {
	case part <= -sharesIn:
		return "the code does " + more + " work and takes " + longer + ": it is other work"
	case part < sharesIn:
		return "the same instructions took " + longer + ": the machine, its memory, or another layout"
	case part < accountFor:
		return "the code does " + more + " work, which accounts for a part only"
	}
	return "the code does " + more + " work"
}
