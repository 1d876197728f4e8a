package measure

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/yardstick"
)

// finish turns what was observed into records: cleanliness by the whole
// run's yardsticks, and what the clean slices say of the target's own times.
func (r *run) finish() []result.Run {
	u := undisturbedBy(r.subjects, r.apart)
	all := priceAll(r.subjects, u)
	var out []result.Run
	for _, s := range r.subjects {
		if r.Raw != nil {
			r.Raw(s.raw(u))
		}
		rounds, contended := all[s].rounds, all[s].contended
		if s.outcome == result.Measured && s.Once == nil {
			r.judge(s, u, rounds)
		}
		if s.outcome == result.Measured {
			s.moved(u)
			if contended {
				s.note("most runs were disturbed, by neighbours or a clock that moved: the calmer ones count, beside the other side in this job alone")
			}
		}
		run := result.Run{
			Yardstick:     yardstick.ID(),
			Workload:      s.Workload,
			Plan:          s.plan,
			Target:        s.Name,
			Side:          s.Side,
			Toolchain:     s.hello.Words["toolchain"],
			TargetVersion: s.hello.Words["version"],
			Mode:          s.hello.Words["mode"],
			Outcome:       s.outcome,
			Message:       s.message,
			Notes:         s.notes,
			Unverified:    s.Once != nil,
			Spent:         result.Spent{Open: s.opening, Slices: s.slices, Yardsticks: s.yardsticks, Around: s.spent - s.slices - s.yardsticks},
		}
		if s.outcome == result.Measured {
			if s.unsettled {
				rounds = nil // evidence of nothing
			}
			run.Rounds = rounds
			run.Disturbed = len(s.traces) - len(rounds)
			run.Contended = contended
			run.Instructions, run.Cycles = s.counts()
			unrecordable(&run, s.least(u))
		}
		out = append(out, run)
	}
	return out
}

// unrecordable ends a run whose figures no file can carry: it would take the
// others' with it. Its cheapest slice promises least, ns.
func unrecordable(run *result.Run, least float64) {
	err := run.ValidRounds()
	if err == nil {
		return
	}
	run.Outcome, run.Message = result.Failed, fmt.Sprintf("its figures cannot be recorded: %v", err)
	for _, x := range run.Rounds {
		if x.RelCost < result.MinRelCost {
			run.Outcome = result.Implausible
			run.Message = fmt.Sprintf("%s for one hash of %s iterations is %.2g of what the yardstick needs for it, less than any core does: it times other work, or fewer iterations: time one hash, and set iterations to its own",
				dur(least), workload.Group(run.Workload.Iterations), x.RelCost)
			break
		}
	}
	run.Rounds, run.Disturbed, run.Contended, run.Instructions, run.Cycles = nil, 0, false, 0, 0
}

// Limits of what is believed without a word, and at all.
const (
	fullNote        = 0.10
	fullTooLong     = 0.40
	fullTooShort    = -0.10
	fullJudgedFrom  = 200 * time.Microsecond // shorter hashes are mostly the call around them
	unaccounted     = 100 * time.Microsecond // of a slice, beyond the probe's own time,
	unaccountedPart = 0.10                   // and this part of it
	pause           = time.Millisecond       // beside a slice
	waits           = 0.80                   // processor time over own time
	helped          = 1.20
	contendedFrom   = 0.03 // of what the lanes read
	lanesBound      = 0.90 // of the lanes' time: two blocks at most side by side
	wideBound       = 0.45 // with more blocks than our lanes, wider kernels are possible
)

// judge holds the target's own times against the clean evidence. Without
// any it says nothing: no check turns a disturbed measurement into a
// failure.
func (r *run) judge(s *subject, u undisturbed, rounds []result.Round) {
	waiting := s.idles()
	if len(rounds) < result.MinRounds {
		if !waiting { // after a pause, the core is slow to begin
			r.fixedCost(s)
		}
		return
	}
	var cost, lanes []float64
	for _, x := range rounds {
		cost = append(cost, x.NsPerOp)
		lanes = append(lanes, x.LanesNs)
	}
	hash := stats.Median(cost)
	outside, cpu := r.around(s, u)
	sliceNs := hash / float64(s.Workload.Iterations) * float64(s.plan.SliceIterations)

	if s.contended(u, rounds) {
		s.note("the core was contended throughout: the yardsticks were faster before the rounds than in any of them")
		return
	}
	r.judgeFull(s, u, hash)
	if outside > float64(unaccounted)+unaccountedPart*sliceNs {
		s.fail(result.Implausible, "reports %v for slices that take %v from request to answer: time the whole derivation, and answer at once",
			dur(sliceNs), dur(sliceNs+outside))
	}
	per := hash / s.Workload.Compressions()
	bound := lanesBound
	if s.Workload.Blocks() > yardstick.NumLanes {
		bound = wideBound
	}
	if least := bound * stats.Median(lanes); s.Workload.PRF == workload.SHA256 && r.Kernels.Hardware && per < least && !(cpu > helped) {
		s.fail(result.Implausible, "%.1f ns for a SHA-256 compression is less than this core needs (%.1f ns side by side) and no helper threads explain it: time the whole derivation",
			per, stats.Median(lanes))
	}
	switch {
	case cpu >= 0 && cpu < waits:
		s.note("waits: it used the processor for %.0f %% of the time that it reports", 100*cpu)
	case cpu > helped:
		s.note("helper threads, or work that it does not time: it used the processor for %.0f %% of the time that it reports", 100*cpu)
	}
}

