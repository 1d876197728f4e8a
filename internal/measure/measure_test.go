package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/counter"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/yardstick"
)

// world is a scripted machine: time passes only when something runs. Its
// iterations are slow, so that few real ones are derived.
type world struct {
	now   time.Duration
	rand  *rand.Rand
	busy  func(now time.Duration) bool    // the sibling: slows all but the chain
	waits func(now time.Duration) bool    // a sibling that waits for memory: slows what is measured, and hardly the lanes
	clock func(now time.Duration) float64 // of everything, on top of speed; nil: steady
	speed float64                         // of everything; 1

	portable bool // its yardsticks
	pins     int
}

const (
	chainIter = 4000.0 // ns of one iteration of one lane
	lanesIter = 4500.0 // and of two, interleaved
)

func (w *world) pass(ns float64) {
	speed := w.speed
	if w.clock != nil {
		speed *= w.clock(w.now)
	}
	w.now += time.Duration(ns / speed)
}

// slowed is by how much the sibling slows the core's throughput now.
func (w *world) slowed() float64 {
	if w.busy != nil && w.busy(w.now) {
		return 1.25
	}
	return 1
}

func (w *world) waiting() bool { return w.waits != nil && w.waits(w.now) }

func (w *world) kernels() Kernels {
	return Kernels{
		Chain: func(l *yardstick.Lane, n int) {
			ns := float64(n) * chainIter * (1 + 0.002*w.rand.Float64())
			if w.portable { // bound by throughput
				ns *= w.slowed()
			}
			w.pass(ns)
			yardstick.Chain(l, n)
		},
		Lanes: func(l *[yardstick.NumLanes]yardstick.Lane, n int) {
			ns := float64(n) * lanesIter * w.slowed() * (1 + 0.004*w.rand.Float64())
			if w.waiting() {
				ns *= 1.004
			}
			w.pass(ns)
			yardstick.Lanes(l, n)
		},
		Hardware: !w.portable,
	}
}

// script is how a scripted probe behaves; the zero value is an honest one of
// 9,000 ns an iteration.
type script struct {
	extra    float64                                              // of the cost, in its timed section
	call     time.Duration                                        // that each derivation costs beside its iterations
	warm     int                                                  // slices that cost three times as much
	key      func(r probe.Request, n int, key []byte) []byte      // what it answers instead
	own      func(r probe.Request, d time.Duration) time.Duration // what it reports instead
	outside  time.Duration                                        // after its timed section
	idle     time.Duration                                        // waiting after it
	cpu      float64                                              // processor time over time; 1
	err      func(r probe.Request, n int) error
	startErr error
	mode     func(process int) float64 // cost factor of one process
	executes float64                   // instructions of a nominal compression; 0: not counted
	request  float64                   // and of a request beside them
	shared   bool                      // its counters are in use elsewhere half of the time
}

const cost = 9000.0

func (w *world) subject(name string, s script) Subject {
	processes := 0
	return Subject{Name: name, Side: result.Head, Workload: wl, Start: func(context.Context) (Process, error) {
		if s.startErr != nil {
			return nil, s.startErr
		}
		w.pass(2e6)
		processes++
		return &scripted{world: w, script: s, process: processes}, nil
	}}
}

type scripted struct {
	*world
	script
	process, asked, slices int
	used                   time.Duration
	executed               float64
}

func (s *scripted) Hello() probe.Hello {
	return probe.Hello{Name: "scripted", Words: map[string]string{"toolchain": "t1", "version": "v1", "mode": "m1"}}
}

func (s *scripted) Derive(ctx context.Context, r probe.Request, limit time.Duration) (probe.Answer, error) {
	if err := ctx.Err(); err != nil {
		return probe.Answer{}, err
	}
	s.asked++
	if s.err != nil {
		if err := s.err(r, s.asked); err != nil {
			return probe.Answer{}, err
		}
	}
	key, err := workload.Key(r.PRF, string(r.Password), r.Salt, r.Iterations, r.KeyBytes)
	if err != nil {
		return probe.Answer{}, &probe.Refusal{}
	}
	f := 1 + s.extra
	if s.mode != nil {
		f *= s.mode(s.process)
	}
	if r.Iterations > 10 && r.Iterations < 3000 {
		if s.slices++; s.slices <= s.warm {
			f *= 3
		}
	}
	start := s.now
	// the sibling comes and goes within a long derivation
	for left := float64(r.Iterations) * cost * f * (1 + 0.004*s.rand.Float64()); left > 0; left -= 1e6 {
		ns := min(left, 1e6) * s.slowed()
		if s.waiting() {
			ns *= 1.15
		}
		s.pass(ns)
	}
	s.pass(float64(s.call) * s.slowed())
	s.executed += s.request + s.executes*workload.Params{PRF: r.PRF, Iterations: r.Iterations, KeyBytes: r.KeyBytes}.Compressions()
	took := s.now - start
	share := 1.0
	if s.cpu > 0 {
		share = s.cpu
	}
	s.used += time.Duration(share*float64(took)) + s.outside
	s.pass(20e3 + float64(s.outside+s.idle))
	if s.own != nil {
		took = s.own(r, took)
	}
	if s.key != nil {
		key = s.key(r, s.asked, key)
	}
	return probe.Answer{Key: key, Elapsed: took}, nil
}

func (s *scripted) CPU() (time.Duration, bool) { return s.used, true }
func (s *scripted) Close() error               { return nil }
func (s *scripted) Kill()                      {}

// Counts has one and a half instructions a cycle, and 1e6 from the start.
func (s *scripted) Counts() (counter.Reading, bool) {
	x, n := uint64(s.used), 1e6+s.executed
	r := counter.Reading{Enabled: x, Running: x, Instructions: uint64(n), Cycles: uint64(n / 1.5)}
	if s.shared {
		r.Running, r.Instructions, r.Cycles = r.Running/2, r.Instructions/2, r.Cycles/2
	}
	return r, s.executes > 0
}

// wl is small: 4,000 iterations are 36 ms here.
var wl = workload.Params{PRF: workload.SHA256, Iterations: 4000, SaltBytes: 16, KeyBytes: 64}

func newWorld(seed uint64) *world {
	return &world{rand: rand.New(rand.NewPCG(seed, 1)), speed: 1}
}

