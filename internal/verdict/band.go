package verdict

import (
	"fmt"
	"math"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
)

// rule says which figures decide.
type rule int

const (
	both         rule = iota // raw and relative cost must agree
	rawOnly                  // the pair; or replicas show that raw varies less
	relativeOnly             // one boot, whose clock moves; or replicas show that relative varies less
)

// band is the half-width (natural logarithm, 95 %) of what a figure varies by
// beyond the spread of its rounds, and the rule that goes with it.
type band struct {
	raw, relative float64
	rule          rule
	why           string // for people; empty where there is nothing to explain
}

// What runs of one program on one boot vary by beyond the spread of their
// rounds (layout of memory from one exec to the next is in the rounds
// already; the machine's state of the minute is not). Measured for the
// documentation: docs/measuring.md.
const sameHost = 0.003

// Until three replicas exist, what is assumed of hosts that share a CPU
// model: hosted runners of one model have been seen up to 20 % apart in raw
// cost; the relative cost divides the clock out, and the yardsticks keep
// neighbours out of both.
const (
	priorRaw      = 0.12
	priorRelative = 0.03
)

// minReplicas is how many runs within releases teach the band.
const minReplicas = 3

// steadier is how much less a figure must vary among the replicas to decide
// alone.
const steadier = 0.7

// wholeRuns is what figures of whole runs vary by beside the spread of their
// rounds: nothing tells what disturbed them inside.
const wholeRuns = 0.01

// pairBand: base and head interleaved in one job on one core.
func pairBand(head result.Run) band { return wider(band{rule: rawOnly}, head) }

// wider is the band of targets without the protocol.
func wider(b band, head result.Run) band {
	if head.Unverified {
		b.raw, b.relative = math.Hypot(b.raw, wholeRuns), math.Hypot(b.relative, wholeRuns)
	}
	return b
}

// storedBand is the band of a comparison with the runs then of a release.
func storedBand(head result.Run, then []result.Run, replicas [][]result.Run) band {
	return wider(hostBand(head, then, replicas), head)
}

func hostBand(head result.Run, then []result.Run, replicas [][]result.Run) band {
	if sameBoot(head, then) {
		b := band{raw: sameHost, relative: sameHost}
		// A shared host's clock moves with what the others do: from job to job
		// raw cost varied by 4.5 % where relative cost did by 0.04 %
		// (docs/detector.md). Only Linux has yardstick and target on one core.
		if head.Host.GOOS == "linux" {
			b.rule = relativeOnly
		}
		return b
	}
	sdRaw, df := spread(replicas, raw)
	sdRel, _ := spread(replicas, relative)
	if df < minReplicas-1 {
		return band{raw: priorRaw, relative: priorRelative,
			why: fmt.Sprintf("measured on another host: until %d replicas of a release are stored, hosts are taken to differ by ±%.0f %% (±%.0f %% relative to the yardstick)", minReplicas, 100*priorRaw, 100*priorRelative)}
	}
	// The head is one more draw, the reference the mean of its replicas.
	k := stats.StudentT(df) * math.Sqrt(1+1/float64(len(then)))
	b := band{raw: k * sdRaw, relative: k * sdRel,
		why: fmt.Sprintf("measured on another host: replicas of one release vary by ±%.1f %% here (±%.1f %% relative to the yardstick)", 100*k*sdRaw, 100*k*sdRel)}
	switch {
	case sdRel < steadier*sdRaw:
		b.rule = relativeOnly
	case sdRaw < steadier*sdRel:
		b.rule = rawOnly
	}
	return b
}

// sameBoot: every run that the head is held against was made on its boot.
func sameBoot(head result.Run, then []result.Run) bool {
	for _, r := range then {
		if head.Host.HostID == "" || r.Host.HostID != head.Host.HostID {
			return false
		}
	}
	return true
}

// spread is the standard deviation, on a logarithmic scale, of runs about
// their own release's mean, and its degrees of freedom. A difference between
// releases never enters.
func spread(replicas [][]result.Run, f figure) (sd float64, df int) {
	var sum float64
	for _, runs := range replicas {
		var at []float64
		var mean float64
		for _, r := range runs {
			if v := evidence([]result.Run{r}, f); len(v) > 0 {
				m := stats.Median(v)
				at = append(at, m)
				mean += m
			}
		}
		if len(at) < 2 {
			continue
		}
		mean /= float64(len(at))
		for _, x := range at {
			sum += (x - mean) * (x - mean)
		}
		df += len(at) - 1
	}
	if df == 0 {
		return 0, 0
	}
	return math.Sqrt(sum / float64(df)), df
}

// decide turns the two intervals into a verdict, a reason, and the intervals
// that had to lie past the threshold.
func (r rule) decide(raw, rel Interval, threshold float64) (Kind, string, []Interval) {
	a, b := past(raw, threshold), past(rel, threshold)
	switch r {
	case rawOnly:
		return a, "", []Interval{raw}
	case relativeOnly:
		switch drift := a == Slower || a == Faster; {
		case drift && b == OK:
			return OK, "the yardstick moved with it: the host is " + string(a) + ", the code is not", []Interval{rel}
		case a != b && (b == Slower || b == Faster):
			return b, "judged relative to the yardstick; the time alone reads " + string(a), []Interval{rel}
		}
		return b, "", []Interval{rel}
	}
	all := []Interval{raw, rel}
	switch {
	case a == b:
		return a, "", all
	case b == OK && (a == Slower || a == Faster):
		return OK, "the yardstick moved with it: the host is " + string(a) + ", the code is not", all
	case b == OK: // raw is inconclusive and does not contradict
		return OK, "", all
	case a == OK && b == Inconclusive:
		return OK, "", all
	}
	return Inconclusive, fmt.Sprintf("raw cost reads %s and relative cost %s: they must agree", a, b), all
}
