package workflows

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github/githubtest"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

const baselineFile = ".github/workflows/pbkdf2-baseline.yml"

// newRelease is a caller with the documentation's file and the inputs in it,
// whose main branch has a tag v2.0.0.
func newRelease(t *testing.T, inputs string) *caller {
	t.Helper()
	text := strings.Replace(example(t, "baseline"), "    with:\n", "    with:\n"+inputs, 1)
	text += "  after:\n    needs: baseline\n    runs-on: one\n    steps:\n      - shell: bash\n" +
		"        env: {URL: \"${{ needs.baseline.outputs.url }}\"}\n        run: echo \"after $URL\" >>\"$TEST_LOG\"\n"
	c := newCaller(t, map[string]string{baselineFile: text})
	c.git(c.dir, "checkout", "--quiet", "--detach", c.base)
	c.git(c.dir, "tag", "v2.0.0")
	c.git(c.dir, "push", "--quiet", "origin", "v2.0.0")
	return c
}

// released is the event of a release.
func (c *caller) released(tag string) map[string]any {
	return map[string]any{"action": "published", "repository": c.event()["repository"], "release": map[string]any{"tag_name": tag}}
}

func (c *caller) onEvent(more map[string]any) map[string]any {
	more["repository"] = c.event()["repository"]
	return more
}

// Every leg measures so many times what the tag has, and one job records it.
func TestBaseline(t *testing.T) {
	c := newRelease(t, "      replicas: 2\n      runners: '[\"ubuntu-24.04\", \"macos-15\"]'\n")
	out, ok := c.act("release", c.released("v2.0.0"))
	if !ok {
		t.Fatalf("act failed:\n%s", out)
	}
	const rest = "key=pbkdf2-baseline fail-on=none target= budget= threshold=, baselines=.pbkdf2-gate-recorded/stored token=none setup=none"
	got := c.logged("build", "download", "result")
	slices.Sort(got[:12]) // legs run in any order
	want := []string{
		"action leg=macos-15 " + rest, "action leg=macos-15 " + rest, "action leg=ubuntu-24.04 " + rest, "action leg=ubuntu-24.04 " + rest,
		"checkout main in .pbkdf2-gate-recorded", "checkout main in .pbkdf2-gate-recorded", "checkout main in .pbkdf2-gate-recorded", "checkout main in .pbkdf2-gate-recorded",
		"checkout refs/tags/v2.0.0 in .", "checkout refs/tags/v2.0.0 in .", "checkout refs/tags/v2.0.0 in .", "checkout refs/tags/v2.0.0 in .",
		"checkout main in repository",
		"baseline [update] [--release] [v2.0.0] [--pull-request] [--] [../results/pbkdf2-baseline-ubuntu-24.04-1/result.txt] [../results/pbkdf2-baseline-ubuntu-24.04-2/result.txt]" +
			" [../results/pbkdf2-baseline-macos-15-1/result.txt] [../results/pbkdf2-baseline-macos-15-2/result.txt] in repository",
		"after https://github.test/review",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("calls (-want +got):\n%s\n%s", d, out)
	}
}

// By hand, with every input.
func TestBaselineInputs(t *testing.T) {
	c := newRelease(t, "      ref: main\n      replicas: 1\n      runners: '[\"one\"]'\n      setup: ci/setup\n      budget: 1s\n      key: mine\n      commit-to: stable\n      target: |\n        go=go\n        ours=probe:./ours\n")
	c.copyDir("testdata/setup", filepath.Join(c.dir, "ci/setup"))
	c.commit("setup")
	c.git(c.dir, "push", "--quiet", "origin", "HEAD:main")
	out, ok := c.act("workflow_dispatch", c.onEvent(map[string]any{"inputs": map[string]any{"release": "v2.0.0"}}), "--input", "release=v2.0.0")
	if !ok {
		t.Fatalf("act failed:\n%s", out)
	}
	want := []string{
		"checkout main in .", "checkout main in .pbkdf2-gate-recorded",
		"setup: built=yes status=[] beside=there",
		"action leg=one key=mine fail-on=none target=go=go;ours=probe:./ours; budget=1s threshold=, baselines=.pbkdf2-gate-recorded/stored token=none setup=yes",
		"checkout main in repository",
		"baseline [update] [--release] [v2.0.0] [--commit-to] [stable] [--] [../results/mine-one-1/result.txt] in repository",
		"result of one",
		"after https://github.test/review",
	}
	if d := cmp.Diff(want, c.logged("build", "download")); d != "" {
		t.Errorf("calls (-want +got):\n%s\n%s", d, out)
	}
}

