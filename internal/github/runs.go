package github

import (
	"context"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

// Run returns a run of a workflow by its id.
func (c *Client) Run(ctx context.Context, repo Repo, id int64) (Run, error) {
	ctx, cancel := context.WithTimeout(ctx, methodTimeout)
	defer cancel()
	if err := repo.check(); err != nil {
		return Run{}, err
	}
	todo := action{fmt.Sprintf("read the run %d of %s", id, repo), "actions: read"}
	// go-github's own type lacks the workflow's path.
	req, err := c.api.NewRequest("GET", fmt.Sprintf("repos/%s/%s/actions/runs/%d", repo.Owner, repo.Name, id), nil)
	if err != nil {
		return Run{}, c.explain(todo, err)
	}
	var answer struct {
		gh.WorkflowRun
		Path string `json:"path"`
	}
	if _, err := c.api.Do(ctx, req, &answer); err != nil {
		return Run{}, c.explain(todo, err)
	}
	if answer.GetID() != id || !shaPattern.MatchString(answer.GetHeadSHA()) {
		return Run{}, c.explain(todo, &answerError{text: "the answer describes no run of that id"})
	}
	return Run{
		ID: id, Attempt: answer.GetRunAttempt(), Event: answer.GetEvent(),
		HeadSHA: answer.GetHeadSHA(), HeadBranch: answer.GetHeadBranch(),
		HeadRepoID: answer.GetHeadRepository().GetID(), HeadOwner: answer.GetHeadRepository().GetOwner().GetLogin(),
		WorkflowPath: answer.Path,
	}, nil
}

// NoPullError says why a run belongs to no one pull request. It is no failure
// of the API: there is nothing to comment on.
type NoPullError struct{ Reason string }

func (e *NoPullError) Error() string { return e.Reason }

// maxPullPages bounds the search where a run does not say its branch.
const maxPullPages = 30

// PullRequestForRun finds the pull request that a run measured, from what
// GitHub says of the run and never from what the run left behind: the event is
// pull_request, the workflow is expectedPath, and exactly one open pull request
// has the run's head commit, head repository and repo (whose ID must be set)
// as its base. Where there is none, the error is a *NoPullError.
func (c *Client) PullRequestForRun(ctx context.Context, repo Repo, run Run, expectedPath string) (PullRequest, error) {
	ctx, cancel := context.WithTimeout(ctx, methodTimeout)
	defer cancel()
	if err := repo.check(); err != nil {
		return PullRequest{}, err
	}
	if repo.ID <= 0 {
		return PullRequest{}, fmt.Errorf("the id of %s is not known: set GITHUB_REPOSITORY_ID", repo)
	}
	none := func(format string, args ...any) (PullRequest, error) {
		return PullRequest{}, &NoPullError{fmt.Sprintf("run %d: ", run.ID) + fmt.Sprintf(format, args...)}
	}
	switch {
	case run.Event != "pull_request":
		return none("it was started by %s, not by pull_request: there is no pull request to comment on", clean(run.Event))
	case !samePath(run.WorkflowPath, expectedPath):
		return none("its workflow is %q, not %q: name the measuring workflow's file", clean(run.WorkflowPath), expectedPath)
	case !shaPattern.MatchString(run.HeadSHA):
		return none("its head %q is no commit", clean(run.HeadSHA))
	case run.HeadRepoID <= 0:
		return none("the fork that it ran for was deleted: its pull request cannot be told")
	}

	todo := action{"list the open pull requests of " + repo.String(), "pull-requests: read"}
	opt := gh.PullRequestListOptions{State: "open"}
	if run.HeadOwner != "" && run.HeadBranch != "" {
		opt.Head = run.HeadOwner + ":" + run.HeadBranch
	}
	var found []*gh.PullRequest
	err := eachPage(maxPullPages, func(page gh.ListOptions) (*gh.Response, error) {
		opt.ListOptions = page
		pulls, resp, err := c.api.PullRequests.List(ctx, repo.Owner, repo.Name, &opt)
		for _, p := range pulls {
			if p.GetState() == "open" && p.GetHead().GetSHA() == run.HeadSHA &&
				p.GetHead().GetRepo().GetID() == run.HeadRepoID && p.GetBase().GetRepo().GetID() == repo.ID {
				found = append(found, p)
			}
		}
		return resp, err
	})
	if err != nil {
		return PullRequest{}, c.explain(todo, err)
	}
	switch len(found) {
	case 0:
		return none("no open pull request has the head %.12s that it measured: it was closed, or has newer commits, whose own run comments", run.HeadSHA)
	case 1:
		return pullRequest(found[0]), nil
	}
	numbers := make([]string, len(found))
	for i, p := range found {
		numbers[i] = fmt.Sprint(p.GetNumber())
	}
	return none("%d open pull requests have the head %.12s (%s): which one it measured cannot be told", len(found), run.HeadSHA, strings.Join(numbers, ", "))
}

// samePath: GitHub may add the ref that a workflow was taken from, as in
// .github/workflows/pbkdf2.yml@refs/heads/main.
func samePath(path, expected string) bool {
	rest, ok := strings.CutPrefix(path, expected)
	if !ok || expected == "" {
		return false
	}
	return rest == "" || strings.HasPrefix(rest, "@") && !strings.HasSuffix(rest, ".yml") && !strings.HasSuffix(rest, ".yaml")
}

func pullRequest(p *gh.PullRequest) PullRequest {
	head, base := p.GetHead().GetRepo().GetID(), p.GetBase().GetRepo().GetID()
	return PullRequest{
		Number: p.GetNumber(), HeadSHA: p.GetHead().GetSHA(),
		BaseSHA: p.GetBase().GetSHA(), BaseRef: p.GetBase().GetRef(),
		HeadRepoID: head, Fork: head == 0 || head != base,
		Dependabot: strings.EqualFold(p.GetUser().GetLogin(), dependabotLogin),
	}
}
