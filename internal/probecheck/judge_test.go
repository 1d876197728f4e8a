package probecheck

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// model is a probe and its machine as far as times go; the zero value but for
// iteration is an honest one on a quiet machine.
type model struct {
	iteration float64       // ns
	request   time.Duration // of the time that is reported, beside the iterations
	outside   time.Duration // work beside that
	idle      time.Duration // waiting beside it
	asleep    float64       // waiting in it, as a part of the work
	tick      time.Duration // of its clock
	helpers   float64       // their processor time, as a part of the work
	elsewhere bool          // the work is another process's
	cache     bool
	noCPU     bool // processor time cannot be told
	own       func(n int, d time.Duration) time.Duration
	disturb   func(work time.Duration, r *rand.Rand) (cpu, took time.Duration)
}

func quiet(work time.Duration, r *rand.Rand) (cpu, took time.Duration) {
	took = work + time.Duration(0.02*r.Float64()*float64(work))
	return took, took
}

// sibling: a neighbour on the other hyperthread comes and goes.
func sibling(work time.Duration, r *rand.Rand) (cpu, took time.Duration) {
	took = work + time.Duration(float64(work)*r.Float64())
	return took, took
}

// shared: others run for up to most between slices of 3 ms.
func shared(most time.Duration) func(time.Duration, *rand.Rand) (cpu, took time.Duration) {
	return func(work time.Duration, r *rand.Rand) (cpu, took time.Duration) {
		cpu, _ = sibling(work, r)
		left := time.Duration(r.Float64() * 3e6)
		for took = cpu; left < cpu; left += 3 * time.Millisecond {
			took += time.Duration(r.Float64() * float64(most))
		}
		return cpu, took
	}
}

// stalls: now and then nothing runs for seconds.
func stalls(work time.Duration, r *rand.Rand) (cpu, took time.Duration) {
	cpu, took = quiet(work, r)
	if r.Float64() < 0.3 {
		took += time.Duration(3e9 * r.Float64())
	}
	return cpu, took
}

func (m model) ask(n int, repeated bool, r *rand.Rand) exchange {
	disturb := m.disturb
	if disturb == nil {
		disturb = quiet
	}
	work := m.request + time.Duration(m.iteration*float64(n))
	if repeated && m.cache {
		work = 20 * time.Microsecond
	}
	cpu, own := disturb(work, r)
	own += time.Duration(m.asleep * float64(work))
	cpu += time.Duration(m.helpers * float64(work))
	moreCPU, more := disturb(m.outside+20*time.Microsecond, r)
	x := exchange{asked: fmt.Sprint(n), own: own, wall: own + more + m.idle, cpu: cpu + moreCPU}
	if m.own != nil {
		x.own = m.own(n, x.own)
	}
	if m.tick > 0 {
		x.own = x.own.Truncate(m.tick)
	}
	switch {
	case m.noCPU:
		x.cpu = -1
	case m.elsewhere:
		x.cpu = 30 * time.Microsecond
	}
	return x
}

// judged is what takeTimes would arrive at.
func (m model) judged(seed uint64) map[string]Check {
	r := rand.New(rand.NewPCG(seed, 1))
	var rounds []round
	var seen []exchange
	for range 100 {
		seen = append(seen, m.ask(2, false, r), m.ask(shortN, false, r))
	}
	var out map[string]Check
	for range batches {
		for range leastRounds {
			x := round{m.ask(shortN, false, r), m.ask(midN, false, r), m.ask(longN, false, r), m.ask(longN, true, r)}
			rounds = append(rounds, x)
			seen = append(seen, x.short, x.mid, x.long, x.again)
		}
		if out = judge(rounds, seen); !doubtful(out) {
			break
		}
	}
	return out
}