func (w *world) run(t *testing.T, subjects ...Subject) []result.Run {
	t.Helper()
	runs, err := Run(context.Background(), w.config(subjects...))
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func (w *world) config(subjects ...Subject) Config {
	return Config{
		Subjects: subjects, Budget: 2 * time.Second,
		Enough:  func([]result.Round) bool { return false },
		Clock:   func() time.Duration { w.now += 40; return w.now },
		Kernels: w.kernels(), Rand: w.rand,
		Pin: func() (func(), error) { w.pins++; return func() { w.pins-- }, nil },
	}
}

func median(r result.Run) float64 {
	var v []float64
	for _, x := range r.Rounds {
		v = append(v, x.NsPerOp)
	}
	return stats.Median(v)
}

func TestMeasured(t *testing.T) {
	w := newWorld(1)
	r := w.run(t, w.subject("a", script{}))[0]
	if r.Outcome != result.Measured || len(r.Notes) > 0 {
		t.Fatalf("%s %q, notes %q", r.Outcome, r.Message, r.Notes)
	}
	if len(r.Rounds) < MinRounds || r.Disturbed != 0 {
		t.Errorf("%d rounds, %d disturbed", len(r.Rounds), r.Disturbed)
	}
	want := cost * float64(wl.Iterations)
	if m := median(r); math.Abs(m/want-1.001) > 0.002 {
		t.Errorf("a hash takes %.0f ns, want about %.0f", m, want)
	}
	for _, x := range r.Rounds {
		rel := x.NsPerOp / wl.Compressions() / x.ChainNs
		if math.Abs(x.RelCost/rel-1) > 1e-9 || math.Abs(x.ChainNs/(chainIter/2)-1) > 0.02 || math.Abs(x.LanesNs/(lanesIter/4)-1) > 0.02 {
			t.Errorf("round %+v does not add up", x)
		}
	}
	if r.Toolchain != "t1" || r.TargetVersion != "v1" || r.Mode != "m1" || r.Yardstick != yardstick.ID() {
		t.Errorf("record %+v", r)
	}
	if w.pins != 0 {
		t.Error("the thread was left bound")
	}
	p := r.Plan
	if slice := float64(p.SliceIterations) * cost; slice < 0.25e6 || slice > 0.4e6 || p.WarmUp != 2 {
		t.Errorf("plan %+v: slices of %.0f ns", p, slice)
	}
}

// What a call costs beside its iterations counts once a hash, whatever part of
// a slice it is; also by a clock that shows less.
func TestCallCost(t *testing.T) {
	const call = 12 * time.Microsecond
	for tick, allowed := range map[time.Duration]float64{1: 0.002, 5 * time.Microsecond: 0.005} { // a low quantile of slices that a tick blurs by 0.4 %
		w := newWorld(5)
		r := w.run(t, w.subject("a", script{call: call, own: func(_ probe.Request, d time.Duration) time.Duration {
			end := w.now.Truncate(tick)
			return end - (w.now - d).Truncate(tick)
		}}))[0]
		if r.Outcome != result.Measured || len(r.Rounds) < result.MinRounds {
			t.Fatalf("%s: %s, %d rounds", r.Outcome, r.Message, len(r.Rounds))
		}
		want := cost*float64(wl.Iterations) + float64(call)
		if m := median(r); math.Abs(m/want-1.001) > allowed {
			t.Errorf("tick %v: a hash takes %.0f ns, want about %.0f", tick, m, want)
		}
	}
}

// Instructions are counted over the kept slices alone, where the processor
// counts: neither a neighbour nor counters that are shared move them.
func TestInstructions(t *testing.T) {
	for name, c := range map[string]struct {
		s    script
		busy bool
		want float64
	}{
		"counted":          {s: script{executes: 61.25}, want: 61.25},
		"shared":           {s: script{executes: 61.25, shared: true}, want: 61.25},
		"a costly warm-up": {s: script{executes: 61.25, warm: 30}, want: 61.25},
		"beside a neighbour that leaves nothing clean": {s: script{executes: 61.25}, busy: true, want: 61.25},
		"not counted": {},
	} {
		w := newWorld(41)
		if c.busy {
			w.busy = func(now time.Duration) bool { return now/(700*time.Microsecond)%4 != 0 }
		}
		r := w.run(t, w.subject("a", c.s))[0]
		if r.Outcome != result.Measured || math.Abs(r.Instructions-c.want) > 0.001 || math.Abs(r.Cycles-c.want/1.5) > 0.001 {
			t.Errorf("%s: %s, %v instructions and %v cycles", name, r.Outcome, r.Instructions, r.Cycles)
		}
	}
	w := newWorld(41)
	r := w.run(t, w.subject("a", script{executes: 60, request: 1000}))[0]
	slice := r.Workload
	slice.Iterations = r.Plan.SliceIterations
	if _, err := result.Encode(named(w.run(t, w.subject("a", script{executes: 1e10})))); err != nil {
		t.Errorf("counts that cannot be true lose the run: %v", err)
	}
	if want := 60 + 1000/slice.Compressions(); math.Abs(r.Instructions-want) > 0.01 {
		t.Errorf("%v instructions with 1,000 a request, want %v", r.Instructions, want)
	}
}

// named fills in what the caller of Run does, so that the runs can be encoded.
func named(runs []result.Run) []result.Run {
	for i := range runs {
		runs[i].Host = host.Fingerprint{GOOS: "linux", GOARCH: "amd64", CPUID: "c", SHA: "none", HostID: "h"}
		runs[i].ID, runs[i].Date = "r", time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return runs
}

// From the counters to what is said of a drift.
func TestInstructionsOfADrift(t *testing.T) {
	for now, want := range map[float64]string{60: "the same instructions took longer", 63: "the code does more work"} {
		w := newWorld(42)
		base, head := w.subject("a", script{executes: 60}), w.subject("a", script{executes: now, extra: 0.05})
		base.Side = result.Base
		runs := w.run(t, base, head)
		c := verdict.Judge(policy.Default(), []verdict.Case{{Name: "a", Head: &runs[1], Base: &runs[0]}})[0].Comparisons[0]
		if c.Kind != verdict.Slower || !strings.HasPrefix(c.Meaning(), want) {
			t.Errorf("%v instructions after 60: %s, %q", now, c.Kind, c.Meaning())
		}
	}
}

// A neighbour that is there half of the time does not move the figure.
func TestNeighbour(t *testing.T) {
	quiet := newWorld(2)
	want := median(quiet.run(t, quiet.subject("a", script{}))[0])
	w := newWorld(3)
	w.busy = func(now time.Duration) bool { return now/(50*time.Millisecond)%2 == 0 }
	r := w.run(t, w.subject("a", script{}))[0]
	if m := median(r); math.Abs(m/want-1) > 0.003 {
		t.Errorf("with a neighbour %.0f ns, without %.0f", m, want)
	}
	for _, x := range r.Rounds {
		if x.CleanShare > 0.75 {
			t.Errorf("clean share %.2f beside a neighbour of half the time", x.CleanShare)
		}
	}
}

// Portable yardsticks are slowed alike, so their times tell, not their ratio.
func TestPortableYardsticks(t *testing.T) {
	w := newWorld(44)
	w.portable = true
	w.busy = func(now time.Duration) bool { return now/(50*time.Millisecond)%2 == 0 }
	r := w.run(t, w.subject("a", script{}))[0]
	if len(r.Rounds) < result.MinRounds {
		t.Fatalf("%s %q, %d rounds", r.Outcome, r.Message, len(r.Rounds))
	}
	for _, x := range r.Rounds {
		if math.Abs(x.NsPerOp/(cost*float64(wl.Iterations))-1.001) > 0.003 || x.CleanShare > 0.75 {
			t.Errorf("beside a neighbour of half the time: %+v", x)
		}
	}
}

// A neighbour that leaves no clean rounds makes no figure and no failure.
func TestDisturbedThroughout(t *testing.T) {
	w := newWorld(4)
	w.busy = func(now time.Duration) bool { return now/(700*time.Microsecond)%4 != 0 }
	r := w.run(t, w.subject("a", script{}))[0]
	if r.Outcome != result.Measured {
		t.Errorf("%s: %s", r.Outcome, r.Message)
	}
	if len(r.Rounds) >= result.MinRounds {
		t.Errorf("%d usable rounds", len(r.Rounds))
	}
	if r.Disturbed == 0 {
		t.Error("no round is said to be disturbed")
	}
}

// A clock that moves is divided out where the yardsticks are of the slices' core,
// and looked away from where they need not be.
func TestClockMoves(t *testing.T) {
	const period = 3 * time.Second
	for _, bound := range []bool{true, false} {
		w := newWorld(40)
		w.clock = func(now time.Duration) float64 {
			return 1 - 0.1*math.Abs(float64(now%period)/float64(period)-0.5) // 95 to 100 %, some 0.03 % a slice
		}
		c := w.config(w.subject("a", script{}))
		if !bound {
			c.Pin = nil
		}
		runs, err := Run(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		r := runs[0]
		if r.Outcome != result.Measured || len(r.Rounds) < result.MinRounds {
			t.Fatalf("bound %v: %s %q, %d rounds", bound, r.Outcome, r.Message, len(r.Rounds))
		}
		if bound && r.Disturbed > 0 {
			t.Errorf("%d rounds were dropped", r.Disturbed)
		}
		if !bound && r.Disturbed < len(r.Rounds)/2 {
			t.Errorf("%d rounds were kept at any clock, %d dropped", len(r.Rounds), r.Disturbed)
		}
		spread, want := 0.003, cost*float64(wl.Iterations)
		if !bound {
			spread = 0.015
		}
		for _, x := range r.Rounds {
			if math.Abs(x.NsPerOp/want-1.003) > spread || math.Abs(x.RelCost*x.ChainNs/(want/wl.Compressions())-1.003) > spread {
				t.Errorf("bound %v: %+v, want %.0f ns", bound, x, want)
			}
		}
	}
}

// A clock that went far from start to end is said, once.
func TestClockMovesFar(t *testing.T) {
	for slowest, want := range map[float64]int{0.97: 0, 0.8: 1} {
		w := newWorld(43)
		w.clock = func(now time.Duration) float64 { return max(slowest, 1-float64(now)/float64(12*time.Second)) }
		r := w.run(t, w.subject("a", script{}))[0]
		if n := strings.Count(strings.Join(r.Notes, "\n"), "times are brought to one clock"); n != want {
			t.Errorf("down to %.2f: notes %q", slowest, r.Notes)
		}
	}
}

// A neighbour that hardly shows in one reading shows in a round's many.
func TestWaitingNeighbour(t *testing.T) {
	w := newWorld(41)
	w.waits = func(now time.Duration) bool { return now/(300*time.Millisecond)%4 == 3 }
	r := w.run(t, w.subject("a", script{}))[0]
	if r.Disturbed == 0 || len(r.Rounds) < result.MinRounds {
		t.Fatalf("%d rounds, %d disturbed", len(r.Rounds), r.Disturbed)
	}
	for _, x := range r.Rounds {
		if math.Abs(x.NsPerOp/(cost*float64(wl.Iterations))-1.001) > 0.003 {
			t.Errorf("a round beside it was kept: %+v", x)
		}
	}
}

// What ran between two readings counts or not, and for how long.
func TestAdmits(t *testing.T) {
	calm := reading{40, 20}
	for _, c := range []struct {
		name          string
		apart         bool
		before, after reading
		admits        bool
		atClock       float64 // of 100
	}{
		{"calm", true, calm, calm, true, 100},
		{"a slower clock", true, reading{50, 25}, reading{50, 25}, true, 80},
		{"a clock that moved beside it", true, calm, reading{41, 20.5}, false, 100 * 80 / 81.0},
		{"a neighbour after it", true, calm, reading{40, 20.5}, false, 100},
		{"a chain that was cut in two", true, reading{40.3, 19.8}, calm, false, 100 * 80 / 80.3},
		{"portable, calm", false, calm, reading{40.5, 20.5}, true, 100},
		{"portable, a slower clock", false, reading{50, 25}, reading{50, 25}, false, 100},
		{"portable, lanes", false, calm, reading{40, 20.7}, false, 100},
	} {
		u := undisturbed{apart: c.apart, ratio: 0.5, chain: 40, lanes: 20}
		if got := u.admits(c.before, c.after); got != c.admits {
			t.Errorf("%s: admitted %v", c.name, got)
		}
		if got := u.atClock(100, c.before, c.after); math.Abs(got-c.atClock) > 1e-9 {
			t.Errorf("%s: 100 ns are %v, want %v", c.name, got, c.atClock)
		}
	}
}

// Rounds of two readings say too little of their ratio to be held against it.
func TestAgreeing(t *testing.T) {
	round := func(clean int, ratio float64) result.Round {
		return result.Round{Clean: clean, CleanShare: 1, NsPerOp: 1, RelCost: 1, ChainNs: 40, LanesNs: 40 * ratio}
	}
	in := [][]result.Round{
		{round(20, 0.5), round(20, 0.5002), round(20, 0.5021), round(1, 0.52)},
		{round(20, 0.4998), round(20, 0.5001), round(20, 0.4979), round(20, 0.4996), round(20, 0.5003)},
	}
	if got := agreeing(in); len(got[0]) != 3 || len(got[1]) != 4 {
		t.Errorf("%d and %d rounds agree, want 3 and 4: %+v", len(got[0]), len(got[1]), got)
	}
	// where all differ, no more than half a per cent is believed
	for i := range in[1] {
		in[1][i].LanesNs = 20 * (1 + 0.004*float64(i))
	}
	in[0] = nil
	if got := agreeing(in)[1]; len(got) != 3 {
		t.Errorf("%d rounds of 5 agree", len(got))
	}
	if got := agreeing([][]result.Round{nil, {}}); len(got) != 2 || len(got[0])+len(got[1]) != 0 {
		t.Errorf("%v of nothing", got)
	}
}

// Calls that load alone may have set apart are one; others are their side's.
func TestSharedCalls(t *testing.T) {
	side := func(ns float64) *subject {
		return &subject{known: ns, traces: []trace{{slices: []slice{{own: 400e3}}}}}
	}
	for _, c := range []struct{ own, want []float64 }{
		{[]float64{2000, 2200}, []float64{2100, 2100}},
		{[]float64{2000, 12000}, []float64{2000, 12000}},
		{[]float64{12000, 12400}, []float64{12200, 12200}},
		{[]float64{12000, 13000}, []float64{12000, 13000}}, // 0.25 % of a slice
		{[]float64{0, 2000}, []float64{0, 2000}},
		{[]float64{0, 0}, []float64{0, 0}},
		{[]float64{2000}, []float64{2000}},
	} {
		var sides []*subject
		for _, x := range c.own {
			sides = append(sides, side(x))
		}
		if got := sharedCalls(sides, undisturbed{}); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.own, got, c.want)
		}
	}
}

// A call that does much is told by undisturbed ones, as slices are.
func TestCallsBesideANeighbour(t *testing.T) {
	w := newWorld(43)
	w.busy = func(now time.Duration) bool { return now/(50*time.Millisecond)%5 != 0 }
	w.clock = func(now time.Duration) float64 { return 1 - 0.04*float64(now%time.Second)/float64(time.Second) }
	base, head := w.subject("a", script{}), w.subject("a", script{call: 20 * time.Microsecond})
	base.Side = result.Base
	runs := w.run(t, base, head)
	want := 20e3 / (cost * float64(wl.Iterations))
	if f := median(runs[1])/median(runs[0]) - 1; math.Abs(f-want) > 0.001 {
		t.Errorf("20 us more for each call read %+.2f %%, want %+.2f %%", 100*f, 100*want)
	}
}

// Samples that were kept give the rounds that were made of them.
func TestRoundsOfSamples(t *testing.T) {
	w := newWorld(42)
	w.busy = func(now time.Duration) bool { return now/(50*time.Millisecond)%3 == 0 }
	w.clock = func(now time.Duration) float64 { return 1 - 0.02*float64(now%time.Second)/float64(time.Second) }
	a, b := w.subject("a", script{}), w.subject("a", script{extra: 0.1, call: 3 * time.Microsecond})
	b.Side = result.Base
	c := w.config(a, w.subject("other", script{extra: 0.3}), b)
	var raw []Raw
	c.Raw = func(r Raw) { raw = append(raw, r) }
	runs, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	again := Rounds(raw)
	for i, r := range runs {
		if len(r.Rounds) == 0 || !slices.Equal(again[i], r.Rounds) {
			t.Errorf("%s %s: %d rounds of its samples, %d when it was measured", r.Target, r.Side, len(again[i]), len(r.Rounds))
		}
	}
}

func TestSidesShareThePlan(t *testing.T) {
	w := newWorld(5)
	base, head := w.subject("a", script{}), w.subject("a", script{extra: 0.05})
	base.Side = result.Base
	runs := w.run(t, base, head)
	if runs[0].Plan != runs[1].Plan {
		t.Errorf("plans %+v and %+v", runs[0].Plan, runs[1].Plan)
	}
	if change := median(runs[1])/median(runs[0]) - 1; math.Abs(change-0.05) > 0.003 {
		t.Errorf("5 %% more work reads %+.2f %%", 100*change)
	}
	if a, b := len(runs[0].Rounds), len(runs[1].Rounds); a != b {
		t.Errorf("%d and %d rounds", a, b)
	}
}

func TestGivenPlan(t *testing.T) {
	plan := result.Plan{SliceIterations: 77, Slices: 33, WarmUp: 4, Yardstick: 500 * time.Microsecond}
	w := newWorld(6)
	s := w.subject("a", script{})
	s.Plan = plan
	if r := w.run(t, s)[0]; r.Plan != plan || len(r.Notes) > 0 {
		t.Errorf("plan %+v, notes %q", r.Plan, r.Notes)
	}
	plan.SliceIterations = 5 // 45 us
	w = newWorld(6)
	s = w.subject("a", script{})
	s.Plan = plan
	r := w.run(t, s)[0]
	if r.Plan.SliceIterations == 5 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "new plan") {
		t.Errorf("plan %+v, notes %q", r.Plan, r.Notes)
	}
}

