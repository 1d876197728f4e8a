package cli

import (
	"bytes"
	"context"
	"fmt"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/report"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
)

var compare = subcommand{
	name:    "compare",
	summary: "measure targets beside each other on this machine, print them fastest first",
	help: `Without a base or baselines: nothing is drift. A target that cannot be started
has its reason in its row. --out also writes the result file.`,
	settings: append([]string{"target", "budget", "build", "format", "out"}, workloadSettings...),
	measures: true,
	run: func(c *Command, ctx context.Context, in *invocation) error {
		if err := in.noArgs(); err != nil {
			return err
		}
		specs, err := c.wanted(in)
		if err != nil {
			return err
		}
		none := func(host.Fingerprint) func(string) result.Plan {
			return func(string) result.Plan { return result.Plan{} }
		}
		runs, _, err := c.measureTree(ctx, in, specs, none)
		if err != nil {
			return err
		}
		if runs, err = reread(runs); err != nil {
			return err
		}
		err = c.printRanking(in.policy, runs, in.ground.notices)
		if in.policy.Out != "" {
			if e := c.writeResult(in.policy.Out, runs); e != nil {
				return e
			}
		}
		return err
	},
}

// printRanking writes the ranking of the runs, and ends with its exit code.
func (c *Command) printRanking(p policy.Policy, runs []result.Run, notices []string) error {
	places, reference := verdict.Rank(runs)
	exit := verdict.RankExit(places)
	var b bytes.Buffer
	var err error
	if p.Format == "bench" {
		err = result.Write(&b, runs)
	} else {
		err = report.RankingFormats[p.Format](&b, report.NewRanking(report.RankingInput{
			ToolVersion: toolVersion(), Places: places, Reference: reference, Exit: exit, Workload: p.Workload, Notices: notices,
		}))
	}
	if err == nil {
		_, err = c.Stdout.Write(b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return exitWith(exit)
}
