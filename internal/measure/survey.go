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
	Clean        float64 // share of the readings that were undisturbed
	Readings     int
	Took         time.Duration
}

// SurveyHost reads the yardsticks for about as long as given.
func SurveyHost(clock func() time.Duration, k Kernels, length time.Duration) Survey {
	g := newGauge(clock, k)
	g.set(result.Plan{SliceIterations: 1, Yardstick: yardstickLength}, workload.Reference())
	var chain, lanes []float64
	var all []reading
	start := clock()
	for clock()-start < length {
		y := g.read(nil)
		all = append(all, y)
		chain = append(chain, y.chain)
		lanes = append(lanes, y.lanes)
	}
	s := Survey{Readings: len(all), Took: clock() - start}
	if len(all) == 0 {
		return s
	}
	s.Chain, s.Lanes = stats.Quantile(chain, lowQuantile), stats.Quantile(lanes, lowQuantile)
	l := limits{(1 + ChainAllowed) * s.Chain, (1 + LanesAllowed) * s.Lanes}
	for _, y := range all {
		if l.admit(y) {
			s.Clean += 1 / float64(len(all))
		}
	}
	return s
}