// The plan of whole runs is none for a probe, which the target has become.
func TestGivenPlanOfWholeRuns(t *testing.T) {
	w := newWorld(6)
	s := w.subject("a", script{})
	s.Plan = w.run(t, w.once("a", true, 0))[0].Plan
	if r := w.run(t, s)[0]; r.Plan.Slices < leastSlices || r.Contended {
		t.Errorf("plan %+v of %+v", r.Plan, s.Plan)
	}
}

func TestWarmUpIsFound(t *testing.T) {
	w := newWorld(7)
	r := w.run(t, w.subject("jit", script{warm: 30}))[0]
	if r.Plan.WarmUp != 50 {
		t.Errorf("warm-up %d, want the step over 30", r.Plan.WarmUp)
	}
	if m := median(r); math.Abs(m/(cost*float64(wl.Iterations))-1) > 0.01 {
		t.Errorf("a hash takes %.0f ns", m)
	}
}

func TestStopsWhenEnough(t *testing.T) {
	w := newWorld(8)
	c := w.config(w.subject("a", script{}))
	c.Budget = time.Minute
	c.Enough = func(r []result.Round) bool { return len(r) >= 11 }
	runs, err := Run(context.Background(), c)
	if err != nil || len(runs[0].Rounds) != 11 {
		t.Errorf("%d rounds, %v; want 11", len(runs[0].Rounds), err)
	}
	w = newWorld(8)
	c = w.config(w.subject("a", script{}))
	c.Budget = time.Minute
	if runs, _ = Run(context.Background(), c); len(runs[0].Rounds) != maxRounds {
		t.Errorf("%d rounds with a budget for more, want %d", len(runs[0].Rounds), maxRounds)
	}
}

