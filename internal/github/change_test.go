package github

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github/githubtest"
)

const topicBranch = "pbkdf2-gate/baselines-v2"

// hub runs f on a fake clock, with a server whose main branch has files.
func hub(t *testing.T, f func(*testing.T, *githubtest.Server, *Client)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := githubtest.New(t)
		s.SetBranch("main", map[string]string{"README.md": "readme\n", "data/base/a.txt": "a\n", "data/base/b.txt": "b\n"})
		f(t, s, newClient(t, s))
	})
}

// adding is a change that adds a line to a file unless it has it.
func adding(file, line string) ChangeRequest {
	return ChangeRequest{
		Repo: octo, Branch: "main", Folder: "data/base", Topic: topicBranch, ServerURL: "https://github.test/",
		Amend: func(ctx context.Context, branch, topic *Folder) (Amendment, error) {
			text, err := branch.Read(ctx, file)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return Amendment{}, err
			}
			if !strings.Contains(string(text), line+"\n") {
				text = append(text[:len(text):len(text)], line+"\n"...)
			}
			return Amendment{Files: map[string][]byte{file: text}, Message: "add " + line, Title: "T " + line, Body: "B " + line}, nil
		},
	}
}

func direct(req ChangeRequest) ChangeRequest { req.Direct = true; return req }

func made(t *testing.T, c *Client, req ChangeRequest) ChangeResult {
	t.Helper()
	got, err := c.Change(t.Context(), req)
	if err != nil {
		t.Fatalf("Change: %v", err)
	}
	return got
}

func has(t *testing.T, s *githubtest.Server, branch string, want map[string]string) {
	t.Helper()
	if d := cmp.Diff(want, s.Files(branch)); d != "" {
		t.Errorf("%s (-want +got):\n%s", branch, d)
	}
}

var (
	before = map[string]string{"README.md": "readme\n", "data/base/a.txt": "a\n", "data/base/b.txt": "b\n"}
	after  = map[string]string{"README.md": "readme\n", "data/base/a.txt": "a\nx\n", "data/base/b.txt": "b\n"}
)

func TestChangeDirect(t *testing.T) {
	hub(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		head := s.Commits("main")[0].SHA
		got := made(t, c, direct(adding("a.txt", "x")))
		commits := s.Commits("main")
		if len(commits) != 2 || commits[0].Message != "add x" || commits[1].SHA != head || len(commits[0].Parents) != 1 {
			t.Errorf("commits: %+v", commits)
		}
		want := ChangeResult{Outcome: Updated, Branch: "main", URL: "https://github.test/octo/hello/commit/" + commits[0].SHA}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		has(t, s, "main", after)
		writes := len(s.Writes())
		if got := made(t, c, direct(adding("a.txt", "x"))); got != (ChangeResult{Outcome: Unchanged, Branch: "main"}) {
			t.Errorf("again: %+v", got)
		}
		if len(s.Writes()) != writes {
			t.Errorf("the same again wrote %d times", len(s.Writes())-writes)
		}
		// A folder that is not there yet, and the root.
		for folder, file := range map[string]string{"new/one": "new/one/sub/c.txt", ".": "sub/c.txt"} {
			req := direct(adding("sub/c.txt", "y"))
			req.Folder = folder
			made(t, c, req)
			if s.Files("main")[file] != "y\n" || len(s.Files("main")) < 4 {
				t.Errorf("folder %s: %v", folder, s.Files("main"))
			}
		}
	})
}

// moving changes the branch before the server carries out an update of it.
func moving(s *githubtest.Server, times int, move func()) {
	var mu sync.Mutex
	s.On(func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == "PATCH" && strings.Contains(r.URL.Path, "/git/refs/") && times != 0 {
			times--
			move()
		}
	})
}

func TestChangeHeadMoved(t *testing.T) {
	hub(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		n := 0
		moving(s, 3, func() {
			n++
			s.SetBranch("main", map[string]string{"README.md": "readme\n", "data/base/a.txt": fmt.Sprintf("a\n%d\n", n), "data/base/b.txt": "b\n"})
		})
		if got := made(t, c, direct(adding("a.txt", "x"))); got.Outcome != Updated {
			t.Errorf("%+v", got)
		}
		if text := s.Files("main")["data/base/a.txt"]; text != "a\n3\nx\n" {
			t.Errorf("what was there meanwhile is lost: %q", text)
		}
		if got := s.Commits("main"); len(got) != 5 {
			t.Errorf("%d commits", len(got))
		}
	})
}

func TestChangeNeverSettles(t *testing.T) {
	hub(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		n := 0
		moving(s, -1, func() { n++; s.SetBranch("main", map[string]string{"data/base/a.txt": fmt.Sprint(n)}) })
		begun := time.Now()
		_, err := c.Change(t.Context(), direct(adding("a.txt", "x")))
		if err == nil || err.Error() != "cannot write data/base of octo/hello: main moved each time, 12 times: run the job again" {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begun); n != changeTries || took < 10*time.Second || took > 2*time.Minute {
			t.Errorf("%d tries in %v", n, took)
		}
	})
}

