package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchmath"

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

// rule decides about head against base; ok is false where the trial lacks
// what it needs.
type rule struct {
	name string
	call func(t trial, head int) (c call, ok bool)
}

// judge prints what each rule says of recorded trials.
func judge(_ context.Context, flags *flag.FlagSet, args []string) error {
	flags.Parse(args)
	if flags.NArg() == 0 {
		return errors.New("name the folders of recorded trials")
	}
	trials, err := readTrials(flags.Args())
	if err != nil {
		return err
	}
	printVerdicts(os.Stdout, trials)
	return nil
}

// thresholds of the gate that are tried.
var thresholds = []float64{0.002, 0.003, 0.004, 0.005, 0.0075, 0.01, 0.02, 0.03}

func rules(trials []trial) []rule {
	var all []rule
	for _, th := range thresholds {
		all = append(all, rule{"gate, pair, " + percent(th), func(t trial, head int) (call, bool) {
			return gateCall(t.Gate[0].Run, t.Gate[head].Run, th, true), true
		}})
	}
	before := map[int]*trial{} // by number: the trial before under the same load
	last := map[string]*trial{}
	for i := range trials {
		t := &trials[i]
		before[t.Number] = last[t.Load]
		last[t.Load] = t
	}
	for _, th := range []float64{0.005, 0.0075, 0.01, 0.02, 0.03, 0.10} {
		all = append(all, rule{"gate, stored, same boot, " + percent(th), func(t trial, head int) (call, bool) {
			b := before[t.Number]
			if b == nil || b.Host != t.Host {
				return quiet, false
			}
			return gateCall(b.Gate[0].Run, t.Gate[head].Run, th, false), true
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
			c := benchmath.AssumeNothing.Compare(benchmath.NewSample(slices.Clone(base), &benchmath.DefaultThresholds), benchmath.NewSample(slices.Clone(head), &benchmath.DefaultThresholds))
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
		return max(r, 1/r) > 1.1 && mannWhitney(base, head) < 0.002
	})})
	return all
}

// samplesCall holds two samples against each other.
func samplesCall(of func(trial, int) []float64, differ func(base, head []float64) bool) func(trial, int) (call, bool) {
	return func(t trial, head int) (call, bool) {
		a, b := of(t, 0), of(t, head)
		if len(a) == 0 || len(b) == 0 {
			return quiet, false
		}
		if differ(a, b) {
			return alarm, true
		}
		return quiet, true
	}
}

// mannWhitney is the two-sided p of the two samples.
func mannWhitney(a, b []float64) float64 {
	return benchmath.AssumeNothing.Compare(benchmath.NewSample(slices.Clone(a), &benchmath.DefaultThresholds), benchmath.NewSample(slices.Clone(b), &benchmath.DefaultThresholds)).P
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
	now.Side = result.Head
	c := verdict.Case{Name: now.Target, Head: &now}
	if pair {
		c.Base = &then
	} else {
		then.Release = "before"
		c.Stored.Latest = verdict.Reference{Release: then.Release, Runs: []result.Run{then}}
	}
	return verdict.Judge(p, []verdict.Case{c})[0]
}

// tally counts the calls of a rule on one truth.
type tally struct{ n, alarms, undecided int }

// printVerdicts writes a table for each load: a row for each rule, a column for
// each truth.
func printVerdicts(w io.Writer, trials []trial) {
	var loads []string
	for _, t := range trials {
		if !slices.Contains(loads, t.Load) {
			loads = append(loads, t.Load)
		}
	}
	slices.Sort(loads)
	for _, load := range loads {
		var truths []string
		n := 0
		for _, t := range trials {
			if t.Load != load {
				continue
			}
			n++
			for _, s := range t.Sides[1:] {
				if !slices.Contains(truths, s) {
					truths = append(truths, s)
				}
			}
		}
		slices.SortStableFunc(truths, func(a, b string) int { return cmp.Compare(order(a), order(b)) })
		fmt.Fprintf(w, "\nload: %s, %d trials\n\n| rule |", load, n)
		for _, tr := range truths {
			fmt.Fprintf(w, " %s |", truthLabel(tr))
		}
		fmt.Fprintf(w, "\n| --- |%s\n", strings.Repeat(" --- |", len(truths)))
		for _, r := range rules(trials) {
			row, any := "| "+r.name+" |", false
			for _, tr := range truths {
				var c tally
				for _, t := range trials {
					if t.Load != load {
						continue
					}
					for i := 1; i < len(t.Sides); i++ {
						if t.Sides[i] != tr {
							continue
						}
						if what, ok := r.call(t, i); ok {
							c.n++
							switch what {
							case alarm:
								c.alarms++
							case undecided:
								c.undecided++
							}
						}
					}
				}
				row += " " + c.String() + " |"
				any = any || c.n > 0
			}
			if any {
				fmt.Fprintln(w, row)
			}
		}
	}
}

// String is alarms of comparisons, the interval of their rate, and what stayed
// undecided.
func (c tally) String() string {
	if c.n == 0 {
		return "-"
	}
	lo, hi := rate(c.alarms, c.n)
	s := fmt.Sprintf("%d/%d (%.0f-%.0f %%)", c.alarms, c.n, 100*lo, 100*hi)
	if c.undecided > 0 {
		s += fmt.Sprintf(", %d ?", c.undecided)
	}
	return s
}

// order sorts truths: numbers, then words.
func order(truth string) float64 {
	if x, err := strconv.ParseFloat(truth, 64); err == nil {
		return x
	}
	return 1e6
}

func truthLabel(truth string) string {
	if order(truth) < 1e6 {
		return "+" + truth + " %"
	}
	return truth
}

func percent(x float64) string { return strconv.FormatFloat(100*x, 'g', 3, 64) + " %" }

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
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