func TestModesAreKept(t *testing.T) {
	w := newWorld(9)
	r := w.run(t, w.subject("a", script{mode: func(p int) float64 { return 1 + 0.02*float64(p%2) }}))[0]
	lo, hi := math.Inf(1), 0.0
	for _, x := range r.Rounds {
		lo, hi = min(lo, x.NsPerOp), max(hi, x.NsPerOp)
	}
	if math.Abs(hi/lo-1.02) > 0.005 {
		t.Errorf("processes 2 %% apart read %.2f %% apart", 100*(hi/lo-1))
	}
}

func TestMisbehaviour(t *testing.T) {
	flip := func(k []byte) []byte { k[0] ^= 1; return k }
	above := func(n int) func(probe.Request, int, []byte) []byte {
		return func(r probe.Request, _ int, k []byte) []byte {
			if r.Iterations > n {
				return flip(k)
			}
			return k
		}
	}
	var cached []byte
	for _, c := range []struct {
		name    string
		s       script
		outcome result.Outcome
		says    string
	}{
		{"always a wrong key", script{key: above(0)}, result.WrongKey, "derived"},
		{"wrong from the second iteration on", script{key: above(1)}, result.WrongKey, "2 iterations"},
		{"wrong above a slice's iterations", script{key: above(3000)}, result.WrongKey, "4,000 iterations"},
		{"wrong once in a while", script{key: func(r probe.Request, n int, k []byte) []byte {
			if n == 40 {
				return flip(k)
			}
			return k
		}}, result.WrongKey, "cache"},
		{"a cached key", script{key: func(_ probe.Request, n int, k []byte) []byte {
			if cached == nil {
				cached = k
			}
			return cached
		}}, result.WrongKey, "derived"},
		{"a zero-filled key", script{key: func(_ probe.Request, _ int, k []byte) []byte { return make([]byte, len(k)) }}, result.WrongKey, "0000"},
		{"a time longer than it took", script{own: func(_ probe.Request, d time.Duration) time.Duration { return 2*d + time.Millisecond }}, result.Implausible, "was over after"},
		{"a time of a third of the work", script{own: func(_ probe.Request, d time.Duration) time.Duration { return d / 3 }}, result.Implausible, "whole derivation"},
		{"long hashes cheaper", script{own: func(r probe.Request, d time.Duration) time.Duration {
			if r.Iterations == wl.Iterations {
				return d * 3 / 4
			}
			return d
		}}, result.Implausible, "grow with the iterations"},
		{"slow to answer", script{outside: time.Millisecond}, result.Implausible, "from request to answer"},
		{"dies", script{err: func(_ probe.Request, n int) error {
			if n > 60 {
				return errors.New("no answer: exit status 3")
			}
			return nil
		}}, result.Failed, "exit status 3"},
		{"does not start", script{startErr: errors.New("no such program: ./p")}, result.Failed, "no such program"},
		{"refuses the workload", script{err: func(r probe.Request, _ int) error { return &probe.Refusal{Message: "salt too short"} }}, result.Failed, "salt too short"},
		{"a clock of 16 ms", script{own: func(_ probe.Request, d time.Duration) time.Duration {
			return d.Truncate(16 * time.Millisecond)
		}}, result.Failed, "too coarse"},
		{"a clock of 1 ms", script{own: func(_ probe.Request, d time.Duration) time.Duration {
			return d.Round(time.Millisecond)
		}}, result.Failed, "too coarse"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(10)
			runs := w.run(t, w.subject("bad", c.s), w.subject("good", script{}))
			if r := runs[0]; r.Outcome != c.outcome || !strings.Contains(r.Message, c.says) || len(r.Rounds) > 0 {
				t.Errorf("%s: %q, %d rounds; want %s: ...%s...", r.Outcome, r.Message, len(r.Rounds), c.outcome, c.says)
			}
			if r := runs[1]; r.Outcome != result.Measured || len(r.Rounds) < result.MinRounds {
				t.Errorf("the good target beside it: %s, %d rounds", r.Outcome, len(r.Rounds))
			}
		})
	}
}