// judgeFull holds the derivation at full iterations against what the clean
// slices promise.
func (r *run) judgeFull(s *subject, u undisturbed, hash float64) {
	if hash < float64(fullJudgedFrom) || len(s.full) == 0 {
		return
	}
	best := s.full[0]
	for _, f := range s.full[1:] {
		if f.own < best.own {
			best = f
		}
	}
	off := u.atClock(float64(best.own), best.readers[0], best.readers[1])/hash - 1
	// Undisturbed by its processor time, or by the yardsticks around it
	// where that is unknown.
	quiet := u.admits(best.readers[0], best.readers[1])
	if best.cpu >= 0 {
		quiet = quiet && float64(best.cpu)/hash-1 > fullTooLong
	}
	warm := s.price(s.call(u))(s.warm)
	switch {
	case float64(best.own) < (1+fullTooShort)*s.least(u) && float64(best.own) > (1+fullTooShort)*warm:
		// in one process, slices cost what the long derivation did once that had
		// been: nothing is hidden, the rounds are too short
		s.unsettled = true
		s.note("it has not warmed up when a round ends: one hash took %s, the rounds' slices promise %s: have it compile ahead of time, or at once (Java: -Xbatch)", dur(float64(best.own)), dur(hash))
	case float64(best.own) < (1+fullTooShort)*s.least(u):
		// held against the least that any slice cost: no disturbance makes a
		// long derivation that much faster
		s.fail(result.Implausible, "one hash at %s iterations took %v, its slices promise %v: the time must grow with the iterations",
			workload.Group(s.Workload.Iterations), dur(float64(best.own)), dur(hash))
	case off > fullTooLong && quiet:
		s.fail(result.Implausible, "one hash at %s iterations took %v, its slices promise %v: short requests must cost what they do in long ones",
			workload.Group(s.Workload.Iterations), dur(float64(best.own)), dur(hash))
	case off > fullNote:
		s.note("one hash at full iterations took %v, its slices promise %v", dur(float64(best.own)), dur(hash))
	}
}

// least is the cost of one hash by the cheapest slice of all, ns.
func (s *subject) least(u undisturbed) float64 {
	return s.price(s.call(u))(shortest([]*subject{s}))
}

// contended: the lanes ran faster around the derivations at full iterations than
// they do in the rounds, so what passed for undisturbed there was not.
func (s *subject) contended(u undisturbed, rounds []result.Round) bool {
	var usual []float64
	for _, r := range rounds {
		usual = append(usual, reading{r.ChainNs, r.LanesNs}.crowding(u.apart))
	}
	for _, f := range s.full {
		a, b := f.readers[0].crowding(u.apart), f.readers[1].crowding(u.apart)
		calmest := min(a, b)
		if u.apart { // of a reading that was cut in two the ratio is anything: both must tell
			calmest = max(a, b)
		}
		if calmest*(1+contendedFrom) < stats.Median(usual) {
			return true
		}
	}
	return false
}

// fixedCost notes, where too few rounds were clean to judge anything, a
// target whose slices promise a wholly different time than a hash took: it
// does something else for each request than derive.
func (r *run) fixedCost(s *subject) {
	if len(s.full) == 0 || s.slice <= 0 {
		return
	}
	least := s.full[0].own
	for _, f := range s.full[1:] {
		least = min(least, f.own)
	}
	promise := s.slice / float64(s.plan.SliceIterations) * float64(s.Workload.Iterations)
	if promise > 2*float64(least) {
		s.note("one hash at full iterations took %s, its slices promise %s: each request costs about %s beside its iterations, which slices of %s iterations cannot price: make it start nothing for a request",
			dur(float64(least)), dur(promise), dur(s.slice), workload.Group(s.plan.SliceIterations))
	}
}

