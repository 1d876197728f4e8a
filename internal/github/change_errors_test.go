package github

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github/githubtest"
)

const noAccess = `{"message":"Resource not accessible by integration"}`

// As for the comment: what cannot be done is said, in bounded time.
func TestChangeErrors(t *testing.T) {
	const ref, refs = "/git/ref/heads", "/git/refs"
	for _, tt := range []struct {
		name string
		fail githubtest.Failure
		want string
		most time.Duration
	}{
		{"401", githubtest.Failure{Path: ref, Status: 401, Body: `{"message":"Bad credentials"}`},
			"cannot read the branch main of octo/hello: GitHub answered 401 (Bad credentials): the token is not valid", 0},
		{"no such repository", githubtest.Failure{Path: "/git/trees", Status: 404, Body: `{"message":"Not Found"}`},
			`cannot read data/base on main of octo/hello: GitHub answered 404 (Not Found): there is no such thing, or the token may not see it: give the job "permissions: contents: read"`, 0},
		{"read-only token", githubtest.Failure{Method: "POST", Path: "/git/blobs", Status: 403, Body: noAccess},
			`cannot write data/base of octo/hello: GitHub answered 403 (Resource not accessible by integration): give the job "permissions: contents: write", or a token that may; the token of a pull request from a fork or by Dependabot never may`, 0},
		{"empty repository", githubtest.Failure{Path: ref, Status: 409, Body: `{"message":"Git Repository is empty."}`},
			"GitHub answered 409 (Git Repository is empty.)", 0},
		{"422 for the tree", githubtest.Failure{Method: "POST", Path: "/git/trees", Status: 422, Body: `{"message":"Invalid tree info"}`},
			"GitHub answered 422 (Invalid tree info): GitHub does not accept the content", 0},
		{"a rule against new branches", githubtest.Failure{Method: "POST", Path: refs, Status: 422, Body: `{"message":"Repository rule violations found"}`},
			"the branch pbkdf2-gate/baselines-v2 cannot be made (Repository rule violations found): is there a branch whose name is a part", 0},
		{"conflicts without end", githubtest.Failure{Method: "POST", Path: refs, Status: 409, Body: `{"message":"Conflict"}`},
			"pbkdf2-gate/baselines-v2 moved each time, 12 times", 2 * time.Minute},
		{"500 reading", githubtest.Failure{Path: ref, Status: 500, Body: `{}`}, "GitHub answered 500: GitHub itself failed", 7 * time.Second},
		{"502 on every blob", githubtest.Failure{Method: "POST", Path: "/git/blobs", Status: 502, Body: html, Header: htmlHeader()},
			"cannot write data/base of octo/hello: GitHub answered 502: GitHub itself failed", 10 * time.Second},
		{"502 on every pull request", githubtest.Failure{Method: "POST", Path: "/pulls", Status: 502},
			"cannot open a pull request in octo/hello: GitHub answered 502", 10 * time.Second},
		{"422 for the pull request", githubtest.Failure{Method: "POST", Path: "/pulls", Status: 422, Body: `{"message":"Validation Failed","errors":[{"resource":"PullRequest","field":"base","code":"invalid"}]}`},
			"cannot open a pull request in octo/hello: GitHub answered 422 (Validation Failed; base invalid)", 0},
		{"429 for long", githubtest.Failure{Path: ref, Status: 429, Body: `{}`, Header: map[string]string{"Retry-After": "3600"}}, "too many requests", 0},
		{"HTML", githubtest.Failure{Path: ref, Status: 200, Body: html, Header: htmlHeader()}, `the answer is no JSON but "text/html"`, 0},
		{"another ref", githubtest.Failure{Path: ref, Status: 200, Body: `{"ref":"refs/heads/main2","object":{"type":"commit","sha":"` + strings.Repeat("a", 40) + `"}}`},
			"the answer names no commit of that branch", 0},
		{"no tree", githubtest.Failure{Path: "/git/commits", Status: 200, Body: `{"sha":"x"}`}, "the answer names no tree", 0},
		{"half a folder", githubtest.Failure{Path: "/git/trees", Skip: 2, Status: 200, Body: `{"sha":"x","truncated":true,"tree":[]}`},
			"GitHub lists only a part of it", 0},
		{"an empty answer for a folder", githubtest.Failure{Path: "/git/trees", Skip: 2, Status: 200, Body: `{}`},
			"the answer is not that folder's list", 0},
		{"another folder", githubtest.Failure{Path: "/git/trees", Skip: 2, Status: 200, Body: `{"sha":"` + strings.Repeat("a", 40) + `","tree":[]}`},
			"the answer is not that folder's list", 0},
		{"cut content", githubtest.Failure{Path: "/git/blobs", Status: 200, Body: `{"encoding":"base64","content":"YQ=="}`},
			"cannot read data/base on main/a.txt of octo/hello: the answer is not that file's content", 0},
		{"no base64", githubtest.Failure{Path: "/git/blobs", Status: 200, Body: `{"encoding":"base64","content":"!"}`}, "the answer is no base64", 0},
		{"no encoding", githubtest.Failure{Path: "/git/blobs", Status: 200, Body: `{"encoding":"none","content":""}`}, `encoded as "none"`, 0},
		{"no commit", githubtest.Failure{Method: "POST", Path: "/git/commits", Status: 201, Body: `{"sha":"x"}`}, "the answer names no commit", 0},
		{"echo of the token", githubtest.Failure{Path: ref, Status: 400, Body: `{"message":"` + githubtest.Token + `"}`}, "GitHub answered 400 (***)", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hub(t, func(t *testing.T, s *githubtest.Server, c *Client) {
				s.Fail(tt.fail)
				begun := time.Now()
				_, err := c.Change(t.Context(), adding("a.txt", "x"))
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), githubtest.Token) {
					t.Fatalf("error %v\nwant %q in it", err, tt.want)
				}
				if took := time.Since(begun); took > tt.most {
					t.Errorf("it took %v, want at most %v", took, tt.most)
				}
				has(t, s, "main", before)
			})
		})
	}
}