func TestNotes(t *testing.T) {
	for _, c := range []struct {
		name string
		s    script
		says string
	}{
		{"sleeps in its timed section", script{cpu: 0.3}, "waits"},
		{"waits after it", script{idle: 10 * time.Millisecond}, "waits beside its derivations: 10ms of the 1"},
		{"helper threads", script{cpu: 1.9}, "helper threads"},
		{"refuses long passwords", script{err: func(r probe.Request, _ int) error {
			if len(r.Password) > 72 {
				return &probe.Refusal{Message: "too long"}
			}
			return nil
		}}, "password of 4096 bytes"},
		{"a full hash a little dearer", script{own: func(r probe.Request, d time.Duration) time.Duration {
			if r.Iterations == wl.Iterations {
				return d
			}
			return d * 85 / 100
		}}, "one hash at full iterations"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(11)
			r := w.run(t, w.subject("a", c.s))[0]
			if r.Outcome != result.Measured || !strings.Contains(strings.Join(r.Notes, "\n"), c.says) {
				t.Errorf("%s, notes %q; want %q", r.Outcome, r.Notes, c.says)
			}
		})
	}
}

// A clock of 20 us gets longer slices, and its tick shows in the spread.
func TestCoarseClock(t *testing.T) {
	w := newWorld(12)
	r := w.run(t, w.subject("a", script{own: func(_ probe.Request, d time.Duration) time.Duration {
		return d.Round(20 * time.Microsecond)
	}}))[0]
	if r.Outcome != result.Measured {
		t.Fatalf("%s: %s", r.Outcome, r.Message)
	}
	if slice := float64(r.Plan.SliceIterations) * cost; slice < 3.9e6 {
		t.Errorf("slices of %.0f ns", slice)
	}
	if m := median(r); math.Abs(m/(cost*float64(wl.Iterations))-1) > 0.01 {
		t.Errorf("a hash takes %.0f ns", m)
	}
}

