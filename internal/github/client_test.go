package github

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github/githubtest"
)

const (
	html           = "<!DOCTYPE html><html><body>Sign in</body></html>"
	secondaryLimit = `{"message":"You have exceeded a secondary rate limit. Please wait.",` +
		`"documentation_url":"https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`
)

func htmlHeader() map[string]string { return map[string]string{"Content-Type": "text/html"} }

// What cannot be done is said with its reason and what would allow it, after a
// bounded time, and without the token.
func TestErrors(t *testing.T) {
	const list, post, pull = "/issues/7/comments", "/issues/7/comments", "/pulls/7"
	tests := []struct {
		name    string
		fail    githubtest.Failure
		want    string
		status  int
		most    time.Duration // it may take
		comment bool          // there is one to update
	}{
		{"401", githubtest.Failure{Path: list, Status: 401, Body: `{"message":"Bad credentials"}`},
			"cannot read the comment on pull request 7 of octo/hello: GitHub answered 401 (Bad credentials): the token is not valid", 401, 0, false},
		{"403 reading", githubtest.Failure{Path: list, Status: 403, Body: `{"message":"Resource not accessible by integration"}`},
			`give the job "permissions: pull-requests: read"`, 403, 0, false},
		{"403 writing", githubtest.Failure{Method: "POST", Path: post, Status: 403, Body: `{"message":"Resource not accessible by integration"}`},
			`(Resource not accessible by integration): give the job "permissions: pull-requests: write"; on a pull request from a fork or by Dependabot`, 403, 0, false},
		{"403 updating", githubtest.Failure{Method: "PATCH", Status: 403, Body: `{"message":"Resource not accessible by integration"}`},
			`cannot update the comment on pull request 7`, 403, 0, true},
		{"403 out of requests", githubtest.Failure{Path: list, Status: 403, Body: `{"message":"API rate limit exceeded"}`,
			Header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "946688400"}},
			"requests of this hour are used up: run the job again after 01:00 UTC", 403, 0, false},
		{"403 locked", githubtest.Failure{Method: "POST", Status: 403, Body: `{"message":"Unable to create comment because issue is locked."}`},
			"because issue is locked", 403, 0, false},
		{"404", githubtest.Failure{Path: pull, Status: 404, Body: `{"message":"Not Found"}`},
			"cannot read pull request 7 of octo/hello: GitHub answered 404 (Not Found): there is no such thing, or the token may not see it", 404, 0, false},
		{"409", githubtest.Failure{Method: "PATCH", Status: 409, Body: `{"message":"Conflict"}`},
			"GitHub answered 409 (Conflict): something else was changing it: run the job again", 409, 0, true},
		{"410", githubtest.Failure{Method: "POST", Status: 410, Body: `{"message":"Gone"}`}, "GitHub answered 410", 410, 0, false},
		{"422", githubtest.Failure{Method: "POST", Status: 422,
			Body: `{"message":"Validation Failed","errors":[{"resource":"IssueComment","field":"data","code":"custom","message":"Body is\ntoo long"},{"field":"body","code":"missing"}]}`},
			"GitHub answered 422 (Validation Failed; Body is too long; body missing): GitHub does not accept the content", 422, 0, false},
		{"429", githubtest.Failure{Path: list, Status: 429, Body: `{"message":"Too many"}`},
			"GitHub answered 429 (Too many): too many requests: run the job again in some minutes", 429, 7 * time.Second, false},
		{"429 for long", githubtest.Failure{Path: list, Status: 429, Body: `{}`, Header: map[string]string{"Retry-After": "3600"}},
			"GitHub answered 429: too many requests", 429, 0, false},
		{"429 absurd", githubtest.Failure{Path: list, Status: 429, Body: `{}`, Header: map[string]string{"Retry-After": "99999999999999999999"}},
			"GitHub answered 429: too many requests", 429, 7 * time.Second, false},
		{"secondary limit for long", githubtest.Failure{Path: list, Status: 403, Body: secondaryLimit, Header: map[string]string{"Retry-After": "3600"}},
			"secondary rate limit holds for longer than we wait", 403, 0, false},
		{"secondary limit for ever", githubtest.Failure{Path: list, Status: 403, Body: secondaryLimit, Header: map[string]string{"Retry-After": "50"}},
			"secondary rate limit holds for longer than we wait", 403, 2 * time.Minute, false},
		{"secondary limit in the past", githubtest.Failure{Path: list, Status: 403, Body: secondaryLimit, Header: map[string]string{"X-RateLimit-Reset": "5"}},
			"secondary rate limit holds for longer than we wait", 403, 0, false},
		{"500", githubtest.Failure{Path: list, Status: 500, Body: `{"message":"Server Error"}`},
			"GitHub answered 500 (Server Error): GitHub itself failed, more than once: run the job again", 500, 7 * time.Second, false},
		{"502 in HTML", githubtest.Failure{Path: list, Status: 502, Body: html, Header: htmlHeader()}, "GitHub answered 502: GitHub itself", 502, 7 * time.Second, false},
		{"502 on every write", githubtest.Failure{Method: "POST", Status: 502, Body: html, Header: htmlHeader()},
			"cannot write the comment on pull request 7 of octo/hello: GitHub answered 502", 502, 10 * time.Second, false},
		{"503 for long", githubtest.Failure{Path: list, Status: 503, Header: map[string]string{"Retry-After": "600"}}, "GitHub answered 503", 503, 0, false},
		{"HTML", githubtest.Failure{Path: list, Status: 200, Body: html, Header: htmlHeader()},
			`the answer is no JSON but "text/html": check that GITHUB_API_URL is the API`, 0, 0, false},
		{"HTML with 403", githubtest.Failure{Path: list, Status: 403, Body: html, Header: htmlHeader()}, "GitHub answered 403: give the job", 403, 0, false},
		{"empty list", githubtest.Failure{Path: list, Status: 200, Body: ""}, "the answer was empty", 0, 7 * time.Second, false},
		{"null", githubtest.Failure{Path: list, Status: 200, Body: "null"}, "the answer is no JSON", 0, 0, false},
		{"cut in the middle", githubtest.Failure{Path: list, Cut: true}, "the answer was cut short", 0, 7 * time.Second, true},
		{"cut at a length that fits", githubtest.Failure{Path: list, Status: 200, Body: `[{"id":1`}, "the answer was cut short: it is not whole JSON", 0, 7 * time.Second, false},
		{"another type", githubtest.Failure{Path: list, Status: 200, Body: `{"id":1}`}, "cannot unmarshal object", 0, 0, false},
		{"no head", githubtest.Failure{Path: pull, Status: 200, Body: `{"number":7}`}, "the answer names no head commit", 0, 0, false},
		{"accepted", githubtest.Failure{Path: list, Status: 202, Body: `{}`}, "job scheduled", 0, 0, false},
		{"moved", githubtest.Failure{Method: "PATCH", Status: 301, Header: map[string]string{"Location": githubtest.URL + "/repos/octo/new/issues/comments/1"}},
			"the repository has moved", 0, 0, true},
		{"pages in circles", githubtest.Failure{Path: list, Status: 200, Body: "[]", Header: map[string]string{"Link": `<https://api.github.test/x?page=1>; rel="next"`}},
			"go in circles", 0, 0, false},
		{"echo of the token", githubtest.Failure{Path: list, Status: 400, Body: `{"message":"what is ` + githubtest.Token + `?"}`},
			"GitHub answered 400 (what is ***?)", 400, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
				if tt.comment {
					s.AddComment(pullNumber, githubtest.Bot, request(4, 1, "old").text())
				}
				s.Fail(tt.fail)
				begun := time.Now()
				_, err := c.Comment(t.Context(), request(5, 1, "new"))
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("error %v\nwant %q in it", err, tt.want)
				}
				if got := status(err); got != tt.status {
					t.Errorf("status %d, want %d", got, tt.status)
				}
				if took := time.Since(begun); took > tt.most {
					t.Errorf("it took %v, want at most %v", took, tt.most)
				}
				if strings.Contains(err.Error(), githubtest.Token) || strings.ContainsAny(err.Error(), "\r\n") {
					t.Errorf("error %q", err)
				}
			})
		})
	}
}

