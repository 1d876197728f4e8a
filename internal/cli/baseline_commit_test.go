package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/baseline"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github/githubtest"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// recorder is a job that records releases in the repository of a server.
type recorder struct {
	t   *testing.T
	hub *githubtest.Server
	url string
	dir string
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	t.Parallel()
	r := &recorder{t: t, hub: githubtest.New(t), dir: t.TempDir()}
	r.url = r.hub.Listen()
	r.hub.SetBranch("main", map[string]string{"README.md": "readme\n"})
	return r
}

// sample is a sound measurement on a CPU, in which a hash takes ms.
func sample(cpu, target, id string, ms float64, edits ...func(*result.Run)) result.Run {
	w := workload.Reference()
	r := result.Run{
		Host:      host.Fingerprint{GOOS: "linux", GOARCH: "amd64", CPU: "CPU " + cpu, CPUID: cpu, SHA: "sha_ni", HostID: "h-" + id},
		Yardstick: "1 sha-ni", Workload: w,
		Plan:   result.Plan{SliceIterations: 1000, Slices: 320, WarmUp: 2, Yardstick: 250 * time.Microsecond},
		Target: target, Side: result.Head, Leg: "ubuntu-24.04", ID: id, Toolchain: "go1.26.8", Outcome: result.Measured,
		Commit: "c1", Date: time.Date(2026, 11, 3, 9, 30, 0, 0, time.UTC),
	}
	for i := range 15 {
		ns := ms * 1e6 * (1 + float64(i%5-2)/5000)
		r.Rounds = append(r.Rounds, result.Round{Clean: 100, NsPerOp: ns, RelCost: ns / w.Compressions() / 37, ChainNs: 37, LanesNs: 19.4, CleanShare: 100. / 320})
	}
	for _, e := range edits {
		e(&r)
	}
	return r
}

func file(t *testing.T, dir, name string, runs ...result.Run) string {
	t.Helper()
	if err := result.WriteFile(filepath.Join(dir, name), runs); err != nil {
		t.Fatal(err)
	}
	return name
}

func (r *recorder) file(name string, runs ...result.Run) string {
	return file(r.t, r.dir, name, runs...)
}

// run calls the command as outside a workflow.
func (r *recorder) run(args ...string) (code int, stdout, stderr string) {
	r.t.Helper()
	return r.runIn(nil, args...)
}

func (r *recorder) runIn(environ []string, args ...string) (code int, stdout, stderr string) {
	r.t.Helper()
	var out, errs bytes.Buffer
	c := &Command{Stdout: &out, Stderr: &errs, Dir: r.dir, Environ: append([]string{
		"GITHUB_TOKEN=" + githubtest.Token, "GITHUB_API_URL=" + r.url, "GITHUB_REPOSITORY=octo/hello", "GITHUB_SERVER_URL=https://github.test"}, environ...)}
	code = c.Run(context.Background(), append([]string{"baseline", "update"}, args...))
	if strings.Contains(out.String()+errs.String(), githubtest.Token) {
		r.t.Error("the token is in the output")
	}
	return code, out.String(), errs.String()
}

// releases are the releases, targets and runs of a file on a branch.
func (r *recorder) releases(branch, cpu string) string {
	r.t.Helper()
	text, ok := r.hub.Files(branch)["baselines/linux-amd64/"+cpu+".txt"]
	if !ok {
		return "none"
	}
	runs, err := result.Read(strings.NewReader(text), branch)
	if err != nil {
		r.t.Fatal(err)
	}
	var s []string
	for _, x := range runs {
		s = append(s, x.Release+"/"+x.Target+"/"+x.ID)
	}
	return strings.Join(s, " ")
}

const topicOfV2 = "pbkdf2-gate/baselines-v2"