// A target that is silent once may have been kept from running; twice is its
// own failure.
func TestSilence(t *testing.T) {
	for _, c := range []struct {
		from, times int
		outcome     result.Outcome
	}{{20, 1, result.Measured}, {400, 1, result.Measured}, {20, 2, result.Failed}, {400, 2, result.Failed}} {
		w := newWorld(17)
		asked, silent := 0, 0
		r := w.run(t, w.subject("a", script{err: func(probe.Request, int) error {
			if asked++; asked > c.from && silent < c.times {
				silent++
				return &probe.Failure{What: "no answer: none within 10s", Silent: true}
			}
			return nil
		}}))[0]
		if r.Outcome != c.outcome || !strings.Contains(strings.Join(r.Notes, "\n"), "was silent") {
			t.Errorf("silent %d times from request %d on: %s %q, notes %q", c.times, c.from, r.Outcome, r.Message, r.Notes)
		}
	}
}

// Rounds beside a neighbour that never leaves calibrate on themselves: an
// undisturbed hash before them makes no honest target implausible.
func TestContendedThroughout(t *testing.T) {
	w := newWorld(18)
	full := time.Duration(-1)
	w.busy = func(now time.Duration) bool { return full >= 0 && now > full }
	s := w.subject("a", script{own: func(r probe.Request, d time.Duration) time.Duration {
		if r.Iterations == wl.Iterations {
			full = w.now + time.Millisecond
		}
		return d
	}})
	r := w.run(t, s)[0]
	if r.Outcome != result.Measured || !strings.Contains(strings.Join(r.Notes, "\n"), "contended throughout") {
		t.Errorf("%s %q, notes %q", r.Outcome, r.Message, r.Notes)
	}
}

// A program that is started for every request has a cost that slices cannot
// price; it is said.
func TestFixedCost(t *testing.T) {
	w := newWorld(19)
	// nothing is clean, so nothing is judged
	w.busy = func(now time.Duration) bool { return now/(300*time.Microsecond)%2 == 0 }
	r := w.run(t, w.subject("a", script{own: func(r probe.Request, d time.Duration) time.Duration {
		if r.Iterations < 3000 {
			w.pass(20e6)
			return d + 20*time.Millisecond
		}
		return d
	}}))[0]
	if r.Outcome != result.Measured || !strings.Contains(strings.Join(r.Notes, "\n"), "beside its iterations") {
		t.Errorf("%s %q, notes %q", r.Outcome, r.Message, r.Notes)
	}
}

// sha1 and sha512 are checked by the standard library after the round.
func TestOtherHashes(t *testing.T) {
	for _, prf := range []workload.PRF{workload.SHA1, workload.SHA512} {
		w := newWorld(13)
		c := w.config(w.subject("good", script{}), w.subject("bad", script{key: func(r probe.Request, n int, k []byte) []byte {
			if n == 60 {
				k[3]++
			}
			return k
		}}))
		for i := range c.Subjects {
			c.Subjects[i].Workload.PRF = prf
		}
		runs, err := Run(context.Background(), c)
		if err != nil || runs[0].Outcome != result.Measured || len(runs[0].Rounds) < result.MinRounds || runs[1].Outcome != result.WrongKey {
			t.Errorf("%s: %v, %s and %s", prf, err, runs[0].Outcome, runs[1].Outcome)
		}
	}
}

func TestKeyLengths(t *testing.T) {
	for _, n := range []int{1, 32, 33, 96, 160} {
		w := newWorld(14)
		c := w.config(w.subject("a", script{}))
		c.Subjects[0].Workload.KeyBytes = n
		runs, err := Run(context.Background(), c)
		if err != nil || runs[0].Outcome != result.Measured || len(runs[0].Rounds) < result.MinRounds {
			t.Errorf("%d key bytes: %v, %s %s", n, err, runs[0].Outcome, runs[0].Message)
		}
	}
}

func TestInterrupted(t *testing.T) {
	for _, after := range []int{0, 5, 300} {
		w := newWorld(15)
		ctx, cancel := context.WithCancel(context.Background())
		asked := 0
		runs, err := Run(ctx, w.config(w.subject("a", script{err: func(probe.Request, int) error {
			if asked++; asked > after {
				cancel()
				return fmt.Errorf("killed")
			}
			return nil
		}})))
		cancel()
		if !errors.Is(err, context.Canceled) || runs != nil {
			t.Errorf("after %d requests: %v, %v", after, runs, err)
		}
		if w.pins != 0 {
			t.Error("the thread was left bound")
		}
	}
}

func TestWithoutAffinity(t *testing.T) {
	w := newWorld(16)
	c := w.config(w.subject("a", script{}))
	c.Pin = func() (func(), error) { return nil, errors.New("plan9 has no affinity") }
	runs, err := Run(context.Background(), c)
	if err != nil || len(runs[0].Notes) != 1 || !strings.Contains(runs[0].Notes[0], "not bound to one core") {
		t.Errorf("%v, notes %q", err, runs[0].Notes)
	}
}

