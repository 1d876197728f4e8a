package workflows

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github/githubtest"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// commandDir has the real command, built once.
var commandDir string

func TestMain(m *testing.M) {
	var err error
	if commandDir, err = os.MkdirTemp("", "pbkdf2-gate-workflows-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(commandDir)
	os.Exit(code)
}

var buildCommand = sync.OnceValues(func() (string, error) {
	path := filepath.Join(commandDir, "pbkdf2-gate")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, "../../cmd/pbkdf2-gate").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return path, err
})

var (
	legs     = []string{"ubuntu-24.04", "ubuntu-24.04-arm", "macos-15"}
	machines = []host.Fingerprint{
		{GOOS: "linux", GOARCH: "amd64", CPU: "AMD EPYC 7763 64-Core Processor", CPUID: "amd-epyc-7763-f25m1s1-sha", SHA: "sha_ni", HostID: "h1"},
		{GOOS: "linux", GOARCH: "arm64", CPU: "Neoverse-N2", CPUID: "arm-0x41-0xd49-r0p0-sha2", SHA: "sha1+sha2", HostID: "h2"},
		{GOOS: "darwin", GOARCH: "arm64", CPU: "Apple M1 (Virtual)", CPUID: "apple-m1-virtual", SHA: "sha1+sha2+sha512", HostID: "h3"},
	}
)

