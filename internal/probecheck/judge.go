package probecheck

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// judge says what the times are worth.
func judge(rounds []round, seen []exchange) map[string]Check {
	t := &times{rounds: rounds, seen: seen}
	for _, x := range seen {
		t.own = append(t.own, x.own)
	}
	t.tick = probe.Tick(t.own)
	t.constant = t.isConstant()
	out := map[string]Check{}
	for _, j := range []struct {
		name string
		do   func(*times, *Check)
	}{
		{timeLong, (*times).long}, {timeRepeated, (*times).repeated}, {timeOver, (*times).over}, {timeWhole, (*times).whole},
		{timeGrows, (*times).grows}, {timeClock, (*times).clock}, {timeProcessor, (*times).processor},
	} {
		c := Check{Name: j.name, Outcome: OK, Findings: []Finding{}}
		j.do(t, &c)
		out[j.name] = c
	}
	return out
}

// times is the evidence.
type times struct {
	rounds   []round
	seen     []exchange
	own      []time.Duration // of seen
	tick     time.Duration   // of the probe's clock; 0: fine
	constant bool            // the times do not depend on the request
}

func (t *times) isConstant() bool {
	for _, x := range t.rounds {
		if x.short.own != x.long.own || x.mid.own != x.long.own || x.long.own != t.rounds[0].long.own {
			return false
		}
	}
	return true
}

func short(x round) exchange { return x.short }
func mid(x round) exchange   { return x.mid }
func long(x round) exchange  { return x.long }
func again(x round) exchange { return x.again }

func own(x exchange) time.Duration  { return x.own }
func wall(x exchange) time.Duration { return x.wall }
func cpu(x exchange) time.Duration  { return x.cpu }

// least of the tries is the one that was disturbed least.
func (t *times) least(of func(round) exchange, what func(exchange) time.Duration) time.Duration {
	least := time.Duration(math.MaxInt64)
	for _, x := range t.rounds {
		least = min(least, what(of(x)))
	}
	return least
}

// cpuKnown: the processor time is known, and it is where the work is done: no
// other process does it. Of requests as short as these, some are not
// interrupted even on a busy machine.
func (t *times) cpuKnown() bool {
	for _, of := range []func(round) exchange{short, mid, long} {
		if t.least(of, cpu) > t.least(of, wall)/4 {
			return true
		}
	}
	return false
}

func (t *times) tries(n int) string {
	return fmt.Sprintf("%s iterations (the least of %d tries)", workload.Group(n), len(t.rounds))
}

// long holds a long derivation against what shorter ones promise.
func (t *times) long(c *Check) {
	got, promised := t.least(long, own), t.promise(own)
	asked := t.tries(longN)
	c.say("%s iterations in %s, of which shorter requests promise %s", workload.Group(longN), dur(got), dur(promised))
	came := fmt.Sprintf("%s, where %s and %s iterations in %s and %s promise %s", dur(got),
		workload.Group(shortN), workload.Group(midN), dur(t.least(short, own)), dur(t.least(mid, own)), dur(promised))
	over := func(factor float64, what func(exchange) time.Duration) bool {
		return float64(t.least(long, what)) > factor*float64(t.promise(what))+float64(t.tick)
	}
	perRequest := (longN/shortN*t.least(short, own) - got) / (longN/shortN - 1)
	switch {
	case t.constant || t.tick > probe.CoarsestTick: // said by grows, or by clock
	case got+t.tick < promised/2:
		c.fail(asked, came, "time the whole derivation, all its iterations and blocks")
	case over(3, own) && t.cpuKnown() && over(3, cpu):
		c.fail(asked, came, "derive long requests as short ones: the gate prices a hash by short ones")
	case over(1.4, own) && !(t.cpuKnown() && !over(1.4, cpu)): // else it waited: said by processor
		c.note(asked, came, "nothing, where the machine is busy now; else derive long requests as short ones: the gate prices a hash by short ones")
	case t.tick == 0 && perRequest > 40*time.Microsecond+t.least(short, own)/20:
		c.note(asked, fmt.Sprintf("%s, of which %s iterations in %s promise more", dur(got), workload.Group(shortN), dur(t.least(short, own))),
			fmt.Sprintf("about %s of each request is no iteration: look the function up, and start threads, once and outside the time", dur(perRequest)))
	}
}

