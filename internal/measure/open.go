package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// Settling: the slices at the start that are not yet as fast as later ones
// are warm-up.
const (
	settleWithin  = 1.02
	settleAtLeast = 120
	settleAtMost  = 2000
	settleTime    = 3 * time.Second
)

// full is one derivation at the workload's iterations.
type full struct {
	own     time.Duration
	cpu     time.Duration // -1: unknown
	readers [2]reading    // before and after it
}

// open checks a target's keys, finds how it is to be sampled, and derives
// once at full iterations. The error is ctx's.
func (r *run) open(ctx context.Context, s *subject) error {
	defer r.progress(s, true)
	if s.Once != nil {
		if err := r.openOnce(ctx, s); err != nil {
			return s.broke(ctx, err)
		}
		return nil
	}
	var iteration float64
	err := s.again(func() (err error) {
		iteration, err = r.check(ctx, s)
		return err
	})
	if err == nil {
		err = s.again(func() error { return r.settle(ctx, s, iteration) })
	}
	if err != nil {
		return s.broke(ctx, err)
	}
	return nil
}

// check asks for keys that are known, and returns what one iteration takes,
// ns of all blocks.
func (r *run) check(ctx context.Context, s *subject) (float64, error) {
	p, err := s.Start(ctx)
	if err != nil {
		return 0, err
	}
	defer p.Kill()
	s.hello = p.Hello()

	const few = 3000
	for _, n := range []int{1, 2, few} {
		req := r.request(s, n)
		r.salt(&req)
		if _, _, err := r.derive(ctx, p, s, req, probe.UnknownIteration); err != nil {
			return 0, refused(err, req)
		}
	}
	for _, n := range []int{0, 64, 65, 4096} {
		req := r.request(s, 2)
		r.salt(&req)
		req.Password = []byte(strings.Repeat("p", n))
		var no *probe.Refusal
		_, _, err := r.derive(ctx, p, s, req, probe.UnknownIteration)
		switch {
		case errors.As(err, &no):
			s.note("refuses a password of %d bytes: %s", n, no.Error())
		case err != nil:
			return 0, err
		}
	}

	// How long one iteration takes, by derivations of a quarter of a slice
	// or more.
	iterations, iteration := few, 0.0
	for {
		least := math.Inf(1)
		for range 3 {
			req := r.request(s, iterations)
			r.salt(&req)
			_, wall, err := r.derive(ctx, p, s, req, probe.UnknownIteration)
			if err != nil {
				return 0, refused(err, req)
			}
			// by our clock: the target's may be too coarse to tell
			least = min(least, float64(wall))
		}
		iteration = least / float64(iterations)
		if least >= float64(idealSlice)/4 || iterations > 1<<24 {
			break
		}
		iterations *= 4
	}
	if err := p.Close(); err != nil {
		return 0, err
	}
	return iteration, nil
}

// refused words the refusal of a request that the workload needs.
func refused(err error, req probe.Request) error {
	var no *probe.Refusal
	if errors.As(err, &no) {
		return fmt.Errorf("refuses %s with %s iterations, a %d-byte salt and a %d-byte key: %w",
			req.PRF, workload.Group(req.Iterations), len(req.Salt), req.KeyBytes, err)
	}
	return err
}

// derive asks once and checks the key and the time.
func (r *run) derive(ctx context.Context, p Process, s *subject, req probe.Request, iteration float64) (own, wall time.Duration, err error) {
	// the coarsest clock in use; the rounds, once it is known, are stricter
	own, wall, err = r.ask(ctx, p, req, iteration, 20*time.Millisecond)
	if err == nil {
		s.seen = append(s.seen, own)
	}
	return own, wall, err
}

// ask is one exchange: its key, and its time by a clock of that tick, are
// checked.
func (r *run) ask(ctx context.Context, p Process, req probe.Request, iteration float64, tick time.Duration) (own, wall time.Duration, err error) {
	start := r.Clock()
	a, err := p.Derive(ctx, req, req.Limit(iteration))
	wall = r.Clock() - start
	if err != nil {
		return 0, wall, err
	}
	if err := req.Verify(a.Key); err != nil {
		return 0, wall, err
	}
	return a.Elapsed, wall, plausible(a, wall, tick)
}

