package measure

import (
	"math"
	"slices"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// Kernels in hardware, on the slices' own core, tell a neighbour and the clock
// apart. A neighbour on the core's other hyperthread shows in the lanes' time over
// the chain's, which is a constant of a CPU. A clock that moves does not: it
// stretches chain, lanes and slice alike, so it is divided out instead of being
// looked away from. Limits of the times themselves left 13 of 58 rounds on a host
// whose clock moves with its neighbours' work, and what two sides differed by was
// off by twenty times as much (docs/detector.md).
//
// Portable kernels are bound by throughput both, and those of another core say
// nothing of this one's clock: there it is the times that are limited, and
// nothing is divided out.
//
// What is undisturbed is told by the whole run, not by the round: a round that
// was disturbed throughout would calibrate on itself (measured: it read 20 %
// high).
const (
	lowQuantile  = 0.10
	RatioAllowed = 0.01 // lanes over chain, off the low quantile
	ChainAllowed = 0.01 // chain before a slice against after it

	ChainTimeAllowed = 0.015 // over the low quantile, where it is the times
	LanesTimeAllowed = 0.03
)

// undisturbed is what the yardsticks read where nothing disturbs them.
type undisturbed struct {
	apart        bool    // they tell neighbour and clock apart
	ratio        float64 // lanes over chain; where apart
	chain, lanes float64 // ns per compression; the chain's is the clock for which times are given
}

// undisturbedBy finds it in the readings of all traces.
func undisturbedBy(subjects []*subject, apart bool) undisturbed {
	u := undisturbed{apart: apart}
	var every, steady, alone []reading
	for _, s := range subjects {
		for _, t := range s.traces {
			for i, y := range t.readings {
				every = append(every, y)
				// one that was itself cut in two has a ratio of anything
				if i > 0 && clockMoved(t.readings[i-1], y) <= 1 || i+1 < len(t.readings) && clockMoved(y, t.readings[i+1]) <= 1 {
					steady = append(steady, y)
				}
			}
		}
	}
	if len(steady) == 0 { // few whole runs, and a restless clock
		steady = every
	}
	u.ratio = low(steady, func(y reading) float64 { return y.lanes / y.chain })
	if apart {
		for _, y := range every {
			if u.alone(y) {
				alone = append(alone, y)
			}
		}
	}
	if len(alone) == 0 { // not apart; or no reading of few is near a quantile between two
		alone = every
	}
	u.chain = low(alone, func(y reading) float64 { return y.chain })
	u.lanes = low(alone, func(y reading) float64 { return y.lanes })
	return u
}

// low is the low quantile of a figure of readings.
func low(readings []reading, f func(reading) float64) float64 {
	v := make([]float64, len(readings))
	for i, y := range readings {
		v[i] = f(y)
	}
	return stats.Quantile(v, lowQuantile)
}

// crowding is what a neighbour makes larger.
func (y reading) crowding(apart bool) float64 {
	if apart { // at whatever clock
		return y.lanes / y.chain
	}
	return y.lanes
}

// crowded is how far a reading is off one without a neighbour on the core, in
// limits: 1 is the most that is allowed.
func (u undisturbed) crowded(y reading) float64 {
	if !u.apart {
		return max((y.chain/u.chain-1)/ChainTimeAllowed, (y.lanes/u.lanes-1)/LanesTimeAllowed)
	}
	return math.Abs(math.Log(y.lanes/y.chain/u.ratio)) / RatioAllowed
}

// clockMoved is how far the clock went from one reading to the next, in limits.
func clockMoved(a, b reading) float64 { return math.Abs(math.Log(a.chain/b.chain)) / ChainAllowed }

// disturbance is how far the readings around something are off undisturbed
// ones, in limits.
func (u undisturbed) disturbance(before, after reading) float64 {
	most := max(u.crowded(before), u.crowded(after))
	if u.apart {
		most = max(most, clockMoved(before, after))
	}
	return most
}

// alone: no neighbour on the core.
func (u undisturbed) alone(y reading) bool { return u.crowded(y) <= 1 }

// admits says whether what ran between the readings was undisturbed.
func (u undisturbed) admits(before, after reading) bool { return u.disturbance(before, after) <= 1 }

// atClock brings a time between the readings to the run's clock, where they
// tell it.
func (u undisturbed) atClock(ns float64, before, after reading) float64 {
	if !u.apart {
		return ns
	}
	return ns * 2 * u.chain / (before.chain + after.chain)
}

// clean lists the slices that were disturbed by no more than most, in limits.
func (t trace) clean(u undisturbed, most float64) []int {
	var c []int
	for i := range t.slices {
		if u.disturbance(t.readings[i], t.readings[i+1]) <= most {
			c = append(c, i)
		}
	}
	return c
}

// costQuantile of the clean slices is a round's cost. Some that are clean on
// both sides were disturbed inside, so a low one (docs/detector.md).
const costQuantile = 0.05

// round prices a trace by the slices that were disturbed by no more than most;
// the Round has Clean 0 where there are none.
func (t trace) round(u undisturbed, most float64, w workload.Params, price func(slice float64) float64) result.Round {
	clean := t.clean(u, most)
	if len(clean) == 0 {
		return result.Round{}
	}
	var own, chain, lanes, ratio []float64
	for _, i := range clean {
		before, after := t.readings[i], t.readings[i+1]
		own = append(own, u.atClock(t.slices[i].own, before, after))
		for _, y := range []reading{before, after} {
			chain = append(chain, y.chain)
			lanes = append(lanes, y.lanes)
			ratio = append(ratio, y.lanes/y.chain)
		}
	}
	hash := price(stats.Quantile(own, costQuantile))
	chainNs, lanesNs := stats.Quantile(chain, lowQuantile), stats.Quantile(lanes, lowQuantile)
	if u.apart {
		chainNs, lanesNs = u.chain, u.chain*stats.Median(ratio)
	}
	return result.Round{
		Clean:      len(clean),
		NsPerOp:    hash,
		RelCost:    hash / w.Compressions() / chainNs,
		ChainNs:    chainNs,
		LanesNs:    lanesNs,
		CleanShare: float64(len(clean)) / float64(len(t.slices)),
	}
}

// usable prices the rounds of the sides of a target and keeps those that are
// evidence, a list for each side; whole runs may be disturbed by most.
func usable(sides []*subject, u undisturbed, most float64) [][]result.Round {
	all := make([][]result.Round, len(sides))
	calls := sharedCalls(sides, u)
	for i, s := range sides {
		price := s.price(calls[i])
		for _, t := range s.traces {
			if r := t.round(u, most, s.Workload, price); r.Usable() {
				all[i] = append(all[i], r)
			}
		}
	}
	if !u.apart {
		return all
	}
	return agreeing(all)
}

// allowed is by how much the slices of a target's sides may be disturbed, in
// limits: 1, and more for whole runs where that leaves a side too few for a
// verdict, or less than the share that makes a round evidence.
//
// The readings around a whole run are too far from most of it to vouch for it:
// beside a neighbour that comes and goes its time varied by 10 %, whatever was
// asked of them, and strict limits left 1 to 5 of some 60 runs. So there at least half
// of the runs of each side count, those with the calmer readings: the sides are
// shuffled together, and what the neighbour does to both is in the spread of
// their rounds. It tells nothing of another job's.
func allowed(sides []*subject, u undisturbed) float64 {
	most, short := 1.0, false
	for _, s := range sides {
		if s.outcome != result.Measured || len(s.traces) == 0 {
			continue
		}
		if !s.whole {
			return 1
		}
		var off []float64
		strict := 0
		for _, t := range s.traces {
			d := u.disturbance(t.readings[0], t.readings[1])
			off = append(off, d)
			if d <= 1 {
				strict++
			}
		}
		short = short || strict < result.MinRounds || float64(strict) < result.MinCleanShare*float64(len(off))
		slices.Sort(off)
		most = max(most, off[max((len(off)+1)/2, min(result.MinRounds, len(off)))-1])
	}
	if !short {
		return 1
	}
	return most
}

// priced is what counts of a subject.
type priced struct {
	rounds    []result.Round
	contended bool // they are whole runs, and most were disturbed
}

// priceAll prices the usable rounds of each subject.
func priceAll(subjects []*subject, u undisturbed) map[*subject]priced {
	all := map[*subject]priced{}
	for _, g := range groups(subjects) {
		most := allowed(g, u)
		for i, rounds := range usable(g, u, most) {
			all[g[i]] = priced{rounds, most > 1 && len(rounds) > 0}
		}
	}
	return all
}

// A neighbour that waits for its memory most of the time hardly shows in one
// reading, though what it shares of the core it takes: rounds beside one read
// 13 or 17 % high, and lanes to chain 0.3 % low or high over a whole round. So a
// round counts where its ratio is as most have it: within four of their standard
// deviations, which are held within these.
const (
	agreeDeviations = 4
	agreeAtLeast    = 0.001
	agreeAtMost     = 0.005
)

// agreeing keeps the rounds whose ratio is that of most.
func agreeing(sides [][]result.Round) [][]result.Round {
	var ratios []float64
	// rounds of a whole run have two readings, which tell no more
	fine := func(r result.Round) bool { return r.Clean >= result.MinCleanSlices }
	ratio := func(r result.Round) float64 { return math.Log(r.LanesNs / r.ChainNs) }
	for _, rounds := range sides {
		for _, r := range rounds {
			if fine(r) {
				ratios = append(ratios, ratio(r))
			}
		}
	}
	usual := stats.Median(ratios)
	off := make([]float64, len(ratios))
	for i, x := range ratios {
		off[i] = math.Abs(x - usual)
	}
	const normal = 1.4826 // standard deviation over median deviation
	most := min(max(agreeDeviations*normal*stats.Median(off), agreeAtLeast), agreeAtMost)
	kept := make([][]result.Round, len(sides))
	for i, rounds := range sides {
		for _, r := range rounds {
			if !fine(r) || math.Abs(ratio(r)-usual) <= most {
				kept[i] = append(kept[i], r)
			}
		}
	}
	return kept
}

// Rounds are the usable rounds of each of a run's subjects: what Run makes of
// the same samples. It is for those who study the estimator.
func Rounds(run []Raw) [][]result.Round {
	var subjects []*subject
	apart := true
	for _, raw := range run {
		s := &subject{Subject: Subject{Name: raw.Name, Workload: raw.Workload}, plan: raw.Plan, known: raw.Call, tick: raw.Tick, outcome: result.Measured, whole: raw.Plan.Slices == 1}
		for _, r := range raw.Rounds {
			t := trace{calls: r.Calls, early: reading{r.Early[0], r.Early[1]}}
			for i := range r.Slices {
				t.slices = append(t.slices, slice{own: r.Slices[i]})
			}
			for i := range r.Chain {
				t.readings = append(t.readings, reading{r.Chain[i], r.Lanes[i]})
			}
			s.traces = append(s.traces, t)
		}
		subjects = append(subjects, s)
		apart = apart && raw.Apart
	}
	u := undisturbedBy(subjects, apart)
	counted := priceAll(subjects, u)
	all := make([][]result.Round, len(subjects))
	for i, s := range subjects {
		all[i] = counted[s].rounds
	}
	return all
}