// promise is what a long request should take by those shorter ones that are
// the cheaper.
func (t *times) promise(what func(exchange) time.Duration) time.Duration {
	return min(longN/midN*t.least(mid, what), longN/shortN*t.least(short, what))
}

// repeated holds the same request, asked again at once, against new ones.
func (t *times) repeated(c *Check) {
	first, then := t.least(long, wall), t.least(again, wall)
	c.say("%s for the same request again, after %s", dur(then), dur(first))
	fromCache := 4*then < first && then < t.least(mid, wall)
	if t.cpuKnown() {
		fromCache = fromCache && 4*t.least(again, cpu) < t.least(long, cpu)
	}
	if fromCache {
		c.fail("the same request again, of "+t.tries(longN), fmt.Sprintf("the key after %s, where a new request takes %s", dur(then), dur(first)),
			"keep no keys: derive each one anew")
	}
}

// over: nothing makes a part longer than the whole.
func (t *times) over(c *Check) {
	tick := min(t.tick, 20*time.Millisecond) // the coarsest clock in use
	var worst exchange
	n := 0
	for _, x := range t.seen {
		if (probe.Answer{Elapsed: x.own}).Fits(x.wall, tick) {
			continue
		}
		n++
		if x.own-x.wall > worst.own-worst.wall {
			worst = x
		}
	}
	c.say("%d of %d times no longer than from request to answer", len(t.seen)-n, len(t.seen))
	if n == 0 {
		return
	}
	mend := "read a monotonic clock just before and just after the derivation, and report the difference in nanoseconds"
	if t.sinceStart() {
		mend = "it grows from request to request: report the time of this derivation alone, not that since the start"
	}
	c.fail(worst.asked, fmt.Sprintf("ns %d, after %s from request to answer", worst.own.Nanoseconds(), dur(worst.wall)), mend)
}

// sinceStart: each time is longer than the one before, whatever was asked.
func (t *times) sinceStart() bool {
	for i := 1; i < len(t.rounds); i++ {
		if t.rounds[i].short.own < t.rounds[i-1].again.own {
			return false
		}
	}
	return len(t.rounds) > 1 && !t.constant
}

// whole: what passes from request to answer is for the most part the
// derivation.
func (t *times) whole(c *Check) {
	best := t.quickest(long)
	c.say("%s of %s from request to answer", dur(best.own), dur(best.wall))
	asked := t.tries(longN)
	came := func(x exchange) string {
		return fmt.Sprintf("ns %d, after %s from request to answer", x.own.Nanoseconds(), dur(x.wall))
	}
	kinds := []struct {
		n int
		x exchange
	}{{longN, best}, {midN, t.quickest(mid)}, {shortN, t.quickest(short)}}
	// Processor time is proof; without it, all but short ones must agree.
	open, needed := 0, 1
	if !t.cpuKnown() {
		kinds, needed = kinds[:2], 2
	}
	for _, k := range kinds {
		if t.leftOpen(k.x) <= k.x.own/2+t.slack() {
			continue
		}
		if open++; open == needed {
			c.fail(t.tries(k.n), came(k.x), unitMend(k.x.own, k.x.wall))
			return
		}
	}
	tiny := t.quickest(short)
	// beside a short one a pause shows that a long one hides
	idle := func(x exchange) time.Duration { return x.wall - x.own }
	const mend = "it waits beside the derivation: answer at once"
	switch {
	case t.least(long, idle) > best.own/2+2*time.Millisecond:
		c.note(asked, came(best), mend)
	case !t.constant && t.least(short, idle) > tiny.own/2+time.Millisecond && t.leftOpen(tiny) <= tiny.own/2+t.slack():
		c.note(t.tries(shortN), came(tiny), mend)
	case t.constant: // said by grows
	case t.leftOpen(tiny) > 100*time.Microsecond+tiny.own/5:
		c.note(t.tries(shortN), came(tiny), "time the whole derivation, and do less beside it: the gate wants no more than 0.1 ms and a tenth of the time to be left open")
	}
}

// quickest is the try that was disturbed least.
func (t *times) quickest(of func(round) exchange) exchange {
	best := of(t.rounds[0])
	for _, x := range t.rounds[1:] {
		if x := of(x); x.wall < best.wall {
			best = x
		}
	}
	return best
}

