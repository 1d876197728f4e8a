package cli

import (
	"context"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/target"
)

var reportFiles = subcommand{
	name:     "report",
	synopsis: "FILES...",
	summary:  "merge the results of many machines into one report",
	help: `Every leg in --expect must have a result, and every leg all configured targets.
In a GitHub workflow it also writes the job's summary, and with --comment it
brings the one comment on the pull request up to date (GITHUB_TOKEN).`,
	settings: []string{"target", "threshold", "baseline-threshold", "baselines", "fail-on", "expect", "format", "comment", "key"},
	judges:   true,
	run: func(c *Command, ctx context.Context, in *invocation) error {
		var names []string
		if in.policy.Source("target") != policy.FromDefault {
			specs, err := targets(in.policy)
			if err != nil {
				return err
			}
			for _, s := range specs {
				if s.Kind == target.GoBench {
					s.Name += anyBenchmark
				}
				names = append(names, s.Name)
			}
		}
		lib, err := c.readBaselines(in)
		if err != nil {
			return err
		}
		if in.fromRun != 0 {
			if err := in.noArgs(); err != nil {
				return err
			}
			return c.reportRun(ctx, in, names, lib)
		}
		var runs []result.Run
		if len(in.args) > 0 || len(in.policy.Expect) == 0 {
			if runs, err = c.readResults(in.args); err != nil {
				return err
			}
		}
		r, exit := c.judge(in, lib, runs, names, nil)
		if in.event == nil || in.policy.Comment == string(github.Never) && in.policy.Source("format") == policy.FromFlag {
			if in.policy.Comment != string(github.Never) {
				return usageError("report: --comment works in a GitHub workflow only")
			}
			return c.print(in.policy.Format, r, exit)
		}
		job := github.NewJob(c.Stdout, c.getenv)
		if err := c.announce(job, r, nil); err != nil {
			return err
		}
		if err := c.tryComment(ctx, in, job, r); err != nil {
			return err
		}
		return exitWith(exit)
	},
}

// readResults reads result files, each wholly or not at all.
func (c *Command) readResults(files []string) ([]result.Run, error) {
	if len(files) == 0 {
		return nil, usageError("no result file given: name at least one, as `pbkdf2-gate measure --out FILE` writes it")
	}
	var runs []result.Run
	for _, f := range files {
		r, err := result.ReadFile(c.path(f))
		if err != nil {
			return nil, err
		}
		runs = append(runs, r...)
	}
	return runs, nil
}
