package verdict

import (
	"cmp"
	"math"
	"slices"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
)

// Place is a target among others that were measured in the same run.
type Place struct {
	Run     *result.Run
	NsPerOp float64 // time of one hash, ns; 0 where no round counts
	Lo, Hi  float64 // its 95 % interval; 0 where too few rounds count
	// Times is the time over the reference's, and Iterations how many of this
	// target's the reference's time buys; 0 without a time.
	Times      float64
	Iterations float64
	// Alike are the faster targets from which it cannot be told apart, each
	// with the change from that one to this one.
	Alike []Alike
}

// Alike is a target that another cannot be told apart from.
type Alike struct {
	Target string
	Change Interval
}

// Rank orders the runs of one measurement by their time, those without one
// last, as they came. The reference is the fastest whose keys could be
// checked, else the fastest: what need not derive anything sets no mark. It is
// an index of places; -1 where nothing has a time.
func Rank(runs []result.Run) (places []Place, reference int) {
	for i := range runs {
		p := Place{Run: &runs[i]}
		if v := evidence(runs[i:i+1], raw); len(v) > 0 && runs[i].Outcome == result.Measured {
			p.NsPerOp = math.Exp(stats.Median(v))
			if c, ok := centreOf(runs[i:i+1], raw); ok {
				p.Lo, p.Hi = math.Exp(c.at-c.below), math.Exp(c.at+c.above)
			}
		}
		places = append(places, p)
	}
	slices.SortStableFunc(places, func(a, b Place) int {
		if a.NsPerOp == 0 || b.NsPerOp == 0 {
			return cmp.Compare(b.NsPerOp, a.NsPerOp)
		}
		return cmp.Compare(a.NsPerOp, b.NsPerOp)
	})
	if len(places) == 0 || places[0].NsPerOp == 0 {
		return places, -1
	}
	checked := func(p Place) bool { return p.NsPerOp > 0 && !p.Run.Unverified }
	reference = max(0, slices.IndexFunc(places, checked))
	for i := range places {
		p := &places[i]
		if p.NsPerOp == 0 {
			break
		}
		p.Times = p.NsPerOp / places[reference].NsPerOp
		p.Iterations = float64(p.Run.Workload.Iterations) / p.Times
		for _, q := range places[:i] {
			if c, alike := alike(*q.Run, *p.Run); alike {
				p.Alike = append(p.Alike, Alike{q.Run.Target, c})
			}
		}
	}
	return places, reference
}

// neighbour is what is allowed for one (natural logarithm) where most runs had
// it: beside some, a Go benchmark's calmer runs read 11 to 23 % high
// (docs/detector.md).
const neighbour = 0.25

// alike reports whether the interval of the change holds nothing. Here is no
// threshold to keep small differences quiet, so it takes in what runs of one
// program on one boot vary by.
func alike(then, now result.Run) (Interval, bool) {
	a, okA := centreOf([]result.Run{then}, raw)
	b, okB := centreOf([]result.Run{now}, raw)
	if !okA || !okB {
		return Interval{}, false
	}
	width := math.Hypot(wider(band{raw: sameHost}, then).raw, wider(band{}, now).raw)
	for _, r := range []result.Run{then, now} {
		if r.Contended { // of one target alone: the other had no such neighbours, or more of them
			width = math.Hypot(width, neighbour)
		}
	}
	c := change(a, b, 1, width)
	return c, c.Lo <= 0 && c.Hi >= 0
}

// RankExit is the exit code: 1 where keys are wrong or times cannot be true, 3
// where every target failed, or there was none. One that could not be started
// has its reason in its place.
func RankExit(places []Place) int {
	failed := 0
	for _, p := range places {
		switch p.Run.Outcome {
		case result.WrongKey, result.Implausible:
			return 1
		case result.Failed:
			failed++
		}
	}
	if failed == len(places) {
		return 3
	}
	return 0
}
