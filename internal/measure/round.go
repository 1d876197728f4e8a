package measure

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/counter"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/yardstick"
)

// slice is one timed derivation, ns: by the probe's clock, by ours around
// the exchange, and the child's processor time from this slice to the next
// (-1: unknown).
type slice struct{ own, wall, cpu float64 }

// trace is one round as it was observed: slices[i] between readings[i] and
// readings[i+1].
type trace struct {
	calls    []float64 // what requests of one iteration took, ns
	early    reading   // before the calls; the first of readings follows them
	slices   []slice
	readings []reading
	counts   counter.Counts // of all slices; zero: unknown
}

// timeError is a reported time that cannot be true.
type timeError struct{ msg string }

func (e *timeError) Error() string { return e.msg }

// plausible refuses a time that is longer than the one that passed here.
func plausible(a probe.Answer, wall, tick time.Duration) error {
	if !a.Fits(wall, tick) {
		return &timeError{fmt.Sprintf("reports %s for a derivation that was over after %s: it must time the derivation alone, in nanoseconds, with a monotonic clock", dur(float64(a.Elapsed)), dur(float64(wall)))}
	}
	return nil
}

// round runs one fresh process through the plan. The error is ctx's.
func (r *run) round(ctx context.Context, s *subject) error {
	if s.Once != nil {
		if err := r.roundOnce(ctx, s); err != nil {
			return s.broke(ctx, err)
		}
		return nil
	}
	err := s.again(func() error {
		p, err := s.Start(ctx)
		if err != nil {
			return err
		}
		defer p.Kill()
		t, err := r.trace(ctx, p, s)
		if err != nil {
			return err
		}
		if err := p.Close(); err != nil {
			return err
		}
		s.traces = append(s.traces, t)
		return nil
	})
	if err != nil {
		return s.broke(ctx, err)
	}
	return nil
}

func (r *run) trace(ctx context.Context, p Process, s *subject) (trace, error) {
	r.gauge.set(s.plan, s.Workload)
	inline := r.gauge.checks(s.Workload)
	n := s.plan.Slices
	t := trace{slices: make([]slice, 0, n), readings: make([]reading, 0, n+1)}
	var later []pending
	if !inline {
		later = make([]pending, 0, n)
	}
	req := r.request(s, s.plan.SliceIterations)
	most := req.Limit(s.slice / float64(req.Iterations*s.Workload.Blocks()))
	for range s.plan.WarmUp {
		r.salt(&req)
		if _, err := p.Derive(ctx, req, most); err != nil {
			return t, err
		}
	}

	key := yardstick.NewKey(req.Password)
	var c check
	gauge := func(c *check) reading {
		start := r.Clock()
		y := r.gauge.read(c)
		s.yardsticks += r.Clock() - start
		return y
	}
	read := func(c *check) { t.readings = append(t.readings, gauge(c)) }
	t.early = gauge(nil)
	var err error
	if t.calls, err = r.calls(ctx, p, s); err != nil {
		return t, err
	}
	r.salt(&req)
	// Counters are read outside the outermost yardsticks: nothing is to stand
	// between a yardstick and its slice.
	first, counted := p.Counts()
	read(nil)
	before, known := p.CPU()
	for i := range n {
		if i > 0 {
			r.salt(&req)
		}
		if inline {
			// made here, so that only a few hundred ns stand between the
			// reading and the slice
			c.reset(&key, req.Salt, s.Workload, req.Iterations)
		}
		start := r.Clock()
		a, err := p.Derive(ctx, req, most)
		wall := r.Clock() - start
		if err != nil {
			return t, err
		}
		if err := plausible(a, wall, time.Duration(s.tick)); err != nil {
			return t, err
		}
		s.slices += a.Elapsed
		sl := slice{own: float64(a.Elapsed), wall: float64(wall), cpu: -1}
		if s.tick > 0 {
			// The coarse clock's tick is spread evenly, so that the spread of
			// the rounds shows what the clock hides.
			sl.own += (r.Rand.Float64() - 0.5) * s.tick
		}
		if inline {
			read(&c)
			if want := c.key(req.KeyBytes); !bytes.Equal(a.Key, want) {
				return t, &probe.KeyError{Request: req, Got: bytes.Clone(a.Key), Want: bytes.Clone(want)}
			}
		} else {
			later = append(later, pending{bytes.Clone(req.Salt), bytes.Clone(a.Key)})
			read(nil)
		}
		if known {
			now, ok := p.CPU()
			if ok {
				sl.cpu = float64(now - before)
			}
			before, known = now, ok
		}
		t.slices = append(t.slices, sl)
	}
	if counted {
		if last, ok := p.Counts(); ok {
			t.counts, _ = last.Since(first)
		}
	}
	return t, verifyAll(req, later)
}