// measured is the result file of a leg whose hash takes ms on a quiet core.
func measured(t *testing.T, leg int, ms float64) []byte {
	t.Helper()
	w := workload.Reference()
	r := result.Run{
		Host: machines[leg], Yardstick: "1 sha-ni", Workload: w,
		Plan:   result.Plan{SliceIterations: 3200, Slices: 120, WarmUp: 8, Yardstick: 400 * time.Microsecond},
		Target: "go", Side: result.Head, Leg: legs[leg], ID: "run-" + strconv.Itoa(leg), Toolchain: "go1.26.8",
		Outcome: result.Measured, Date: time.Date(2026, 11, 3, 9, 30, 0, 0, time.UTC),
	}
	for i := range 30 {
		ns := ms * 1e6 * (1 + float64(i%5-2)/5000)
		r.Rounds = append(r.Rounds, result.Round{Clean: 100, NsPerOp: ns, RelCost: ns / w.Compressions() / 37, ChainNs: 37, LanesNs: 19.4, CleanShare: 100. / 120})
	}
	data, err := result.Encode([]result.Run{r})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// delivery is a caller whose report job is the real command, in front of a
// GitHub of the test.
type delivery struct {
	*caller
	hub  *githubtest.Server
	said *strings.Builder // what all runs printed
}

// newDelivery has baselines of 150 ms on each leg, and pull request 7.
func newDelivery(t *testing.T, workflow string) *delivery {
	t.Helper()
	files := map[string]string{workflowFile: example(t, workflow)}
	d := &delivery{caller: newCaller(t, files), hub: githubtest.New(t), said: &strings.Builder{}}
	command, err := buildCommand()
	d.must(err)
	d.env["TEST_COMMAND"] = command
	d.env["TEST_RESULTS"] = filepath.Join(filepath.Dir(d.dir), "results")
	d.env["GITHUB_API_URL"] = d.hub.Listen()

	// The baselines are the base commit's: begin anew with them.
	d.git(d.dir, "checkout", "--quiet", "--detach", d.base)
	for i := range legs {
		file := filepath.Join(filepath.Dir(d.dir), "baseline.txt")
		d.write(file, string(measured(t, i, 150)))
		cmd := exec.Command(command, "baseline", "update", "--release", "v1.0.0", file)
		cmd.Dir, cmd.Env = d.dir, d.environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	d.commit("baselines")
	d.base = d.git(d.dir, "rev-parse", "HEAD")
	d.git(d.dir, "push", "--quiet", "origin", "HEAD:main")
	d.git(d.dir, "checkout", "--quiet", "-b", "pull")
	d.write(filepath.Join(d.dir, "pull.txt"), "a change\n")
	d.commit("pull")
	d.head = d.git(d.dir, "rev-parse", "HEAD")
	d.git(d.dir, "checkout", "--quiet", "--detach", d.base)
	d.git(d.dir, "merge", "--quiet", "--no-ff", "-m", "merge", d.head)
	d.pull(d.head, &d.hub.Repo, "octocat")
	return d
}

func (d *delivery) pull(head string, repo *githubtest.Repo, author string) {
	d.hub.SetPull(githubtest.Pull{Number: 7, Author: author,
		Head: githubtest.Side{Repo: repo, Ref: "pull", SHA: head}, Base: githubtest.Side{Repo: &d.hub.Repo, Ref: "main", SHA: d.base}})
}

// run is one run of the pull request's workflow, in which a hash takes ms on
// the legs.
func (d *delivery) run(id int, ms ...float64) (output string, ok bool) {
	d.t.Helper()
	one := *d.caller
	one.env = maps.Clone(d.env)
	dir := d.t.TempDir()
	one.env["TEST_RESULTS"], one.env["TEST_ARTIFACTS"] = filepath.Join(dir, "results"), filepath.Join(dir, "artifacts")
	one.env["GITHUB_RUN_ID"] = strconv.Itoa(id)
	for i, x := range ms {
		one.write(filepath.Join(dir, "results", legs[i]+".txt"), string(measured(d.t, i, x)))
	}
	return one.act("pull_request", one.event(), "--secret", "GITHUB_TOKEN="+githubtest.Token, "--insecure-secrets")
}

// comment is the one comment of ours on the pull request.
func (d *delivery) comment(contains ...string) string {
	d.t.Helper()
	var ours []string
	for _, c := range d.hub.Comments(7) {
		if c.Author == githubtest.Bot {
			ours = append(ours, c.Body)
		}
	}
	if len(ours) != 1 {
		d.t.Fatalf("%d comments of ours", len(ours))
	}
	for _, s := range contains {
		if !strings.Contains(ours[0], s) {
			d.t.Fatalf("the comment does not say %q:\n%s", s, ours[0])
		}
	}
	return ours[0]
}

// The life of one comment, on page three of a long thread.
func TestDelivery(t *testing.T) {
	d := newDelivery(t, "gate")
	for i := range 230 {
		d.hub.AddComment(7, "octocat", fmt.Sprintf("remark %d", i))
	}
	expect := func(name string, wantOK bool, out string, ok bool, says string) {
		t.Helper()
		d.said.WriteString(out)
		if ok != wantOK || !strings.Contains(out, says) {
			t.Fatalf("%s: succeeded: %t, want %t and %q:\n%s", name, ok, wantOK, says, out)
		}
	}
	out, ok := d.run(101, 150, 150, 180)
	expect("first, slower on one leg", false, out, ok, "comment created")
	drift := d.comment("slower", "macos-15", "ubuntu-24.04-arm", "v1.0.0")
	for i := range 20 {
		d.hub.AddComment(7, "octocat", fmt.Sprintf("later remark %d", i))
	}

	out, ok = d.run(102, 150, 150, 150)
	expect("fixed", true, out, ok, "comment updated")
	fixed := d.comment("ok")
	if fixed == drift || strings.Contains(fixed, "slower") {
		t.Errorf("the drift is fixed, the comment says:\n%s", fixed)
	}

	out, ok = d.run(101, 150, 150, 180)
	expect("an older run", false, out, ok, "comment skipped")
	if d.comment() != fixed {
		t.Error("an older run overwrote a newer one's comment")
	}

	d.env["TEST_BROKEN"] = legs[1]
	out, ok = d.run(103, 150, 150, 150)
	expect("a leg is missing", false, out, ok, "comment updated")
	missing := d.comment("missing", legs[1])
	delete(d.env, "TEST_BROKEN")

	d.hub.ReadOnly(true)
	out, ok = d.run(104, 150, 150, 150)
	expect("a token without rights", true, out, ok, "no comment, the report is in the job's summary")
	d.hub.ReadOnly(false)

	d.pull(strings.Repeat("ab", 20), &d.hub.Repo, "octocat")
	out, ok = d.run(105, 150, 150, 150)
	expect("the head moved on", true, out, ok, "comment skipped")
	if d.comment() != missing {
		t.Error("a comment was written for a head that is not the pull request's any more")
	}
	d.noToken()
}

// noToken looks for the token in all that runs have written.
func (d *delivery) noToken() {
	d.t.Helper()
	if strings.Contains(d.said.String(), githubtest.Token) {
		d.t.Error("the token is in the log")
	}
	for _, c := range d.hub.Comments(7) {
		if strings.Contains(c.Body, githubtest.Token) {
			d.t.Error("the token is in a comment")
		}
	}
	err := filepath.WalkDir(filepath.Dir(d.dir), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(githubtest.Token)) {
			d.t.Errorf("the token is in %s", path)
		}
		return err
	})
	d.must(err)
}

