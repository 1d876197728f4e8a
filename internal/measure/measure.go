// Package measure times targets: short slices of the workload, each between
// two readings of the yardsticks that tell whether the core was disturbed, in
// rounds of one fresh process each, sides and targets shuffled together.
//
// It is the last place that sees a clock: what it returns is judged from the
// record alone. The clock itself is an argument.
package measure

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/counter"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/yardstick"
)

// Rounds of a measurement: the budget changes their number within these,
// and nothing else.
const (
	MinRounds = 8
	maxRounds = 80
)

// How far over its budget a group may go: a slow starter until it has
// MinRounds, a disturbed one until it has what a verdict needs.
const (
	overrunSlow      = 3
	overrunDisturbed = 2
)

// Process is one running probe; *probe.Client is the real one.
type Process interface {
	Hello() probe.Hello
	// Derive waits for one answer at most limit. A *probe.Refusal leaves the
	// process running; any other error ended it.
	Derive(ctx context.Context, r probe.Request, limit time.Duration) (probe.Answer, error)
	// CPU is the processor time that it has used; false where unknown.
	CPU() (time.Duration, bool)
	// Counts are its instructions and cycles; false where unknown.
	Counts() (counter.Reading, bool)
	Close() error
	Kill()
}

// Subject is one side of one target.
type Subject struct {
	Name  string
	Side  string // result.Head or result.Base
	Start func(context.Context) (Process, error)
	// Once is set instead of Start for a program without the protocol: one
	// whole run of it is a round.
	Once func(context.Context) (Once, error)
	// Workload is what one hash is. Sides may differ in it.
	Workload workload.Params
	Plan     result.Plan // of the baseline; zero: one is found, or the other side's taken
	// Brief says that there is nothing to find, so that the fewest rounds do.
	Brief bool
}

// Starter starts the programs in turn, one each time: builds of one target.
func Starter(programs ...probe.Command) func(context.Context) (Process, error) {
	next := 0
	return func(ctx context.Context) (Process, error) {
		c, err := programs[next%len(programs)].Start(ctx)
		next++
		if err != nil {
			return nil, err // not a Process that holds no client
		}
		return c, nil
	}
}

// Once is what one run of a program without the protocol came to.
type Once struct {
	Elapsed time.Duration // by its own word; 0 where it gave none
	Line    string        // where that stands, quoted; may be empty
	Words   map[string]string
}

// Kernels are the yardstick's loops.
type Kernels struct {
	Chain func(*yardstick.Lane, int)
	Lanes func(*[yardstick.NumLanes]yardstick.Lane, int)
	// Hardware says that the kernels use the CPU's SHA instructions: fast enough
	// to derive every slice's request again between slices (else the standard
	// library does after the round), and the chain bound by latency, the lanes by
	// throughput.
	Hardware bool
}

// RealKernels are the yardsticks of this machine.
func RealKernels() Kernels {
	return Kernels{yardstick.Chain, yardstick.Lanes, yardstick.Hardware()}
}

// Config is what to measure and with what.
type Config struct {
	Subjects []Subject
	Budget   time.Duration // measuring time of each subject, without its opening
	// Enough says that these rounds resolve what they must, so that
	// measuring may stop before the budget is spent. It must not look at
	// the effect.
	Enough  func([]result.Round) bool
	Clock   func() time.Duration // monotonic, from any origin
	Kernels Kernels
	Rand    *rand.Rand
	// Pin binds the calling thread, and the processes that it starts, to
	// one core, until undo is called; nil where that cannot be.
	Pin      func() (undo func(), err error)
	Progress func(Progress) // nil: none
	Raw      func(Raw)      // every kept slice, at the end; nil: none
}

// Progress is sent when an opening or a round ends.
type Progress struct {
	Name, Side string
	Opening    bool
	Unverified bool          // it runs; what it derives is not known
	Rounds     int           // of this subject, so far
	Spent      time.Duration // of the whole run's measuring time
	Budget     time.Duration // of the whole run
	Failed     string        // why the subject ended, if it did
}

// Raw is a measurement before cleanliness was judged, for those who study
// the estimator: times in ns of each kept slice, and ns per compression of
// the yardsticks around it.
type Raw struct {
	Name, Side string
	Workload   workload.Params
	Plan       result.Plan
	Apart      bool    // the yardsticks tell a neighbour and the clock apart: in hardware, on the slices' core
	Call       float64 // ns of a request of one iteration, by all rounds; 0: unknown
	Tick       float64 // resolution of its clock, ns; 0: fine
	Rounds     []RawRound
	Spent      time.Duration // measuring time, without the opening
	Inside     time.Duration // of it, in slices and yardsticks
}

// RawRound has Slices[i] between Chain[i], Lanes[i] and Chain[i+1],
// Lanes[i+1], and before them Calls between Early and the first of those.
type RawRound struct {
	Calls             []float64  // requests of one iteration
	Early             [2]float64 // chain, lanes
	Slices, Wall, CPU []float64
	Chain, Lanes      []float64
	Clean             []int // indices of the clean slices
}

