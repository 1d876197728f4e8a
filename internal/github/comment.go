package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	gh "github.com/google/go-github/v62/github"
)

// Mode says when a comment is wanted.
type Mode string

const (
	Always Mode = "always"
	// OnDrift begins no comment while there is no drift; one that is there is
	// kept up to date, so that it says when a drift was fixed.
	OnDrift Mode = "on-drift"
	Never   Mode = "never"
)

// CommentRequest is one report for one pull request.
type CommentRequest struct {
	Repo   Repo
	Number int // of the pull request
	Marker Marker
	Body   string // Markdown, without the marker
	// Author is the login whose comments are ours; github-actions[bot] when
	// empty. With the token of an app it is APP[bot].
	Author string
	Mode   Mode
	Drift  bool // the report tells of drift, or of worse
}

// Outcome is what became of a CommentRequest.
type Outcome string

const (
	Created   Outcome = "created"
	Updated   Outcome = "updated"
	Unchanged Outcome = "unchanged"
	Skipped   Outcome = "skipped"
)

// CommentResult is what Comment did.
type CommentResult struct {
	Outcome Outcome
	Reason  string // why it was skipped
	URL     string // of our comment on the web; empty when there is none
}

const (
	defaultAuthor = "github-actions[bot]"
	maxComment    = 65536 // characters
	// GitHub allows 2,500 comments on a pull request; some old ones have more.
	maxCommentPages = 50

	// Two jobs may write at once, and GitHub has no conditional write: after
	// each write the thread is read again, late enough to see the other's.
	settlePause  = 2 * time.Second
	settlePasses = 5
)

func (r CommentRequest) check() error {
	if err := r.Repo.check(); err != nil {
		return err
	}
	if r.Number <= 0 {
		return fmt.Errorf("%d is no number of a pull request", r.Number)
	}
	if err := r.Marker.check(); err != nil {
		return err
	}
	switch r.Mode {
	case Always, OnDrift, Never:
	default:
		return fmt.Errorf("unknown mode %q of commenting: use always, on-drift or never", r.Mode)
	}
	if strings.TrimSpace(r.Body) == "" {
		return errors.New("the comment is empty")
	}
	if n := utf8.RuneCountInString(r.text()); n > maxComment {
		return fmt.Errorf("the comment has %d characters, GitHub takes %d: shorten the report", n, maxComment)
	}
	return nil
}

func (r CommentRequest) text() string { return r.Marker.String() + "\n" + r.Body }

// posted is one of our comments on the pull request.
type posted struct {
	id        int64
	text, url string
	marker    Marker
}

// Comment brings the pull request's one comment of this key up to date. It
// writes only while the pull request's head is the one that was measured, and
// never over a newer run's report. Whoever finds several comments of ours
// (two jobs were first at once) keeps the oldest, with the newest report.
func (c *Client) Comment(ctx context.Context, req CommentRequest) (CommentResult, error) {
	if err := req.check(); err != nil {
		return CommentResult{}, err
	}
	if req.Mode == Never {
		return CommentResult{Outcome: Skipped, Reason: "comments are off"}, nil
	}
	req.Author = cmp.Or(req.Author, defaultAuthor)
	ctx, cancel := context.WithTimeout(ctx, methodTimeout)
	defer cancel()

	w := &writer{Client: c, req: req}
	for pass := range settlePasses {
		if pass > 0 {
			if err := c.options.Sleep(ctx, settlePause); err != nil {
				break
			}
		}
		settled, err := w.pass(ctx)
		if settled || err != nil {
			// Once it is written, that we cannot look again is no failure.
			if err != nil && w.done.Outcome == "" {
				return CommentResult{}, err
			}
			return w.done, nil
		}
	}
	if w.done.Outcome == "" {
		return CommentResult{}, cmp.Or(w.lost, c.explain(w.to("write"), context.DeadlineExceeded))
	}
	return w.done, nil
}

// writer is one call of Comment.
type writer struct {
	*Client
	req  CommentRequest
	done CommentResult
	// lost is the error of a write that may have been made all the same, or
	// whose comment has gone: the next pass sees.
	lost error
}

func (w *writer) to(verb string) action {
	permission := "pull-requests: write"
	if verb == "read" {
		permission = "pull-requests: read"
	}
	return action{fmt.Sprintf("%s the comment on pull request %d of %s", verb, w.req.Number, w.req.Repo), permission}
}