// What passes is waited for; a write whose answer was lost is made once.
func TestChangeRecovery(t *testing.T) {
	for _, tt := range []struct {
		name string
		fail githubtest.Failure
	}{
		{"502 on the ref", githubtest.Failure{Path: "/git/ref/", Status: 502, Times: 3}},
		{"cut tree", githubtest.Failure{Path: "/git/trees", Cut: true, Times: 1}},
		{"502 on a blob", githubtest.Failure{Method: "POST", Path: "/git/blobs", Status: 502, Times: 2}},
		{"502 on a commit", githubtest.Failure{Method: "POST", Path: "/git/commits", Status: 502, Times: 1}},
		{"commit made, answer lost", githubtest.Failure{Method: "POST", Path: "/git/commits", Cut: true, Times: 1}},
		{"branch made, answer lost", githubtest.Failure{Method: "POST", Path: "/git/refs", Status: 502, Done: true, Times: 1}},
		{"branch made, answer HTML", githubtest.Failure{Method: "POST", Path: "/git/refs", Status: 201, Body: html, Header: htmlHeader(), Done: true, Times: 1}},
		{"branch moved, answer lost", githubtest.Failure{Method: "PATCH", Path: "/git/refs", Status: 502, Done: true, Times: 1}},
		{"branch locked for a moment", githubtest.Failure{Method: "PATCH", Path: "/git/refs", Status: 409, Body: "{}", Times: 2}},
		{"pull request made, answer lost", githubtest.Failure{Method: "POST", Path: "/pulls", Cut: true, Times: 1}},
		{"secondary limit", githubtest.Failure{Method: "POST", Path: "/git/", Status: 403, Body: secondaryLimit, Times: 1, Header: map[string]string{"Retry-After": "60"}}},
	} {
		for mode, req := range map[string]ChangeRequest{"pull request": adding("a.txt", "x"), "direct": direct(adding("a.txt", "x"))} {
			t.Run(tt.name+", "+mode, func(t *testing.T) {
				hub(t, func(t *testing.T, s *githubtest.Server, c *Client) {
					s.Fail(tt.fail)
					got := made(t, c, req)
					if n := len(s.Commits(got.Branch)); n != 2 {
						t.Errorf("%d commits", n)
					}
					has(t, s, got.Branch, after)
					if want := map[bool]int{false: 1}[req.Direct]; len(s.Pulls()) != want {
						t.Errorf("%d pull requests", len(s.Pulls()))
					}
				})
			})
		}
	}
}