// settle runs a fresh process until its slices cost what later ones do,
// makes the plan or takes the one that was given, and derives at full
// iterations.
func (r *run) settle(ctx context.Context, s *subject, iteration float64) error {
	p, err := s.Start(ctx)
	if err != nil {
		return err
	}
	defer p.Kill()

	s.plan = s.Plan
	if s.plan.Slices == 1 { // of whole runs: the target was of another kind
		s.plan = result.Plan{}
	}
	if s.plan.SliceIterations > 0 {
		if got := time.Duration(iteration * float64(s.plan.SliceIterations)); got < keptSliceMin || got > keptSliceMax {
			s.note("the baseline's plan would put slices at %s here, outside %s to %s: a new plan, not comparable with the old one", dur(float64(got)), dur(float64(keptSliceMin)), dur(float64(keptSliceMax)))
			s.plan = result.Plan{}
		}
	}
	given := s.plan.SliceIterations > 0
	if !given {
		s.plan = r.gauge.plan(iteration, 0, 0, s.Workload)
	}

	own, err := r.settling(ctx, p, s, iteration, given)
	if err != nil {
		return err
	}
	s.tick = float64(probe.Tick(s.seen))
	now := stats.Quantile(own[len(own)/2:], costQuantile) / float64(s.plan.SliceIterations)
	if s.tick == 0 && now > 0 {
		// the least that was seen: a neighbour makes no plan
		iteration = slices.Min(own) / float64(s.plan.SliceIterations)
	}
	if s.tick > float64(probe.CoarsestTick) || now <= 0 {
		return fmt.Errorf("its clock ticks every %s, too coarse for slices of at most %s: time with a monotonic clock that tells microseconds or better",
			dur(max(s.tick, float64(time.Millisecond))), dur(float64(longestSlice)))
	}
	if !given {
		n, settled := warmUp(own)
		if n > leastWarmUp {
			// It may have been a neighbour: another process tells.
			m, ok, err := r.settleAgain(ctx, s, iteration)
			if err != nil {
				return err
			}
			n, settled = min(n, m), settled || ok
		}
		if !settled {
			s.note("did not settle within %d slices: each round drops its first %d", len(own), n)
		}
		s.plan = r.gauge.plan(iteration, s.tick, n, s.Workload)
	}
	s.slice = now * float64(s.plan.SliceIterations)
	return r.full(ctx, p, s)
}

// settling derives one slice after the other, ns by the target's clock: until
// they settle, or where a plan is given, past its warm-up.
func (r *run) settling(ctx context.Context, p Process, s *subject, iteration float64, given bool) ([]float64, error) {
	var own []float64
	plan := s.plan
	req := r.request(s, plan.SliceIterations)
	start := r.Clock()
	for {
		r.salt(&req)
		took, _, err := r.derive(ctx, p, s, req, iteration/float64(s.Workload.Blocks()))
		if err != nil {
			return nil, err
		}
		own = append(own, float64(took))
		n := len(own)
		switch {
		case n < settleAtLeast:
		case given:
			if n >= plan.WarmUp+settleAtLeast {
				return own, nil
			}
		case n >= settleAtMost || r.Clock()-start > settleTime:
			return own, nil
		case n%settleAtLeast == 0:
			if _, settled := warmUp(own); settled {
				return own, nil
			}
		}
	}
}

// settleAgain finds the warm-up of another process.
func (r *run) settleAgain(ctx context.Context, s *subject, iteration float64) (n int, settled bool, err error) {
	p, err := s.Start(ctx)
	if err != nil {
		return 0, false, err
	}
	defer p.Kill()
	own, err := r.settling(ctx, p, s, iteration, false)
	if err != nil {
		return 0, false, err
	}
	n, settled = warmUp(own)
	return n, settled, p.Close()
}

// leastWarmUp slices are always dropped: caches and the clock.
const leastWarmUp = 2

// warmUp is how many slices pass until one costs within 2 % of what the second
// half does; settled is false where none of the first half comes so near.
func warmUp(own []float64) (n int, settled bool) {
	half := len(own) / 2
	bound := settleWithin * stats.Quantile(own[half:], costQuantile)
	for i, x := range own[:half] {
		if x <= bound {
			return max(leastWarmUp, i), true
		}
	}
	return half, false
}

// One derivation at full iterations is tried again when it is off, in case
// it was disturbed: long ones less often, short ones, which a burst of a
// neighbour's covers whole, for as long as no burst lasts.
const (
	fullTries   = 3
	fullAtLeast = 500 * time.Millisecond // further tries before this
	fullRetries = 3 * time.Second        // no further try after this
	fullNear    = 0.10
)

func (r *run) full(ctx context.Context, p Process, s *subject) error {
	iteration := s.slice / float64(s.plan.SliceIterations)
	expected := iteration * float64(s.Workload.Iterations)
	r.gauge.set(s.plan, s.Workload)
	start := r.Clock()
	for try := 0; try < fullTries || r.Clock()-start < fullAtLeast; try++ {
		req := r.request(s, s.Workload.Iterations)
		r.salt(&req)
		f := full{cpu: -1}
		f.readers[0] = r.gauge.read(nil)
		before, known := p.CPU()
		own, _, err := r.derive(ctx, p, s, req, iteration/float64(s.Workload.Blocks()))
		if err != nil {
			return refused(err, req)
		}
		if after, ok := p.CPU(); ok && known {
			f.cpu = after - before
		}
		f.own = own
		f.readers[1] = r.gauge.read(nil)
		s.full = append(s.full, f)
		if math.Abs(float64(own)/expected-1) <= fullNear || r.Clock()-start > fullRetries {
			break
		}
	}
	// What slices cost now: a runtime that compiles as it goes may have needed
	// the long derivations for it.
	var own []float64
	for range warmSlices {
		req := r.request(s, s.plan.SliceIterations)
		r.salt(&req)
		took, _, err := r.derive(ctx, p, s, req, iteration/float64(s.Workload.Blocks()))
		if err != nil {
			return refused(err, req)
		}
		own = append(own, float64(took))
	}
	s.warm = stats.Quantile(own, costQuantile)
	return p.Close()
}

// warmSlices are timed after the derivations at full iterations.
const warmSlices = 20
