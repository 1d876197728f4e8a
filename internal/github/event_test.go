package github

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func environment(event string) map[string]string {
	return map[string]string{
		"GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": "/event.json",
		"GITHUB_REPOSITORY": "octo/hello", "GITHUB_SHA": headA,
		"GITHUB_RUN_ID": "77", "GITHUB_RUN_ATTEMPT": "2",
	}
}

func readEvent(env map[string]string, file string) (Event, error) {
	return ReadEvent(func(name string) string { return env[name] }, func(path string) ([]byte, error) {
		if path != "/event.json" || file == "" {
			return nil, os.ErrNotExist
		}
		return []byte(file), nil
	})
}

func pullPayload(change ...string) string {
	text := `{"action":"synchronize","repository":{"id":4711,"full_name":"octo/hello"},"pull_request":{"number":7,
		"user":{"login":"mona"},"head":{"sha":"` + headA + `","ref":"topic","repo":{"id":99,"owner":{"login":"mona"}}},
		"base":{"sha":"` + base0 + `","ref":"main","repo":{"id":4711}}}}`
	return strings.NewReplacer(change...).Replace(text)
}

func runPayload(change ...string) string {
	text := `{"action":"completed","repository":{"id":4711},"workflow_run":{"id":55,"run_attempt":3,"event":"pull_request",
		"head_sha":"` + headB + `","head_branch":"topic","path":".github/workflows/pbkdf2.yml","pull_requests":[],
		"head_repository":{"id":99,"owner":{"login":"mona"}}}}`
	return strings.NewReplacer(change...).Replace(text)
}

func TestReadEvent(t *testing.T) {
	t.Parallel()
	ofPull := func(name string, change func(*PullRequest)) Event {
		p := &PullRequest{Number: 7, HeadSHA: headA, BaseSHA: base0, BaseRef: "main", HeadRepoID: 99, Fork: true}
		change(p)
		return Event{Name: name, Repo: octo, Pull: p}
	}
	ofRun := func(change func(*Run)) Event {
		r := &Run{ID: 55, Attempt: 3, Event: "pull_request", HeadSHA: headB, HeadRepoID: 99, HeadOwner: "mona", HeadBranch: "topic", WorkflowPath: workflow}
		change(r)
		return Event{Name: "workflow_run", Repo: octo, Run: r}
	}
	plain := func(name string) Event { return Event{Name: name, Repo: Repo{Owner: "octo", Name: "hello"}} }
	for _, tt := range []struct {
		name, event, file string
		want              Event
	}{
		{"fork", "pull_request", pullPayload(), ofPull("pull_request", func(*PullRequest) {})},
		{"own branch", "pull_request", pullPayload(`"id":99`, `"id":4711`), ofPull("pull_request", func(p *PullRequest) { p.HeadRepoID, p.Fork = 4711, false })},
		{"Dependabot", "pull_request", pullPayload(`"login":"mona"},"head"`, `"login":"dependabot[bot]"},"head"`), ofPull("pull_request", func(p *PullRequest) { p.Dependabot = true })},
		{"deleted fork", "pull_request", pullPayload(`{"id":99,"owner":{"login":"mona"}}`, "null"), ofPull("pull_request", func(p *PullRequest) { p.HeadRepoID = 0 })},
		{"target", "pull_request_target", pullPayload(), ofPull("pull_request_target", func(*PullRequest) {})},
		{"run", "workflow_run", runPayload(), ofRun(func(*Run) {})},
		{"run of a deleted fork", "workflow_run", runPayload(`{"id":99,"owner":{"login":"mona"}}`, "null"), ofRun(func(r *Run) { r.HeadRepoID, r.HeadOwner = 0, "" })},
		{"push", "push", "", plain("push")},
		{"schedule", "schedule", "no JSON", plain("schedule")},
		{"merge group", "merge_group", "{}", plain("merge_group")},
		{"by hand", "workflow_dispatch", "[]", plain("workflow_dispatch")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.SHA, tt.want.RunID, tt.want.Attempt = headA, 77, 2
			tt.want.ServerURL, tt.want.APIURL = "https://github.com", "https://api.github.com"
			got, err := readEvent(environment(tt.event), tt.file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("event (-want +got):\n%s", d)
			}
			refused := got.MayMeasure()
			if unsafe := tt.event == "pull_request_target" || tt.event == "workflow_run"; (refused != nil) != unsafe {
				t.Errorf("MayMeasure: %v", refused)
			} else if unsafe && !strings.Contains(refused.Error(), `"on: pull_request"`) {
				t.Errorf("MayMeasure does not say what to do: %v", refused)
			}
		})
	}

	env := environment("push")
	env["GITHUB_API_URL"], env["GITHUB_SERVER_URL"], env["GITHUB_REPOSITORY_ID"] = "https://ghe.test/api/v3", "https://ghe.test", "4711"
	got, err := readEvent(env, "")
	if err != nil || got.APIURL != "https://ghe.test/api/v3" || got.ServerURL != "https://ghe.test" || got.Repo != octo {
		t.Errorf("Enterprise: %+v, %v", got, err)
	}
}

func TestReadEventRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value, file, want string }{
		{"GITHUB_EVENT_NAME", "", "", "only works in a GitHub workflow"},
		{"GITHUB_EVENT_NAME", "a\nb", "", "that is no event"},
		{"GITHUB_REPOSITORY", "", "", "is no repository"},
		{"GITHUB_REPOSITORY", "octo", "", "is no repository"},
		{"GITHUB_REPOSITORY", "octo/..", "", "is no repository"},
		{"GITHUB_REPOSITORY", "octo/a/b", "", "is no repository"},
		{"GITHUB_REPOSITORY", "octo/a?b", "", "is no repository"},
		{"GITHUB_REPOSITORY_ID", "-1", "", "positive number"},
		{"GITHUB_RUN_ID", "", "", "GITHUB_RUN_ID must be"},
		{"GITHUB_RUN_ID", "99999999999999999999", "", "environment cannot be read"},
		{"GITHUB_RUN_ATTEMPT", "0", "", "GITHUB_RUN_ATTEMPT must be"},
		{"GITHUB_SHA", "HEAD", "", "that is no commit"},
		{"GITHUB_EVENT_PATH", "", pullPayload(), "GITHUB_EVENT_PATH is not set"},
		{"GITHUB_EVENT_PATH", "/other.json", pullPayload(), "event's file cannot be read"},
		{"", "", "{", "/event.json: no file of the event pull_request: unexpected end of JSON"},
		{"", "", "{}", "it has no pull_request"},
		{"", "", `{"pull_request":null}`, "it has no pull_request"},
		{"", "", "[]", "cannot unmarshal array"},
		{"", "", pullPayload(`"number":7`, `"number":-7`), "number is -7"},
		{"", "", pullPayload(`"number":7`, `"number":1e99`), "cannot unmarshal number"},
		{"", "", pullPayload(headA, "main; rm -rf"), "head is \"main; rm -rf\": that is no commit"},
		{"", "", pullPayload(base0, ""), "base is \"\""},
		{"", "", pullPayload() + strings.Repeat(" ", maxEvent), "more than 33554432"},
		{"GITHUB_EVENT_NAME", "workflow_run", pullPayload(), "it has no workflow_run"},
		{"GITHUB_EVENT_NAME", "workflow_run", runPayload(`"id":55`, `"id":0`), "run's id is 0"},
		{"GITHUB_EVENT_NAME", "workflow_run", runPayload(`"run_attempt":3`, `"run_attempt":0`), "attempt is 0"},
		{"GITHUB_EVENT_NAME", "workflow_run", runPayload(headB, "x"), "that is no commit"},
	} {
		env := environment("pull_request")
		if tt.name != "" {
			env[tt.name] = tt.value
		}
		_, err := readEvent(env, tt.file)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s=%q: error %v, want %q in it", tt.name, tt.value, err, tt.want)
		}
	}
	if _, err := readEvent(environment("pull_request"), ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func FuzzEvent(f *testing.F) {
	f.Add("pull_request", pullPayload())
	f.Add("pull_request_target", pullPayload(`{"id":99,"owner":{"login":"mona"}}`, "null"))
	f.Add("workflow_run", runPayload())
	f.Add("push", "{}")
	f.Fuzz(func(t *testing.T, name, file string) {
		e, err := readEvent(environment(name), file)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Errorf("error %q", err)
			}
			return
		}
		if p := e.Pull; p != nil && (p.Number <= 0 || !shaPattern.MatchString(p.HeadSHA) || !shaPattern.MatchString(p.BaseSHA)) {
			t.Errorf("%+v", p)
		}
		if r := e.Run; r != nil && (r.ID <= 0 || r.Attempt <= 0 || !shaPattern.MatchString(r.HeadSHA)) {
			t.Errorf("%+v", r)
		}
		if e.Pull != nil && e.Run != nil {
			t.Error("both a pull request and a run")
		}
	})
}
