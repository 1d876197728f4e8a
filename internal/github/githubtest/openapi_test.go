package githubtest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// recorder is a test that keeps its errors.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// A request and an answer that are not as GitHub describes them are found.
func TestDescriptionIsHeld(t *testing.T) {
	if loadSpec(t) == nil {
		t.Skip("PBKDF2_GATE_OPENAPI does not name GitHub's OpenAPI description")
	}
	rec := &recorder{TB: t}
	s := New(rec)
	ask := func(method, path, body string) {
		t.Helper()
		req, err := http.NewRequestWithContext(context.Background(), method, URL+"/repos/octo/hello"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+Token)
		req.Header.Set("Content-Type", "application/json")
		resp, err := s.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	s.SetPull(Pull{Number: 7})
	s.AddRun(Run{ID: 5})
	for _, path := range []string{"/pulls/7", "/pulls", "/issues/7/comments", "/actions/runs/5", "/issues/8/comments"} {
		ask("GET", path, "")
	}
	ask("POST", "/issues/7/comments", `{"body":"x"}`)
	if len(rec.errors) > 0 {
		t.Fatalf("found in what is right: %v", rec.errors)
	}

	for want, send := range map[string]func(){
		"the request POST":      func() { ask("POST", "/issues/7/comments", `{"text":"x"}`) },
		"the request GET":       func() { ask("GET", "/pulls?per_page=many", "") },
		"is not in GitHub's":    func() { ask("PUT", "/pulls/7", "") },
		"our answer 200 to GET": func() { s.SetPull(Pull{Number: 9, State: "undecided"}); ask("GET", "/pulls/9", "") },
	} {
		rec.errors = nil
		send()
		if !strings.Contains(strings.Join(rec.errors, "\n"), want) {
			t.Errorf("errors %q, want %q in them", rec.errors, want)
		}
	}
}
