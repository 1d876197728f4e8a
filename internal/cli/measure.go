package cli

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"errors"
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
	settings: append([]string{"target", "threshold", "baseline-threshold", "budget", "baselines", "leg", "out"}, workloadSettings...),
	judges:   true,
	run: func(c *Command, ctx context.Context, in *invocation) error {
		if err := in.noArgs(); err != nil {
			return err
		}
		specs, err := targets(in.policy)
		if err != nil {
			return err
		}
		if err := c.writable(in.policy.Out); err != nil {
			return err
		}
		h := c.Host()
		lib, err := c.readBaselines(in.policy)
		if err != nil {
			return err
		}
		runs, err := c.measure(ctx, in.policy, specs, h, lib.seenFrom(h).plan)
		if err != nil {
			return err
		}
		return c.writeResult(in.policy.Out, runs)
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
	for _, text := range p.Targets {
		s, err := target.ParseSpec(text)
		if err != nil {
			return nil, usageError("%s: %w", p.Where("target"), err)
		}
		if seen[s.Name] {
			return nil, usageError("%s: two targets are named %s: give each a name of its own", p.Where("target"), s.Name)
		}
		seen[s.Name] = true
		specs = append(specs, s)
	}
	return specs, nil
}

// measure times the targets and completes their records. plan has the plan
// of a target's baseline, zero for none.
func (c *Command) measure(ctx context.Context, p policy.Policy, specs []target.Spec, h host.Fingerprint, plan func(name string) result.Plan) ([]result.Run, error) {
	self, err := c.Self()
	if err != nil {
		return nil, fmt.Errorf("find this program, which is the built-in probe: %w", err)
	}
	env := target.Env{Self: self, Dir: c.Dir, Environ: target.Environ(c.Environ)}
	if env.Debug, err = c.debug(); err != nil {
		return nil, err
	}
	var subjects []measure.Subject
	for _, s := range specs {
		cmd, err := s.Command(env)
		if err != nil {
			return nil, usageError("%s: target %s: %w", p.Where("target"), s.Name, err)
		}
		subjects = append(subjects, measure.Subject{
			Name: s.Name, Side: result.Head, Plan: plan(s.Name),
			Start: func(ctx context.Context) (measure.Process, error) {
				client, err := cmd.Start(ctx)
				if err != nil {
					return nil, err
				}
				return client, nil
			},
		})
	}
	commit, date, err := gitrepo.Head(ctx, c.Dir)
	if err != nil {
		if !errors.Is(err, gitrepo.ErrNone) {
			fmt.Fprintf(c.Stderr, "pbkdf2-gate: the commit is not recorded: %v\n", err)
		}
		date = c.Now().UTC().Truncate(time.Second)
	}
	id, err := runID(c.Now())
	if err != nil {
		return nil, err
	}

	show := c.progress()
	start := time.Now()
	defer probe.Sweep()
	runs, err := measure.Run(ctx, measure.Config{
		Workload: p.Workload,
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
		r := &runs[i]
		r.Host, r.Leg, r.ID, r.Commit, r.Date = h, p.Leg, id, commit, date
		r.Message = result.Text(r.Message)
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
