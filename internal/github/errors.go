package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

// Error says what could not be done, and what would allow it.
type Error struct {
	Doing  string // "read the comments of pull request 7"
	Status int    // of GitHub's answer; 0 where there was none
	Reason string
	Hint   string // may be empty
	cause  error  // the context's, so that errors.Is finds it
}

func (e *Error) Error() string {
	text := "cannot " + e.Doing + ": " + e.Reason
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

func (e *Error) Unwrap() error { return e.cause }

// action is something done with the API, and the permission that it needs.
type action struct{ doing, permission string }

func (a action) allow() string {
	hint := fmt.Sprintf("give the job \"permissions: %s\"", a.permission)
	switch a.permission {
	case "contents: write":
		hint += ", or a token that may; the token of a pull request from a fork or by Dependabot never may"
	case "pull-requests: write":
		hint += "; on a pull request from a fork or by Dependabot the token can only read: " +
			"there, comment through the workflow_run file of docs/github.md"
	}
	return hint
}

// explain turns an error of the API's client into one for people, without the
// token and without the signatures that URLs carry.
func (c *Client) explain(a action, err error) error {
	e := &Error{Doing: a.doing}
	var (
		answer    *gh.ErrorResponse
		limit     *gh.RateLimitError
		secondary *gh.AbuseRateLimitError
		final     *answerError
		inURL     *url.Error
	)
	switch {
	case errors.Is(err, context.Canceled):
		e.cause, e.Reason = context.Canceled, "interrupted"
	case errors.Is(err, context.DeadlineExceeded):
		e.cause, e.Reason, e.Hint = context.DeadlineExceeded, "it took too long", "run the job again"
	case errors.As(err, &limit):
		e.Status = http.StatusForbidden
		e.Reason = "the token's requests of this hour are used up"
		e.Hint = "run the job again after " + limit.Rate.Reset.UTC().Format("15:04 UTC")
	case errors.As(err, &secondary):
		e.Status = http.StatusForbidden
		e.Reason = "GitHub's secondary rate limit holds for longer than we wait"
		e.Hint = "run the job again in some minutes"
	case errors.As(err, &answer) && answer.Response != nil:
		e.Status = answer.Response.StatusCode
		e.Reason = fmt.Sprintf("GitHub answered %d", e.Status)
		if said := details(answer); said != "" {
			e.Reason += fmt.Sprintf(" (%s)", said)
		}
		e.Hint = a.hint(e.Status)
	case errors.As(err, &final):
		e.Reason, e.Hint = final.text, final.hint
	default:
		if errors.As(err, &inURL) {
			err = inURL.Err
		}
		e.Reason, e.Hint = clean(err.Error()), "is GITHUB_API_URL reachable from this runner? Then run the job again"
	}
	e.Reason = strings.ReplaceAll(e.Reason, c.options.Token, "***")
	return e
}

func (a action) hint(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "the token is not valid, or no longer: set GITHUB_TOKEN: ${{ github.token }} in the step's env"
	case http.StatusForbidden:
		return a.allow()
	case http.StatusNotFound:
		return "there is no such thing, or the token may not see it: " + a.allow()
	case http.StatusConflict:
		return "something else was changing it: run the job again"
	case http.StatusGone:
		return "it is no longer there"
	case http.StatusUnprocessableEntity:
		return "GitHub does not accept the content"
	case http.StatusTooManyRequests:
		return "too many requests: run the job again in some minutes"
	}
	if status >= 500 {
		return "GitHub itself failed, more than once: run the job again"
	}
	return ""
}

func details(r *gh.ErrorResponse) string {
	parts := []string{r.Message}
	for _, e := range r.Errors {
		if e.Message != "" {
			parts = append(parts, e.Message)
		} else if e.Code != "" {
			parts = append(parts, e.Field+" "+e.Code)
		}
	}
	return clean(strings.Join(parts, "; "))
}

// status is the status of the answer that err reports; 0 where it is none.
func status(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}
