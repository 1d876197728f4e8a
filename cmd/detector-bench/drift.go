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
	"strings"
	"time"
)

// drift records a baseline of an honest probe with the real command, then
// checks probes of known drift against it, in shuffled order, under load.
func drift(ctx context.Context, fs *flag.FlagSet, args []string) error {
	gate := fs.String("gate", "pbkdf2-gate", "the command")
	trials := fs.Int("trials", 10, "checks of each probe")
	extra := fs.Float64("extra", 3, "per cent of the drifting probe")
	threshold := fs.String("threshold", "1%", "both thresholds")
	seed := fs.Uint64("seed", 1, "of the load and the order")
	busy := fs.Bool("load", true, "keep every core busy in bursts meanwhile")
	fs.Parse(args)

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
		cmd := exec.CommandContext(ctx, self, "load", "-seed", fmt.Sprint(*seed), "-for", "2h")
		if err := cmd.Start(); err != nil {
			return err
		}
		defer cmd.Wait()
		defer cmd.Process.Kill()
	}
	run := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Dir = dir
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 1 {
			err = nil
		}
		if err != nil {
			err = fmt.Errorf("%s: %w\n%s%s", strings.Join(args, " "), err, out, stderr.Bytes())
		}
		return out, err
	}
	flags := func(per float64) []string {
		return []string{"--target", fmt.Sprintf("p=probe:'%s' probe -extra %g", self, per), "--threshold", *threshold, "--baseline-threshold", *threshold}
	}
	start := time.Now()
	if _, err := run(append([]string{"measure", "--out", "result.txt"}, flags(0)...)...); err != nil {
		return err
	}
	if _, err := run("baseline", "update", "--release", "v1", "result.txt"); err != nil {
		return err
	}

	var order []float64
	for range *trials {
		order = append(order, 0, *extra)
	}
	r := rand.New(rand.NewPCG(*seed, 3))
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	counts := map[float64]map[string]int{0: {}, *extra: {}}
	worst := 0.0
	for _, per := range order {
		began := time.Now()
		out, err := run(append([]string{"check", "--format", "json"}, flags(per)...)...)
		if err != nil {
			return err
		}
		var report struct {
			Targets []struct {
				Verdict     string
				Comparisons []struct {
					ChangePercent struct{ Est, Lo, Hi float64 } `json:"change_percent"`
				}
			}
		}
		if err := json.Unmarshal(out, &report); err != nil {
			return err
		}
		t := report.Targets[0]
		c := t.Comparisons[0].ChangePercent
		counts[per][t.Verdict]++
		if c.Lo != c.Hi {
			worst = math.Max(worst, math.Abs(c.Est-per))
		}
		fmt.Printf("true %+.1f %%: %-12s %+.2f %% [%+.2f, %+.2f]  %.0f s\n", per, t.Verdict, c.Est, c.Lo, c.Hi, time.Since(began).Seconds())
	}
	fmt.Printf("\n%.0f s in all; largest error of the change %.2f %%\n", time.Since(start).Seconds(), worst)
	for _, per := range []float64{*extra, 0} {
		fmt.Printf("true %+.1f %%: %v of %d\n", per, counts[per], *trials)
	}
	return nil
}