// On schedule it is the last release that has baselines, where any has.
func TestBaselineTopUp(t *testing.T) {
	c := newRelease(t, "      replicas: 1\n      runners: '[\"one\"]'\n")
	c.env["TEST_LATEST"] = "v2.0.0"
	schedule := c.onEvent(map[string]any{"schedule": "43 4 * * 3"})
	out, ok := c.act("schedule", schedule)
	if !ok {
		t.Fatalf("act failed:\n%s", out)
	}
	want := []string{
		"checkout main in repository", "baseline list --latest in repository",
		"checkout refs/tags/v2.0.0 in .", "checkout main in .pbkdf2-gate-recorded",
		"action leg=one key=pbkdf2-baseline fail-on=none target= budget= threshold=, baselines=.pbkdf2-gate-recorded/stored token=none setup=none",
		"checkout main in repository",
		"baseline [update] [--release] [v2.0.0] [--pull-request] [--new-platforms] [--] [../results/pbkdf2-baseline-one-1/result.txt] in repository",
		"result of one", "after https://github.test/review",
	}
	if d := cmp.Diff(want, c.logged("build", "download")); d != "" {
		t.Errorf("calls (-want +got):\n%s\n%s", d, out)
	}

	delete(c.env, "TEST_LATEST")
	c.must(writeEmpty(c.log))
	if out, ok = c.act("schedule", schedule); !ok || !strings.Contains(out, "nothing to top up") {
		t.Errorf("without baselines: succeeded: %t\n%s", ok, out)
	}
	if d := cmp.Diff([]string{"checkout main in repository", "baseline list --latest in repository", "after "}, c.logged("build")); d != "" {
		t.Errorf("calls without baselines (-want +got):\n%s\n%s", d, out)
	}
}

// What cannot be measured is refused before it is.
func TestBaselineRefuses(t *testing.T) {
	for _, x := range []struct{ inputs, tag, says string }{
		{"", "", "no release: run on release, or give the input release"},
		{"", "../x", "that is no name of a release"},
		{"", "a b", "that is no name of a release"},
		{"", strings.Repeat("v", 300), "that is no name of a release"},
		{"      replicas: 0\n", "v2.0.0", "input replicas: give a whole number from 1 to 9"},
		{"      replicas: 10\n", "v2.0.0", "input replicas: give a whole number from 1 to 9"},
	} {
		t.Run(x.says[:8]+x.inputs+x.tag[:min(5, len(x.tag))], func(t *testing.T) {
			c := newRelease(t, x.inputs+"      runners: '[\"one\"]'\n")
			c.refused("release", c.released(x.tag), x.says)
			if data, err := os.ReadFile(c.log); err == nil {
				t.Errorf("calls:\n%s", data)
			}
		})
	}
}

// A leg that fails is left out, the others are recorded; none is an error.
func TestBaselineMissingLeg(t *testing.T) {
	c := newRelease(t, "      replicas: 1\n      runners: '[\"ubuntu-24.04\", \"one\"]'\n")
	c.env["TEST_BROKEN"] = "one"
	// What another job or leg left is none of this one's.
	c.write(filepath.Join(c.artifacts, "pbkdf2-baseline-one-7/result.txt"), "another replica\n")
	c.write(filepath.Join(c.artifacts, "pbkdf2-gate-one-1/result.txt"), "another job\n")
	out, ok := c.act("release", c.released("v2.0.0"))
	if ok || !strings.Contains(out, "left out, for want of a result: one 1: see the jobs named measure") {
		t.Errorf("succeeded: %t\n%s", ok, out)
	}
	want := []string{"download pbkdf2-baseline-ubuntu-24.04-1",
		"baseline [update] [--release] [v2.0.0] [--pull-request] [--] [../results/pbkdf2-baseline-ubuntu-24.04-1/result.txt] in repository",
		"result of ubuntu-24.04"}
	if d := cmp.Diff(want, c.logged("build", "action", "checkout")); d != "" {
		t.Errorf("calls (-want +got):\n%s\n%s", d, out)
	}

	c.env["TEST_BROKEN"] = "one,ubuntu-24.04"
	c.must(writeEmpty(c.log))
	c.env["TEST_ARTIFACTS"] = filepath.Join(filepath.Dir(c.dir), "none")
	if out, ok = c.act("release", c.released("v2.0.0")); ok || !strings.Contains(out, "no result to record") {
		t.Errorf("no leg: succeeded: %t\n%s", ok, out)
	}
}

