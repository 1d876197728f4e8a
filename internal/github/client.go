package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gofri/go-github-ratelimit/v2/github_ratelimit/github_secondary_ratelimit"
	gh "github.com/google/go-github/v62/github"
)

// Options are what a Client needs.
type Options struct {
	Token  string
	APIURL string // GITHUB_API_URL; https://api.github.com when empty
	// Transport carries the requests; http.DefaultTransport when nil.
	Transport http.RoundTripper
	// Sleep waits between tries; a real sleep when nil. What GitHub asks to
	// wait under a secondary rate limit is slept by the clock.
	Sleep func(context.Context, time.Duration) error
}

// Client talks to GitHub's API. Every answer is waited for within limits, and
// so is everything that one method does.
type Client struct {
	api     *gh.Client
	options Options
}

const (
	attemptTimeout = 30 * time.Second
	methodTimeout  = 5 * time.Minute
	maxAnswer      = 64 << 20 // a page of 100 comments, all escapes, is 40 MB
	perPage        = 100
)

// New returns a client, or an error where token or URL cannot be used.
func New(opt Options) (*Client, error) {
	opt.Token = strings.TrimSpace(opt.Token)
	if opt.Token == "" {
		return nil, errors.New("no token: set GITHUB_TOKEN: ${{ github.token }} in the step's env")
	}
	for _, r := range opt.Token {
		if r <= ' ' || r > '~' {
			return nil, errors.New("the token holds characters that no token has: set GITHUB_TOKEN: ${{ github.token }} in the step's env")
		}
	}
	if opt.APIURL == "" {
		opt.APIURL = "https://api.github.com"
	}
	base, err := url.Parse(opt.APIURL)
	if err != nil || base.Scheme != "https" && base.Scheme != "http" || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("GITHUB_API_URL cannot be used: it must be like https://api.github.com or https://HOST/api/v3")
	}
	base.Path = strings.TrimRight(base.Path, "/") + "/"
	base.RawPath = ""
	if opt.Transport == nil {
		opt.Transport = http.DefaultTransport
	}
	if opt.Sleep == nil {
		opt.Sleep = sleep
	}
	var t http.RoundTripper = &exchange{
		base: opt.Transport, timeout: attemptTimeout, limit: maxAnswer, json: true, origin: base, token: opt.Token,
	}
	t = github_secondary_ratelimit.New(t, github_secondary_ratelimit.WithTotalSleepLimit(maxWait, nil))
	t = &retry{next: t, sleep: opt.Sleep}
	api := gh.NewClient(&http.Client{Transport: t, CheckRedirect: onlyReads})
	api.BaseURL = base
	api.UserAgent = "pbkdf2-gate"
	return &Client{api: api, options: opt}, nil
}

// onlyReads follows a few redirects of GET. The others would be followed as
// GET, whose answer would then pass for that of the write.
func onlyReads(req *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet {
		return &answerError{text: "the repository has moved", hint: "run the workflow again under its new name"}
	}
	if len(via) > 3 {
		return &answerError{text: "more than 3 redirects"}
	}
	if via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
		return &answerError{text: "redirected from https to " + clean(req.URL.Scheme)}
	}
	return nil
}

// eachPage calls list for one page after another, at most limit of them.
func eachPage(limit int, list func(gh.ListOptions) (*gh.Response, error)) error {
	opt := gh.ListOptions{PerPage: perPage}
	for range limit {
		resp, err := list(opt)
		if err != nil {
			return err
		}
		if resp.NextPage == 0 {
			return nil
		}
		if resp.NextPage <= opt.Page {
			return &answerError{text: "the list's pages go in circles"}
		}
		opt.Page = resp.NextPage
	}
	return &answerError{text: fmt.Sprintf("the list has more than %d pages", limit)}
}