// leftOpen is the time from request to answer that is not reported: no more
// than the processor was used for, where that is known. Waiting for a busy
// core is nobody's fault.
func (t *times) leftOpen(x exchange) time.Duration {
	left := x.wall - x.own
	if t.cpuKnown() {
		left = min(left, x.cpu-x.own)
	}
	return left
}

// slack of what may be left open.
func (t *times) slack() time.Duration {
	if t.cpuKnown() {
		return 300 * time.Microsecond
	}
	return 2 * time.Millisecond
}

// unitMend guesses a wrong unit.
func unitMend(own, wall time.Duration) string {
	times := float64(wall) / float64(max(own, 1))
	for _, u := range []struct {
		factor float64
		name   string
	}{{1e3, "microseconds"}, {1e6, "milliseconds"}, {1e9, "seconds"}} {
		if times > u.factor/3 && times < u.factor*3 {
			return "it looks like " + u.name + ": report nanoseconds"
		}
	}
	return "time the whole derivation, from just before the call to just after it, in whole nanoseconds, and do little beside it"
}

// grows: forty times the iterations take about forty times as long. Ten times
// is enough here, since short requests may all have had to wait.
func (t *times) grows(c *Check) {
	a, b := t.least(short, own), t.least(long, own)
	c.say("%s iterations in %s, %s in %s", workload.Group(shortN), dur(a), workload.Group(longN), dur(b))
	asked := fmt.Sprintf("%s and %s iterations", workload.Group(shortN), workload.Group(longN))
	switch {
	case t.constant:
		c.fail(asked, fmt.Sprintf("ns %d each time", a.Nanoseconds()), "report the time that this derivation took, by a monotonic clock")
	case b+t.tick < 10*a:
		c.fail(asked, fmt.Sprintf("%s and %s", dur(a), dur(b)), "time the derivation alone: forty times the iterations must take about forty times as long")
	}
}

// clock: fine enough to tell slices apart.
func (t *times) clock(c *Check) {
	asked := fmt.Sprintf("%d times", len(t.seen))
	const mend = "use a monotonic clock of a microsecond or finer (it must tick every 40us at least)"
	// a longer slice makes up for a coarse clock: 250 ticks, where 0.4 ms is best
	const fine = 1600 * time.Nanosecond
	switch {
	case t.constant:
		c.Outcome = NotRun
		c.say("its times are all the same")
		if t.least(long, own) == 0 {
			c.fail(t.tries(longN), "ns 0", mend)
		}
	case t.tick > probe.CoarsestTick:
		c.say("ticks every %s", dur(t.tick))
		c.fail(asked, "each a multiple of "+dur(t.tick), mend)
	case t.tick > fine:
		c.say("ticks every %s", dur(t.tick))
		c.note(asked, "each a multiple of "+dur(t.tick), "a finer clock: with this one the gate takes longer slices, which neighbours disturb more")
	case t.tick > 0:
		c.say("ticks every %s", dur(t.tick))
	default:
		c.say("finer than a microsecond")
	}
}

// processor holds processor time against reported time.
func (t *times) processor(c *Check) {
	if t.least(long, cpu) < 0 || t.least(long, own) <= 0 {
		c.say("not known")
		return
	}
	most, least := 0.0, math.Inf(1)
	for _, x := range t.rounds {
		share := float64(x.long.cpu) / float64(x.long.own)
		most, least = max(most, share), min(least, share)
	}
	c.say("used for %.0f to %.0f %% of the reported time", 100*least, 100*most)
	came := fmt.Sprintf("%s of processor time at the best, for a reported %s", dur(t.least(long, cpu)), dur(t.least(long, own)))
	switch {
	case most < 0.8:
		c.note(t.tries(longN), came, "nothing, where the machine is busy now; else derive in this process, and do not wait or sleep")
	case least > 1.2:
		c.note(t.tries(longN), came, "have no helper threads, and no work that is not timed: the gate gives a probe one core")
	}
}

// dur is a time to three digits, in ASCII.
func dur(d time.Duration) string {
	if d < 0 {
		return "-" + dur(-d)
	}
	for unit := 100 * time.Second; unit > 1; unit /= 10 {
		if d >= 100*unit {
			d = d.Round(unit)
			break
		}
	}
	return strings.ReplaceAll(d.String(), "µ", "u")
}