// replica is a result file of a leg's replica on its n-th kind of CPU, with a
// commit of its own release.
func replica(t *testing.T, leg, cpu int, id, release string, ms float64) []byte {
	t.Helper()
	w := workload.Reference()
	r := result.Run{
		Host: machines[leg], Yardstick: "1 sha-ni", Workload: w,
		Plan:   result.Plan{SliceIterations: 3200, Slices: 120, WarmUp: 8, Yardstick: 400 * time.Microsecond},
		Target: "go", Side: result.Head, Leg: legs[leg], ID: id, Toolchain: "go1.26.8", Outcome: result.Measured,
		Commit: "c-" + release, Date: time.Date(2026, 11, len(release)+int(release[1]-'0'), 9, 30, 0, 0, time.UTC),
	}
	r.Host.CPUID += fmt.Sprintf("-%d", cpu)
	r.Host.HostID += "-" + id
	for i := range 15 {
		ns := ms * 1e6 * (1 + float64(i%5-2)/5000)
		r.Rounds = append(r.Rounds, result.Round{Clean: 100, NsPerOp: ns, RelCost: ns / w.Compressions() / 37, ChainNs: 37, LanesNs: 19.4, CleanShare: 100. / 120})
	}
	data, err := result.Encode([]result.Run{r})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// recording is a caller whose record job is the real command, in front of a
// GitHub of the test.
type recording struct {
	*caller
	hub *githubtest.Server
}

func newRecording(t *testing.T, inputs string) *recording {
	t.Helper()
	r := &recording{newRelease(t, inputs), githubtest.New(t)}
	command, err := buildCommand()
	r.must(err)
	r.env["TEST_COMMAND"] = command
	r.env["GITHUB_API_URL"] = r.hub.Listen()
	r.hub.SetBranch("main", map[string]string{"README.md": "readme\n"})
	for _, tag := range []string{"v1.0.0", "v3.0.0"} {
		r.git(r.dir, "tag", tag)
		r.git(r.dir, "push", "--quiet", "origin", tag)
	}
	return r
}

// release runs the workflow of a release, with results by file name.
func (r *recording) release(tag string, results map[string][]byte) (output string, ok bool) {
	r.t.Helper()
	one := *r.caller
	one.env = maps.Clone(r.env)
	dir := r.t.TempDir()
	one.env["TEST_RESULTS"], one.env["TEST_ARTIFACTS"], one.env["TEST_LOG"] = filepath.Join(dir, "results"), filepath.Join(dir, "artifacts"), filepath.Join(dir, "log")
	one.write(one.env["TEST_ARTIFACTS"]+"/.keep", "")
	for name, data := range results {
		one.write(filepath.Join(dir, "results", name), string(data))
	}
	return one.act("release", one.released(tag), "--secret", "GITHUB_TOKEN="+githubtest.Token, "--insecure-secrets")
}

// results are two replicas of each of two legs: on one label they meet two CPUs.
func results(t *testing.T, release string, ms float64) map[string][]byte {
	all := map[string][]byte{}
	for leg := range 2 {
		for n := range 2 {
			all[legs[leg]+"-"+strconv.Itoa(n+1)+".txt"] = replica(t, leg, n*(1-leg), fmt.Sprintf("%s-%d-%d", release, leg, n), release, ms+float64(n))
		}
	}
	return all
}

// files are the releases and runs of each baseline file on a branch.
func (r *recording) files(branch string) map[string]string {
	r.t.Helper()
	all := map[string]string{}
	for name, text := range r.hub.Files(branch) {
		if !strings.HasPrefix(name, "baselines/") {
			continue
		}
		runs, err := result.Read(strings.NewReader(text), name)
		r.must(err)
		var s []string
		for _, x := range runs {
			s = append(s, x.Release+"/"+x.ID)
		}
		slices.Sort(s)
		all[strings.TrimPrefix(name, "baselines/")] = strings.Join(s, " ")
	}
	return all
}

const twoLegs = "      replicas: 2\n      runners: '[\"ubuntu-24.04\", \"ubuntu-24.04-arm\"]'\n"

func of(release string) map[string]string {
	return map[string]string{
		"linux-amd64/amd-epyc-7763-f25m1s1-sha-0.txt": release + "/" + release + "-0-0",
		"linux-amd64/amd-epyc-7763-f25m1s1-sha-1.txt": release + "/" + release + "-0-1",
		"linux-arm64/arm-0x41-0xd49-r0p0-sha2-0.txt":  release + "/" + release + "-1-0 " + release + "/" + release + "-1-1",
	}
}

// A release: matrix with replicas, one commit, a pull request; the same again:
// nothing new; refused: the link.
func TestRecord(t *testing.T) {
	r := newRecording(t, twoLegs)
	out, ok := r.release("v1.0.0", results(t, "v1.0.0", 150))
	const topic = "pbkdf2-gate/baselines-v1.0.0"
	pulls := r.hub.Pulls()
	if !ok || len(pulls) != 1 || len(r.hub.Commits(topic)) != 2 || !strings.Contains(out, "pull request created: ") {
		t.Fatalf("succeeded: %t, %d pull requests, %d commits\n%s", ok, len(pulls), len(r.hub.Commits(topic)), out)
	}
	if d := cmp.Diff(of("v1.0.0"), r.files(topic)); d != "" {
		t.Errorf("recorded (-want +got):\n%s", d)
	}
	if strings.Count(pulls[0].Body, "| new |") != 3 || len(r.files("main")) != 0 || r.hub.Files(topic)["README.md"] == "" {
		t.Errorf("body:\n%s", pulls[0].Body)
	}
	if strings.Contains(out, githubtest.Token) {
		t.Error("the token is in the log")
	}
	writes := len(r.hub.Writes())
	out, ok = r.release("v1.0.0", results(t, "v1.0.0", 150))
	if !ok || len(r.hub.Writes()) != writes || !strings.Contains(out, "has all this already: no commit") {
		t.Errorf("again: succeeded: %t, %d writes\n%s", ok, len(r.hub.Writes())-writes, out)
	}

	r.hub.NoPulls(true)
	out, ok = r.release("v2.0.0", results(t, "v2.0.0", 160))
	if !ok || len(r.hub.Pulls()) != 1 || !strings.Contains(out, "/compare/main...pbkdf2-gate/baselines-v2.0.0?expand=1") || !strings.Contains(out, "may not open pull requests here") {
		t.Errorf("refused: succeeded: %t, %d pull requests\n%s", ok, len(r.hub.Pulls()), out)
	}
	if d := cmp.Diff(of("v2.0.0"), r.files("pbkdf2-gate/baselines-v2.0.0")); d != "" {
		t.Errorf("recorded (-want +got):\n%s", d)
	}
	r.hub.NoPulls(false)

	r.hub.ReadOnly(true)
	if out, ok = r.release("v3.0.0", results(t, "v3.0.0", 160)); ok || !strings.Contains(out, `give the job "permissions: contents: write"`) {
		t.Errorf("a read-only token: succeeded: %t\n%s", ok, out)
	}
}

// Straight to a branch that moves meanwhile, by two releases at once; and one
// that is protected.
func TestRecordDirectly(t *testing.T) {
	r := newRecording(t, twoLegs+"      commit-to: main\n")
	var once sync.Once
	r.hub.On(func(req *http.Request) {
		if req.Method == "PATCH" {
			once.Do(func() { r.hub.SetBranch("main", map[string]string{"README.md": "moved\n"}) })
		}
	})
	var both sync.WaitGroup
	for _, tag := range []string{"v1.0.0", "v2.0.0"} {
		both.Go(func() {
			if out, ok := r.release(tag, results(t, tag, 150)); !ok || !strings.Contains(out, "committed to main: ") {
				t.Errorf("%s: succeeded: %t\n%s", tag, ok, out)
			}
		})
	}
	both.Wait()
	want := of("v1.0.0")
	for name, runs := range of("v2.0.0") {
		want[name] += " " + runs
	}
	if d := cmp.Diff(want, r.files("main")); d != "" {
		t.Errorf("recorded (-want +got):\n%s", d)
	}
	if r.hub.Files("main")["README.md"] != "moved\n" || len(r.hub.Commits("main")) != 4 {
		t.Errorf("%d commits: %v", len(r.hub.Commits("main")), r.hub.Files("main")["README.md"])
	}

	r.hub.Protect("main", "Changes must be made through a pull request.")
	out, ok := r.release("v3.0.0", results(t, "v3.0.0", 150))
	if !ok || !strings.Contains(out, "main does not take the commit (Changes must be made through a pull request.): open a pull request: ") {
		t.Errorf("protected: succeeded: %t\n%s", ok, out)
	}
	if d := cmp.Diff(want, r.files("main")); d != "" || len(r.files("pbkdf2-gate/baselines-v3.0.0")) != 3 {
		t.Errorf("main (-want +got):\n%s", d)
	}
}