func TestChangeBranchDeleted(t *testing.T) {
	hub(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		moving(s, 1, func() { s.DeleteBranch("main") })
		_, err := c.Change(t.Context(), direct(adding("a.txt", "x")))
		if err == nil || err.Error() != "cannot read the branch main of octo/hello: there is no such branch, or not any more: name one that is there" {
			t.Errorf("got %v", err)
		}
		if s.Files("main") != nil || s.Files(topicBranch) != nil {
			t.Error("a branch was made")
		}
	})
}

func TestChangeProtected(t *testing.T) {
	for _, said := range []string{
		"Repository rule violations found\n\nChanges must be made through a pull request.\n\n",
		"At least 1 approving review is required by reviewers with write access.",
	} {
		t.Run(said[:10], func(t *testing.T) {
			hub(t, func(t *testing.T, s *githubtest.Server, c *Client) {
				s.Protect("main", said)
				for i, want := range []Outcome{Created, Unchanged} {
					got := made(t, c, direct(adding("a.txt", "x")))
					if got.Outcome != want || got.Branch != topicBranch || got.Pull != Skipped ||
						got.URL != "https://github.test/octo/hello/compare/main...pbkdf2-gate/baselines-v2?expand=1" ||
						!strings.HasPrefix(got.Reason, "main does not take the commit (") || !strings.Contains(got.Reason, strings.Fields(said)[0]) {
						t.Errorf("run %d: %+v", i, got)
					}
				}
				has(t, s, "main", before)
				has(t, s, topicBranch, after)
				if n := len(s.Commits(topicBranch)); n != 2 || len(s.Pulls()) != 0 {
					t.Errorf("%d commits, %d pull requests", n, len(s.Pulls()))
				}
			})
		})
	}
}

func TestChangePullRequest(t *testing.T) {
	hub(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		first := made(t, c, adding("a.txt", "x"))
		pulls := s.Pulls()
		if len(pulls) != 1 || pulls[0].Title != "T x" || pulls[0].Body != "B x" || pulls[0].Head.Ref != topicBranch || pulls[0].Base.Ref != "main" {
			t.Fatalf("pull requests: %+v", pulls)
		}
		url := fmt.Sprintf("https://github.test/octo/hello/pull/%d", pulls[0].Number)
		if want := (ChangeResult{Outcome: Created, Branch: topicBranch, Pull: Created, URL: url}); first != want {
			t.Errorf("got %+v, want %+v", first, want)
		}
		has(t, s, "main", before)
		has(t, s, topicBranch, after)

		again := func(name string, req ChangeRequest, want ChangeResult, commits int) {
			t.Helper()
			want.Branch, want.URL = topicBranch, url
			if got := made(t, c, req); got != want {
				t.Errorf("%s: got %+v, want %+v", name, got, want)
			}
			if n := len(s.Commits(topicBranch)); n != commits || len(s.Pulls()) != 1 {
				t.Errorf("%s: %d commits, %d pull requests", name, n, len(s.Pulls()))
			}
		}
		writes := len(s.Writes())
		again("the same", adding("a.txt", "x"), ChangeResult{Outcome: Unchanged, Pull: Unchanged}, 2)
		if len(s.Writes()) != writes {
			t.Errorf("the same again wrote %d times", len(s.Writes())-writes)
		}
		// Other figures for the release replace those on its branch.
		again("others", adding("a.txt", "y"), ChangeResult{Outcome: Updated, Pull: Updated}, 3)
		if text := s.Files(topicBranch)["data/base/a.txt"]; text != "a\ny\n" || s.Pulls()[0].Body != "B y" {
			t.Errorf("branch %q, body %q", text, s.Pulls()[0].Body)
		}
		// What moved elsewhere on main is no reason for a commit.
		main := map[string]string{"README.md": "new\n", "data/base/a.txt": "a\n", "data/base/b.txt": "b\n"}
		s.SetBranch("main", main)
		again("readme", adding("a.txt", "y"), ChangeResult{Outcome: Unchanged, Pull: Unchanged}, 3)
		// What moved in the folder is taken in, so that the pull request merges.
		main["data/base/b.txt"] = "b2\n"
		head := s.SetBranch("main", main)
		again("main", adding("a.txt", "y"), ChangeResult{Outcome: Updated, Pull: Unchanged}, 4)
		main["data/base/a.txt"] = "a\ny\n"
		has(t, s, topicBranch, main)
		if p := s.Commits(topicBranch)[0].Parents; len(p) != 2 || p[1] != head {
			t.Errorf("parents %v, want main's %s as the second", p, head)
		}
		// Once that parent is there it is not named again.
		again("back", adding("a.txt", "x"), ChangeResult{Outcome: Updated, Pull: Updated}, 5)
		if p := s.Commits(topicBranch)[0].Parents; len(p) != 1 {
			t.Errorf("parents %v", p)
		}
		// Merged, and the branch left there: nothing to do.
		main["data/base/a.txt"] = "a\nx\n"
		s.SetBranch("main", main)
		if got := made(t, c, adding("a.txt", "x")); got != (ChangeResult{Outcome: Unchanged}) {
			t.Errorf("merged: %+v", got)
		}
	})
}

