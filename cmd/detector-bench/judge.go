package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

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

// export writes what the gate recorded of a trial's base and one head as the
// product's own file.
func export(_ context.Context, flags *flag.FlagSet, args []string) error {
	head := flags.Int("head", 1, "which side")
	flags.Parse(args)
	if flags.NArg() != 1 {
		return errors.New("name one file of a trial")
	}
	data, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return err
	}
	t, err := readTrial(data)
	if err != nil {
		return err
	}
	if *head < 1 || *head >= len(t.Gate) {
		return fmt.Errorf("-head %d: the trial has 1 to %d", *head, len(t.Gate)-1)
	}
	return result.Write(os.Stdout, []result.Run{t.Gate[0].Run, t.Gate[*head].Run})
}

// judge says what each rule makes of recorded trials.
func judge(_ context.Context, flags *flag.FlagSet, args []string) error {
	into := flags.String("into", "", "folder for figures.md and the plots, instead of printing")
	flags.Parse(args)
	if flags.NArg() == 0 {
		return errors.New("name the folders of recorded trials")
	}
	if *into != "" {
		return writeFigures(*into, flags.Args())
	}
	trials, digest, err := readTrials(flags.Args())
	if err != nil {
		return err
	}
	printFigures(os.Stdout, trials, digest)
	return nil
}

func printFigures(w io.Writer, trials []trial, digest string) {
	printTrials(w, trials, digest)
	printVerdicts(w, trials)
	printCoverage(w, trials)
	printErrors(w, trials)
}

