package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github/githubtest"
)

var (
	headA = strings.Repeat("a", 40)
	headB = strings.Repeat("b", 40)
	base0 = strings.Repeat("0", 40)
	octo  = Repo{Owner: "octo", Name: "hello", ID: 4711}
)

const pullNumber = 7

// bubble runs f on a fake clock, with a server that has one pull request.
func bubble(t *testing.T, f func(*testing.T, *githubtest.Server, *Client)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := githubtest.New(t)
		setHead(s, headA)
		f(t, s, newClient(t, s))
	})
}

func setHead(s *githubtest.Server, sha string) {
	s.SetPull(githubtest.Pull{
		Number: pullNumber,
		Head:   githubtest.Side{Repo: &s.Repo, Ref: "topic", SHA: sha},
		Base:   githubtest.Side{Repo: &s.Repo, Ref: "main", SHA: base0},
	})
}

func newClient(t *testing.T, s *githubtest.Server) *Client {
	t.Helper()
	c, err := New(Options{Token: githubtest.Token, APIURL: githubtest.URL, Transport: s})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func request(run int64, attempt int, body string) CommentRequest {
	return CommentRequest{
		Repo: octo, Number: pullNumber, Mode: Always, Drift: true, Body: body,
		Marker: Marker{Key: "pbkdf2-gate", HeadSHA: headA, RunID: run, Attempt: attempt},
	}
}

// comment calls Comment and wants that outcome.
func comment(t *testing.T, c *Client, req CommentRequest, want Outcome) CommentResult {
	t.Helper()
	got, err := c.Comment(t.Context(), req)
	if err != nil {
		t.Fatalf("Comment: %v", err)
	}
	if got.Outcome != want {
		t.Fatalf("Comment: %+v, want %s", got, want)
	}
	if want == Skipped && got.Reason == "" {
		t.Error("Comment: skipped without a reason")
	}
	return got
}

// only wants one comment on the pull request, with that body.
func only(t *testing.T, s *githubtest.Server, req CommentRequest) {
	t.Helper()
	on := s.Comments(pullNumber)
	if len(on) != 1 {
		t.Fatalf("%d comments, want 1: %+v", len(on), on)
	}
	if want := req.Marker.String() + "\n" + req.Body; on[0].Body != want {
		t.Errorf("the comment is\n%s\nwant\n%s", on[0].Body, want)
	}
}

func TestCommentFirstThenUpdated(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		first := request(5, 1, "slower")
		created := comment(t, c, first, Created)
		only(t, s, first)
		if !strings.Contains(created.URL, "#issuecomment-") {
			t.Errorf("URL %q", created.URL)
		}
		writes := len(s.Writes())
		comment(t, c, first, Unchanged)
		if n := len(s.Writes()); n != writes {
			t.Errorf("an unchanged comment made %d writes", n-writes)
		}
		for _, next := range []CommentRequest{request(5, 2, "ok"), request(6, 1, "slower again")} {
			if got := comment(t, c, next, Updated); got.URL != created.URL {
				t.Errorf("another comment: %s", got.URL)
			}
			only(t, s, next)
		}
	})
}

func TestCommentOlderRunDoesNotOverwrite(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		newest := request(6, 2, "newest")
		comment(t, c, newest, Created)
		writes := len(s.Writes())
		for _, old := range []CommentRequest{request(5, 9, "old run"), request(6, 1, "old attempt")} {
			got := comment(t, c, old, Skipped)
			if !strings.Contains(got.Reason, "newer run (6, attempt 2)") || got.URL == "" {
				t.Errorf("%+v", got)
			}
		}
		only(t, s, newest)
		if n := len(s.Writes()); n != writes {
			t.Errorf("an older run made %d writes", n-writes)
		}
	})
}

func TestCommentHeadMovedOn(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		first := request(5, 1, "slower")
		comment(t, c, first, Created)
		writes := len(s.Writes())
		setHead(s, headB)
		got := comment(t, c, request(6, 1, "of an old head"), Skipped)
		if !strings.Contains(got.Reason, "head is now bbbbbbbbbbbb") {
			t.Errorf("reason %q", got.Reason)
		}
		only(t, s, first)
		other := request(6, 1, "new")
		other.Marker.Key = "other-gate"
		comment(t, c, other, Skipped)
		if n := len(s.Writes()); n != writes {
			t.Errorf("%d writes although the head moved on", n-writes)
		}
	})
}