func TestUpdatePullRequest(t *testing.T) {
	r := newRecorder(t)
	r.file("v1.txt", sample("a", "go", "r0", 150))
	code, out, errs := r.run("--commit-to", "main", "--release", "v1", "v1.txt")
	commit := r.hub.Commits("main")[0]
	if want := "baselines/linux-amd64/a.txt records go (150ms)\ncommitted to main: https://github.test/octo/hello/commit/" + commit.SHA + "\n"; code != 0 || out != want || errs != "" {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if commit.Message != "baselines: record v1\n\ngo on linux/amd64 CPU a: nothing -> v1 150 ms\n" {
		t.Errorf("message %q", commit.Message)
	}
	code, out, _ = r.run("--commit-to", "main", "--release", "v1", "v1.txt")
	if want := "baselines/linux-amd64/a.txt unchanged\nmain has all this already: no commit\n"; code != 0 || out != want || len(r.hub.Commits("main")) != 2 {
		t.Errorf("again: exit %d: %s", code, out)
	}

	// A release that is slower, on two CPUs, with one measurement that is none.
	r.file("v2.txt", sample("a", "go", "r1", 165), sample("a", "go", "r2", 165), sample("b", "go", "r3", 300),
		sample("b", "node", "r3", 1, func(x *result.Run) { x.Outcome, x.Message, x.Rounds = result.Failed, "died", nil }))
	code, out, errs = r.run("--pull-request", "--release", "v2", "v2.txt")
	pulls := r.hub.Pulls()
	if code != 0 || len(pulls) != 1 || !strings.Contains(out, fmt.Sprintf("branch %s created; pull request created: https://github.test/octo/hello/pull/%d\n", topicOfV2, pulls[0].Number)) ||
		errs != "left out: node of run r3 on linux/amd64 b: it is failed: died\n" {
		t.Fatalf("exit %d, %d pull requests: %s%s", code, len(pulls), out, errs)
	}
	if p := pulls[0]; p.Title != "Baselines of v2" || p.Base.Ref != "main" ||
		!strings.Contains(p.Body, "| +10.0&nbsp;% | 🔺 **+10.0&nbsp;%** | **go**<br><sub>linux/amd64 CPU a · a</sub> | 165&nbsp;ms | v1: 150&nbsp;ms | 2 |") ||
		!strings.Contains(p.Body, "| new | – | **go**<br><sub>linux/amd64 CPU b · b</sub>") {
		t.Errorf("pull request %q into %s:\n%s", p.Title, p.Base.Ref, p.Body)
	}
	if a, b := r.releases(topicOfV2, "a"), r.releases(topicOfV2, "b"); a != "v1/go/r0 v2/go/r1 v2/go/r2" || b != "v2/go/r3" {
		t.Errorf("%s; %s", a, b)
	}
	if r.hub.Files(topicOfV2)["README.md"] != "readme\n" || r.releases("main", "b") != "none" {
		t.Error("other files are lost, or main was written to")
	}
	writes := len(r.hub.Writes())
	if code, out, _ = r.run("--pull-request", "--release", "v2", "v2.txt"); code != 0 || !strings.Contains(out, "has all this already: no commit; pull request unchanged") || len(r.hub.Writes()) != writes {
		t.Errorf("again: exit %d, %d writes: %s", code, len(r.hub.Writes())-writes, out)
	}

	// A later run adds a CPU, and a top-up records no other; both go where the
	// release's figures wait.
	r.file("c.txt", sample("c", "go", "r4", 200))
	r.file("top.txt", sample("a", "go", "r5", 100), sample("d", "go", "r6", 210))
	if code, out, _ = r.run("--pull-request", "--release", "v2", "c.txt"); code != 0 || !strings.Contains(out, "updated; pull request updated") {
		t.Errorf("exit %d: %s", code, out)
	}
	code, out, errs = r.run("--pull-request", "--new-platforms", "--release", "v2", "top.txt")
	if code != 0 || !strings.Contains(out, "baselines/linux-amd64/d.txt records") || !strings.Contains(errs, "left out: go of run r5 on linux/amd64 a: release v2 has a baseline of this CPU already") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	got := map[string]string{}
	for _, cpu := range []string{"a", "b", "c", "d"} {
		got[cpu] = r.releases(topicOfV2, cpu)
	}
	if d := cmp.Diff(map[string]string{"a": "v1/go/r0 v2/go/r1 v2/go/r2", "b": "v2/go/r3", "c": "v2/go/r4", "d": "v2/go/r6"}, got); d != "" {
		t.Error(d)
	}
	if body := r.hub.Pulls()[0].Body; strings.Count(body, "\n| ") != 6 || len(r.hub.Pulls()) != 1 {
		t.Errorf("%d pull requests:\n%s", len(r.hub.Pulls()), body)
	}
	// A top-up that met nothing new does nothing, not even for a closed one.
	p := r.hub.Pulls()[0]
	p.State = "closed"
	r.hub.SetPull(p)
	writes = len(r.hub.Writes())
	if code, out, _ = r.run("--pull-request", "--new-platforms", "--release", "v2", "top.txt"); code != 0 || len(r.hub.Writes()) != writes || strings.Contains(out, "branch") {
		t.Errorf("exit %d: %s", code, out)
	}

	// Into another branch, on which nothing is known.
	r.hub.SetBranch("stable", map[string]string{"x": "y"})
	if code, out, _ = r.run("--pull-request", "--into", "stable", "--release", "v0/rc.1", "c.txt"); code != 0 || !strings.Contains(out, "pull request created") {
		t.Errorf("exit %d: %s", code, out)
	}
	if all := r.hub.Pulls(); all[len(all)-1].Base.Ref != "stable" || all[len(all)-1].Head.Ref != "pbkdf2-gate/baselines-v0/rc.1" {
		t.Errorf("%+v", all)
	}
}

// Two releases at once, and one release by two jobs at once, lose nothing.
func TestUpdateTogether(t *testing.T) {
	for _, mode := range [][]string{{"--commit-to", "main"}, {"--pull-request"}} {
		t.Run(mode[0], func(t *testing.T) {
			r := newRecorder(t)
			for i, cpu := range []string{"a", "b", "c"} {
				r.file(cpu+".txt", sample("shared", "t"+cpu, "r"+cpu, 150), sample(cpu, "go", "r"+cpu, 150+float64(i)))
			}
			var all sync.WaitGroup
			for _, cpu := range []string{"a", "b", "c"} {
				release := "v2"
				if mode[0] == "--commit-to" {
					release = "v" + cpu
				}
				all.Go(func() {
					if code, out, errs := r.run(append(mode, "--release", release, cpu+".txt")...); code != 0 {
						t.Errorf("exit %d: %s%s", code, out, errs)
					}
				})
			}
			all.Wait()
			branch := map[string]string{"--commit-to": "main", "--pull-request": topicOfV2}[mode[0]]
			for _, cpu := range []string{"a", "b", "c"} {
				if r.releases(branch, cpu) == "none" || !strings.Contains(r.releases(branch, "shared"), "/t"+cpu+"/r"+cpu) {
					t.Errorf("%s is lost: %s", cpu, r.releases(branch, "shared"))
				}
			}
		})
	}
}

// Two releases wait; once one is merged, the other's next run takes it in.
func TestUpdateAfterMerge(t *testing.T) {
	r := newRecorder(t)
	r.file("v1.txt", sample("a", "go", "r1", 150))
	r.file("v2.txt", sample("a", "go", "r2", 151, onDay(2)), sample("b", "go", "r2", 300, onDay(2)))
	for _, release := range []string{"v1", "v2"} {
		if code, out, errs := r.run("--pull-request", "--release", release, release+".txt"); code != 0 {
			t.Fatalf("%s: exit %d: %s%s", release, code, out, errs)
		}
	}
	merged := r.hub.SetBranch("main", r.hub.Files("pbkdf2-gate/baselines-v1"))
	code, out, _ := r.run("--pull-request", "--release", "v2", "v2.txt")
	if got := r.releases(topicOfV2, "a"); code != 0 || got != "v1/go/r1 v2/go/r2" || r.releases(topicOfV2, "b") != "v2/go/r2" {
		t.Errorf("exit %d, %s: %s", code, got, out)
	}
	if p := r.hub.Commits(topicOfV2)[0].Parents; len(p) != 2 || p[1] != merged {
		t.Errorf("parents %v: the pull request would not merge", p)
	}
	pulls := r.hub.Pulls()
	if body := pulls[len(pulls)-1].Body; len(pulls) != 2 || !strings.Contains(body, "v1: 150&nbsp;ms") {
		t.Errorf("%d pull requests:\n%s", len(pulls), body)
	}
}

// What cannot be done, and how it ends.
func TestUpdateRemoteTroubles(t *testing.T) {
	conflict := func(text string) string { return "<<<<<<< HEAD\n" + text }
	for name, tt := range map[string]struct {
		args   []string
		set    func(*recorder)
		code   int
		says   string // on either stream
		commit bool   // something was written
	}{
		"refused pull request": {[]string{"--pull-request"}, func(r *recorder) { r.hub.NoPulls(true) }, 0,
			"open the pull request by hand: https://github.test/octo/hello/compare/main...pbkdf2-gate/baselines-v2?expand=1\n", true},
		"protected branch": {[]string{"--commit-to", "main"}, func(r *recorder) { r.hub.Protect("main", "Changes must be made through a pull request.") }, 0,
			"branch pbkdf2-gate/baselines-v2 created; main does not take the commit (Changes must be made through a pull request.): open a pull request: https://github.test/octo/hello/compare/", true},
		"read-only token": {[]string{"--pull-request"}, func(r *recorder) { r.hub.ReadOnly(true) }, 3, `give the job "permissions: contents: write"`, false},
		"no branch":       {[]string{"--commit-to", "none"}, nil, 3, "there is no such branch, or not any more: name one that is there", false},
		"server trouble":  {[]string{"--pull-request"}, func(r *recorder) { r.hub.Fail(githubtest.Failure{Path: "/git/ref", Status: 401, Body: "{}"}) }, 3, "the token is not valid", false},
		"a file cut short": {[]string{"--pull-request"}, func(r *recorder) {
			r.damage(func(text string) string { return text[:len(text)-30] })
		}, 2, "baselines on main/linux-amd64/a.txt:", false},
		"merged badly": {[]string{"--pull-request"}, func(r *recorder) { r.damage(conflict) }, 2, "baselines on main/linux-amd64/a.txt:1: ", false},
		"merged badly on its branch": {[]string{"--pull-request"}, func(r *recorder) {
			r.run("--pull-request", "--release", "v2", "v2.txt")
			files := r.hub.Files(topicOfV2)
			files["baselines/linux-amd64/a.txt"] = conflict(files["baselines/linux-amd64/a.txt"])
			r.hub.SetBranch(topicOfV2, files)
		}, 2, "baselines on pbkdf2-gate/baselines-v2/linux-amd64/a.txt:1: ", true},
		"both":               {[]string{"--pull-request", "--commit-to", "main"}, nil, 2, "give one of them", false},
		"into alone":         {[]string{"--into", "main"}, nil, 2, "--into is the branch of a --pull-request", false},
		"no branch's name":   {[]string{"--commit-to", "a..b"}, nil, 2, `--commit-to "a..b": that is no branch's name`, false},
		"a folder elsewhere": {[]string{"--pull-request", "--baselines", "../b"}, nil, 2, "name a folder inside the repository", false},
		"several commits": {[]string{"--pull-request", "other.txt"}, func(r *recorder) {
			r.file("other.txt", sample("a", "node", "r9", 150, func(x *result.Run) { x.Commit = "c9" }))
		}, 2, "several commits (c1, c9)", false},
		"nothing to record": {[]string{"--pull-request"}, func(r *recorder) {
			r.file("v2.txt", sample("a", "go", "r1", 150, func(x *result.Run) { x.Host.Emulated = "qemu" }))
		}, 3, "nothing was recorded", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder(t)
			r.file("v2.txt", sample("a", "go", "r1", 150))
			if tt.set != nil {
				tt.set(r)
			}
			before := len(r.hub.Writes())
			code, out, errs := r.run(append([]string{"--release", "v2", "v2.txt"}, tt.args...)...)
			if code != tt.code || !strings.Contains(out+errs, tt.says) {
				t.Errorf("exit %d, want %d and %q:\n%s%s", code, tt.code, tt.says, out, errs)
			}
			if wrote := r.hub.Files(topicOfV2) != nil; wrote != tt.commit && before == 0 {
				t.Errorf("written: %t", wrote)
			}
			if _, err := os.Stat(filepath.Join(r.dir, "baselines")); err == nil {
				t.Error("the local folder was made")
			}
		})
	}
	t.Run("no repository", func(t *testing.T) {
		r := newRecorder(t)
		r.file("v2.txt", sample("a", "go", "r1", 150))
		if code, _, errs := r.runIn([]string{"GITHUB_REPOSITORY="}, "--pull-request", "--release", "v2", "v2.txt"); code != 2 || !strings.Contains(errs, "Set GITHUB_REPOSITORY=OWNER/NAME") {
			t.Errorf("exit %d: %s", code, errs)
		}
		if code, _, errs := r.runIn([]string{"GITHUB_TOKEN="}, "--pull-request", "--release", "v2", "v2.txt"); code != 3 || !strings.Contains(errs, "no token") {
			t.Errorf("exit %d: %s", code, errs)
		}
	})
}