// writeFigures writes what the folders of trials come to.
func writeFigures(into string, folders []string) error {
	trials, digest, err := readTrials(folders)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(into, 0o777); err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprint(&b, "# Figures of the detector\n\nWritten by `detector-bench judge`; what they mean is in [detector.md](../detector.md).\n\n")
	printFigures(&b, trials, digest)
	if err := os.WriteFile(filepath.Join(into, "figures.md"), b.Bytes(), 0o666); err != nil {
		return err
	}
	loads, _ := loadsOf(trials)
	for _, load := range loads {
		for name, plot := range map[string]func(io.Writer, []trial, string) error{"power": plotPower, "errors": plotErrors} {
			b.Reset()
			if err := plot(&b, trials, load); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(into, name+"-"+load+".svg"), b.Bytes(), 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

// printTrials says what was recorded where.
func printTrials(w io.Writer, trials []trial, digest string) {
	first, last := trials[0], trials[len(trials)-1]
	fmt.Fprintf(w, "%d trials, %s to %s, on %s (%s), seed %d, %v a side and method; SHA-256 of the files %s\n", len(trials),
		first.Began.Format("2006-01-02 15:04"), last.Began.Format("2006-01-02 15:04 MST"), cmp.Or(first.Host.CPU, "a CPU"), first.Host.CPUID, first.Seed, first.Budget, digest)
	loads, n := loadsOf(trials)
	fmt.Fprintf(w, "\n| load | trials | rounds a side | usable | clean share | gate, s a side |")
	fmt.Fprintf(w, "\n| --- | --- | --- | --- | --- | --- |\n")
	for _, load := range loads {
		var rounds, usable, clean, took []float64
		for _, t := range trials {
			if t.Load != load {
				continue
			}
			took = append(took, t.Took["gate"].Seconds()/float64(len(t.Sides)))
			for _, g := range t.Gate {
				rounds = append(rounds, float64(len(g.Raw.Rounds)))
				usable = append(usable, float64(len(g.Run.Rounds)))
				for _, r := range g.Raw.Rounds {
					clean = append(clean, float64(len(r.Clean))/float64(len(r.Slices)))
				}
			}
		}
		fmt.Fprintf(w, "| %s | %d | %.1f | %.1f | %.0f %% | %.1f |\n", load, n[load], mean(rounds), mean(usable), 100*mean(clean), mean(took))
	}
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
	before := map[time.Time]*trial{} // by its start: the trial before under the same load
	last := map[string]*trial{}
	for i := range trials {
		t := &trials[i]
		before[t.Began] = last[t.Load]
		last[t.Load] = t
	}
	for _, th := range []float64{0.005, 0.0075, 0.01, 0.02, 0.03, 0.10} {
		all = append(all, rule{"gate, stored, same boot, " + percent(th), func(t trial, head int) (call, bool) {
			b := before[t.Began]
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

// intervals are what the gate's pairs read of a truth.
func intervals(trials []trial, load, truth string) (all []verdict.Interval) {
	for _, t := range trials {
		for i, s := range t.Sides {
			if i == 0 || s != truth || t.Load != load {
				continue
			}
			if c := gateVerdict(t.Gate[0].Run, t.Gate[i].Run, 0.03, true).Comparisons; len(c) > 0 && c[0].Raw != (verdict.Interval{}) {
				all = append(all, c[0].Raw)
			}
		}
	}
	return all
}

// tally counts the calls of a rule on one truth.
type tally struct{ n, alarms, undecided int }

// count is the rule's tally of one truth under one load.
func (r rule) count(trials []trial, load, truth string) (c tally) {
	for _, t := range trials {
		if t.Load != load {
			continue
		}
		for i, s := range t.Sides {
			if i == 0 || s != truth {
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
	return c
}

// loadsOf are the loads of the trials, and how many each has.
func loadsOf(trials []trial) (loads []string, n map[string]int) {
	n = map[string]int{}
	for _, t := range trials {
		if n[t.Load]++; n[t.Load] == 1 {
			loads = append(loads, t.Load)
		}
	}
	slices.Sort(loads)
	return loads, n
}

// truthsOf are the truths that the heads of a load's trials have, the least
// first.
func truthsOf(trials []trial, load string) (truths []string) {
	for _, t := range trials {
		for _, s := range t.Sides[1:] {
			if t.Load == load && !slices.Contains(truths, s) {
				truths = append(truths, s)
			}
		}
	}
	slices.SortStableFunc(truths, func(a, b string) int { return cmp.Compare(order(a), order(b)) })
	return truths
}

// printVerdicts writes a table for each load: a row for each rule, a column for
// each truth.
func printVerdicts(w io.Writer, trials []trial) {
	loads, n := loadsOf(trials)
	for _, load := range loads {
		truths := truthsOf(trials, load)
		fmt.Fprintf(w, "\n### Alarms, load: %s, %d trials\n\n| rule |", load, n[load])
		for _, tr := range truths {
			fmt.Fprintf(w, " %s |", truthLabel(tr))
		}
		fmt.Fprintf(w, "\n| --- |%s\n", strings.Repeat(" --- |", len(truths)))
		for _, r := range rules(trials) {
			row, any := "| "+r.name+" |", false
			for _, tr := range truths {
				c := r.count(trials, load, tr)
				row += " " + c.String() + " |"
				any = any || c.n > 0
			}
			if any {
				fmt.Fprintln(w, row)
			}
		}
	}
}

// printCoverage writes how often the 95 % interval of a pair holds the truth, how
// wide it is to either side, and how far off its middle is.
func printCoverage(w io.Writer, trials []trial) {
	fmt.Fprintf(w, "\n### Intervals of pairs\n\n| load | truth | holds the truth | half of its width, median | widest | error, median | largest |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	loads, _ := loadsOf(trials)
	for _, load := range loads {
		for _, truth := range truthsOf(trials, load) {
			t, err := parseTruth(truth)
			if err != nil {
				continue
			}
			var half, off []float64
			var c tally
			for _, iv := range intervals(trials, load, truth) {
				c.n++
				if iv.Lo <= t.extra/100 && t.extra/100 <= iv.Hi {
					c.alarms++
				}
				half = append(half, 100*(iv.Hi-iv.Lo)/2)
				off = append(off, 100*math.Abs((1+iv.Est)/(1+t.extra/100)-1))
			}
			if c.n > 0 {
				fmt.Fprintf(w, "| %s | %s | %s | %.2f %% | %.2f %% | %.2f %% | %.2f %% |\n", load, truthLabel(truth), c, stats.Median(half), slices.Max(half), stats.Median(off), slices.Max(off))
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