func TestHonestTimes(t *testing.T) {
	seeds := uint64(100)
	if testing.Short() {
		seeds = 30
	}
	for name, disturb := range map[string]func(time.Duration, *rand.Rand) (cpu, took time.Duration){
		"quiet": quiet, "sibling": sibling, "shared": shared(6 * time.Millisecond), "crowded": shared(40 * time.Millisecond), "stalls": stalls,
	} {
		for _, iteration := range []float64{60, 200, 1000, 50_000} {
			for _, m := range []model{{}, {noCPU: true}, {elsewhere: true}, {tick: time.Microsecond}, {tick: 40 * time.Microsecond}, {request: 50 * time.Microsecond, outside: 30 * time.Microsecond}} {
				m.iteration, m.disturb = iteration, disturb
				for seed := range seeds {
					for _, c := range m.judged(seed) {
						if c.Outcome == Failed {
							t.Fatalf("%s, %v ns, %+v, seed %d: %+v", name, iteration, m, seed, c)
						}
					}
				}
			}
		}
	}
}

func TestQuietTimes(t *testing.T) {
	for _, iteration := range []float64{60, 200, 1000, 50_000} {
		for name, c := range (model{iteration: iteration}).judged(1) {
			if c.Outcome != OK || len(c.Findings) > 0 || c.Text == "" {
				t.Errorf("%v ns: %s: %+v", iteration, name, c)
			}
		}
	}
}

