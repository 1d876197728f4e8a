package cli

import (
	"context"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

var reportFiles = subcommand{
	name:     "report",
	synopsis: "FILES...",
	summary:  "merge the results of many machines into one report",
	help:     "Every leg in --expect must have a result, and every leg all configured targets.",
	settings: []string{"target", "threshold", "baseline-threshold", "baselines", "fail-on", "expect", "format"},
	run: func(c *Command, ctx context.Context, in *invocation) error {
		runs, err := c.readResults(in.args)
		if err != nil {
			return err
		}
		lib, err := c.library(in.policy)
		if err != nil {
			return err
		}
		var names []string
		if in.policy.Source("target") != policy.FromDefault {
			specs, err := targets(in.policy)
			if err != nil {
				return err
			}
			for _, s := range specs {
				names = append(names, s.Name)
			}
		}
		return c.decide(in.policy, lib, runs, names, nil)
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