func TestChangePullRequestClosed(t *testing.T) {
	hub(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		made(t, c, adding("a.txt", "x"))
		p := s.Pulls()[0]
		p.State = "closed"
		s.SetPull(p)
		// One for another branch, and a fork's of that name, are not it.
		s.SetPull(githubtest.Pull{Number: 2, Head: githubtest.Side{Repo: &s.Repo, Ref: topicBranch}, Base: githubtest.Side{Ref: "stable"}})
		s.SetPull(githubtest.Pull{Number: 3, Head: githubtest.Side{Repo: &githubtest.Repo{ID: 9, Owner: "eve", Name: "hello"}, Ref: topicBranch}, Base: githubtest.Side{Ref: "main"}})
		if got := made(t, c, adding("a.txt", "x")); got.Outcome != Unchanged || got.Pull != Created {
			t.Errorf("%+v", got)
		}
		if n := len(s.Commits(topicBranch)); n != 2 {
			t.Errorf("%d commits", n)
		}
	})
}

func TestChangeNoPullRequests(t *testing.T) {
	hub(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		s.NoPulls(true)
		for _, want := range []Outcome{Created, Unchanged} {
			got := made(t, c, adding("a.txt", "x"))
			if got.Outcome != want || got.Pull != Skipped || got.URL != "https://github.test/octo/hello/compare/main...pbkdf2-gate/baselines-v2?expand=1" ||
				!strings.Contains(got.Reason, "may not open pull requests here (GitHub answered 403 (GitHub Actions is not permitted") {
				t.Errorf("%+v", got)
			}
		}
		s.NoPulls(false)
		if got := made(t, c, adding("a.txt", "x")); got.Outcome != Unchanged || got.Pull != Created {
			t.Errorf("once allowed: %+v", got)
		}
		s.Fail(githubtest.Failure{Method: "PATCH", Path: "/pulls/", Status: 403, Body: `{"message":"Resource not accessible by integration"}`, Times: 1})
		if got := made(t, c, adding("a.txt", "y")); got.Outcome != Updated || got.Pull != Skipped || !strings.Contains(got.URL, "/pull/") || !strings.Contains(got.Reason, "may not update") {
			t.Errorf("an old text: %+v", got)
		}
		s.Fail(githubtest.Failure{Method: "GET", Path: "/pulls", Status: 403, Body: `{"message":"Resource not accessible by integration"}`, Times: 1})
		if got := made(t, c, adding("a.txt", "z")); got.Outcome != Updated || got.Pull != Skipped || !strings.Contains(got.URL, "/compare/") || !strings.Contains(got.Reason, "may not read") {
			t.Errorf("none to be seen: %+v", got)
		}
	})
}

// Writers of one branch, or of one topic branch, all get through.
func TestChangeTogether(t *testing.T) {
	for name, req := range map[string]func(ChangeRequest) ChangeRequest{
		"direct":    direct,
		"topic":     func(r ChangeRequest) ChangeRequest { return cumulative(r) },
		"protected": func(r ChangeRequest) ChangeRequest { return cumulative(direct(r)) },
	} {
		t.Run(name, func(t *testing.T) {
			hub(t, func(t *testing.T, s *githubtest.Server, c *Client) {
				branch := topicBranch
				if name == "direct" {
					branch = "main"
				}
				if name == "protected" {
					s.Protect("main", "no")
				}
				var all sync.WaitGroup
				for i := range 5 {
					all.Go(func() {
						if _, err := c.Change(t.Context(), req(adding("a.txt", fmt.Sprint("line", i)))); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				text := s.Files(branch)["data/base/a.txt"]
				for i := range 5 {
					if !strings.Contains(text, fmt.Sprintf("line%d\n", i)) {
						t.Errorf("line%d is lost: %q", i, text)
					}
				}
				if want := map[string]int{"topic": 1}[name]; len(s.Pulls()) != want {
					t.Errorf("%d pull requests", len(s.Pulls()))
				}
			})
		})
	}
}

// cumulative adds to what the topic branch has.
func cumulative(req ChangeRequest) ChangeRequest {
	amend := req.Amend
	req.Amend = func(ctx context.Context, branch, topic *Folder) (Amendment, error) {
		if topic != nil {
			branch = topic
		}
		return amend(ctx, branch, nil)
	}
	return req
}
