package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/baseline"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

var baselineUpdate = subcommand{
	name:     "baseline update",
	synopsis: "--release NAME FILES...",
	summary:  "record result files as a release's baseline",
	help: `Runs of one platform and target stand side by side as replicas and replace what
the release had of them. Failed, unverified, emulated and disturbed measurements
are left out, and said.

With --pull-request or --commit-to the local folder is neither read nor written:
the change goes through GitHub's API (GITHUB_TOKEN, GITHUB_REPOSITORY), by a
branch pbkdf2-gate/baselines-RELEASE with a pull request, or directly.`,
	settings: []string{"release", "baselines"},
	run: func(c *Command, ctx context.Context, in *invocation) error {
		if in.policy.Release == "" {
			return usageError("baseline update: no release given: add --release v1.2.0")
		}
		if err := result.ValidRelease(in.policy.Release); err != nil {
			return usageError("--release: %w", err)
		}
		if err := in.commit.check(); err != nil {
			return err
		}
		event, err := c.event()
		if err != nil {
			return err
		}
		if err := mayRecord(event); err != nil {
			return err
		}
		runs, err := c.readResults(in.args)
		if err != nil {
			return err
		}
		opt := baseline.Options{Unverified: in.unverified, Emulated: in.emulated, Disturbed: in.disturbed, NewPlatforms: in.commit.newPlatforms, Threshold: in.policy.BaselineThreshold}
		if in.commit.remote() {
			return c.commitBaselines(ctx, in, event, runs, opt)
		}
		rep, err := baseline.Update(c.path(in.policy.Baselines), in.policy.Release, runs, opt)
		c.sayChanges(rep, "records", in.policy.Release, err)
		if err != nil {
			return err
		}
		return recorded(rep, opt)
	},
}

var baselinePrune = subcommand{
	name:     "baseline prune",
	summary:  "drop old releases from the baselines",
	settings: []string{"baselines"},
	run: func(c *Command, ctx context.Context, in *invocation) error {
		if err := in.noArgs(); err != nil {
			return err
		}
		if in.keep < 1 {
			return usageError("--keep %d: keep at least 1 release", in.keep)
		}
		rep, err := baseline.Prune(c.path(in.policy.Baselines), in.keep, in.policy.BaselineThreshold)
		c.sayChanges(rep, "drops", "", err)
		return err
	},
}

// sayChanges tells what an update or a pruning did.
func (c *Command) sayChanges(rep baseline.Report, verb, release string, err error) {
	for _, f := range rep.Files {
		var what []string
		for _, r := range f.Runs {
			s := r.Target
			if release == "" {
				s += " " + r.Release
			}
			what = append(what, fmt.Sprintf("%s (%s)", s, hashTime(medianOf(r))))
		}
		switch f.State {
		case baseline.Written:
			fmt.Fprintf(c.Stdout, "%s %s %s\n", f.Path, verb, strings.Join(what, ", "))
		default:
			fmt.Fprintf(c.Stdout, "%s %s\n", f.Path, f.State)
		}
	}
	for _, s := range asides(rep) {
		fmt.Fprintln(c.Stderr, s)
	}
	if err == nil && len(rep.Files) == 0 && len(rep.LeftOut) == 0 {
		fmt.Fprintln(c.Stdout, "nothing to do")
	}
}

// asides are what an update did beside recording.
func asides(rep baseline.Report) (lines []string) {
	for _, l := range rep.LeftOut {
		lines = append(lines, leftOut(l))
	}
	for _, r := range rep.Fresh {
		lines = append(lines, fmt.Sprintf("not comparable: %s of run %s on %s was sampled by another plan or yardstick than the releases before, so that nothing tells whether its cost changed: compare the times yourself before you merge it", r.Target, r.ID, r.Host.Platform()))
	}
	var dropped []string
	for _, r := range rep.Dropped {
		if s := fmt.Sprintf("%s on %s", r.Release, r.Host.Platform()); !slices.Contains(dropped, s) {
			dropped = append(dropped, s)
		}
	}
	if len(dropped) > 0 {
		lines = append(lines, "the file is full, old releases go: "+strings.Join(dropped, ", "))
	}
	return lines
}

type workloadText struct {
	PRF        workload.PRF `json:"prf"`
	Iterations int          `json:"iterations"`
	SaltBytes  int          `json:"salt_bytes"`
	KeyBytes   int          `json:"key_bytes"`
}

func workloadOf(w workload.Params) workloadText {
	return workloadText{w.PRF, w.Iterations, w.SaltBytes, w.KeyBytes}
}

func (w workloadText) short() string {
	return fmt.Sprintf("%s x %s, salt %d, key %d", w.PRF, workload.Group(w.Iterations), w.SaltBytes, w.KeyBytes)
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func medianOf(r result.Run) float64 {
	var v []float64
	for _, x := range r.Rounds {
		v = append(v, x.NsPerOp)
	}
	return stats.Median(v)
}

// hashTime writes ns to four digits: 154.3ms.
func hashTime(ns float64) string {
	d := time.Duration(ns)
	for unit := 1000 * time.Second; unit > 1; unit /= 10 {
		if d >= 1000*unit {
			return d.Round(unit).String()
		}
	}
	return d.String()
}