// damage puts a baseline on main that was changed.
func (r *recorder) damage(f func(string) string) {
	r.t.Helper()
	data, err := result.Encode([]result.Run{sample("a", "go", "r0", 150, func(x *result.Run) { x.Release = "v1" })})
	if err != nil {
		r.t.Fatal(err)
	}
	r.hub.SetBranch("main", map[string]string{"baselines/linux-amd64/a.txt": f(string(data))})
}

// job is the environment of a workflow's step.
func (r *recorder) job(event string, payload any) []string {
	r.t.Helper()
	data, err := json.Marshal(payload)
	if err != nil {
		r.t.Fatal(err)
	}
	path := func(name string, content []byte) string {
		p := filepath.Join(r.dir, name)
		if err := os.WriteFile(p, content, 0o666); err != nil {
			r.t.Fatal(err)
		}
		return p
	}
	return []string{"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=" + event, "GITHUB_EVENT_PATH=" + path("event.json", data), "GITHUB_RUN_ID=1", "GITHUB_RUN_ATTEMPT=1",
		"GITHUB_REPOSITORY_ID=4711", "GITHUB_STEP_SUMMARY=" + path("summary", nil), "GITHUB_OUTPUT=" + path("output", nil), "GITHUB_SHA=" + strings.Repeat("a", 40)}
}