// counts are the instructions and cycles of a nominal compression, the medians
// over the rounds, disturbed ones included: a neighbour changes how long
// instructions take, not how many they are. Zero where none was counted.
//
// What the probe does around a derivation, reading the request and writing the
// answer, is in them. It is the same for every slice of a plan, and figures of
// different plans are not compared, so it is not taken off; it makes them a
// little larger than the loop's own.
func (s *subject) counts() (instructions, cycles float64) {
	var all [2][]float64
	for _, t := range s.traces {
		if t.counts == (counter.Counts{}) {
			continue
		}
		slice := s.Workload
		slice.Iterations = s.plan.SliceIterations
		n := float64(len(t.slices)) * slice.Compressions()
		all[0] = append(all[0], t.counts.Instructions/n)
		all[1] = append(all[1], t.counts.Cycles/n)
	}
	if len(all[0]) == 0 {
		return 0, 0
	}
	instructions, cycles = stats.Median(all[0]), stats.Median(all[1])
	if result.ValidCount(instructions) != nil || result.ValidCount(cycles) != nil {
		return 0, 0 // evidence beside the time: no reason to lose that
	}
	return instructions, cycles
}

// callsEach round are of a single iteration: what a request costs beside its
// iterations.
const callsEach = 8

// calls times them, ns, before the slices.
func (r *run) calls(ctx context.Context, p Process, s *subject) ([]float64, error) {
	if s.plan.SliceIterations == 1 {
		return nil, nil
	}
	req := r.request(s, 1)
	var calls []float64
	for range callsEach {
		r.salt(&req)
		own, _, err := r.ask(ctx, p, req, probe.UnknownIteration, time.Duration(s.tick))
		if err != nil {
			return nil, err
		}
		calls = append(calls, float64(own))
	}
	return calls, nil
}

// fewestRoundsOfCalls tell a call, undisturbed or not.
const fewestRoundsOfCalls = 4

// call is what a request of one iteration takes, ns at the run's clock, by all
// rounds; 0 where that is not known. As with slices, what was undisturbed
// counts: a call that does much beside its iterations read 12 to 17 us instead of
// 11 beside a neighbour, more than 1 % of a slice.
func (s *subject) call(u undisturbed) float64 {
	var told []trace
	for _, t := range s.traces {
		if len(t.calls) > 0 {
			told = append(told, t)
		}
	}
	if len(told) == 0 {
		return s.known
	}
	disturbance := func(t trace) float64 { return u.disturbance(t.early, t.readings[0]) }
	slices.SortStableFunc(told, func(a, b trace) int { return cmp.Compare(disturbance(a), disturbance(b)) })
	var calls []float64
	for i, t := range told {
		if i < fewestRoundsOfCalls || disturbance(t) <= 1 {
			for _, x := range t.calls {
				if s.tick == 0 { // else a tick is a tick
					x = u.atClock(x, t.early, t.readings[0])
				}
				calls = append(calls, x)
			}
		}
	}
	if s.tick == 0 {
		return stats.Quantile(calls, 0.25)
	}
	// A coarse clock shows a tick or none: their mean tells, without those that
	// were interrupted.
	most := 2*stats.Median(calls) + s.tick
	sum, n := 0.0, 0
	for _, x := range calls {
		if x <= most {
			sum += x
			n++
		}
	}
	return sum / float64(n)
}

// How far apart the calls of two sides of a target may be to be taken for one:
// what they differ by under load, and a part of a slice that no verdict sees.
const (
	callsAlike     = 1.20
	callsAlikePart = 0.001
)

// sharedCalls are the calls of the sides of a target, ns. On a busy core they
// are the least certain part of a price: two sides of one code differed by up to
// 15 %, 0.08 % of a slice, which no number of rounds would show as noise. So those
// that are near each other are one.
func sharedCalls(sides []*subject, u undisturbed) []float64 {
	own := make([]float64, len(sides))
	for i, s := range sides {
		own[i] = s.call(u)
	}
	slice := shortest(sides)
	shared := make([]float64, len(sides))
	for i, x := range own {
		var near []float64
		for _, y := range own {
			if max(x, y) <= callsAlike*min(x, y) && math.Abs(x-y) <= callsAlikePart*slice {
				near = append(near, y)
			}
		}
		shared[i] = stats.Median(near)
	}
	return shared
}

// shortest is what the shortest slice of some sides takes, ns; 0 where there is
// none.
func shortest(sides []*subject) float64 {
	least := math.Inf(1)
	for _, s := range sides {
		for _, t := range s.traces {
			for _, x := range t.slices {
				least = min(least, x.own)
			}
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// price makes the cost of one hash, ns, from what a slice took: the iterations
// are of any number, the call around them is one.
func (s *subject) price(call float64) func(slice float64) float64 {
	n, all := float64(s.plan.SliceIterations), float64(s.Workload.Iterations)
	return func(slice float64) float64 {
		if call == 0 || call >= slice {
			return slice / n * all
		}
		return call + (slice-call)/(n-1)*(all-1)
	}
}

// verifyAll checks the keys that the yardsticks did not.
func verifyAll(req probe.Request, later []pending) error {
	for _, l := range later {
		req.Salt = l.salt
		if err := req.Verify(l.key); err != nil {
			return err
		}
	}
	return nil
}

// pending is a key that is checked after the round.
type pending struct{ salt, key []byte }

func (r *run) request(s *subject, iterations int) probe.Request {
	return probe.Request{PRF: s.Workload.PRF, Iterations: iterations, KeyBytes: s.Workload.KeyBytes,
		Password: []byte(workload.Password), Salt: make([]byte, s.Workload.SaltBytes)}
}

// salt draws a new salt into the request: a cache is useless.
func (r *run) salt(req *probe.Request) {
	for i := range req.Salt {
		req.Salt[i] = byte(r.Rand.Uint32())
	}
}