func TestCommentModes(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		req := func(run int64, mode Mode, drift bool) CommentRequest {
			r := request(run, 1, fmt.Sprint("drift: ", drift))
			r.Mode, r.Drift = mode, drift
			return r
		}
		comment(t, c, req(1, Never, true), Skipped)
		if n := len(s.Requests()); n != 0 {
			t.Errorf("never: %d requests", n)
		}
		comment(t, c, req(2, OnDrift, false), Skipped)
		if n := len(s.Writes()); n != 0 {
			t.Errorf("on-drift without drift: %d writes", n)
		}
		comment(t, c, req(3, OnDrift, true), Created)
		fixed := req(4, OnDrift, false)
		comment(t, c, fixed, Updated)
		only(t, s, fixed)
	})
}

func TestCommentOnPageThree(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		old := request(5, 1, "slower")
		for i := range 250 {
			if i == 220 {
				s.AddComment(pullNumber, githubtest.Bot, old.text())
			}
			s.AddComment(pullNumber, "mona", fmt.Sprint("comment ", i))
		}
		next := request(6, 1, "ok")
		comment(t, c, next, Updated)
		on := s.Comments(pullNumber)
		if len(on) != 251 || on[220].Body != next.text() {
			t.Errorf("%d comments, ours: %q", len(on), on[220].Body)
		}
	})
}

func TestCommentIgnoresForgeries(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		newer := request(99, 1, "forged")
		other := newer
		other.Marker.Key = "pbkdf2-gate-2"
		s.AddComment(pullNumber, "mona", newer.text())
		s.AddComment(pullNumber, "github-actions", newer.text())
		s.AddComment(pullNumber, "", newer.text()) // a deleted user
		s.AddComment(pullNumber, githubtest.Bot, "He said:\n"+newer.text())
		s.AddComment(pullNumber, githubtest.Bot, " "+newer.text())
		s.AddComment(pullNumber, githubtest.Bot, other.text())
		before := s.Comments(pullNumber)
		quoting := request(5, 1, "slower\n"+newer.Marker.String())
		comment(t, c, quoting, Created)
		comment(t, c, quoting, Unchanged)
		comment(t, c, request(6, 1, "ok"), Updated)
		after := s.Comments(pullNumber)
		if len(after) != len(before)+1 {
			t.Fatalf("%d comments, want %d", len(after), len(before)+1)
		}
		for i := range before {
			if before[i] != after[i] {
				t.Errorf("comment %d was changed", i)
			}
		}

		app := request(5, 1, "of an app")
		app.Author = "my-gate[bot]"
		s.AddComment(pullNumber, "My-Gate[bot]", app.text())
		comment(t, c, app, Unchanged)
	})
}

// Both list an empty thread before either writes.
func TestCommentTwoAtOnceConverge(t *testing.T) {
	for _, order := range [][2]int64{{5, 6}, {6, 5}, {5, 5}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
				var mu sync.Mutex
				posts, both := 0, make(chan struct{})
				s.On(func(r *http.Request) {
					if r.Method != http.MethodPost {
						return
					}
					mu.Lock()
					posts++
					first := posts == 1
					mu.Unlock()
					if first {
						<-both
					} else {
						close(both)
					}
				})
				var wg sync.WaitGroup
				for i, run := range order {
					wg.Go(func() {
						time.Sleep(time.Duration(i) * time.Millisecond)
						if _, err := c.Comment(t.Context(), request(run, 1, fmt.Sprint("run ", run))); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				newest := max(order[0], order[1])
				only(t, s, request(newest, 1, fmt.Sprint("run ", newest)))
			})
		})
	}
}

// The first is over before the second, an older run that found no comment
// either, writes its own.
func TestCommentLateFirst(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		newest := request(6, 1, "newest")
		s.On(func(r *http.Request) {
			if r.Method == http.MethodPost {
				s.AddComment(pullNumber, githubtest.Bot, newest.text())
			}
		})
		comment(t, c, request(5, 1, "old"), Skipped)
		only(t, s, newest)
	})
}