// What passes is waited for, and the comment is there, once.
func TestRecovery(t *testing.T) {
	tests := []struct {
		name string
		fail githubtest.Failure
	}{
		{"502 on a list", githubtest.Failure{Path: "/issues/7", Status: 502, Times: 3}},
		{"cut list", githubtest.Failure{Path: "/issues/7", Cut: true, Times: 3}},
		{"empty list", githubtest.Failure{Path: "/issues/7", Status: 200, Times: 1}},
		{"cut pull request", githubtest.Failure{Path: "/pulls/7", Cut: true, Times: 2}},
		{"429 with a time", githubtest.Failure{Path: "/issues/7", Status: 429, Body: "{}", Times: 1, Header: map[string]string{"Retry-After": "60"}}},
		{"429 on a write", githubtest.Failure{Method: "POST", Status: 429, Body: "{}", Times: 2}},
		{"secondary limit", githubtest.Failure{Path: "/issues/7", Status: 403, Body: secondaryLimit, Times: 1, Header: map[string]string{"Retry-After": "60"}}},
		{"secondary limit as 429", githubtest.Failure{Path: "/issues/7", Status: 429, Body: secondaryLimit, Times: 1, Header: map[string]string{"Retry-After": "60"}}},
		{"secondary limit on a write", githubtest.Failure{Method: "POST", Status: 403, Body: secondaryLimit, Times: 1, Header: map[string]string{"Retry-After": "60"}}},
		{"write failed", githubtest.Failure{Method: "POST", Status: 502, Times: 1}},
		{"written, answer lost", githubtest.Failure{Method: "POST", Status: 502, Done: true, Times: 1}},
		{"written, answer cut", githubtest.Failure{Method: "POST", Cut: true, Times: 1}},
		{"written, answer HTML", githubtest.Failure{Method: "POST", Status: 201, Body: html, Header: htmlHeader(), Done: true, Times: 1}},
		{"cannot look again", githubtest.Failure{Method: "GET", Path: "/issues/7", Skip: 1, Status: 500}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
				s.Fail(tt.fail)
				req := request(5, 1, "new")
				comment(t, c, req, Created)
				only(t, s, req)
			})
		})
	}
	t.Run("update", func(t *testing.T) {
		bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
			s.AddComment(pullNumber, githubtest.Bot, request(4, 1, "old").text())
			s.Fail(githubtest.Failure{Method: "PATCH", Status: 502, Times: 2})
			s.Fail(githubtest.Failure{Method: "PATCH", Cut: true, Times: 1})
			req := request(5, 1, "new")
			comment(t, c, req, Updated)
			only(t, s, req)
		})
	})
}

