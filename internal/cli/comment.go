package cli

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/report"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
)

// client talks to the API with the job's token.
func (c *Command) client() (*github.Client, error) {
	return github.New(github.Options{Token: c.getenv("GITHUB_TOKEN"), APIURL: c.getenv("GITHUB_API_URL")})
}

// comment brings the pull request's comment up to date and says what became
// of it.
func (c *Command) comment(ctx context.Context, in *invocation, r report.Report, pull github.PullRequest, run github.Run) (string, error) {
	client, err := c.client()
	if err != nil {
		return "", err
	}
	var body bytes.Buffer
	if err := report.Markdown(&body, r); err != nil {
		return "", err
	}
	got, err := client.Comment(ctx, github.CommentRequest{
		Repo: in.event.Repo, Number: pull.Number, Body: body.String(), Author: in.author,
		Marker: github.Marker{Key: in.policy.Key, HeadSHA: pull.HeadSHA, RunID: run.ID, Attempt: run.Attempt},
		Mode:   github.Mode(in.policy.Comment),
		Drift:  drifted(r.Verdict),
	})
	if err != nil {
		return "", err
	}
	s := "comment " + string(got.Outcome)
	if got.Reason != "" {
		s += ": " + got.Reason
	}
	if got.URL != "" {
		s += " " + got.URL
	}
	return s, nil
}

// drifted: the report has something to tell beyond that all is as it was.
func drifted(k verdict.Kind) bool {
	switch k {
	case verdict.OK, verdict.NoBaseline, verdict.NotComparable, verdict.Inconclusive:
		return false
	}
	return true
}

// otherRun is a run of another workflow, whose code is not to be trusted, and
// the pull request that it was for.
type otherRun struct {
	run  github.Run
	pull github.PullRequest
}

func (c *Command) findRun(ctx context.Context, in *invocation) (*otherRun, error) {
	if in.event == nil || in.workflow == "" {
		return nil, usageError("report: --from-run works in a GitHub workflow, with --workflow PATH")
	}
	client, err := c.client()
	if err != nil {
		return nil, err
	}
	var o otherRun
	if o.run, err = client.Run(ctx, in.event.Repo, in.fromRun); err != nil {
		return nil, err
	}
	if o.pull, err = client.PullRequestForRun(ctx, in.event.Repo, o.run, in.workflow); err != nil {
		return nil, err
	}
	if !o.pull.Fork && !o.pull.Dependabot {
		return nil, &github.NoPullError{Reason: fmt.Sprintf("run %d is of this repository's own pull request, whose report comments itself", o.run.ID)}
	}
	return &o, nil
}

// results reads what the other run left.
func (c *Command) results(ctx context.Context, in *invocation) (runs []result.Run, notices []string, err error) {
	client, err := c.client()
	if err != nil {
		return nil, nil, err
	}
	run, pull := in.other.run, in.other.pull
	name := regexp.MustCompile(`^` + regexp.QuoteMeta(in.policy.Key) + `-(.+)-[0-9]{1,3}$`)
	legs := map[string]bool{}
	for _, l := range in.policy.Expect {
		legs[l] = true
	}
	files, err := client.Artifacts(ctx, in.event.Repo, run.ID, func(s string) bool {
		m := name.FindStringSubmatch(s)
		return m != nil && (len(legs) == 0 || legs[m[1]])
	}, github.Limits{})
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		leg := name.FindStringSubmatch(f.Artifact)[1]
		if f.Name != "result.txt" {
			continue
		}
		part, e := result.ReadChecked(bytes.NewReader(f.Data), f.Artifact+"/result.txt", func(r *result.Run) error {
			if r.Leg != leg {
				return &result.FieldError{Key: "leg", Msg: fmt.Sprintf("is not the artifact's (%s)", leg)}
			}
			return nil
		})
		if e != nil {
			notices = append(notices, fmt.Sprintf("the result of %s was refused: %v", leg, e))
			continue
		}
		runs = append(runs, part...)
	}
	if len(runs)+len(notices)+len(in.policy.Expect) == 0 {
		return nil, nil, &github.NoPullError{Reason: fmt.Sprintf("run %d left no result of the gate %s", run.ID, in.policy.Key)}
	}
	notices = append(notices, "the figures are those that the pull request's own run reported")
	if pull.Fork {
		notices[len(notices)-1] += ", which its fork can change"
	}
	return runs, notices, nil
}

// reportRun is `report --from-run`: it judges and comments. Its exit code says
// whether it could; the verdict is the other run's.
func (c *Command) reportRun(ctx context.Context, in *invocation, names []string, lib library) error {
	runs, notices, err := c.results(ctx, in)
	if err != nil {
		return err
	}
	r, _ := c.judge(in, lib, runs, names, notices)
	if err := c.announce(github.NewJob(c.Stdout, c.getenv), r, nil); err != nil {
		return err
	}
	if in.policy.Comment == string(github.Never) {
		return nil
	}
	said, err := c.comment(ctx, in, r, in.other.pull, in.other.run)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.Stdout, said)
	return nil
}

// tryComment comments where there is a pull request. That it cannot is said,
// and changes no verdict.
func (c *Command) tryComment(ctx context.Context, in *invocation, job *github.Job, r report.Report) error {
	why := ""
	switch {
	case in.policy.Comment == string(github.Never):
		return nil
	case in.event.Pull == nil:
		return job.Print("no comment: the event " + in.event.Name + " has no pull request\n")
	default:
		said, err := c.comment(ctx, in, r, *in.event.Pull, github.Run{ID: in.event.RunID, Attempt: in.event.Attempt})
		if err == nil {
			return job.Print(said + "\n")
		}
		why = err.Error()
		if in.event.Pull.Fork || in.event.Pull.Dependabot {
			why += "; pull requests of forks and of Dependabot are commented on by the workflow_run file of docs/github.md"
		}
	}
	return job.Warn("pbkdf2-gate", "no comment, the report is in the job's summary: "+strings.TrimSpace(why))
}