// An older run that has looked before the newer one wrote, and writes after it.
func TestCommentStaleWriteIsRepaired(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		comment(t, c, request(4, 1, "first"), Created)
		s.On(func(r *http.Request) {
			if r.Method == http.MethodPatch && len(s.Writes()) == 2 {
				time.Sleep(settlePause / 2) // only the first PATCH waits
			}
		})
		var wg sync.WaitGroup
		newest := request(6, 1, "newest")
		wg.Go(func() { _, _ = c.Comment(t.Context(), request(5, 1, "old")) })
		wg.Go(func() {
			time.Sleep(settlePause / 4)
			comment(t, c, newest, Updated)
		})
		wg.Wait()
		only(t, s, newest)
	})
}

func TestCommentTidiesDuplicates(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		for _, run := range []int64{3, 5, 4} {
			s.AddComment(pullNumber, githubtest.Bot, request(run, 1, fmt.Sprint(run)).text())
		}
		oldest := s.Comments(pullNumber)[0].ID
		next := request(6, 1, "ok")
		comment(t, c, next, Updated)
		only(t, s, next)
		if s.Comments(pullNumber)[0].ID != oldest {
			t.Error("not the oldest was kept")
		}
	})
}

func TestCommentDeletedMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		comment(t, c, request(4, 1, "first"), Created)
		s.Fail(githubtest.Failure{Method: "PATCH", Status: 404, Body: `{"message":"Not Found"}`, Times: 1})
		next := request(5, 1, "next")
		comment(t, c, next, Updated)
		only(t, s, next)
	})
}

func TestCommentRefusesRequests(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		for want, change := range map[string]func(*CommentRequest){
			"is no repository":       func(r *CommentRequest) { r.Repo.Owner = "a/../b" },
			"no number":              func(r *CommentRequest) { r.Number = 0 },
			"is no name":             func(r *CommentRequest) { r.Marker.Key = "a -->" },
			"is no commit":           func(r *CommentRequest) { r.Marker.HeadSHA = "HEAD" },
			"positive":               func(r *CommentRequest) { r.Marker.Attempt = 0 },
			"unknown mode":           func(r *CommentRequest) { r.Mode = "sometimes" },
			"is empty":               func(r *CommentRequest) { r.Body = " \n" },
			"characters, GitHub tak": func(r *CommentRequest) { r.Body = strings.Repeat("é", maxComment) },
		} {
			req := request(5, 1, "body")
			change(&req)
			if _, err := c.Comment(t.Context(), req); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q in it", err, want)
			}
		}
		if n := len(s.Requests()); n != 0 {
			t.Errorf("%d requests", n)
		}
		fits := request(5, 1, "")
		fits.Body = strings.Repeat("é", maxComment-len(fits.Marker.String())-1)
		comment(t, c, fits, Created)
	})
}

func TestCommentInterrupted(t *testing.T) {
	bubble(t, func(t *testing.T, s *githubtest.Server, c *Client) {
		ctx, cancel := context.WithCancel(t.Context())
		s.On(func(*http.Request) { cancel() })
		s.Fail(githubtest.Failure{Status: 500})
		_, err := c.Comment(ctx, request(5, 1, "body"))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want one that is context.Canceled", err)
		}
	})
}

func FuzzMarker(f *testing.F) {
	f.Add(Marker{Key: "a.B_9+-", HeadSHA: headA, RunID: 1 << 62, Attempt: maxAttempt}.String() + "\r\nbody")
	f.Add("<!-- pbkdf2-gate/1 key=a head=" + headA + " run=9999999999999999999 attempt=1 -->")
	f.Add("<!-- pbkdf2-gate/1 key=a -->b head=" + headA + " run=1 attempt=1 -->")
	f.Fuzz(func(t *testing.T, text string) {
		m, ok := parseMarker(text)
		if !ok {
			return
		}
		if err := m.check(); err != nil {
			t.Errorf("parsed a marker that is none: %v", err)
		}
		if line, _, _ := strings.Cut(text, "\n"); strings.TrimSuffix(line, "\r") != m.String() {
			t.Errorf("%q is read as %q", line, m)
		}
	})
}