func TestReadOnlyToken(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		s.ReadOnly(true)
		_, err := c.Comment(t.Context(), request(5, 1, "new"))
		if err == nil || !strings.Contains(err.Error(), "pull-requests: write") || !strings.Contains(err.Error(), "workflow_run file of docs/github.md") {
			t.Errorf("error %v", err)
		}
		if n := len(s.Comments(pullNumber)); n != 0 {
			t.Errorf("%d comments", n)
		}
	})
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestSilentServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Options{Token: "x", Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		_, err = c.Run(t.Context(), octo, 1)
		if err == nil || !strings.Contains(err.Error(), "no whole answer within 30s") {
			t.Errorf("error %v", err)
		}
		if took := time.Since(begun); took > methodTimeout {
			t.Errorf("it took %v", took)
		}
	})
}

func TestNoNetwork(t *testing.T) {
	t.Parallel()
	slept := 0
	c, err := New(Options{
		Token: "secret-token", APIURL: "http://127.0.0.1:1",
		Sleep: func(context.Context, time.Duration) error { slept++; return nil },
		Transport: transport(func(r *http.Request) (*http.Response, error) {
			return nil, errors.New("connection refused by secret-token")
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Comment(t.Context(), request(5, 1, "x"))
	if err == nil || !strings.Contains(err.Error(), "connection refused by ***: is GITHUB_API_URL reachable") || slept != maxTries-1 {
		t.Errorf("error %v after %d sleeps", err, slept)
	}
}

// The token goes to the API's host, and to no other that it redirects to.
func TestTokenStaysHome(t *testing.T) {
	t.Parallel()
	var with []string
	c, err := New(Options{Token: "secret", APIURL: "https://ghe.test/api/v3/", Transport: transport(func(r *http.Request) (*http.Response, error) {
		if r.Header.Get("Authorization") != "" {
			with = append(with, r.URL.String())
		}
		header := http.Header{"Location": {"https://elsewhere.test/repos/x"}}
		code := http.StatusMovedPermanently
		if r.URL.Host == "elsewhere.test" {
			header, code = http.Header{"Location": {"http://ghe.test/plain"}}, http.StatusFound
		}
		return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context(), octo, 1); err == nil || !strings.Contains(err.Error(), "from https to http") {
		t.Errorf("error %v", err)
	}
	if len(with) != 1 || with[0] != "https://ghe.test/api/v3/repos/octo/hello/actions/runs/1" {
		t.Errorf("the token went to %v", with)
	}
}

func TestEnterprise(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := githubtest.New(t)
		setHead(s, headA)
		c, err := New(Options{Token: githubtest.Token, APIURL: "https://ghe.test/api/v3", Transport: s})
		if err != nil {
			t.Fatal(err)
		}
		for range 120 {
			s.AddComment(pullNumber, "mona", "hello")
		}
		comment(t, c, request(5, 1, "new"), Created)
		for _, r := range s.Requests() {
			if !strings.HasPrefix(r.Path, "/api/v3/repos/octo/hello/") || !r.Authorized {
				t.Errorf("%+v", r)
			}
		}
	})
}

// The same over a network.
func TestLoopback(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t)
	setHead(s, headA)
	s.Fail(githubtest.Failure{Method: "GET", Cut: true, Times: 1})
	c, err := New(Options{
		Token: githubtest.Token, APIURL: s.Listen(),
		Sleep: func(context.Context, time.Duration) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	req := request(5, 1, "new")
	comment(t, c, req, Created)
	only(t, s, req)
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for want, opt := range map[string]Options{
		"no token":                      {Token: " \n"},
		"characters that no token has":  {Token: "abc\ndef"},
		"GITHUB_API_URL cannot be used": {Token: "abc", APIURL: "api.github.com"},
		"must be like":                  {Token: "abc", APIURL: "https://user:password@api.github.com"},
		"https://HOST/api/v3":           {Token: "abc", APIURL: "ftp://x"},
	} {
		_, err := New(opt)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		} else if strings.Contains(err.Error(), "abc") || strings.Contains(err.Error(), "password") {
			t.Errorf("error %q tells a secret", err)
		}
	}
}
