package measure

import (
	"math"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// Lengths that a plan aims at.
const (
	// A neighbour comes and goes within milliseconds: of slices of 0.9 ms
	// between clean yardsticks, half were disturbed inside, of 0.3 to 0.4 ms
	// a quarter (docs/measuring.md).
	idealSlice = 400 * time.Microsecond
	leastSlice = 250 * time.Microsecond
	// A coarse clock may stretch a slice until a tick is 0.4 % of it.
	ticksPerSlice = 250
	longestSlice  = ticksPerSlice * probe.CoarsestTick // 10 ms

	yardstickLength = 250 * time.Microsecond
	roundLength     = 120 * time.Millisecond // 50 to 80 rounds with their start in 10 s
	leastSlices     = 10
	mostSlices      = 500
)

// A plan that was made elsewhere is kept while its slices are within these.
const (
	keptSliceMin = 200 * time.Microsecond
	keptSliceMax = 10 * time.Millisecond
)

// plan makes the plan for a target of which one iteration (all blocks)
// takes iterNs, whose clock ticks every tick ns, after warmUp slices. The
// slice is short enough for the lanes to check its key within the yardstick.
func (g *gauge) plan(iterNs, tick float64, warmUp int, w workload.Params) result.Plan {
	length := float64(idealSlice)
	lanes := float64(yardstickLength) * (1 - chainShare)
	if g.checks(w) {
		perIteration := float64(checkIterations(w, 2)) * g.lanesIter // ns of checking one iteration
		length = min(length, max(float64(leastSlice), lanes/perIteration*iterNs))
	}
	length = min(max(length, tick*ticksPerSlice), float64(longestSlice))
	p := result.Plan{
		SliceIterations: step(length / iterNs),
		WarmUp:          stepUp(warmUp),
		Yardstick:       yardstickLength,
	}
	if g.checks(w) {
		need := float64(checkIterations(w, p.SliceIterations)) * g.lanesIter / (1 - chainShare)
		const unit = 50 * time.Microsecond
		p.Yardstick = max(p.Yardstick, time.Duration(math.Ceil(need/float64(unit)))*unit)
	}
	cycle := float64(p.SliceIterations)*iterNs + float64(p.Yardstick) + 50e3
	p.Slices = min(max(step(float64(roundLength)/cycle), leastSlices), mostSlices)
	return p
}

// preferred are the steps within a factor of ten that plans keep to: a plan
// is read by people and compared exactly, and machines of one kind should
// arrive at the same one.
var preferred = []float64{1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.4, 8, 10}

// step is the largest whole preferred number that is not over x, at least 1.
func step(x float64) int {
	if x < 1 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	best := 1.0
	for _, p := range preferred {
		if p*unit <= x {
			best = p * unit
		}
	}
	return int(best)
}

// stepUp is the least of 2, 5, 10, 20, 50, ... that is not under n.
func stepUp(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, k := range []int{2, 5, 10} {
			if k*unit >= n {
				return k * unit
			}
		}
	}
}
