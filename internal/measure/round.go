package measure

import (
	"bytes"
	"context"
	"fmt"
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

	if err := r.calls(ctx, p, s); err != nil {
		return t, err
	}

	key := yardstick.NewKey(req.Password)
	var c check
	r.salt(&req)
	read := func(c *check) {
		start := r.Clock()
		t.readings = append(t.readings, r.gauge.read(c))
		s.yardsticks += r.Clock() - start
	}
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

// calls times them, before the slices.
func (r *run) calls(ctx context.Context, p Process, s *subject) error {
	if s.plan.SliceIterations == 1 {
		return nil
	}
	req := r.request(s, 1)
	for range callsEach {
		r.salt(&req)
		own, _, err := r.ask(ctx, p, req, probe.UnknownIteration, time.Duration(s.tick))
		if err != nil {
			return err
		}
		s.calls = append(s.calls, float64(own))
	}
	return nil
}

// call is what a request of one iteration takes, ns, by all rounds; 0 where
// that is not known.
func (s *subject) call() float64 {
	if len(s.calls) == 0 {
		return 0
	}
	if s.tick == 0 {
		return stats.Quantile(s.calls, 0.25)
	}
	// A coarse clock shows a tick or none: their mean tells, without those that
	// were interrupted.
	most := 2*stats.Median(s.calls) + s.tick
	sum, n := 0.0, 0
	for _, x := range s.calls {
		if x <= most {
			sum += x
			n++
		}
	}
	return sum / float64(n)
}

// price makes the cost of one hash, ns, from what a slice took: the iterations
// are of any number, the call around them is one.
func (s *subject) price() func(slice float64) float64 {
	call, n, all := s.call(), float64(s.plan.SliceIterations), float64(s.Workload.Iterations)
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

// clean lists the slices whose yardsticks on both sides were undisturbed.
func (t trace) clean(l limits) []int {
	var c []int
	for i := range t.slices {
		if l.admit(t.readings[i]) && l.admit(t.readings[i+1]) {
			c = append(c, i)
		}
	}
	return c
}

// costQuantile of the clean slices is a round's cost. Some that are clean on
// both sides were disturbed inside, so a low one: over 14 runs under load,
// with the 25th percentile runs spread by 0.48 %, with the 10th by 0.13 %, with
// the 5th by 0.12 % (docs/measuring.md).
const costQuantile = 0.10

// round prices a trace; the Round has Clean 0 where nothing was clean.
func (t trace) round(l limits, w workload.Params, price func(slice float64) float64) result.Round {
	clean := t.clean(l)
	if len(clean) == 0 {
		return result.Round{}
	}
	var own, chain, lanes []float64
	for _, i := range clean {
		own = append(own, t.slices[i].own)
		chain = append(chain, t.readings[i].chain, t.readings[i+1].chain)
		lanes = append(lanes, t.readings[i].lanes, t.readings[i+1].lanes)
	}
	hash := price(stats.Quantile(own, costQuantile))
	chainNs := stats.Quantile(chain, costQuantile)
	return result.Round{
		Clean:      len(clean),
		NsPerOp:    hash,
		RelCost:    hash / w.Compressions() / chainNs,
		ChainNs:    chainNs,
		LanesNs:    stats.Quantile(lanes, costQuantile),
		CleanShare: float64(len(clean)) / float64(len(t.slices)),
	}
}

// usable prices the subject's rounds and keeps those that are evidence.
func usable(s *subject, l limits) []result.Round {
	price := s.price()
	var rounds []result.Round
	for _, t := range s.traces {
		if r := t.round(l, s.Workload, price); r.Usable() {
			rounds = append(rounds, r)
		}
	}
	return rounds
}