// idles notes a target that waits beside its derivations. Over all slices, for
// with a pause at each the core is seldom found undisturbed; and of them by a
// low one, for on a busy core some wait their turn.
func (s *subject) idles() bool {
	var gaps, walls []float64
	for _, t := range s.traces {
		for _, x := range t.slices {
			if x.cpu >= 0 {
				gaps = append(gaps, x.wall-max(x.own, x.cpu))
				walls = append(walls, x.wall)
			}
		}
	}
	if len(gaps) == 0 {
		return false
	}
	gap := stats.Quantile(gaps, lowQuantile)
	if gap <= float64(pause) {
		return false
	}
	s.note("waits beside its derivations: %s of the %s from request to answer are neither its own time nor the processor's: answer at once",
		dur(gap), dur(stats.Quantile(walls, lowQuantile)))
	return true
}

// around is, over the clean slices, the time from request to answer that
// the probe's own time leaves open (ns, 25th percentile), and the processor
// time over the own time (median; -1: unknown). Where processor time is known,
// only what was computed counts as left open: on a busy core either side of the
// exchange waits its turn.
func (r *run) around(s *subject, u undisturbed) (outside, cpu float64) {
	var gaps, shares []float64
	for _, t := range s.traces {
		for _, i := range t.clean(u, 1) {
			x := t.slices[i]
			gap := x.wall - x.own
			if x.cpu >= 0 {
				gap = min(gap, x.cpu-x.own)
			}
			gaps = append(gaps, gap)
			if x.cpu >= 0 && x.own > 0 {
				shares = append(shares, x.cpu/x.own)
			}
		}
	}
	cpu = -1
	if len(shares) > 0 {
		cpu = stats.Median(shares)
	}
	return stats.Quantile(gaps, 0.25), cpu
}

// clockWorthANote: on a shared host a clock moves by less all the time, and no
// figure depends on it.
const clockWorthANote = 0.05

// moved notes a core whose clock changed while it was measured: the chain
// depends on nothing else where no neighbour is.
func (s *subject) moved(u undisturbed) {
	var chain []float64
	for _, t := range s.traces {
		var c []float64
		for _, y := range t.readings {
			if u.alone(y) {
				c = append(c, y.chain)
			}
		}
		if len(c) > 0 {
			chain = append(chain, stats.Quantile(c, lowQuantile))
		}
	}
	if len(chain) < MinRounds {
		return
	}
	third := len(chain) / 3
	first, last := stats.Median(chain[:third]), stats.Median(chain[len(chain)-third:])
	most, brought := ChainTimeAllowed, ""
	if u.apart {
		most, brought = clockWorthANote, "; times are brought to one clock"
	}
	if change := last/first - 1; math.Abs(change) > most {
		s.note("the core's clock moved: the chain yardstick read %+.1f %% at the end against the start%s", 100*change, brought)
	}
}

// dur writes nanoseconds for people, in ASCII as files want it.
func dur(ns float64) string {
	d := time.Duration(math.Round(min(ns, float64(1<<62))))
	switch {
	case d >= 1000*time.Hour:
		return "over 1000h"
	case d >= 10*time.Millisecond:
		d = d.Round(100 * time.Microsecond)
	case d >= time.Millisecond:
		d = d.Round(time.Microsecond)
	case d >= time.Microsecond:
		d = d.Round(10 * time.Nanosecond)
	}
	return strings.ReplaceAll(d.String(), "µ", "u")
}

func (s *subject) raw(u undisturbed) Raw {
	raw := Raw{Name: s.Name, Side: s.Side, Workload: s.Workload, Plan: s.plan, Apart: u.apart, Call: s.call(u), Tick: s.tick, Spent: s.spent, Inside: s.slices + s.yardsticks}
	for _, t := range s.traces {
		x := RawRound{Calls: t.calls, Early: [2]float64{t.early.chain, t.early.lanes}}
		for _, sl := range t.slices {
			x.Slices = append(x.Slices, sl.own)
			x.Wall = append(x.Wall, sl.wall)
			x.CPU = append(x.CPU, sl.cpu)
		}
		for _, y := range t.readings {
			x.Chain = append(x.Chain, y.chain)
			x.Lanes = append(x.Lanes, y.lanes)
		}
		x.Clean = t.clean(u, 1)
		raw.Rounds = append(raw.Rounds, x)
	}
	return raw
}
