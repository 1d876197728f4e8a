package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/measure"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
)

// estimate is one way from raw samples to the change between two sides.
type estimate struct {
	name   string
	rounds func(t trial) func(side int) []float64 // logarithms of the usable rounds' costs
	centre func(base, head []float64) float64
}

// gatesRounds are the gate's own.
func gatesRounds(t trial) func(int) []float64 {
	return func(side int) (v []float64) {
		for _, r := range t.Gate[side].Run.Rounds {
			v = append(v, math.Log(r.NsPerOp))
		}
		return v
	}
}

// pricing is another way to price rounds, each by itself.
type pricing struct {
	quantile float64 // of a round's slices
	clean    looker
	clock    bool // times are brought to the chain's
	cpu      bool // processor time instead of the probe's own
}

// looker says of a trial's readings which slices count.
type looker func(t trial) func(r roundSamples, slice int) bool

// byRatio looks away from a neighbour by lanes over chain, and from a clock that
// moves beside the slice.
func byRatio(ratio, chain float64) looker {
	return func(t trial) func(roundSamples, int) bool {
		var all []float64
		for _, g := range t.Gate {
			for _, r := range g.Raw.Rounds {
				steady := func(i int) bool { return off(r.Chain[i], r.Chain[i+1]) <= chain }
				for i := range r.Chain {
					if i > 0 && steady(i-1) || i+1 < len(r.Chain) && steady(i) {
						all = append(all, float64(r.Lanes[i])/float64(r.Chain[i]))
					}
				}
			}
		}
		low := stats.Quantile(all, 0.10)
		alone := func(r roundSamples, i int) bool {
			return math.Abs(math.Log(float64(r.Lanes[i])/float64(r.Chain[i])/low)) <= ratio
		}
		return func(r roundSamples, i int) bool {
			return alone(r, i) && alone(r, i+1) && off(r.Chain[i], r.Chain[i+1]) <= chain
		}
	}
}

// off is how far apart two readings are, on a logarithmic scale.
func off(a, b int32) float64 { return math.Abs(math.Log(float64(a) / float64(b))) }

// byTimes looks away where either yardstick is slower than most.
func byTimes(chain, lanes float64) looker {
	return func(t trial) func(roundSamples, int) bool {
		var all [2][]float64
		for _, g := range t.Gate {
			for _, r := range g.Raw.Rounds {
				all[0] = append(all[0], floats(r.Chain, 1)...)
				all[1] = append(all[1], floats(r.Lanes, 1)...)
			}
		}
		c, l := (1+chain)*stats.Quantile(all[0], 0.10), (1+lanes)*stats.Quantile(all[1], 0.10)
		return func(r roundSamples, i int) bool {
			return float64(max(r.Chain[i], r.Chain[i+1])) <= c && float64(max(r.Lanes[i], r.Lanes[i+1])) <= l
		}
	}
}

func everySlice(trial) func(roundSamples, int) bool {
	return func(roundSamples, int) bool { return true }
}

func medians(a, b []float64) float64   { return stats.Median(b) - stats.Median(a) }
func quartiles(a, b []float64) float64 { return stats.Quantile(b, 0.25) - stats.Quantile(a, 0.25) }
func shift(a, b []float64) float64     { at, _, _ := stats.Shift(a, b); return at }
func least(a, b []float64) float64     { return slices.Min(b) - slices.Min(a) }
func means(a, b []float64) float64     { return mean(b) - mean(a) }

// shiftOfLower is the shift between the lower three quarters of each side.
func shiftOfLower(a, b []float64) float64 {
	lower := func(v []float64) []float64 {
		s := slices.Sorted(slices.Values(v))
		return s[:max(1, len(s)*3/4)]
	}
	return shift(lower(a), lower(b))
}

