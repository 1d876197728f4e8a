package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/measure"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
)

// estimate is one way from raw samples to the change between two sides.
type estimate struct {
	name         string
	quantile     float64 // of a round's slices
	chain, lanes float64 // what an undisturbed yardstick may read over the low quantile
	cpu          bool    // processor time instead of the probe's own
	relative     bool    // over the round's chain
	centre       func(base, head []float64) float64
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
	const c, l = measure.ChainAllowed, measure.LanesAllowed
	inf := math.Inf(1)
	return []estimate{
		{"the gate's: 10th percentile, shift", 0.10, c, l, false, false, shift},
		{"median of the rounds", 0.10, c, l, false, false, medians},
		{"lower quartile of the rounds", 0.10, c, l, false, false, quartiles},
		{"shift of the lower three quarters", 0.10, c, l, false, false, shiftOfLower},
		{"mean of the rounds", 0.10, c, l, false, false, means},
		{"least of the rounds", 0.10, c, l, false, false, least},
		{"5th percentile", 0.05, c, l, false, false, shift},
		{"25th percentile", 0.25, c, l, false, false, shift},
		{"median", 0.50, c, l, false, false, shift},
		{"limits 0.5 % and 0.8 %", 0.10, 0.005, 0.008, false, false, shift},
		{"limits 5 % and 10 %", 0.10, 0.05, 0.10, false, false, shift},
		{"every slice counts", 0.10, inf, inf, false, false, shift},
		{"every slice counts, median", 0.50, inf, inf, false, false, shift},
		{"relative to the chain", 0.10, c, l, false, true, shift},
		{"processor time", 0.10, c, l, true, false, shift},
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
	for _, t := range trials {
		if t.Load != load {
			continue
		}
		limits := e.limits(t)
		base := e.rounds(t.Gate[0].Raw, limits)
		for i := 1; i < len(t.Sides); i++ {
			extra, err := strconv.ParseFloat(t.Sides[i], 64)
			if err != nil {
				continue
			}
			head := e.rounds(t.Gate[i].Raw, limits)
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

// limits are what a yardstick may read, thousandths of ns, by all sides of the
// trial.
func (e estimate) limits(t trial) (l [2]float64) {
	var chain, lanes []float64
	for _, g := range t.Gate {
		for _, r := range g.Raw.Rounds {
			chain = append(chain, floats(r.Chain)...)
			lanes = append(lanes, floats(r.Lanes)...)
		}
	}
	return [2]float64{(1 + e.chain) * stats.Quantile(chain, 0.10), (1 + e.lanes) * stats.Quantile(lanes, 0.10)}
}

func floats(v []int32) []float64 {
	f := make([]float64, len(v))
	for i, x := range v {
		f[i] = float64(x)
	}
	return f
}

// rounds are the logarithms of the usable rounds' costs.
func (e estimate) rounds(s samples, l [2]float64) (v []float64) {
	for _, r := range s.Rounds {
		var own, chain []float64
		from := r.Slices
		if e.cpu {
			from = r.CPU
		}
		for i, x := range from {
			if x > 0 && float64(max(r.Chain[i], r.Chain[i+1])) <= l[0] && float64(max(r.Lanes[i], r.Lanes[i+1])) <= l[1] {
				own = append(own, float64(x))
				chain = append(chain, float64(r.Chain[i]), float64(r.Chain[i+1]))
			}
		}
		if len(own) < result.MinCleanSlices || float64(len(own)) < result.MinCleanShare*float64(len(r.Slices)) {
			continue
		}
		cost := stats.Quantile(own, e.quantile)
		if e.relative {
			cost /= stats.Quantile(chain, 0.10)
		}
		v = append(v, math.Log(cost))
	}
	return v
}
