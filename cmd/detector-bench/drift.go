package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// drift checks probes of known drift with the real command, in shuffled
// order, under load: against a baseline of the honest one that it recorded
// first, or each beside it in one job.
func drift(ctx context.Context, fs *flag.FlagSet, args []string) error {
	gate := fs.String("gate", "pbkdf2-gate", "the command")
	trials := fs.Int("trials", 10, "checks of each probe")
	extra := fs.String("extra", "0,3", "per cent of the drifting probes")
	threshold := fs.String("threshold", "1%", "both thresholds")
	budget := fs.String("budget", "10s", "of each target and side")
	seed := fs.Uint64("seed", 1, "of the load and the order")
	busy := fs.Bool("load", true, "keep every core busy in bursts meanwhile")
	pair := fs.Bool("pair", false, "base and head in one job, instead of a stored baseline")
	fs.Parse(args)

	var truths []float64
	for _, s := range strings.Split(*extra, ",") {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return fmt.Errorf("-extra %s: %w", *extra, err)
		}
		truths = append(truths, x)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	path, err := exec.LookPath(*gate)
	if err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "detector-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if *busy {
		stop, err := startLoad(ctx, "-seed", fmt.Sprint(*seed), "-for", "12h")
		if err != nil {
			return err
		}
		defer stop()
	}
	b := bench{ctx: ctx, dir: dir, gate: path, self: self,
		flags: []string{"--threshold", *threshold, "--baseline-threshold", *threshold, "--budget", *budget}}
	start := time.Now()
	prepare, check := b.prepareStored, b.checkStored
	if *pair {
		prepare, check = b.preparePairs, b.checkPair
	}
	if err := prepare(truths); err != nil {
		return err
	}
	var order []float64
	for range *trials {
		order = append(order, truths...)
	}
	r := rand.New(rand.NewPCG(*seed, 3))
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	counts := map[float64]map[string]int{}
	errs := map[float64][]float64{}
	for _, per := range order {
		began := time.Now()
		t, err := check(per)
		if err != nil {
			return err
		}
		c := t.Comparisons[0].ChangePercent
		if counts[per] == nil {
			counts[per] = map[string]int{}
		}
		counts[per][t.Verdict]++
		if c.Lo != c.Hi {
			errs[per] = append(errs[per], math.Abs(c.Est-per))
		}
		fmt.Printf("true %+.1f %%: %-12s %+.2f %% [%+.2f, %+.2f]  %d and %d rounds, %.0f %% clean  %.0f s\n", per, t.Verdict, c.Est, c.Lo, c.Hi,
			t.Head.Rounds, t.Base.Rounds, t.Head.CleanPercent, time.Since(began).Seconds())
	}
	fmt.Printf("\n%.0f s in all\n", time.Since(start).Seconds())
	for _, per := range truths {
		slices.Sort(errs[per])
		if n := len(errs[per]); n > 0 {
			fmt.Printf("true %+.1f %%: %v of %d; error of the change: median %.2f %%, largest %.2f %%\n", per, counts[per], *trials, errs[per][n/2], errs[per][n-1])
		}
	}
	return nil
}

// bench runs the command in a folder of its own.
type bench struct {
	ctx             context.Context
	dir, gate, self string
	flags           []string
}

// judged is the part of a report that is read.
type judged struct {
	Verdict     string
	Comparisons []struct {
		ChangePercent struct{ Est, Lo, Hi float64 } `json:"change_percent"`
	}
	Head, Base struct {
		Rounds       int
		CleanPercent float64 `json:"clean_percent"`
	}
}

// run returns what a program wrote; an exit code of 1 is a verdict.
func (b bench) run(name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(b.ctx, name, args...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e@example.com", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e@example.com")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && name == b.gate {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, stderr.Bytes())
	}
	return out, err
}

func (b bench) check(args ...string) (judged, error) {
	out, err := b.run(b.gate, append(append([]string{"check", "--format", "json"}, args...), b.flags...)...)
	if err != nil {
		return judged{}, err
	}
	var report struct{ Targets []judged }
	if err := json.Unmarshal(out, &report); err != nil {
		return judged{}, err
	}
	if len(report.Targets) != 1 || len(report.Targets[0].Comparisons) == 0 {
		return judged{}, fmt.Errorf("a report without a comparison: %s", out)
	}
	return report.Targets[0], nil
}

func (b bench) stored(per float64) string {
	return fmt.Sprintf("p=probe:'%s' probe -extra %g", b.self, per)
}

func (b bench) prepareStored([]float64) error {
	if _, err := b.run(b.gate, append([]string{"measure", "--out", "result.txt", "--target", b.stored(0)}, b.flags...)...); err != nil {
		return err
	}
	_, err := b.run(b.gate, "baseline", "update", "--release", "v1", "result.txt")
	return err
}

func (b bench) checkStored(per float64) (judged, error) {
	return b.check("--target", b.stored(per))
}

// preparePairs makes a repository with a branch for each truth. Each tree
// builds a copy of the probe for itself; that of the base is told apart by a
// word that means nothing, as one program would not be measured for long.
func (b bench) preparePairs(truths []float64) error {
	steps := [][]string{{"init", "-q", "-b", "base"}}
	commit := func(branch, args string) error {
		text := fmt.Sprintf("target: \"p=probe:./probe probe %s\"\nbuild: cp '%s' probe\n", args, b.self)
		for _, s := range append(steps, []string{"checkout", "-q", "-B", branch}) {
			if _, err := b.run("git", s...); err != nil {
				return err
			}
		}
		steps = nil
		for name, text := range map[string]string{".pbkdf2-gate.yaml": text, ".gitignore": "/probe\n"} {
			if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o666); err != nil {
				return err
			}
		}
		for _, s := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", branch}} {
			if _, err := b.run("git", s...); err != nil {
				return err
			}
		}
		return nil
	}
	if err := commit("base", "-extra 0.000"); err != nil {
		return err
	}
	for _, per := range truths {
		if err := commit(branch(per), fmt.Sprintf("-extra %g", per)); err != nil {
			return err
		}
	}
	return nil
}

func branch(per float64) string { return fmt.Sprintf("extra-%g", per) }

func (b bench) checkPair(per float64) (judged, error) {
	if _, err := b.run("git", "checkout", "-q", branch(per)); err != nil {
		return judged{}, err
	}
	return b.check("--base-ref", "base")
}
