package measure

import (
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// Survey is what the yardsticks say of the core that they ran on.
type Survey struct {
	Chain, Lanes float64 // ns per compression, undisturbed
	Apart        bool    // the yardsticks tell a neighbour and the clock apart
	Clean        float64 // share of the readings that were undisturbed
	Moved        float64 // of those, by how much the slow ones of the chain are over the fast ones: the clock
	Readings     int
	Took         time.Duration
}

// SurveyHost reads the yardsticks for about as long as given.
func SurveyHost(clock func() time.Duration, k Kernels, length time.Duration) Survey {
	g := newGauge(clock, k)
	g.set(result.Plan{SliceIterations: 1, Yardstick: yardstickLength}, workload.Reference())
	var chain []float64
	var all []reading
	start := clock()
	for clock()-start < length {
		all = append(all, g.read(nil))
	}
	s := Survey{Apart: k.Hardware, Readings: len(all), Took: clock() - start}
	if len(all) == 0 {
		return s
	}
	u := undisturbedBy([]*subject{{traces: []trace{{readings: all}}}}, k.Hardware)
	for _, y := range all {
		if u.alone(y) {
			s.Clean += 1 / float64(len(all))
			chain = append(chain, y.chain)
		}
	}
	s.Chain, s.Lanes = u.chain, u.lanes
	s.Moved = stats.Quantile(chain, 1-lowQuantile)/s.Chain - 1
	return s
}