func TestSteps(t *testing.T) {
	for x, want := range map[float64]int{0.3: 1, 1: 1, 7.4: 6, 99.6: 80, 100: 100, 123: 100, 2449: 2000, 2500: 2500, 98765: 80000} {
		if got := step(x); got != want {
			t.Errorf("step(%v) = %d, want %d", x, got, want)
		}
	}
	for n, want := range map[int]int{0: 2, 2: 2, 3: 5, 11: 20, 31: 50, 501: 1000} {
		if got := stepUp(n); got != want {
			t.Errorf("stepUp(%d) = %d, want %d", n, got, want)
		}
	}
}

// A pull request may change what a hash is: each side is its own.
func TestSidesDifferInWorkload(t *testing.T) {
	w := newWorld(17)
	base, head := w.subject("a", script{}), w.subject("a", script{})
	base.Side = result.Base
	head.Workload.Iterations *= 2
	runs := w.run(t, base, head)
	b, h := runs[0], runs[1]
	if b.Workload != wl || h.Workload.Iterations != 2*wl.Iterations || b.Plan != h.Plan || h.Outcome != result.Measured {
		t.Fatalf("base %+v, head %+v", b, h)
	}
	if f := median(h) / median(b); math.Abs(f-2) > 0.02 {
		t.Errorf("twice the iterations cost %.3f times as much", f)
	}
}

// One program on both sides is measured no longer than its verdict needs.
func TestBrief(t *testing.T) {
	rounds := func(brief bool) int {
		w := newWorld(18)
		base, head := w.subject("a", script{}), w.subject("a", script{})
		base.Side, base.Brief, head.Brief = result.Base, brief, brief
		runs := w.run(t, base, head)
		return len(runs[0].Rounds) + len(runs[1].Rounds)
	}
	if brief, whole := rounds(true), rounds(false); brief != 2*MinRounds || whole <= brief {
		t.Errorf("%d rounds, %d where they differ", brief, whole)
	}
}

// The time is told apart without a gap.
func TestSpent(t *testing.T) {
	w := newWorld(19)
	started := w.now
	s := w.run(t, w.subject("a", script{}))[0].Spent
	if s.Open <= 0 || s.Slices <= 0 || s.Yardsticks <= 0 || s.Around <= 0 || s.Build != 0 {
		t.Errorf("%+v", s)
	}
	if all := w.now - started; s.Measuring() > all || s.Measuring() < all*98/100 {
		t.Errorf("%v of %v are accounted for", s.Measuring(), all)
	}
}

// One job's host is 20 % slower than the baseline's: the pair does not move,
// and what is stored says that it is the host.
func TestSlowerHost(t *testing.T) {
	p := policy.Default()
	var plan result.Plan
	measured := func(seed uint64, speed float64, host string, subjects ...string) []result.Run {
		w := newWorld(seed)
		w.speed = speed
		var all []Subject
		for _, side := range subjects {
			s := w.subject("a", script{})
			s.Side, s.Plan = side, plan
			all = append(all, s)
		}
		runs := w.run(t, all...)
		for i := range runs {
			runs[i].Host.HostID = host
		}
		return runs
	}
	then := measured(20, 1, "h1", result.Head)
	plan = then[0].Plan
	now := measured(21, 1/1.2, "h2", result.Base, result.Head)
	stored := verdict.Stored{Latest: verdict.Reference{Release: "v1", Runs: then}}
	alone := verdict.Judge(p, []verdict.Case{{Name: "a", Head: &now[1], Stored: stored}})[0]
	if alone.Kind != verdict.OK || !strings.Contains(alone.Reason, "the host is slower, the code is not") {
		t.Errorf("stored: %s, %s", alone.Kind, alone.Reason)
	}
	pair := verdict.Judge(p, []verdict.Case{{Name: "a", Head: &now[1], Base: &now[0], Stored: stored}})[0]
	if c := pair.Comparisons[0]; pair.Kind != verdict.OK || c.Against != "base" || !c.Decides || math.Abs(c.Raw.Est) > 0.003 {
		t.Errorf("pair: %s, %+v", pair.Kind, c)
	}
	if c := pair.Comparisons[1]; math.Abs(c.Raw.Est-0.2) > 0.01 || math.Abs(c.Relative.Est) > 0.01 {
		t.Errorf("stored beside the pair: raw %+v, relative %+v", c.Raw, c.Relative)
	}
}

// once is a program without the protocol: it takes a whole hash, and says so
// where says is set.
func (w *world) once(name string, says bool, extra float64) Subject {
	return Subject{Name: name, Side: result.Head, Workload: wl, Once: func(context.Context) (Once, error) {
		w.pass(2e6)
		start := w.now
		for left := float64(wl.Iterations) * cost * (1 + extra) * (1 + 0.004*w.rand.Float64()); left > 0; left -= 1e6 {
			w.pass(min(left, 1e6) * w.slowed())
		}
		o := Once{Words: map[string]string{"toolchain": "t2"}}
		if says {
			o.Elapsed = w.now - start
		}
		return o, nil
	}}
}

func TestOnce(t *testing.T) {
	w := newWorld(30)
	w.busy = func(now time.Duration) bool { return now/(100*time.Millisecond)%4 == 0 }
	says, silent := w.once("says", true, 0), w.once("silent", false, 0)
	runs := w.run(t, says, silent)
	want := cost * float64(wl.Iterations)
	for i, r := range runs {
		if r.Outcome != result.Measured || !r.Unverified || len(r.Rounds) < result.MinRounds || r.Toolchain != "t2" || r.Plan.Slices != 1 {
			t.Fatalf("%+v", r)
		}
		if m := median(r); m < want || m > 1.3*want {
			t.Errorf("%s takes %.0f ns, want about %.0f", r.Target, m, want)
		}
		noted := strings.Contains(strings.Join(r.Notes, "\n"), "its whole run is timed")
		if noted != (i == 1) {
			t.Errorf("notes of %s: %q", r.Target, r.Notes)
		}
	}
	if runs[0].Disturbed == 0 {
		t.Error("no round began or ended beside a neighbour")
	}
	w.busy = nil
	runs = w.run(t, says, silent)
	if d := median(runs[1]) - median(runs[0]); math.Abs(d-2e6) > 0.5e6 {
		t.Errorf("the start of a whole run adds %.0f ns, want 2 ms", d)
	}
}