func TestUpdateInWorkflow(t *testing.T) {
	r := newRecorder(t)
	r.hub.NoPulls(true)
	r.file("v2.txt", sample("a", "go", "r1", 150), sample("a", "node", "r1", 1, func(x *result.Run) {
		x.Outcome, x.Message, x.Rounds = result.Failed, "died", nil
	}))
	code, out, errs := r.runIn(r.job("release", map[string]any{}), "--pull-request", "--release", "v2", "v2.txt")
	if code != 0 || errs != "" || !strings.Contains(out, "::warning title=pbkdf2-gate::left out: node of run r1") || !strings.Contains(out, "::warning title=pbkdf2-gate::branch pbkdf2-gate/baselines-v2 created; this token may not open") {
		t.Errorf("exit %d:\n%s%s", code, out, errs)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	const link = "https://github.test/octo/hello/compare/main...pbkdf2-gate/baselines-v2?expand=1"
	if s := read("summary"); !strings.HasPrefix(s, "[Review it]("+link+")\n\n### Baselines of v2") {
		t.Errorf("summary:\n%s", s)
	}
	if o := read("output"); !strings.Contains(o, link) || !strings.Contains(o, topicOfV2) {
		t.Errorf("outputs:\n%s", o)
	}

	// What a top-up need not record is no warning.
	r.hub.NoPulls(false)
	code, out, errs = r.runIn(r.job("schedule", map[string]any{}), "--pull-request", "--new-platforms", "--release", "v2", "v2.txt")
	if code != 0 || errs != "" || strings.Contains(out, "::warning title=pbkdf2-gate::left out: go") || !strings.Contains(out, "left out: go of run r1 on linux/amd64 a: release v2 has a baseline of this CPU already\nnothing to do\n") {
		t.Errorf("exit %d:\n%s%s", code, out, errs)
	}

	// A fork's own figures.
	repo := func(id int) map[string]any { return map[string]any{"id": id, "owner": map[string]any{"login": "x"}} }
	sha := strings.Repeat("a", 40)
	pull := map[string]any{"repository": repo(4711), "pull_request": map[string]any{"number": 7, "user": map[string]any{"login": "eve"},
		"head": map[string]any{"sha": sha, "repo": repo(99)}, "base": map[string]any{"sha": sha, "ref": "main", "repo": repo(4711)}}}
	run := map[string]any{"repository": repo(4711), "workflow_run": map[string]any{"id": 5, "run_attempt": 1, "event": "pull_request", "head_sha": sha, "head_repository": repo(99)}}
	for event, payload := range map[string]any{"pull_request": pull, "pull_request_target": pull, "workflow_run": run} {
		for _, mode := range [][]string{{"--pull-request"}, {"--commit-to", "main"}, nil} {
			writes := len(r.hub.Writes())
			code, out, errs := r.runIn(r.job(event, payload), append(mode, "--release", "v3", "v2.txt")...)
			if code != 3 || !strings.Contains(errs, "figures of a fork are no baseline: record a release") || len(r.hub.Writes()) != writes {
				t.Errorf("%s %v: exit %d: %s%s", event, mode, code, out, errs)
			}
		}
	}
}

func TestAsides(t *testing.T) {
	r := result.Run{Target: "go", ID: "r1", Release: "v1", Host: host.Fingerprint{GOOS: "linux", GOARCH: "amd64", CPUID: "a"}}
	twice := []result.Run{r, r}
	got := strings.Join(asides(baseline.Report{LeftOut: []baseline.LeftOut{{Run: r, Reason: "it is odd"}}, Fresh: []result.Run{r}, Dropped: twice}), "\n")
	for _, want := range []string{
		"left out: go of run r1 on ", ": it is odd\n", "another plan or yardstick than the releases before",
		"the file is full, old releases go: v1 on ",
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not said once:\n%s", want, got)
		}
	}
}
