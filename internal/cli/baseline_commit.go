package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/baseline"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/report"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// topicPrefix starts the name of the branch that carries a release's
// baselines until they are merged.
const topicPrefix = "pbkdf2-gate/baselines-"

// commitFlags say where `baseline update` writes, other than to the folder.
type commitFlags struct {
	pullRequest  bool
	to, into     string
	newPlatforms bool
}

func (f *commitFlags) define(fs *flag.FlagSet) {
	fs.BoolVar(&f.pullRequest, "pull-request", false, "propose the change by a pull request, through GitHub's API")
	fs.StringVar(&f.into, "into", "", "branch that the pull request is for (default: the repository's default branch)")
	fs.StringVar(&f.to, "commit-to", "", "commit the change to this branch, through GitHub's API")
	fs.BoolVar(&f.newPlatforms, "new-platforms", false, "record only on CPUs that the release has no baseline of")
}

func (f commitFlags) remote() bool { return f.pullRequest || f.to != "" }

func (f commitFlags) check() error {
	switch {
	case f.pullRequest && f.to != "":
		return usageError("baseline update: --pull-request or --commit-to: give one of them; --into names a pull request's branch")
	case f.into != "" && !f.pullRequest:
		return usageError("baseline update: --into is the branch of a --pull-request: add that, or use --commit-to")
	}
	for name, branch := range map[string]string{"commit-to": f.to, "into": f.into} {
		if branch == "" {
			continue
		}
		if err := github.ValidBranch(branch); err != nil {
			return usageError("--%s %q: %w", name, branch, err)
		}
	}
	return nil
}

// mayRecord refuses figures that a fork reported of itself.
func mayRecord(e *github.Event) error {
	switch {
	case e == nil:
		return nil
	case e.Pull != nil && e.Pull.Fork,
		e.Run != nil && (e.Run.HeadRepoID == 0 || e.Run.HeadRepoID != e.Repo.ID):
		return fmt.Errorf("baseline update: figures of a fork are no baseline: record a release, in a workflow on release or workflow_dispatch")
	}
	return nil
}

// recorded is the end of an update: that it recorded nothing is an error,
// unless only what is new was asked for.
func recorded(rep baseline.Report, opt baseline.Options) error {
	if len(rep.Files) == 0 && !opt.NewPlatforms {
		return &exitError{exitTroubled, fmt.Errorf("baseline update: nothing was recorded")}
	}
	return nil
}

func leftOut(l baseline.LeftOut) string {
	return fmt.Sprintf("left out: %s of run %s on %s: %s", l.Run.Target, l.Run.ID, l.Run.Host.Platform(), l.Reason)
}

// repository is the one that the change is for.
func (c *Command) repository(e *github.Event) (github.Repo, error) {
	if e != nil {
		return e.Repo, nil
	}
	owner, name, ok := strings.Cut(c.getenv("GITHUB_REPOSITORY"), "/")
	if !ok {
		return github.Repo{}, usageError("baseline update: which repository? Set GITHUB_REPOSITORY=OWNER/NAME, and GITHUB_TOKEN")
	}
	return github.Repo{Owner: owner, Name: name}, nil
}

