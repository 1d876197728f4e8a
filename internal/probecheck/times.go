package probecheck

import (
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// Iterations of the timed requests: about the gate's slices, more than them,
// and a hash.
const (
	shortN = 5_000
	midN   = 20_000
	longN  = 200_000
)

// The timed requests are asked in rounds, so that what disturbs one kind
// disturbs the others too.
const (
	warmUps     = 120 // requests before them: just-in-time compilers
	warmUpTime  = time.Second
	leastRounds = 3 // of a batch
	mostRounds  = 4
	batchTime   = 3 * time.Second
	batches     = 3 // while something looks wrong
	longBatch   = 10 * time.Second
)

// closeLimit is how long a probe may run on after the end of its input.
const closeLimit = 2 * time.Second

// round is one of each: the last repeats the one before.
type round struct{ short, mid, long, again exchange }

// The checks of times.
const (
	timeLong      = "time: long request"
	timeRepeated  = "time: repeated"
	timeOver      = "time: not over"
	timeWhole     = "time: whole"
	timeGrows     = "time: grows"
	timeClock     = "time: clock"
	timeProcessor = "time: processor"
)

// timeLong takes the times that the other checks of times need as well.
func (r *run) timeLong(c *Check) {
	r.failed = r.takeTimes()
	switch {
	case r.failed == nil || r.told(r.failed):
		r.timed(c)
	default:
		c.say("no times for %s iterations", workload.Group(longN))
		r.problem(c, brief(lineOf(r.last)), r.failed)
	}
}

// timed is what was judged under the check's name.
func (r *run) timed(c *Check) {
	if r.failed != nil {
		c.Outcome = NotRun
		c.say("its keys could not be timed")
		return
	}
	*c = r.judged[c.Name]
}

// takeTimes asks timed requests until what comes of them is right, or has
// been wrong for several batches.
func (r *run) takeTimes() error {
	start := r.Clock()
	for range warmUps {
		if _, err := r.timedRequest(shortN); err != nil {
			return err
		}
		if r.Clock()-start > warmUpTime {
			break
		}
	}
	for range batches {
		start := r.Clock()
		for n := 1; ; n++ {
			if err := r.round(); err != nil {
				return err
			}
			spent := r.Clock() - start
			if n >= mostRounds || n >= leastRounds && spent > batchTime || spent > longBatch {
				break
			}
		}
		r.judged = judge(r.rounds, r.seen)
		if !doubtful(r.judged) {
			break
		}
	}
	return nil
}

// doubtful: something failed that a disturbed machine could be the cause of.
func doubtful(checks map[string]Check) bool {
	if checks[timeClock].Outcome == NotRun {
		return false // its times are all the same: nothing but the probe does that
	}
	for _, name := range []string{timeLong, timeRepeated, timeWhole, timeGrows} {
		if checks[name].Outcome == Failed {
			return true
		}
	}
	return false
}

func (r *run) round() error {
	var got round
	for _, x := range []struct {
		to *exchange
		n  int
	}{{&got.short, shortN}, {&got.mid, midN}, {&got.long, longN}} {
		var err error
		if *x.to, err = r.timedRequest(x.n); err != nil {
			return err
		}
	}
	var err error
	if got.again, err = r.derive(r.last); err != nil {
		return err
	}
	r.rounds = append(r.rounds, got)
	return nil
}

// timedRequest is one block, with a new salt.
func (r *run) timedRequest(n int) (exchange, error) {
	r.last = r.request(r.prfs[0], n, r.prfs[0].Size())
	return r.derive(r.last)
}