// Run measures every subject and returns one record each, in order. Host,
// Leg, ID, Commit and Date are the caller's to fill in. An error means that
// nothing was measured: ctx ended, or the machine refused what measuring
// needs. A target that misbehaves is a record with its outcome.
func Run(ctx context.Context, cfg Config) ([]result.Run, error) {
	// One thread talks to every child, on one core: children inherit it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := &run{Config: cfg}
	var notes []string
	if cfg.Pin != nil {
		undo, err := cfg.Pin()
		if err != nil {
			notes = append(notes, fmt.Sprintf("not bound to one core: %v", err))
		} else {
			r.apart = cfg.Kernels.Hardware
			defer undo()
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))

	r.gauge = newGauge(cfg.Clock, cfg.Kernels)
	for _, s := range cfg.Subjects {
		r.subjects = append(r.subjects, &subject{Subject: s, outcome: result.Measured, whole: s.Once != nil, notes: append([]string{}, notes...)})
	}
	for i, s := range r.subjects {
		// Sides of one target share the plan of the first.
		for _, o := range r.subjects[:i] {
			if o.Name == s.Name && s.Plan == (result.Plan{}) {
				s.Plan = o.plan
			}
		}
		before := r.Clock()
		if err := r.open(ctx, s); err != nil {
			return nil, err
		}
		s.opening = r.Clock() - before
	}
	if err := r.rounds(ctx); err != nil {
		return nil, err
	}
	return r.finish(), nil
}

type run struct {
	Config
	apart    bool // the yardsticks tell a neighbour and the clock apart
	gauge    *gauge
	subjects []*subject
}

// subject is a Subject and what became of it.
type subject struct {
	Subject
	hello              probe.Hello
	plan               result.Plan
	seen               []time.Duration // every time that it reported while it was opened
	tick               float64         // resolution of its clock, ns; 0: fine
	slice              float64         // what a slice took when it was opened, ns
	full               []full
	warm               float64 // what a slice took after them, ns
	unsettled          bool    // its rounds are over before it has warmed up
	traces             []trace
	known              float64 // of kept samples without calls: what one takes, ns
	opening            time.Duration
	spent              time.Duration // on rounds
	slices, yardsticks time.Duration // of that
	outcome            result.Outcome
	message            string
	notes              []string
	whole              bool // without the protocol: one run is a round
	timed              bool // of those: our clock times it
	stalled            bool // it was silent once, and was given another try
}

// again repeats what a silent target ended, once: on a machine that stands
// still for seconds an honest one is silent too.
func (s *subject) again(f func() error) error {
	err := f()
	var silent *probe.Failure
	if !s.stalled && errors.As(err, &silent) && silent.Silent && s.hello.Name != "" {
		s.stalled = true
		s.note("was silent for longer than an answer may take, once: %s", silent.Error())
		err = f()
	}
	return err
}

// fail ends a subject with an outcome.
func (s *subject) fail(o result.Outcome, format string, args ...any) {
	if s.outcome == result.Measured {
		s.outcome, s.message = o, fmt.Sprintf(format, args...)
	}
}

func (s *subject) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// broke files an error of a process as the subject's failure; what is left
// is the end of ctx.
func (s *subject) broke(ctx context.Context, err error) error {
	if e := ctx.Err(); e != nil {
		return e
	}
	var wrong *probe.KeyError
	switch {
	case errors.As(err, &wrong):
		s.fail(result.WrongKey, "%v", err)
	case errors.As(err, new(*timeError)):
		s.fail(result.Implausible, "%v", err)
	default:
		s.fail(result.Failed, "%v", err)
	}
	return nil
}

// rounds measures until every group of sides has enough or has spent its
// budget.
func (r *run) rounds(ctx context.Context) error {
	for {
		var order []*subject
		u := undisturbedBy(r.subjects, r.apart)
		for _, g := range groups(r.subjects) {
			if !r.done(g, u) {
				for _, s := range g {
					if s.outcome == result.Measured {
						order = append(order, s)
					}
				}
			}
		}
		if len(order) == 0 {
			return nil
		}
		r.Rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, s := range order {
			before := r.Clock()
			if err := r.round(ctx, s); err != nil {
				return err
			}
			s.spent += r.Clock() - before
			r.progress(s, false)
		}
	}
}

// groups are the sides of each target: they go on and stop together.
func groups(subjects []*subject) [][]*subject {
	var g [][]*subject
	at := map[string]int{}
	for _, s := range subjects {
		i, ok := at[s.Name]
		if !ok {
			i = len(g)
			at[s.Name] = i
			g = append(g, nil)
		}
		g[i] = append(g[i], s)
	}
	return g
}

// done decides whether a group is measured. It looks at the spread and the
// clock, never at the effect.
func (r *run) done(g []*subject, u undisturbed) bool {
	var spent, next time.Duration
	left, enough, few, short := 0, true, false, false
	rounds := usable(g, u, 1)
	for i, s := range g {
		spent += s.spent
		if s.outcome != result.Measured {
			continue
		}
		left++
		n := len(s.traces)
		if n > 0 {
			next += s.spent / time.Duration(n)
		}
		few = few || n < MinRounds
		short = short || len(rounds[i]) < result.MinRounds
		enough = enough && (len(rounds[i]) >= maxRounds || len(rounds[i]) >= result.MinRounds && (s.Brief || r.Enough(rounds[i])))
	}
	budget := r.Budget * time.Duration(len(g))
	over := func(factor time.Duration) bool { return spent+next > factor*budget }
	switch {
	case left == 0:
		return true
	case few:
		return over(overrunSlow)
	case short:
		return over(overrunDisturbed)
	}
	return enough || over(1)
}

func (r *run) progress(s *subject, opening bool) {
	if r.Progress == nil {
		return
	}
	p := Progress{Name: s.Name, Side: s.Side, Opening: opening, Unverified: s.Once != nil, Rounds: len(s.traces), Failed: s.message,
		Budget: r.Budget * time.Duration(len(r.subjects))}
	for _, o := range r.subjects {
		p.Spent += o.spent
	}
	r.Progress(p)
}