func TestTimes(t *testing.T) {
	fixed := func(d time.Duration) func(int, time.Duration) time.Duration {
		return func(int, time.Duration) time.Duration { return d }
	}
	scaled := func(by float64) func(int, time.Duration) time.Duration {
		return func(_ int, d time.Duration) time.Duration { return time.Duration(float64(d) * by) }
	}
	since := func() func(int, time.Duration) time.Duration {
		var sum time.Duration
		return func(_ int, d time.Duration) time.Duration { sum += d; return sum }
	}
	for name, c := range map[string]struct {
		model
		check string
		want  Outcome
		text  string // in a finding
	}{
		"constant":             {model{own: fixed(time.Millisecond)}, timeGrows, Failed, "ns 1000000 each time"},
		"constant, clock":      {model{own: fixed(time.Millisecond)}, timeClock, NotRun, ""},
		"zero":                 {model{own: fixed(0)}, timeClock, Failed, "ns 0"},
		"zero, grows":          {model{own: fixed(0)}, timeGrows, Failed, "ns 0 each time"},
		"huge":                 {model{own: fixed(1 << 50)}, timeOver, Failed, "ns 1125899906842624"},
		"a little over":        {model{own: scaled(1.2)}, timeOver, Failed, "just before and just after"},
		"a third":              {model{own: scaled(0.33)}, timeWhole, Failed, "time the whole derivation"},
		"seven tenths":         {model{own: scaled(0.7)}, timeWhole, Note, "time the whole derivation"},
		"a third, elsewhere":   {model{own: scaled(0.33), elsewhere: true}, timeWhole, Failed, "time the whole derivation"},
		"a third, no CPU":      {model{own: scaled(0.33), noCPU: true}, timeWhole, Failed, "time the whole derivation"},
		"a third, busy":        {model{own: scaled(0.33), disturb: shared(6 * time.Millisecond)}, timeWhole, Failed, "time the whole derivation"},
		"microseconds":         {model{own: scaled(1e-3)}, timeWhole, Failed, "looks like microseconds"},
		"milliseconds":         {model{own: scaled(1e-6)}, timeWhole, Failed, "looks like milliseconds"},
		"picoseconds":          {model{own: scaled(1e3)}, timeOver, Failed, "report the difference in nanoseconds"},
		"since the start":      {model{own: since()}, timeOver, Failed, "not that since the start"},
		"the first iterations": {model{own: func(n int, d time.Duration) time.Duration { return d * 20_000 / time.Duration(max(n, 20_000)) }}, timeLong, Failed, "all its iterations"},
		"the setup alone":      {model{own: func(n int, d time.Duration) time.Duration { return 300 + d%7 }}, timeGrows, Failed, "forty times as long"},
		"a pause after it":     {model{idle: 40 * time.Millisecond}, timeWhole, Note, "it waits beside the derivation"},
		"a short pause":        {model{idle: 10 * time.Millisecond}, timeWhole, Note, "Asked:5,000 iterations (the least of 3 tries) Came:ns 10"},
		"a pause of 2 ms":      {model{idle: 1800 * time.Microsecond}, timeWhole, Note, "it waits beside the derivation"},
		"work after it":        {model{outside: 500 * time.Microsecond}, timeWhole, Note, "do less beside it"},
		"much work after it":   {model{outside: 2 * time.Millisecond}, timeWhole, Failed, "do little beside it"},
		"a thread a request":   {model{request: 300 * time.Microsecond}, timeLong, Note, "of each request is no iteration"},
		"ever slower":          {model{own: nil, iteration: 200, disturb: squared}, timeLong, Failed, "derive long requests as short ones"},
		"ever slower, no CPU":  {model{noCPU: true, disturb: squared}, timeLong, Note, "where the machine is busy"},
		"clock of 1 ms":        {model{tick: time.Millisecond}, timeClock, Failed, "each a multiple of 1ms"},
		"clock of 16 ms":       {model{tick: 16 * time.Millisecond}, timeClock, Failed, "each a multiple of "},
		"clock of 16 ms, over": {model{tick: 16 * time.Millisecond}, timeOver, OK, ""},
		"clock of 100 us":      {model{tick: 100 * time.Microsecond}, timeClock, Failed, "00us"},
		"clock of 10 us":       {model{tick: 10 * time.Microsecond}, timeClock, Note, "a finer clock"},
		"clock of 1 us":        {model{tick: time.Microsecond}, timeClock, OK, ""},
		"cache":                {model{cache: true}, timeRepeated, Failed, "keep no keys"},
		"cache, no CPU":        {model{cache: true, noCPU: true}, timeRepeated, Failed, "keep no keys"},
		"cache, busy":          {model{cache: true, disturb: shared(6 * time.Millisecond)}, timeRepeated, Failed, "keep no keys"},
		"cache, elsewhere":     {model{cache: true, elsewhere: true}, timeRepeated, Failed, "keep no keys"},
		"sleeps":               {model{asleep: 2}, timeProcessor, Note, "do not wait or sleep"},
		"sleeps, whole":        {model{asleep: 2}, timeWhole, OK, ""},
		"helpers":              {model{helpers: 0.5}, timeProcessor, Note, "no helper threads"},
		"elsewhere":            {model{elsewhere: true}, timeProcessor, Note, "derive in this process"},
		"no CPU":               {model{noCPU: true}, timeProcessor, OK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				m := c.model
				if m.iteration == 0 {
					m.iteration = 200
				}
				got := m.judged(seed)[c.check]
				if got.Outcome != c.want || !strings.Contains(fmt.Sprintf("%+v", got.Findings), c.text) {
					t.Fatalf("seed %d: %+v; want %s, %q", seed, got, c.want, c.text)
				}
				if (got.Outcome == Failed || got.Outcome == Note) != (len(got.Findings) > 0) || got.Text == "" {
					t.Errorf("%+v", got)
				}
			}
		})
	}
}

// squared is work that grows faster than the iterations.
func squared(work time.Duration, r *rand.Rand) (cpu, took time.Duration) {
	return quiet(time.Duration(float64(work)*max(1, float64(work)/4e6)), r)
}

func TestDur(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 7: "7ns", 4321: "4.32us", 987_654: "988us", 35_748_123: "35.7ms", 1_234_567_890: "1.23s", 754 * time.Second: "12m34s",
		-35_748_123: "-35.7ms",
	} {
		if got := dur(d); got != want {
			t.Errorf("dur(%d) = %s, want %s", d, got, want)
		}
	}
}
