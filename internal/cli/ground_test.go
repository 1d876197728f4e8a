package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// pullRepo is a clone with the test merge of a pull request checked out.
type pullRepo struct {
	t          *testing.T
	dir        string
	base, head string
}

func (p *pullRepo) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e@example.com",
		"GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// newPull commits what base leaves in the folder, then what the pull request
// leaves there.
func newPull(t *testing.T, base, pull func(dir string)) *pullRepo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Parallel()
	p := &pullRepo{t: t, dir: t.TempDir()}
	p.git("init", "-q", "-b", "main")
	commit := func(change func(string)) string {
		change(p.dir)
		p.git("add", "-A")
		p.git("commit", "-q", "--allow-empty", "-m", "change")
		return p.git("rev-parse", "HEAD")
	}
	p.base = commit(base)
	p.head = commit(pull)
	p.git("checkout", "-q", "--detach", p.base)
	p.git("merge", "-q", "--no-ff", "-m", "merge", p.head)
	return p
}

// report is the pull request's own report on the runs.
func (p *pullRepo) report(runs ...result.Run) string {
	p.t.Helper()
	out := p.t.TempDir()
	file(p.t, out, "now.txt", runs...)
	repo := map[string]any{"id": 4711, "owner": map[string]any{"login": "octo"}}
	event, err := json.Marshal(map[string]any{"repository": repo, "pull_request": map[string]any{"number": 7, "user": map[string]any{"login": "octocat"},
		"head": map[string]any{"sha": p.head, "repo": repo}, "base": map[string]any{"sha": p.base, "ref": "main", "repo": repo}}})
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(out, "event.json"), event, 0o666); err != nil {
		p.t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	c := &Command{Stdout: &stdout, Stderr: &stderr, Dir: p.dir, Environ: []string{"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH=" + filepath.Join(out, "event.json"),
		"GITHUB_REPOSITORY=octo/hello", "GITHUB_RUN_ID=1", "GITHUB_RUN_ATTEMPT=1", "GITHUB_SHA=" + strings.Repeat("a", 40)}}
	if code := c.Run(context.Background(), []string{"report", "--comment", "never", "--format", "markdown", filepath.Join(out, "now.txt")}); code > 1 {
		p.t.Errorf("exit %d: %s", code, stderr.String())
	}
	return stdout.String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A pull request that carries baselines is held against the base's, and told
// what merging it would change.
func TestPullRequestWithBaselines(t *testing.T) {
	recordIn := func(release string, day int, runs ...result.Run) func(string) {
		return func(dir string) {
			tmp, runs := t.TempDir(), slices.Clone(runs)
			for i := range runs {
				onDay(day)(&runs[i])
			}
			file(t, tmp, "r.txt", runs...)
			command(t, dir, 0, "baseline", "update", "--release", release, filepath.Join(tmp, "r.txt"))
		}
	}
	v1 := recordIn("v1", 1, sample("a", "go", "r1", 150), sample("b", "go", "r1", 300))
	path := func(dir, cpu string) string { return filepath.Join(dir, "baselines/linux-amd64", cpu+".txt") }
	same := func(r *result.Run) { r.Host.HostID = "h-r1" } // the boot of v1

	t.Run("a release", func(t *testing.T) {
		p := newPull(t, v1, recordIn("v2", 2, sample("a", "go", "r2", 165), sample("c", "go", "r2", 200)))
		md := p.report(sample("a", "go", "now", 165, same))
		for _, want := range []string{
			"this pull request changes baselines/linux-amd64/a.txt, baselines/linux-amd64/c.txt: what was there before judges it",
			"merging accepts a change of a baseline: go on linux/amd64 CPU a: v1 150 ms -&#62; v2 165 ms (+10.0 %), anchor v1 -&#62; v2 (PBKDF2-HMAC-SHA256, 500,000 iterations",
			"merging accepts a change of a baseline: go on linux/amd64 CPU c: nothing -&#62; v2 200 ms (PBKDF2",
			"10.0&nbsp;% slower than v1", // the base's baseline judges
		} {
			if !strings.Contains(md, want) {
				t.Errorf("it does not say %q:\n%s", want, md)
			}
		}
		if strings.Contains(md, "CPU b") {
			t.Errorf("what does not change is named:\n%s", md)
		}
	})
	t.Run("another plan", func(t *testing.T) {
		p := newPull(t, v1, recordIn("v2", 2, sample("a", "go", "r2", 165, func(r *result.Run) { r.Plan.SliceIterations = 9 })))
		if md := p.report(sample("a", "go", "now", 150, same)); !strings.Contains(md, "v1 150 ms -&#62; v2, sampled by another plan and not comparable, anchor v1 -&#62; v2") {
			t.Error(md)
		}
	})
	t.Run("removed", func(t *testing.T) {
		p := newPull(t, v1, func(dir string) { must(t, os.Remove(path(dir, "a"))) })
		if md := p.report(sample("a", "go", "now", 150, same)); !strings.Contains(md, "go on linux/amd64 CPU a: v1 150 ms -&#62; nothing") || !strings.Contains(md, "ok: nothing drifted") {
			t.Error(md)
		}
	})
	t.Run("merged badly", func(t *testing.T) {
		p := newPull(t, v1, func(dir string) {
			data, err := os.ReadFile(path(dir, "a"))
			must(t, err)
			must(t, os.WriteFile(path(dir, "a"), append([]byte("<<<<<<< HEAD\n"), data...), 0o666))
		})
		if md := p.report(sample("a", "go", "now", 150, same)); !strings.Contains(md, "once merged, its baselines could not be read, and every check would end with exit code 2: baselines/linux-amd64/a.txt:") {
			t.Error(md)
		}
	})
	t.Run("many", func(t *testing.T) {
		var runs []result.Run
		for _, target := range strings.Split("abcdefghijklmno", "") {
			runs = append(runs, sample("a", "t"+target, "r2", 165))
		}
		p := newPull(t, v1, recordIn("v2", 2, runs...))
		md := p.report(sample("a", "go", "now", 150, same))
		if strings.Count(md, "merging accepts a change") != maxShifts || !strings.Contains(md, "and it changes 3 baselines more") {
			t.Error(md)
		}
	})
	t.Run("the policy alone", func(t *testing.T) {
		p := newPull(t, v1, func(dir string) {
			must(t, os.WriteFile(filepath.Join(dir, ".pbkdf2-gate.yaml"), []byte("baseline-threshold: 50%\n"), 0o666))
		})
		if md := p.report(sample("a", "go", "now", 165, same)); !strings.Contains(md, "this pull request changes .pbkdf2-gate.yaml") || strings.Contains(md, "merging accepts") || !strings.Contains(md, "slower than v1") {
			t.Error(md)
		}
	})
}