// commitBaselines is `baseline update` through GitHub's API. What the branch
// has counts, not what is here.
func (c *Command) commitBaselines(ctx context.Context, in *invocation, e *github.Event, runs []result.Run, opt baseline.Options) error {
	repo, err := c.repository(e)
	if err != nil {
		return err
	}
	if !filepath.IsLocal(in.policy.Baselines) {
		return usageError("%s: name a folder inside the repository", in.policy.Where("baselines"))
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	req := github.ChangeRequest{
		Repo: repo, Folder: path.Clean(filepath.ToSlash(in.policy.Baselines)), ServerURL: c.getenv("GITHUB_SERVER_URL"),
		Branch: in.commit.into, Topic: topicPrefix + in.policy.Release,
	}
	if in.commit.to != "" {
		req.Branch, req.Direct = in.commit.to, true
	}
	if req.Branch == "" {
		if req.Branch, err = client.DefaultBranch(ctx, repo); err != nil {
			return err
		}
	}
	var rep baseline.Report
	var change report.Release
	req.Amend = func(ctx context.Context, branch, topic *github.Folder) (github.Amendment, error) {
		var amended []baseline.Amended
		var err error
		amended, rep, err = baseline.Amend(files(ctx, branch, nil), pending(ctx, branch, topic), in.policy.Release, runs, opt)
		if err != nil || len(rep.Files) == 0 {
			return github.Amendment{}, err
		}
		change = releaseOf(amended, in.policy.Release, in.policy.BaselineThreshold)
		return amendment(amended, change)
	}
	done, err := client.Change(ctx, req)
	if err != nil {
		if ctx.Err() != nil {
			return &exitError{exitTroubled, fmt.Errorf("stopped, perhaps in the middle: run it again: %w", err)}
		}
		return err
	}
	for i := range rep.Files {
		rep.Files[i].Path = path.Join(req.Folder, rep.Files[i].Path)
	}
	if err := c.sayCommit(e, rep, change, req, done); err != nil {
		return err
	}
	return recorded(rep, opt)
}

// files lets package baseline read a folder of a branch: all of it, or what
// differs from another one.
func files(ctx context.Context, f, other *github.Folder) baseline.Files {
	out := baseline.Files{
		Read:  func(name string) ([]byte, error) { return f.Read(ctx, name) },
		Where: f.Where,
	}
	for _, name := range f.Names() {
		if other == nil || !f.SameAs(other, name) {
			out.Names = append(out.Names, name)
		}
	}
	return out
}

func pending(ctx context.Context, branch, topic *github.Folder) *baseline.Files {
	if topic == nil {
		return nil
	}
	f := files(ctx, topic, branch)
	return &f
}

// releaseOf is the change for who reviews it.
func releaseOf(amended []baseline.Amended, release string, threshold float64) report.Release {
	r := report.Release{Name: release, Threshold: threshold}
	for _, a := range amended {
		for _, s := range a.Steps(release, threshold) {
			r.Steps = append(r.Steps, stepOf(s))
		}
	}
	return r
}

func stepOf(s baseline.Step) report.Step {
	level := func(l baseline.Level) report.Level {
		return report.Level{Release: l.Release, Ns: l.NsPerOp, Relative: l.RelCost, Replicas: l.Replicas}
	}
	return report.Step{
		Platform: strings.TrimSpace(s.Platform.GOOS + "/" + s.Platform.GOARCH + " " + s.CPU), CPUID: s.Platform.CPUID,
		Target: s.Target, Workload: s.Workload, Then: level(s.Then), Now: level(s.Now), Unlike: s.Unlike,
	}
}

// maxLines of a commit's message name what changed.
const maxLines = 40

// amendment is the change as a commit and a pull request. It says the same for
// the same files, so that nothing is written twice.
func amendment(amended []baseline.Amended, change report.Release) (github.Amendment, error) {
	a := github.Amendment{Files: map[string][]byte{}, Title: "Baselines of " + change.Name}
	for _, f := range amended {
		a.Files[f.Path] = f.Data
	}
	lines := []string{"baselines: record " + change.Name, ""}
	for i, s := range change.Steps {
		if i == maxLines {
			lines = append(lines, fmt.Sprintf("and %d more", len(change.Steps)-i))
			break
		}
		lines = append(lines, s.Words())
	}
	a.Message = strings.Join(lines, "\n") + "\n"
	var body bytes.Buffer
	if err := change.Markdown(&body); err != nil {
		return a, err
	}
	a.Body = body.String()
	return a, nil
}

// sayCommit tells people, and in a workflow the job, what became of it.
func (c *Command) sayCommit(e *github.Event, rep baseline.Report, change report.Release, req github.ChangeRequest, done github.ChangeResult) error {
	says := whatBecame(req, done)
	if len(rep.Files) == 0 {
		says = ""
	}
	if e == nil {
		c.sayChanges(rep, "records", change.Name, nil)
		if says != "" {
			fmt.Fprintln(c.Stdout, says)
		}
		return nil
	}
	job := github.NewJob(c.Stdout, c.getenv)
	var text bytes.Buffer
	warn := baseline.Report{Fresh: rep.Fresh, Dropped: rep.Dropped}
	for _, l := range rep.LeftOut {
		if l.Known {
			fmt.Fprintln(&text, leftOut(l))
		} else {
			warn.LeftOut = append(warn.LeftOut, l)
		}
	}
	for _, s := range asides(warn) {
		if err := job.Warn("pbkdf2-gate", s); err != nil {
			return err
		}
	}
	rep.LeftOut, rep.Fresh, rep.Dropped = nil, nil, nil
	quiet := *c
	quiet.Stdout = &text
	quiet.sayChanges(rep, "records", change.Name, nil)
	if says != "" {
		fmt.Fprintln(&text, says)
	}
	if err := job.Print(text.String()); err != nil {
		return err
	}
	if done.Reason != "" {
		if err := job.Warn("pbkdf2-gate", says); err != nil {
			return err
		}
	}
	if err := job.Close(); err != nil {
		return err
	}
	if c.getenv("GITHUB_STEP_SUMMARY") != "" && len(rep.Files) > 0 {
		var body bytes.Buffer
		if err := change.Markdown(&body); err != nil {
			return err
		}
		link := ""
		if done.URL != "" {
			link = fmt.Sprintf("[Review it](%s)\n\n", done.URL)
		}
		if err := job.AddSummary(link + body.String()); err != nil {
			return err
		}
	}
	if c.getenv("GITHUB_OUTPUT") == "" {
		return nil
	}
	for _, o := range [][2]string{{"branch", done.Branch}, {"url", done.URL}} {
		if err := job.SetOutput(o[0], o[1]); err != nil {
			return err
		}
	}
	return nil
}

func whatBecame(req github.ChangeRequest, done github.ChangeResult) string {
	var says string
	switch {
	case done.Outcome == github.Unchanged && done.Branch != req.Topic:
		return req.Branch + " has all this already: no commit"
	case done.Branch == req.Branch:
		return fmt.Sprintf("committed to %s: %s", req.Branch, done.URL)
	case done.Outcome == github.Unchanged:
		says = fmt.Sprintf("the branch %s has all this already: no commit", req.Topic)
	default:
		says = fmt.Sprintf("branch %s %s", req.Topic, done.Outcome)
	}
	if done.Pull == github.Skipped {
		return fmt.Sprintf("%s; %s: %s", says, done.Reason, done.URL)
	}
	return fmt.Sprintf("%s; pull request %s: %s", says, done.Pull, done.URL)
}
