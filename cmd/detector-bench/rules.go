package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"golang.org/x/perf/benchmath"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/measure"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
)

// call is what one rule says of one comparison.
type call int

const (
	quiet     call = iota
	alarm          // a drift, in either direction
	undecided      // the gate's inconclusive
)

// rule decides about a comparison of a trial; ok is false where the trial
// lacks what it needs.
type rule struct {
	name string
	call func(t trial, c comparison) (what call, ok bool)
}

// thresholds of the gate that are tried.
var thresholds = []float64{0.002, 0.003, 0.004, 0.005, 0.0075, 0.01, 0.02, 0.03}

// pairRule is the gate's, base beside head, at a threshold.
func pairRule(threshold float64) rule {
	return rule{"gate, pair, " + percent(threshold), func(t trial, c comparison) (call, bool) {
		return gateCall(t.Gate[c.base].Run, t.Gate[c.head].Run, threshold, true), true
	}}
}

// earlyRule is the gate's as a job runs it: base and head alone, and no longer
// than until their rounds resolve the threshold.
func earlyRule(threshold float64) rule {
	return rule{"gate, pair, " + percent(threshold) + ", no longer than it needs", func(t trial, c comparison) (call, bool) {
		base, head := t.stopped(c, threshold)
		return gateCall(base, head, threshold, true), true
	}}
}

// stopped are a comparison's runs as they would have been had they been measured
// alone and stopped as early as they may.
func (t trial) stopped(c comparison, threshold float64) (base, head result.Run) {
	base, head = t.Gate[c.base].Run, t.Gate[c.head].Run
	all := []measure.Raw{t.Gate[c.base].raw(), t.Gate[c.head].raw()}
	most := max(len(all[0].Rounds), len(all[1].Rounds))
	for n := min(measure.MinRounds, most); n <= most; n++ {
		first := slices.Clone(all)
		for i, raw := range all {
			first[i].Rounds = raw.Rounds[:min(n, len(raw.Rounds))]
		}
		rounds := measure.Rounds(first)
		base.Rounds, head.Rounds = rounds[0], rounds[1]
		if verdict.Precise(base.Rounds, threshold) && verdict.Precise(head.Rounds, threshold) {
			break
		}
	}
	return base, head
}

// rules are all of them. Trials are those that will be judged: a stored
// baseline is the trial before.
func rules(trials []trial) []rule {
	var all []rule
	for _, th := range thresholds {
		all = append(all, pairRule(th))
	}
	for _, th := range []float64{0.01, 0.03} {
		all = append(all, earlyRule(th))
	}
	before := map[time.Time]*trial{} // by its start: the trial before under the same load
	last := map[string]*trial{}
	for i := range trials {
		t := &trials[i]
		before[t.Began] = last[t.Load]
		last[t.Load] = t
	}
	for _, th := range []float64{0.005, 0.0075, 0.01, 0.02, 0.03, 0.10} {
		all = append(all, rule{"gate, stored, same boot, " + percent(th), func(t trial, c comparison) (call, bool) {
			b := before[t.Began]
			if b == nil || b.Host != t.Host || !slices.Equal(b.Sides, t.Sides) {
				return quiet, false
			}
			return gateCall(b.Gate[c.base].Run, t.Gate[c.head].Run, th, false), true
		}})
	}
	bench := func(t trial, i int) []float64 {
		if t.Others == nil {
			return nil
		}
		return t.Others[i].GoBench
	}
	hyper := func(t trial, i int) []float64 {
		if t.Others == nil {
			return nil
		}
		return t.Others[i].Hyperfine
	}
	for _, least := range []float64{0, 0.005, 0.01, 0.05} {
		name := "benchstat, p < 0.05"
		if least > 0 {
			name += " and " + percent(least)
		}
		all = append(all, rule{name, samplesCall(bench, func(base, head []float64) bool {
			c := mannWhitney(base, head)
			return c.P < c.Alpha && math.Abs(math.Log(stats.Median(head)/stats.Median(base))) >= math.Log1p(least)
		})})
	}
	for _, th := range []float64{0.005, 0.01, 0.05, 0.10, 1} {
		all = append(all, rule{"one value's ratio (github-action-benchmark), " + percent(th), samplesCall(bench, func(base, head []float64) bool {
			r := mean(head) / mean(base)
			return r > 1+th || 1/r > 1+th
		})})
	}
	for _, th := range []float64{0.005, 0.01, 0.05} {
		all = append(all, rule{"hyperfine's means, " + percent(th), samplesCall(hyper, func(base, head []float64) bool {
			r := mean(head) / mean(base)
			return r > 1+th || 1/r > 1+th
		})})
	}
	all = append(all, rule{"hyperfine's ratio beyond its ±", samplesCall(hyper, func(base, head []float64) bool {
		r := mean(head) / mean(base)
		return math.Abs(r-1) > r*math.Hypot(deviation(base), deviation(head))
	})})
	all = append(all, rule{"asv, factor 1.1 and p < 0.002", samplesCall(bench, func(base, head []float64) bool {
		r := stats.Median(head) / stats.Median(base)
		return max(r, 1/r) > 1.1 && mannWhitney(base, head).P < 0.002
	})})
	return all
}

