package measure

import (
	"context"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// A program without the protocol cannot be asked for slices, nor for keys that
// are known: one run of it, between two readings of the yardsticks, is a round
// with a single slice. What disturbs it inside stays unseen, but for the
// spread of the rounds.

// openOnce runs it once, to see that it works and how long it takes.
func (r *run) openOnce(ctx context.Context, s *subject) error {
	s.plan = result.Plan{SliceIterations: s.Workload.Iterations, Slices: 1, Yardstick: yardstickLength}
	_, whole, err := r.runOnce(ctx, s)
	if err != nil {
		return err
	}
	if whole {
		s.note("prints no elapsed time: its whole run is timed, its start included")
	}
	return nil
}

// runOnce runs it and says what it took, ns; whole where that is by our clock.
func (r *run) runOnce(ctx context.Context, s *subject) (sl slice, whole bool, err error) {
	start := r.Clock()
	o, err := s.Once(ctx)
	wall := r.Clock() - start
	if err != nil {
		return slice{}, false, err
	}
	if s.hello.Words == nil {
		s.hello.Words = o.Words
	}
	if o.Elapsed == 0 {
		return slice{float64(wall), float64(wall), -1}, true, nil
	}
	// its clock may be a coarse one, ours another
	return slice{float64(o.Elapsed), float64(wall), -1}, false, plausible(probe.Answer{Elapsed: o.Elapsed}, wall, 20*time.Millisecond)
}

// roundOnce is one round of it.
func (r *run) roundOnce(ctx context.Context, s *subject) error {
	// of their nominal length: no key is checked on the way
	r.gauge.set(result.Plan{SliceIterations: 1, Yardstick: s.plan.Yardstick}, s.Workload)
	start := r.Clock()
	before := r.calm()
	s.yardsticks += r.Clock() - start
	sl, _, err := r.runOnce(ctx, s)
	if err != nil {
		return err
	}
	s.slices += time.Duration(sl.own)
	start = r.Clock()
	after := r.calm()
	s.yardsticks += r.Clock() - start
	s.traces = append(s.traces, trace{slices: []slice{sl}, readings: []reading{before, after}})
	return nil
}

// calm is the calmest of a few readings: the end of a process, which is taken
// apart on this core, is no neighbour.
func (r *run) calm() reading {
	best := r.gauge.read(nil)
	for range 3 {
		if y := r.gauge.read(nil); y.lanes < best.lanes {
			best = y
		}
	}
	return best
}
