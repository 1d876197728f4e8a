package cli

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/gitrepo"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/measure"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/target"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
)

var workloadSettings = []string{"prf", "iterations", "salt-bytes", "key-bytes"}

var measureOnly = subcommand{
	name:     "measure",
	summary:  "measure only; write a result file",
	help:     "The result goes to --out, or to standard output. Its format is documented in docs/formats.md.",
	settings: append([]string{"target", "threshold", "baseline-threshold", "budget", "baselines", "base-ref", "build", "leg", "out"}, workloadSettings...),
	judges:   true,
	measures: true,
	run: func(c *Command, ctx context.Context, in *invocation) error {
		if err := in.noArgs(); err != nil {
			return err
		}
		runs, _, _, err := c.measureAll(ctx, in)
		if err != nil {
			return err
		}
		for _, n := range in.ground.notices {
			fmt.Fprintf(c.Stderr, "pbkdf2-gate: %s\n", n)
		}
		if err := c.writeResult(in.policy.Out, runs); err != nil {
			return err
		}
		for _, r := range runs {
			if r.Side == result.Head && r.Outcome != result.Failed {
				return nil
			}
		}
		return exitWith(exitTroubled) // why is on the screen
	},
}

// writeResult writes the result file, or standard output where path is
// empty.
func (c *Command) writeResult(path string, runs []result.Run) error {
	if path == "" {
		return result.Write(c.Stdout, runs)
	}
	return result.WriteFile(c.path(path), runs)
}

// writable finds out before measuring whether a result can be written to
// path; empty is standard output.
func (c *Command) writable(path string) error {
	if path == "" {
		return nil
	}
	path = c.path(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("--out %s is a folder: name a file", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".pbkdf2-gate-*")
	if err != nil {
		return fmt.Errorf("--out %s cannot be written: %w", path, err)
	}
	_ = f.Close()
	return os.Remove(f.Name())
}

// targets parses the policy's targets; no two share a name.
func targets(p policy.Policy) ([]target.Spec, error) {
	var specs []target.Spec
	seen := map[string]bool{}
	for i, text := range p.Targets {
		where := p.WhereItem("target", i)
		s, err := target.ParseSpec(text)
		if err != nil {
			return nil, usageError("%s: %w", where, err)
		}
		if seen[s.Name] {
			return nil, usageError("%s: two targets are named %s: give each a name of its own", where, s.Name)
		}
		seen[s.Name] = true
		specs = append(specs, s)
	}
	return specs, nil
}

// wanted are the configured targets, once all that can be known to be wrong
// before measuring is not.
func (c *Command) wanted(in *invocation) ([]target.Spec, error) {
	specs, err := targets(in.policy)
	if err != nil {
		return nil, err
	}
	if err := target.CheckBuild(in.policy.Build); err != nil {
		return nil, usageError("%s: %w", in.policy.Where("build"), err)
	}
	return specs, c.writable(in.policy.Out)
}

// measureAll measures the configured targets by the plans of their baselines.
// names are what the head has of them.
func (c *Command) measureAll(ctx context.Context, in *invocation) (runs []result.Run, names []string, lib library, err error) {
	specs, err := c.wanted(in)
	if err != nil {
		return nil, nil, lib, err
	}
	if lib, err = c.readBaselines(in); err != nil {
		return nil, nil, lib, err
	}
	runs, names, err = c.measureTree(ctx, in, specs, func(h host.Fingerprint) func(string) result.Plan { return lib.seenFrom(h).plan })
	return runs, names, lib, err
}

// measureTree builds and measures the targets, and the base's beside them where
// there is one. plans gives the plan of a target on this machine; zero: none.
func (c *Command) measureTree(ctx context.Context, in *invocation, specs []target.Spec, plans func(host.Fingerprint) func(name string) result.Plan) (runs []result.Run, names []string, err error) {
	h := c.Host()
	temp, err := os.MkdirTemp("", "pbkdf2-gate-")
	if err != nil {
		return nil, nil, err
	}
	defer gitrepo.RemoveAll(temp)
	w, err := c.layOut(ctx, in, specs, temp)
	defer w.close()
	defer probe.Sweep() // before the trees that they run in go
	if err != nil {
		return nil, nil, err
	}
	in.lost = w.lost()
	runs, err = c.measure(ctx, in, w, h, plans(h))
	return runs, w.names(), err
}

// measure times what is laid out and completes the records. plan has the plan
// of a target's baseline, zero for none.
func (c *Command) measure(ctx context.Context, in *invocation, w *workbench, h host.Fingerprint, plan func(name string) result.Plan) ([]result.Run, error) {
	id, err := runID(c.Now())
	if err != nil {
		return nil, err
	}
	p := in.policy
	items := w.items()
	var subjects []measure.Subject
	for _, x := range items {
		subjects = append(subjects, measure.Subject{
			Name: x.Spec.Name, Side: x.side.name, Start: x.starter(), Once: x.once(), Workload: x.side.policy.Workload,
			Plan: plan(x.Spec.Name), Brief: w.same(x.Spec.Name),
		})
	}
	show := c.progress()
	start := time.Now()
	runs, err := measure.Run(ctx, measure.Config{
		Subjects: subjects,
		Budget:   p.Budget,
		Enough: func(r []result.Round) bool {
			return verdict.Precise(r, min(p.Threshold, p.BaselineThreshold))
		},
		Clock:    func() time.Duration { return time.Since(start) },
		Kernels:  measure.RealKernels(),
		Rand:     rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		Pin:      measure.PinThread,
		Progress: show.update,
	})
	show.end()
	if err != nil {
		return nil, err
	}
	for i := range runs {
		r, x := &runs[i], items[i]
		r.Host, r.Leg, r.ID, r.Commit, r.Date = h, p.Leg, id, x.side.commit, x.side.date
		r.Program, r.Spent.Build = x.Program, x.Took
		r.Message = result.Text(r.Message)
		r.Notes = append(x.notes(), r.Notes...)
		for j := range r.Notes {
			r.Notes[j] = result.Text(r.Notes[j])
		}
	}
	return runs, nil
}

// debug is where the exchange with a probe is shown; nil for nowhere.
func (c *Command) debug() (io.Writer, error) {
	switch d := c.getenv("PBKDF2_GATE_DEBUG"); d {
	case "":
		return nil, nil
	case "probe":
		return c.Stderr, nil
	default:
		return nil, usageError("PBKDF2_GATE_DEBUG=%s: the only thing to watch is probe", d)
	}
}

// runID names one run of the command: its time, and something random so
// that no two are alike.
func runID(now time.Time) (string, error) {
	var b [4]byte
	if _, err := crand.Read(b[:]); err != nil {
		return "", err
	}
	return now.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b[:]), nil
}