// samplesCall holds two samples against each other.
func samplesCall(of func(trial, int) []float64, differ func(base, head []float64) bool) func(trial, comparison) (call, bool) {
	return func(t trial, c comparison) (call, bool) {
		a, b := of(t, c.base), of(t, c.head)
		if len(a) == 0 || len(b) == 0 {
			return quiet, false
		}
		if differ(a, b) {
			return alarm, true
		}
		return quiet, true
	}
}

// mannWhitney compares two samples as benchstat does.
func mannWhitney(a, b []float64) benchmath.Comparison {
	// a sample is sorted in place
	sample := func(v []float64) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(v), &benchmath.DefaultThresholds)
	}
	return benchmath.AssumeNothing.Compare(sample(a), sample(b))
}

// gateCall is the gate's own verdict, of a pair or against a stored run.
func gateCall(then, now result.Run, threshold float64, pair bool) call {
	switch gateVerdict(then, now, threshold, pair).Kind {
	case verdict.Slower, verdict.Faster:
		return alarm
	case verdict.OK:
		return quiet
	}
	return undecided
}

func gateVerdict(then, now result.Run, threshold float64, pair bool) verdict.Target {
	p := policy.Default()
	p.Threshold, p.BaselineThreshold = threshold, threshold
	then.Side, now.Side = result.Base, result.Head
	c := verdict.Case{Name: now.Target, Head: &now}
	if pair {
		c.Base = &then
	} else {
		then.Release = "before"
		c.Stored.Latest = verdict.Reference{Release: then.Release, Runs: []result.Run{then}}
	}
	return verdict.Judge(p, []verdict.Case{c})[0]
}

// intervals are what the gate's pairs read of a truth.
func intervals(trials []trial, load, truth string) (all []verdict.Interval) {
	for t, c := range comparisons(trials, load, truth) {
		if cs := gateVerdict(t.Gate[c.base].Run, t.Gate[c.head].Run, 0.03, true).Comparisons; len(cs) > 0 && cs[0].Raw != (verdict.Interval{}) {
			all = append(all, cs[0].Raw)
		}
	}
	return all
}

// tally counts the calls of a rule on one truth.
type tally struct{ n, alarms, undecided int }

// count is the rule's tally of one truth under one load.
func (r rule) count(trials []trial, load, truth string) (n tally) {
	for t, c := range comparisons(trials, load, truth) {
		if what, ok := r.call(t, c); ok {
			n.add(what)
		}
	}
	return n
}

// families is the rule's tally of whole trials by their identical pairs: one
// alarm makes the trial one.
func (r rule) families(trials []trial, load string) (n tally) {
	for i := range trials {
		worst, any := quiet, false
		for t, c := range comparisons(trials[i:i+1], load, identical) {
			what, ok := r.call(t, c)
			any = any || ok
			if what == alarm || worst == quiet {
				worst = what
			}
		}
		if any {
			n.add(worst)
		}
	}
	return n
}

func (n *tally) add(what call) {
	n.n++
	switch what {
	case alarm:
		n.alarms++
	case undecided:
		n.undecided++
	}
}

// String is alarms of comparisons, the interval of their rate, and what stayed
// undecided.
func (c tally) String() string {
	if c.n == 0 {
		return "-"
	}
	lo, hi := rate(c.alarms, c.n)
	s := fmt.Sprintf("%d/%d (%s-%s)", c.alarms, c.n, strconv.FormatFloat(100*lo, 'g', 2, 64), percent(math.Round(1000*hi)/1000))
	if c.undecided > 0 {
		s += fmt.Sprintf(", %d ?", c.undecided)
	}
	return s
}

// rate is the 95 % interval of a probability of which k of n were seen
// (Clopper and Pearson, 1934).
func rate(k, n int) (lo, hi float64) {
	// the p at which k or more, or k or fewer, have a chance of 2.5 %
	solve := func(f func(p float64) float64) float64 {
		lo, hi := 0.0, 1.0
		for range 60 {
			mid := (lo + hi) / 2
			if f(mid) < 0.025 {
				lo = mid
			} else {
				hi = mid
			}
		}
		return lo
	}
	hi = 1
	if k > 0 {
		lo = solve(func(p float64) float64 { return 1 - binomial(k-1, n, p) })
	}
	if k < n {
		hi = 1 - solve(func(q float64) float64 { return binomial(k, n, 1-q) })
	}
	return lo, hi
}

// binomial is the chance of at most k of n, each with chance p.
func binomial(k, n int, p float64) float64 {
	if p <= 0 {
		return 1
	}
	if p >= 1 {
		return 0
	}
	sum := 0.0
	for i := 0; i <= k; i++ {
		ln, _ := math.Lgamma(float64(n + 1))
		li, _ := math.Lgamma(float64(i + 1))
		lr, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(ln - li - lr + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(sum, 1)
}