// pass reads the thread and makes the one change that it needs. It is settled
// when there was none to make.
func (w *writer) pass(ctx context.Context) (settled bool, err error) {
	ours, err := w.list(ctx)
	if err != nil {
		return false, err
	}
	if len(ours) == 0 {
		if w.done.Outcome != "" {
			return true, nil // deleted by someone, or not listed yet
		}
		return w.create(ctx)
	}

	keep, want := ours[0], w.req.text()
	newest := slices.MaxFunc(ours, func(a, b posted) int { return a.marker.compare(b.marker) })
	superseded := newest.marker.compare(w.req.Marker) > 0
	if superseded {
		want = newest.text
	}
	edit := !sameText(keep.text, want)
	if !edit && len(ours) == 1 {
		switch {
		case superseded:
			w.done = w.newer(newest.marker, keep.url)
		case w.lost != nil && w.done.Outcome == "":
			w.done = CommentResult{Outcome: Created, URL: keep.url}
		case w.done.Outcome == "":
			w.done = CommentResult{Outcome: Unchanged, URL: keep.url}
		}
		return true, nil
	}
	if !superseded {
		if current, err := w.isHead(ctx); !current || err != nil {
			return true, err
		}
	}
	if edit {
		body := want
		_, _, err := w.api.Issues.EditComment(ctx, w.req.Repo.Owner, w.req.Repo.Name, keep.id, &gh.IssueComment{Body: &body})
		if err != nil {
			err = w.explain(w.to("update"), err)
			if status(err) == http.StatusNotFound {
				w.lost = err
				return false, nil
			}
			return false, err
		}
	}
	w.done = CommentResult{Outcome: Updated, URL: keep.url}
	if superseded {
		w.done = w.newer(newest.marker, keep.url)
	}
	for _, extra := range ours[1:] {
		_, err := w.api.Issues.DeleteComment(ctx, w.req.Repo.Owner, w.req.Repo.Name, extra.id)
		if err != nil {
			if err = w.explain(w.to("tidy"), err); status(err) != http.StatusNotFound {
				return false, err
			}
		}
	}
	return false, nil
}

func (w *writer) create(ctx context.Context) (settled bool, err error) {
	if w.req.Mode == OnDrift && !w.req.Drift {
		w.done = CommentResult{Outcome: Skipped, Reason: "there is no drift, and no comment to update"}
		return true, nil
	}
	if current, err := w.isHead(ctx); !current || err != nil {
		return true, err
	}
	body := w.req.text()
	comment, _, err := w.api.Issues.CreateComment(ctx, w.req.Repo.Owner, w.req.Repo.Name, w.req.Number, &gh.IssueComment{Body: &body})
	if err != nil {
		err = w.explain(w.to("write"), err)
		if s := status(err); ctx.Err() == nil && (s == 0 || s >= 500) {
			w.lost = err
			return false, nil
		}
		return false, err
	}
	w.done = CommentResult{Outcome: Created, URL: comment.GetHTMLURL()}
	return false, nil
}

// isHead says whether the measured commit still is the pull request's head;
// where it is not, it says so in the result.
func (w *writer) isHead(ctx context.Context) (bool, error) {
	todo := action{fmt.Sprintf("read pull request %d of %s", w.req.Number, w.req.Repo), "pull-requests: read"}
	pull, _, err := w.api.PullRequests.Get(ctx, w.req.Repo.Owner, w.req.Repo.Name, w.req.Number)
	if err != nil {
		return false, w.explain(todo, err)
	}
	head := pull.GetHead().GetSHA()
	if !shaPattern.MatchString(head) {
		return false, w.explain(todo, &answerError{text: "the answer names no head commit"})
	}
	if head != w.req.Marker.HeadSHA && w.done.Outcome == "" {
		w.done = CommentResult{Outcome: Skipped, Reason: fmt.Sprintf(
			"the pull request's head is now %.12s, not %.12s that was measured: its own run comments", head, w.req.Marker.HeadSHA)}
	}
	return head == w.req.Marker.HeadSHA, nil
}

func (w *writer) newer(m Marker, url string) CommentResult {
	return CommentResult{Outcome: Skipped, URL: url, Reason: fmt.Sprintf(
		"the comment already holds the report of a newer run (%d, attempt %d)", m.RunID, m.Attempt)}
}

// list returns our comments of this key, oldest first, from all pages.
func (w *writer) list(ctx context.Context) ([]posted, error) {
	var ours []posted
	err := eachPage(maxCommentPages, func(page gh.ListOptions) (*gh.Response, error) {
		comments, resp, err := w.api.Issues.ListComments(ctx, w.req.Repo.Owner, w.req.Repo.Name, w.req.Number,
			&gh.IssueListCommentsOptions{ListOptions: page})
		for _, comment := range comments {
			m, ok := parseMarker(comment.GetBody())
			if ok && m.Key == w.req.Marker.Key && strings.EqualFold(comment.GetUser().GetLogin(), w.req.Author) {
				ours = append(ours, posted{comment.GetID(), comment.GetBody(), comment.GetHTMLURL(), m})
			}
		}
		return resp, err
	})
	if err != nil {
		return nil, w.explain(w.to("read"), err)
	}
	slices.SortFunc(ours, func(a, b posted) int { return cmp.Compare(a.id, b.id) })
	// A comment that is added or deleted meanwhile shifts the pages.
	return slices.CompactFunc(ours, func(a, b posted) bool { return a.id == b.id }), nil
}

// sameText leaves out what GitHub may change in a text that it keeps.
func sameText(a, b string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(a) == plain(b)
}