func TestChangeRefuses(t *testing.T) {
	hub(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		s.SetBranch("odd", map[string]string{"data/base": "a file\n", "link": "-> data", "data2/base/a.txt": "-> b.txt", "data3/sub": "-> elsewhere"})
		for name, tt := range map[string]struct {
			edit func(*ChangeRequest)
			want string
		}{
			"no branch": {func(r *ChangeRequest) { r.Branch = "none" }, "there is no such branch"},
			"a ref":     {func(r *ChangeRequest) { r.Branch = "refs/heads/main" }, "without refs/heads/"},
			"its topic": {func(r *ChangeRequest) { r.Branch = r.Topic }, "name the branch that it is for"},
			"a file":    {func(r *ChangeRequest) { r.Branch = "odd" }, "base is no folder: name the folder"},
			"a link":    {func(r *ChangeRequest) { r.Branch, r.Folder = "odd", "link/base" }, "link is no folder"},
			"a linked":  {func(r *ChangeRequest) { r.Branch, r.Folder = "odd", "data2/base" }, "a.txt of octo/hello: it is a symbolic link or a submodule: commit the file itself"},
			"below a link": {func(r *ChangeRequest) {
				*r = adding("sub/a.txt", "x")
				r.Branch, r.Folder = "odd", "data3"
			}, "cannot write data3 on odd/sub/a.txt of octo/hello: data3 on odd/sub is no folder but a file, a symbolic link"},
			"repository": {func(r *ChangeRequest) { r.Repo.Name = "../x" }, "is no repository"},
			"its amend": {func(r *ChangeRequest) {
				r.Amend = func(context.Context, *Folder, *Folder) (Amendment, error) {
					return Amendment{}, errors.New("a damaged file")
				}
			}, "a damaged file"},
		} {
			req := adding("a.txt", "x")
			tt.edit(&req)
			if _, err := c.Change(t.Context(), req); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: got %v, want %q", name, err, tt.want)
			}
		}
		if w := s.Writes(); len(w) > 0 {
			t.Errorf("written: %+v", w)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Change(ctx, adding("a.txt", "x")); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted: %v", err)
		}
		if b, err := c.DefaultBranch(t.Context(), octo); err != nil || b != "main" {
			t.Errorf("default branch %q, %v", b, err)
		}
		s.Fail(githubtest.Failure{Path: "/repos/octo/hello", Status: 200, Body: `{"default_branch":""}`})
		if _, err := c.DefaultBranch(t.Context(), octo); err == nil || !strings.Contains(err.Error(), "names no default branch") {
			t.Errorf("no default branch: %v", err)
		}
	})
}

func TestValidBranch(t *testing.T) {
	for _, ok := range []string{"main", "release/1.x", "pbkdf2-gate/baselines-v1.2.0+b", "ä"} {
		if err := ValidBranch(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"", "a b", "a..b", "/a", "a/", "a//b", ".a", "a.", "a.lock", "-a", "a~1", "a^", "a:b", "a\nb", "a@{1}", "a\\b", "refs/heads/main", strings.Repeat("a", 201)} {
		if err := ValidBranch(bad); err == nil {
			t.Errorf("%q is taken for a branch", bad)
		}
	}
}
