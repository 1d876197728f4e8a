package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

// pull sees that there is one open pull request of the topic branch, and that
// it says what the amendment says. Where the token may not, the branch is
// there, and the result says how to go on.
func (w *change) pull(ctx context.Context, a Amendment, done *ChangeResult) error {
	owner, name := w.req.Repo.Owner, w.req.Repo.Name
	found, err := w.openPull(ctx)
	if status(err) == http.StatusForbidden {
		w.noPull(done, "read", err)
		return nil
	}
	if err != nil {
		return err
	}
	todo := action{fmt.Sprintf("open a pull request in %s", w.req.Repo), "{contents: write, pull-requests: write}"}
	if found == nil {
		made, _, err := w.api.PullRequests.Create(ctx, owner, name, &gh.NewPullRequest{
			Title: &a.Title, Body: &a.Body, Head: &w.req.Topic, Base: &w.req.Branch})
		if err == nil {
			done.Pull, done.URL = Created, made.GetHTMLURL()
			return nil
		}
		said := answer(err)
		err = w.explain(todo, err)
		switch s := status(err); {
		case s == http.StatusForbidden:
			w.noPull(done, "open", err)
			return nil
		case s == http.StatusUnprocessableEntity && strings.Contains(said, "already exists"):
			return &movedError{w.req.Topic}
		case ctx.Err() == nil && (s == 0 || s >= 500):
			return &lostError{err}
		}
		return err
	}

	done.Pull, done.URL = Unchanged, found.GetHTMLURL()
	if found.GetTitle() == a.Title && sameText(found.GetBody(), a.Body) {
		return nil
	}
	todo.doing = fmt.Sprintf("update pull request %d of %s", found.GetNumber(), w.req.Repo)
	_, _, err = w.api.PullRequests.Edit(ctx, owner, name, found.GetNumber(), &gh.PullRequest{Title: &a.Title, Body: &a.Body})
	if err = w.explainAny(todo, err); status(err) == http.StatusForbidden {
		w.noPull(done, "update", err)
		done.URL = found.GetHTMLURL()
		return nil
	}
	if err != nil {
		return err
	}
	done.Pull = Updated
	return nil
}

// noPull says why there is no pull request, or an old text in it.
func (w *change) noPull(done *ChangeResult, verb string, err error) {
	why := strings.TrimSpace(err.Error())
	if e, ok := err.(*Error); ok {
		why = e.Reason
	}
	done.Pull, done.URL = Skipped, w.compareLink()
	done.Reason = fmt.Sprintf("this token may not %s pull requests here (%s): give the job \"permissions: pull-requests: write\" and allow it "+
		"under Settings, Actions, General, Workflow permissions, or use an app's token; ", verb, why)
	if verb == "update" {
		done.Reason += "the pull request keeps its old text"
	} else {
		done.Reason += "open the pull request by hand"
	}
}

// explainAny is explain that keeps nil.
func (c *Client) explainAny(a action, err error) error {
	if err == nil {
		return nil
	}
	return c.explain(a, err)
}

// openPull is the open pull request from the topic branch to the branch, the
// oldest where there are several; nil where there is none.
func (w *change) openPull(ctx context.Context) (*gh.PullRequest, error) {
	todo := action{"list the open pull requests of " + w.req.Repo.String(), "pull-requests: read"}
	opt := gh.PullRequestListOptions{State: "open", Head: w.req.Repo.Owner + ":" + w.req.Topic, Base: w.req.Branch}
	var found []*gh.PullRequest
	err := eachPage(maxPullPages, func(page gh.ListOptions) (*gh.Response, error) {
		opt.ListOptions = page
		pulls, resp, err := w.api.PullRequests.List(ctx, w.req.Repo.Owner, w.req.Repo.Name, &opt)
		for _, p := range pulls {
			// The filters are asked for; that they were heard is checked.
			if p.GetState() == "open" && p.GetHead().GetRef() == w.req.Topic && p.GetBase().GetRef() == w.req.Branch &&
				strings.EqualFold(p.GetHead().GetRepo().GetFullName(), w.req.Repo.String()) {
				found = append(found, p)
			}
		}
		return resp, err
	})
	if err != nil || len(found) == 0 {
		return nil, w.explainAny(todo, err)
	}
	return slices.MinFunc(found, func(a, b *gh.PullRequest) int { return cmp.Compare(a.GetNumber(), b.GetNumber()) }), nil
}
