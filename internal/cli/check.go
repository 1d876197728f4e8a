package cli

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/report"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
)

var check = subcommand{
	name:     "check",
	summary:  "measure this machine, compare with the baselines, print the report",
	help:     "The exit code says whether a verdict fails. --out also writes the result file.",
	settings: append([]string{"target", "threshold", "baseline-threshold", "budget", "baselines", "base-ref", "build", "fail-on", "leg", "format", "out"}, workloadSettings...),
	judges:   true,
	measures: true,
	run: func(c *Command, ctx context.Context, in *invocation) error {
		if err := in.noArgs(); err != nil {
			return err
		}
		runs, names, lib, err := c.measureAndReread(ctx, in)
		if err != nil {
			return err
		}
		r, exit := c.judge(in, lib, runs, names, nil)
		err = c.print(in.policy.Format, r, exit)
		if in.policy.Out != "" {
			if e := c.writeResult(in.policy.Out, runs); e != nil {
				return e
			}
		}
		return err
	},
}

// measureAndReread measures the targets, and returns what a file would carry
// of that: nothing else is judged. names are the targets.
func (c *Command) measureAndReread(ctx context.Context, in *invocation) (runs []result.Run, names []string, lib library, err error) {
	if runs, names, lib, err = c.measureAll(ctx, in); err != nil {
		return nil, nil, lib, err
	}
	runs, err = reread(runs)
	return runs, names, lib, err
}

// reread is what a file would carry of the runs.
func reread(runs []result.Run) ([]result.Run, error) {
	data, err := result.Encode(runs)
	if err != nil {
		return nil, err
	}
	return result.Read(bytes.NewReader(data), "this measurement")
}

// judge decides the runs and makes the report of it. names are the targets
// that every leg must have, beside those that the pull request took out.
func (c *Command) judge(in *invocation, lib library, runs []result.Run, names, notices []string) (report.Report, int) {
	p := in.policy
	cases, more := cases(p, lib, runs, slices.Concat(names, in.gone, in.lost))
	for i, x := range cases {
		switch {
		case x.Head != nil:
		case slices.Contains(in.gone, x.Name):
			cases[i].Why = "this pull request takes it out of " + policyFile
		case slices.Contains(in.lost, x.Name):
			cases[i].Why = "the base has this benchmark, and the head has not"
		}
	}
	notices = append(slices.Clip(in.ground.notices), notices...)
	if lib.missing {
		more = append(more, fmt.Sprintf("there is no folder %s, so there are no baselines", p.Baselines))
	}
	targets := verdict.Judge(p, cases)
	exit := verdict.Exit(targets)
	workload := p.Workload
	for _, r := range runs {
		if r.Side == result.Head {
			workload = r.Workload
			break
		}
	}
	return report.New(report.Input{
		ToolVersion: toolVersion(), Targets: targets, Overall: verdict.Overall(targets), Exit: exit,
		Threshold: p.Threshold, BaselineThreshold: p.BaselineThreshold,
		Workload: workload, Notices: append(notices, more...), Coverage: lib.coverage(runs),
	}), exit
}

// print writes the report and ends with its exit code.
func (c *Command) print(format string, r report.Report, exit int) error {
	if err := report.Formats[format](c.Stdout, r); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return exitWith(exit)
}

// exitWith ends the command with a code whose reason is on the screen.
func exitWith(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}

// cases brings the runs together by leg and target. Legs that were expected
// or measured stand in that order, and in each the targets in names first.
// Several runs of one leg are judged each for itself: none hides another.
func cases(p policy.Policy, lib library, runs []result.Run, names []string) (cases []verdict.Case, notices []string) {
	type key struct{ leg, run, target, side string }
	at := map[key]*result.Run{}
	var legs []string
	ids := map[string][]string{}        // of a leg's runs
	targets := map[[2]string][]string{} // of a leg's run
	for _, l := range p.Expect {
		legs = add(legs, l)
	}
	for i := range runs {
		r := &runs[i]
		leg := legName(r)
		// another machine is another run, whatever it calls itself
		id := r.ID + " " + r.Host.CPUID + " " + r.Host.HostID
		// and so is one that says something else under the same name; the same
		// file twice is one
		for old := at[key{leg, id, r.Target, r.Side}]; old != nil && !reflect.DeepEqual(old, r); old = at[key{leg, id, r.Target, r.Side}] {
			id += " again"
		}
		legs = add(legs, leg)
		ids[leg] = add(ids[leg], id)
		targets[[2]string{leg, id}] = add(targets[[2]string{leg, id}], r.Target)
		at[key{leg, id, r.Target, r.Side}] = r
	}
	for _, leg := range legs {
		if len(ids[leg]) == 0 {
			cases = append(cases, verdict.Case{Leg: leg})
			continue
		}
		if n := len(ids[leg]); n > 1 {
			notices = append(notices, fmt.Sprintf("%s has %d runs, each judged for itself: give --leg where they are different jobs", leg, n))
		}
		for i, id := range ids[leg] {
			shown := leg
			if len(ids[leg]) > 1 {
				shown = fmt.Sprintf("%s (%d)", leg, i+1)
			}
			var all []string
			measured := targets[[2]string{leg, id}]
			for _, name := range names {
				// a benchmark's targets have names of their own
				parent, group := strings.CutSuffix(name, anyBenchmark)
				if group && slices.ContainsFunc(measured, func(t string) bool { return t == parent || strings.HasPrefix(t, parent+".") }) {
					continue
				}
				all = add(all, parent)
			}
			for _, t := range measured {
				all = add(all, t)
			}
			for _, name := range all {
				x := verdict.Case{Name: name, Leg: shown, Head: at[key{leg, id, name, result.Head}], Base: at[key{leg, id, name, result.Base}]}
				if x.Head != nil {
					x.Stored = lib.seenFrom(x.Head.Host).of(x.Head)
				}
				cases = append(cases, x)
			}
		}
	}
	return cases, notices
}

// anyBenchmark ends a name that stands for whatever benchmarks a target has.
const anyBenchmark = ".*"

// add appends s unless the list has it.
func add(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// legName is the leg of a run; one that names none is its machine.
func legName(r *result.Run) string {
	if r.Leg != "" {
		return r.Leg
	}
	return r.Host.GOOS + "-" + r.Host.GOARCH
}