// A core that is busy most of the time leaves the calmer half of the runs, which
// compare within the job.
func TestOnceBusyThroughout(t *testing.T) {
	w := newWorld(34)
	// for a third of the time at most calm, and never for a whole run
	w.busy = func(now time.Duration) bool { return now/(5*time.Millisecond)%3 != 0 }
	base, head, slices := w.once("a", true, 0), w.once("a", true, 0.5), w.subject("p", script{})
	base.Side = result.Base
	runs := w.run(t, base, head, slices)
	for _, r := range runs[:2] {
		if n := len(r.Rounds); !r.Contended || n < result.MinRounds || r.Disturbed == 0 {
			t.Errorf("%s: contended %v, %d rounds, %d disturbed", r.Side, r.Contended, n, r.Disturbed)
		}
		if !strings.Contains(strings.Join(r.Notes, "\n"), "most runs were disturbed") {
			t.Errorf("%s: notes %q", r.Side, r.Notes)
		}
	}
	if f := median(runs[1]) / median(runs[0]); math.Abs(f-1.5) > 0.1 {
		t.Errorf("the head takes %.2f times as long, want 1.5", f)
	}
	if r := runs[2]; r.Contended || len(r.Rounds) == 0 || math.Abs(median(r)/(cost*float64(wl.Iterations))-1) > 0.01 {
		t.Errorf("a target of slices: contended %v, %.0f ns", r.Contended, median(r))
	}
	w.busy = func(now time.Duration) bool { return now/(100*time.Millisecond)%4 == 0 }
	for _, r := range w.run(t, base, head) {
		if r.Contended || r.Disturbed == 0 {
			t.Errorf("%s beside one that comes now and then: contended %v, %d disturbed", r.Side, r.Contended, r.Disturbed)
		}
	}
}

// Few runs of a restless core have no reading that is steady, or near a
// quantile between two.
func TestUndisturbedOfFew(t *testing.T) {
	once := func(name string, o result.Outcome, readings ...reading) *subject {
		s := &subject{Subject: Subject{Name: name, Workload: wl}, whole: true, outcome: o}
		for i := 0; i+1 < len(readings); i += 2 {
			s.traces = append(s.traces, trace{slices: []slice{{own: 1e6}}, readings: readings[i : i+2]})
		}
		return s
	}
	restless := []reading{{40, 20}, {42, 25.2}, {44, 22}, {46, 27.6}, {50, 25}, {47, 28.2}}
	apart := []reading{{40, 20}, {40, 24}, {40, 24}, {40, 24}}
	for _, readings := range [][]reading{restless, apart} {
		s := once("a", result.Measured, readings...)
		u := undisturbedBy([]*subject{s}, true)
		if !(u.ratio > 0 && u.chain > 0 && u.lanes > 0) {
			t.Errorf("%v: %+v", readings, u)
		}
		if n := len(usable([]*subject{s}, u, allowed([]*subject{s}, u))[0]); n < min(result.MinRounds, len(s.traces)) {
			t.Errorf("%v: %d rounds of %d", readings, n, len(s.traces))
		}
	}
	// What ended has no say in what counts of the other side.
	calm := once("a", result.Measured, slices.Repeat([]reading{{40, 20}}, 20)...)
	ended := once("a", result.Failed, reading{40, 20}, reading{40, 30})
	both := []*subject{ended, calm}
	if got := allowed(both, undisturbedBy(both, true)); got != 1 {
		t.Errorf("beside a side that failed %v limits are allowed, want 1", got)
	}
}

func TestOnceMisbehaves(t *testing.T) {
	w := newWorld(31)
	lies := w.once("lies", true, 0)
	honest := lies.Once
	lies.Once = func(ctx context.Context) (Once, error) {
		o, err := honest(ctx)
		o.Elapsed *= 2
		o.Line = `"took 3s"`
		return o, err
	}
	fails := w.once("fails", true, 0)
	n := 0
	fails.Once = func(ctx context.Context) (Once, error) {
		if n++; n > 3 {
			return Once{}, errors.New("exit status 1")
		}
		return honest(ctx)
	}
	runs := w.run(t, lies, fails)
	if runs[0].Outcome != result.Implausible || !strings.Contains(runs[0].Message, `("took 3s"), but its whole run was over after`) || runs[1].Outcome != result.Failed || runs[1].Message != "exit status 1" {
		t.Errorf("%s (%s), %s (%s)", runs[0].Outcome, runs[0].Message, runs[1].Outcome, runs[1].Message)
	}
}

// A time of zero is no time; one that comes and goes cannot be relied on.
func TestOnceZero(t *testing.T) {
	w := newWorld(33)
	zero := func(name string, from int) Subject {
		s := w.once(name, true, 0)
		honest, n := s.Once, 0
		s.Once = func(ctx context.Context) (Once, error) {
			o, err := honest(ctx)
			if n++; n >= from {
				o.Elapsed = 0
			}
			o.Line = `"Elapsed: 0ms"`
			return o, err
		}
		return s
	}
	runs := w.run(t, zero("always", 0), zero("later", 4))
	if r := runs[0]; r.Outcome != result.Measured || !strings.Contains(strings.Join(r.Notes, "\n"), `an elapsed time of zero ("Elapsed: 0ms"), so its clock is too coarse: its whole run is timed`) {
		t.Errorf("%s (%s), notes %q", r.Outcome, r.Message, r.Notes)
	}
	if r := runs[1]; r.Outcome != result.Failed || !strings.Contains(r.Message, "in some runs") {
		t.Errorf("%s (%s)", r.Outcome, r.Message)
	}
}

// What no file can carry ends that target alone.
func TestUnrecordable(t *testing.T) {
	w := newWorld(32)
	short := w.once("short", true, 0)
	honest, n := short.Once, 0
	short.Once = func(ctx context.Context) (Once, error) {
		o, err := honest(ctx)
		if n++; n == 3 {
			o.Elapsed = 3
		}
		return o, err
	}
	runs := w.run(t, short, w.once("honest", true, 0))
	if r := runs[0]; r.Outcome != result.Implausible || !strings.Contains(r.Message, "3ns for one hash of") || len(r.Rounds) > 0 {
		t.Errorf("%s (%s), %d rounds", r.Outcome, r.Message, len(r.Rounds))
	}
	if r := runs[1]; r.Outcome != result.Measured || len(r.Rounds) < result.MinRounds {
		t.Errorf("the other: %s (%s)", r.Outcome, r.Message)
	}
}
