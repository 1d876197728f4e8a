package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/report"
)

var action = subcommand{
	name:     "action",
	summary:  "check, within a GitHub workflow: what action.yml calls",
	help:     "Settings come from the action's inputs too; the report goes to the log, the job's\nsummary and files, whose paths are outputs. It wants no token and comments nowhere.",
	settings: []string{"target", "threshold", "baseline-threshold", "budget", "baselines", "base-ref", "build", "fail-on", "leg", "key"},
	judges:   true,
	inputs:   true,
	measures: true,
	run: func(c *Command, ctx context.Context, in *invocation) error {
		if err := in.noArgs(); err != nil {
			return err
		}
		if in.event == nil || c.getenv("RUNNER_TEMP") == "" {
			return usageError("action: this is no step of a GitHub workflow: use `pbkdf2-gate check`")
		}
		job := github.NewJob(c.Stdout, c.getenv)
		if err := job.Group("pbkdf2-gate: measuring"); err != nil {
			return err
		}
		runs, names, lib, err := c.measureAndReread(ctx, in)
		if e := job.EndGroup(); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
		r, exit := c.judge(in, lib, runs, names, nil)

		leg := in.policy.Leg
		if leg == "" {
			leg = legName(&runs[0])
		}
		dir := filepath.Join(c.getenv("RUNNER_TEMP"), "pbkdf2-gate", in.policy.Key+"-"+leg)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		result := filepath.Join(dir, "result.txt")
		if err := c.writeResult(result, runs); err != nil {
			return err
		}
		outputs := [][2]string{{"result-file", result}, {"platform", runs[0].Host.GOOS + "-" + runs[0].Host.GOARCH}}
		for _, f := range []struct{ output, file, format string }{{"report-json", "report.json", "json"}, {"report-markdown", "report.md", "markdown"}} {
			path := filepath.Join(dir, f.file)
			if err := writeReport(path, f.format, r); err != nil {
				return err
			}
			outputs = append(outputs, [2]string{f.output, path})
		}
		if err := c.announce(job, r, outputs); err != nil {
			return err
		}
		return exitWith(exit)
	},
}

func writeReport(path, format string, r report.Report) error {
	var b bytes.Buffer
	if err := report.Formats[format](&b, r); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
}

// announce tells the job: text in the log, Markdown in the summary, an
// annotation for each verdict that fails, and outputs.
func (c *Command) announce(job *github.Job, r report.Report, outputs [][2]string) error {
	var text, markdown bytes.Buffer
	if err := report.Text(&text, r); err != nil {
		return err
	}
	if err := report.Markdown(&markdown, r); err != nil {
		return err
	}
	if err := job.Print(text.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	for _, t := range r.Targets {
		if t.Fails {
			name := t.Leg
			if t.Name != "" {
				name = t.Name + " on " + t.Leg
			}
			if err := job.Error("pbkdf2-gate", fmt.Sprintf("%s: %s", name, words(t))); err != nil {
				return err
			}
		}
	}
	for _, n := range r.Notices {
		if err := job.Warn("pbkdf2-gate", n); err != nil {
			return err
		}
	}
	if err := job.Close(); err != nil {
		return err
	}
	if c.getenv("GITHUB_STEP_SUMMARY") != "" {
		if err := job.AddSummary(markdown.String()); err != nil {
			return err
		}
	}
	if c.getenv("GITHUB_OUTPUT") == "" {
		return nil
	}
	worst := ""
	if r.Worst != nil {
		worst = fmt.Sprintf("%.2f", r.Worst.ChangePercent.Est)
	}
	for _, o := range append(outputs, [2]string{"verdict", string(r.Verdict)}, [2]string{"worst-change", worst}) {
		if err := job.SetOutput(o[0], o[1]); err != nil {
			return err
		}
	}
	return nil
}

// words is a target's verdict in a line.
func words(t report.Target) string {
	s := string(t.Verdict)
	for _, x := range t.Comparisons {
		if x.Decides {
			s += fmt.Sprintf(" than %s by %+.1f %%", x.Against, x.ChangePercent.Est)
		}
	}
	if t.Reason != "" {
		s += ": " + t.Reason
	}
	return s
}