func estimates() []estimate {
	gates := byRatio(measure.RatioAllowed, measure.ChainAllowed)
	times := byTimes(measure.ChainTimeAllowed, measure.LanesTimeAllowed)
	priced := func(name string, p pricing) estimate { return estimate{name, p.rounds, shift} }
	return []estimate{
		{"the gate's: shift between its rounds", gatesRounds, shift},
		{"median of the rounds", gatesRounds, medians},
		{"lower quartile of the rounds", gatesRounds, quartiles},
		{"shift of the lower three quarters", gatesRounds, shiftOfLower},
		{"mean of the rounds", gatesRounds, means},
		{"least of the rounds", gatesRounds, least},
		priced("rounds that need not agree", pricing{0.05, gates, true, false}),
		priced("of them: 2nd percentile", pricing{0.02, gates, true, false}),
		priced("10th percentile", pricing{0.10, gates, true, false}),
		priced("25th percentile", pricing{0.25, gates, true, false}),
		priced("median", pricing{0.50, gates, true, false}),
		priced("limits 0.5 %", pricing{0.05, byRatio(0.005, 0.005), true, false}),
		priced("limits 3 %", pricing{0.05, byRatio(0.03, 0.03), true, false}),
		priced("no clock divided out", pricing{0.05, gates, false, false}),
		priced("limits of the yardsticks' times, clock divided out", pricing{0.05, times, true, false}),
		priced("limits of the yardsticks' times, and not", pricing{0.05, times, false, false}),
		priced("as it was: those limits, and not, 10th percentile", pricing{0.10, times, false, false}),
		priced("every slice counts, clock divided out", pricing{0.05, everySlice, true, false}),
		priced("every slice counts, and not", pricing{0.05, everySlice, false, false}),
		priced("every slice counts, and not, median", pricing{0.50, everySlice, false, false}),
		priced("processor time", pricing{0.05, gates, true, true}),
	}
}

// printErrors writes how far each estimate is off the truth, a table for each
// load.
func printErrors(w io.Writer, trials []trial) {
	loads, _ := loadsOf(trials)
	for _, load := range loads {
		fmt.Fprintf(w, "\n### Error of the change, load: %s\n\n| estimate | comparisons | sd | mean | largest | rounds a side |\n| --- | --- | --- | --- | --- | --- |\n", load)
		for _, e := range estimates() {
			fmt.Fprintln(w, e.row(trials, load))
		}
	}
}

// row is the estimate's error over all heads whose truth is a number.
func (e estimate) row(trials []trial, load string) string {
	var off []float64
	rounds, sides := 0, 0
	var began time.Time // of the trial that of is for
	var of func(side int) []float64
	for _, truth := range truthsOf(trials, load) {
		extra, err := strconv.ParseFloat(truth, 64)
		if err != nil {
			continue
		}
		for t, c := range comparisons(trials, load, truth) {
			if t.Began != began {
				began, of = t.Began, e.rounds(t)
			}
			base, head := of(c.base), of(c.head)
			rounds += len(head)
			sides++
			if len(base) >= result.MinRounds && len(head) >= result.MinRounds {
				off = append(off, 100*(e.centre(base, head)-math.Log1p(extra/100)))
			}
		}
	}
	s := fmt.Sprintf("| %s | %d of %d |", e.name, len(off), sides)
	if len(off) < 2 {
		s += " | | |"
	} else {
		most := 0.0
		for _, x := range off {
			most = max(most, math.Abs(x))
		}
		s += fmt.Sprintf(" %.3f %% | %+.3f %% | %.2f %% |", spread(off), mean(off), most)
	}
	return s + fmt.Sprintf(" %.1f |", float64(rounds)/float64(max(1, sides)))
}

// spread is the standard deviation.
func spread(v []float64) float64 {
	m, sum := mean(v), 0.0
	for _, x := range v {
		sum += (x - m) * (x - m)
	}
	return math.Sqrt(sum / float64(len(v)-1))
}

func (p pricing) rounds(t trial) func(side int) []float64 {
	clean := p.clean(t)
	return func(side int) (v []float64) {
		for _, r := range t.Gate[side].Raw.Rounds {
			var own []float64
			from := r.Slices
			if p.cpu {
				from = r.CPU
			}
			for i, x := range from {
				if x <= 0 || !clean(r, i) {
					continue
				}
				cost := float64(x)
				if p.clock {
					cost /= float64(r.Chain[i]) + float64(r.Chain[i+1])
				}
				own = append(own, cost)
			}
			if len(own) >= result.MinCleanSlices && float64(len(own)) >= result.MinCleanShare*float64(len(r.Slices)) {
				v = append(v, math.Log(stats.Quantile(own, p.quantile)))
			}
		}
		return v
	}
}
