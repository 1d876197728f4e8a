package measure

import (
	"context"
	"errors"
	"fmt"
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
	_, o, err := r.runOnce(ctx, s)
	switch {
	case err != nil:
		return err
	case o.Elapsed > 0:
	case o.Line == "":
		s.note("prints no elapsed time: its whole run is timed, its start included")
	default:
		s.note("prints an elapsed time of zero (%s), so its clock is too coarse: its whole run is timed, its start included", o.Line)
	}
	s.timed = o.Elapsed == 0
	return nil
}

// runOnce runs it and says what it took, ns: by our clock where it does not say.
func (r *run) runOnce(ctx context.Context, s *subject) (sl slice, o Once, err error) {
	start := r.Clock()
	o, err = s.Once(ctx)
	wall := r.Clock() - start
	if err != nil {
		return slice{}, o, err
	}
	if s.hello.Words == nil {
		s.hello.Words = o.Words
	}
	if o.Elapsed == 0 {
		return slice{float64(wall), float64(wall), -1}, o, nil
	}
	// its clock may be a coarse one, ours another
	if !(probe.Answer{Elapsed: o.Elapsed}).Fits(wall, 20*time.Millisecond) {
		err = &timeError{fmt.Sprintf("says that it took %s%s, but its whole run was over after %s: it must say how long the derivation took",
			dur(float64(o.Elapsed)), in(o.Line), dur(float64(wall)))}
	}
	return slice{float64(o.Elapsed), float64(wall), -1}, o, err
}

// in is where a time stands.
func in(line string) string {
	if line == "" {
		return ""
	}
	return " (" + line + ")"
}

// roundOnce is one round of it.
func (r *run) roundOnce(ctx context.Context, s *subject) error {
	// of their nominal length: no key is checked on the way
	r.gauge.set(result.Plan{SliceIterations: 1, Yardstick: s.plan.Yardstick}, s.Workload)
	start := r.Clock()
	before := r.calm()
	s.yardsticks += r.Clock() - start
	sl, o, err := r.runOnce(ctx, s)
	if err != nil {
		return err
	}
	if s.timed != (o.Elapsed == 0) {
		return errors.New("prints an elapsed time in some runs, and none or zero in others: print one of more digits each time, or none")
	}
	s.slices += time.Duration(sl.own)
	start = r.Clock()
	after := r.calm()
	s.yardsticks += r.Clock() - start
	s.traces = append(s.traces, trace{slices: []slice{sl}, readings: []reading{before, after}})
	return nil
}

// calm is the least of a few readings: the end of a process, which is taken
// apart on this core, is no neighbour. Of either yardstick for itself, as one
// that was cut in two makes any ratio.
func (r *run) calm() reading {
	best := r.gauge.read(nil)
	for range 3 {
		y := r.gauge.read(nil)
		best = reading{min(best.chain, y.chain), min(best.lanes, y.lanes)}
	}
	return best
}
