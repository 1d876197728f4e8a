package github

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github/githubtest"
)

const workflow = ".github/workflows/pbkdf2.yml"

var fork = &githubtest.Repo{ID: 99, Owner: "mona", Name: "hello"}

func TestRunAndItsPullRequest(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		s.SetPull(githubtest.Pull{Number: 12, Author: "dependabot[bot]",
			Head: githubtest.Side{Repo: fork, Ref: "topic", SHA: headB}, Base: githubtest.Side{Ref: "main", SHA: base0}})
		s.AddRun(githubtest.Run{ID: runID, Attempt: 2, Event: "pull_request", HeadSHA: headB, HeadBranch: "topic", HeadRepository: fork, Path: workflow})
		run, err := c.Run(t.Context(), octo, runID)
		if err != nil {
			t.Fatal(err)
		}
		want := Run{ID: runID, Attempt: 2, Event: "pull_request", HeadSHA: headB, HeadRepoID: 99, HeadOwner: "mona", HeadBranch: "topic", WorkflowPath: workflow}
		if d := cmp.Diff(want, run); d != "" {
			t.Errorf("run (-want +got):\n%s", d)
		}
		pull, err := c.PullRequestForRun(t.Context(), octo, run, workflow)
		if err != nil {
			t.Fatal(err)
		}
		wantPull := PullRequest{Number: 12, HeadSHA: headB, BaseSHA: base0, BaseRef: "main", HeadRepoID: 99, Fork: true, Dependabot: true}
		if d := cmp.Diff(wantPull, pull); d != "" {
			t.Errorf("pull request (-want +got):\n%s", d)
		}
		if _, err := c.Run(t.Context(), octo, 1); err == nil || !strings.Contains(err.Error(), "cannot read the run 1 of octo/hello: GitHub answered 404") {
			t.Errorf("error %v", err)
		}
	})
}

func TestPullRequestForRun(t *testing.T) {
	own := Run{ID: runID, Event: "pull_request", HeadSHA: headA, HeadRepoID: octo.ID, WorkflowPath: workflow}
	tests := []struct {
		name   string
		server func(*githubtest.Server)
		run    func(*Run)
		want   string // empty: pull request 7
	}{
		{"own branch", nil, nil, ""},
		{"path with its ref", nil, func(r *Run) { r.WorkflowPath += "@refs/heads/main" }, ""},
		{"path that only begins so", nil, func(r *Run) { r.WorkflowPath += "@evil.yml" }, `its workflow is ".github/workflows/pbkdf2.yml@evil.yml", not`},
		{"another workflow", nil, func(r *Run) { r.WorkflowPath = ".github/workflows/evil.yml" }, "its workflow is"},
		{"push", nil, func(r *Run) { r.Event = "push" }, "started by push, not by pull_request"},
		{"deleted fork", nil, func(r *Run) { r.HeadRepoID = 0 }, "fork that it ran for was deleted"},
		{"no commit", nil, func(r *Run) { r.HeadSHA = "main" }, "is no commit"},
		{"another head repository", nil, func(r *Run) { r.HeadRepoID = 99 }, "no open pull request has the head aaaaaaaaaaaa"},
		{"head moved on", func(s *githubtest.Server) { setHead(s, headB) }, nil, "newer commits"},
		{"closed", func(s *githubtest.Server) {
			s.SetPull(githubtest.Pull{Number: 7, State: "closed", Head: githubtest.Side{Repo: &s.Repo, SHA: headA}, Base: githubtest.Side{SHA: base0}})
		}, nil, "no open pull request"},
		{"fork deleted since", func(s *githubtest.Server) {
			s.SetPull(githubtest.Pull{Number: 7, Head: githubtest.Side{SHA: headA}, Base: githubtest.Side{SHA: base0}})
		}, nil, "no open pull request"},
		{"two of one head", func(s *githubtest.Server) {
			s.SetPull(githubtest.Pull{Number: 8, Head: githubtest.Side{Repo: &s.Repo, SHA: headA}, Base: githubtest.Side{Ref: "v1", SHA: base0}})
		}, nil, "2 open pull requests have the head aaaaaaaaaaaa (8, 7)"},
		{"among many", func(s *githubtest.Server) {
			for i := range 220 {
				s.SetPull(githubtest.Pull{Number: 100 + i, Head: githubtest.Side{Repo: fork, Ref: "x", SHA: headB}, Base: githubtest.Side{SHA: base0}})
			}
		}, nil, ""},
		{"narrowed by its branch", nil, func(r *Run) { r.HeadOwner, r.HeadBranch = "octo", "topic" }, ""},
		{"404", func(s *githubtest.Server) {
			s.Fail(githubtest.Failure{Path: "/pulls", Status: 404, Body: `{"message":"Not Found"}`})
		}, nil, "cannot list the open pull requests of octo/hello: GitHub answered 404"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
				run := own
				if tt.server != nil {
					tt.server(s)
				}
				if tt.run != nil {
					tt.run(&run)
				}
				got, err := c.PullRequestForRun(t.Context(), octo, run, workflow)
				if tt.want == "" {
					if err != nil || got.Number != pullNumber || got.Fork {
						t.Fatalf("%+v, error %v", got, err)
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("%+v, error %v\nwant %q in it", got, err, tt.want)
				}
				var none *NoPullError
				if errors.As(err, &none) == (status(err) != 0) {
					t.Errorf("error of the type %T", err)
				}
			})
		})
	}
	t.Run("id not known", func(t *testing.T) {
		bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
			_, err := c.PullRequestForRun(t.Context(), Repo{Owner: "octo", Name: "hello"}, own, workflow)
			if err == nil || !strings.Contains(fmt.Sprint(err), "GITHUB_REPOSITORY_ID") {
				t.Errorf("error %v", err)
			}
		})
	})
}