// Two runs that report at the same time leave one comment.
func TestDeliveryTogether(t *testing.T) {
	d := newDelivery(t, "gate")
	var both sync.WaitGroup
	outs := make([]string, 2)
	for i := range outs {
		both.Go(func() { outs[i], _ = d.run(200+i, 150, 150, 150+40*float64(i)) })
	}
	both.Wait()
	body := d.comment("slower")
	if !strings.Contains(body, "201") {
		t.Errorf("the comment is not the newer run's:\n%s\n%s", body, strings.Join(outs, "\n"))
	}
}

// Pull requests whose own run cannot comment: a fork's, and Dependabot's.
func TestDeliveryFromRun(t *testing.T) {
	for _, c := range []struct {
		name, author, says string
		fork               bool
	}{
		{"fork", "stranger", "which its fork can change", true},
		{"dependabot", "dependabot[bot]", "own run reported", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDelivery(t, "comment")
			repo := &d.hub.Repo
			if c.fork {
				repo = &githubtest.Repo{ID: 99, Owner: "stranger", Name: "hello"}
			}
			d.pull(d.head, repo, c.author)
			d.hub.AddRun(githubtest.Run{ID: 300, Attempt: 1, Event: "pull_request", HeadSHA: d.head, HeadBranch: "pull", HeadRepository: repo, Path: workflowFile})
			for i, leg := range legs {
				var archive bytes.Buffer
				z := zip.NewWriter(&archive)
				f, err := z.Create("result.txt")
				d.must(err)
				_, err = f.Write(measured(t, i, 150+20*float64(i)))
				d.must(err)
				d.must(z.Close())
				d.hub.AddArtifact(githubtest.Artifact{RunID: 300, Name: "pbkdf2-gate-" + leg + "-1", Data: archive.Bytes(), Created: time.Now()})
			}
			// The default branch is what such a workflow sees.
			d.git(d.dir, "checkout", "--quiet", "--detach", d.base)
			event := d.event()
			event["action"] = "completed"
			event["workflow_run"] = map[string]any{"id": 300, "run_attempt": 1, "event": "pull_request", "head_sha": d.head, "head_branch": "pull", "path": workflowFile,
				"head_repository": map[string]any{"id": repo.ID, "owner": map[string]any{"login": repo.Owner}}}
			delete(event, "pull_request")
			out, ok := d.act("workflow_run", event, "--secret", "GITHUB_TOKEN="+githubtest.Token, "--insecure-secrets")
			d.said.WriteString(out)
			if !ok || !strings.Contains(out, "comment created") {
				t.Fatalf("succeeded: %t\n%s", ok, out)
			}
			d.comment("slower", "macos-15", c.says)
			d.noToken()
		})
	}
}
