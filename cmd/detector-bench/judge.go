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

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
)

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
	all, err := readRecordings(flags.Args())
	if err != nil {
		return err
	}
	printFigures(os.Stdout, all)
	return nil
}

// trialsOf are those of all recordings.
func trialsOf(all []recording) (trials []trial) {
	for _, r := range all {
		trials = append(trials, r.trials...)
	}
	return trials
}

func printFigures(w io.Writer, all []recording) {
	for _, r := range all {
		r.print(w)
	}
	trials := trialsOf(all)
	printTrials(w, trials)
	printBases(w, trials)
	printVerdicts(w, trials)
	printFamilies(w, trials)
	printCoverage(w, trials)
	printErrors(w, trials)
}

// writeFigures writes what the folders of trials come to.
func writeFigures(into string, folders []string) error {
	all, err := readRecordings(folders)
	if err != nil {
		return err
	}
	trials := trialsOf(all)
	if err := os.MkdirAll(into, 0o777); err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprint(&b, "# Figures of the detector\n\nWritten by `detector-bench judge`; what they mean is in docs/detector.md.\n\n")
	printFigures(&b, all)
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

// print says what was recorded where.
func (r recording) print(w io.Writer) {
	first, last := r.trials[0], r.trials[len(r.trials)-1]
	fmt.Fprintf(w, "%d trials, %s to %s, on %s (%s), seed %d, %v a side and method, sides %s; SHA-256 of the files %s\n\n", len(r.trials),
		first.Began.Format("2006-01-02 15:04"), last.Began.Format("2006-01-02 15:04 MST"), cmp.Or(first.Host.CPU, "a CPU"), first.Host.CPUID, first.Seed, first.Budget,
		strings.Join(first.Sides, ", "), r.digest)
}

// printTrials writes what the trials of a load had to work with.
func printTrials(w io.Writer, trials []trial) {
	loads, n := loadsOf(trials)
	fmt.Fprintf(w, "| load | trials | rounds a side | usable | clean share of those | gate, s a side |")
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
				for _, r := range g.Run.Rounds {
					clean = append(clean, r.CleanShare)
				}
			}
		}
		fmt.Fprintf(w, "| %s | %d | %.1f | %.1f | %.0f %% | %.1f |\n", load, n[load], mean(rounds), mean(usable), 100*mean(clean), mean(took))
	}
}

// printBases writes what one program read from trial to trial: the host's clock,
// and how far the base's costs and yardsticks were off their medians.
func printBases(w io.Writer, trials []trial) {
	fmt.Fprintf(w, "\n### The base, from trial to trial\n\n| load | the chain's clock | time off its median: median, largest | relative cost | lanes over chain |\n| --- | --- | --- | --- | --- |\n")
	loads, _ := loadsOf(trials)
	for _, load := range loads {
		var clock, cost, relative, ratio []float64
		for _, t := range trials {
			if t.Load != load || len(t.Gate[0].Run.Rounds) == 0 {
				continue
			}
			rounds := t.Gate[0].Run.Rounds
			of := func(f func(result.Round) float64) float64 {
				var v []float64
				for _, r := range rounds {
					v = append(v, f(r))
				}
				return stats.Median(v)
			}
			clock = append(clock, rounds[0].ChainNs)
			cost = append(cost, of(func(r result.Round) float64 { return r.NsPerOp }))
			relative = append(relative, of(func(r result.Round) float64 { return r.RelCost }))
			ratio = append(ratio, of(func(r result.Round) float64 { return r.LanesNs / r.ChainNs }))
		}
		if len(clock) > 0 {
			fmt.Fprintf(w, "| %s | %.1f to %.1f ns | %s | %s | %s |\n", load, slices.Min(clock), slices.Max(clock), offMedian(cost), offMedian(relative), offMedian(ratio))
		}
	}
}

// offMedian says how far values are off their median.
func offMedian(v []float64) string {
	var off []float64
	for _, x := range v {
		off = append(off, math.Abs(x/stats.Median(v)-1))
	}
	return fmt.Sprintf("%.2f %%, %.2f %%", 100*stats.Median(off), 100*slices.Max(off))
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

// printFamilies writes how many trials have any false alarm of the gate's: the
// identical pairs of one trial share its minutes.
func printFamilies(w io.Writer, trials []trial) {
	loads, _ := loadsOf(trials)
	fmt.Fprintf(w, "\n### Trials with any alarm of identical pairs\n\n| rule |")
	for _, load := range loads {
		fmt.Fprintf(w, " %s |", load)
	}
	fmt.Fprintf(w, "\n| --- |%s\n", strings.Repeat(" --- |", len(loads)))
	for _, th := range thresholds {
		r := pairRule(th)
		fmt.Fprintf(w, "| %s |", r.name)
		for _, load := range loads {
			fmt.Fprintf(w, " %s |", r.families(trials, load))
		}
		fmt.Fprintln(w)
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

func percent(x float64) string { return strconv.FormatFloat(100*x, 'g', 3, 64) + " %" }

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
