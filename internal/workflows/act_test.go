package workflows

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// require skips a test whose program is missing, or fails it where the
// environment says that the program must be there.
func require(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if slices.Contains(strings.Split(os.Getenv("PBKDF2_GATE_REQUIRE"), ","), program) {
		t.Fatalf("%s is not on PATH, and PBKDF2_GATE_REQUIRE names it", program)
	}
	t.Skipf("%s is not on PATH", program)
}

// caller is a repository that uses the gate, in the clone that act runs in.
type caller struct {
	t          *testing.T
	dir        string            // the clone
	project    string            // what stands for pbkdf2-gate/pbkdf2-gate@v1
	log        string            // what the stubs wrote
	artifacts  string            // folder
	env        map[string]string // for every step
	head, base string            // commits of its pull request
}

// newCaller makes a repository with the files, from path to text, and checks
// out the test merge of a pull request that adds one more.
func newCaller(t *testing.T, files map[string]string) *caller {
	t.Helper()
	if testing.Short() {
		t.Skip("runs whole workflows")
	}
	require(t, "act")
	t.Parallel()
	temp := t.TempDir()
	c := &caller{
		t: t, dir: filepath.Join(temp, "clone"), project: filepath.Join(temp, "project"),
		log: filepath.Join(temp, "log"), artifacts: filepath.Join(temp, "artifacts"),
	}
	c.env = map[string]string{
		"GITHUB_REPOSITORY": "octo/hello",
		"TEST_PROJECT":      c.project,
		"TEST_ORIGIN":       filepath.Join(temp, "origin.git"),
		"TEST_LOG":          c.log,
		"TEST_ARTIFACTS":    c.artifacts,
		"TEST_BINARY":       filepath.Join(testdata(t), "project/pbkdf2-gate"),
	}
	c.write(c.artifacts+"/.keep", "")

	// The project: its own YAML, with a build that takes no time.
	c.copyDir("../../.github/workflows", filepath.Join(c.project, ".github/workflows"))
	c.copyDir("testdata/project", filepath.Join(c.project, ".github"))
	c.copyFile("../../action.yml", filepath.Join(c.project, "action.yml"))

	origin := filepath.Join(temp, "origin.git")
	c.git(temp, "init", "--quiet", "--bare", "--initial-branch=main", origin)
	c.git(temp, "clone", "--quiet", origin, c.dir)
	for name, text := range files {
		c.write(filepath.Join(c.dir, name), text)
	}
	c.commit("base")
	c.git(c.dir, "push", "--quiet", "origin", "HEAD:main")
	c.base = c.git(c.dir, "rev-parse", "HEAD")
	c.git(c.dir, "checkout", "--quiet", "-b", "change")
	c.write(filepath.Join(c.dir, "change.txt"), "a change\n")
	c.commit("change")
	c.head = c.git(c.dir, "rev-parse", "HEAD")
	c.git(c.dir, "checkout", "--quiet", "--detach", c.base)
	c.git(c.dir, "merge", "--quiet", "--no-ff", "-m", "merge", c.head)
	return c
}

func testdata(t *testing.T) string {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (c *caller) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *caller) write(file, text string) {
	c.t.Helper()
	c.must(os.MkdirAll(filepath.Dir(file), 0o777))
	c.must(os.WriteFile(file, []byte(text), 0o666))
}

// writeEmpty empties a file.
func writeEmpty(file string) error { return os.WriteFile(file, nil, 0o666) }

func (c *caller) copyDir(from, to string) {
	c.t.Helper()
	c.must(os.CopyFS(to, os.DirFS(from)))
}

func (c *caller) copyFile(from, to string) {
	c.t.Helper()
	data, err := os.ReadFile(from)
	c.must(err)
	c.write(to, string(data))
}

func (c *caller) commit(message string) {
	c.t.Helper()
	c.git(c.dir, "add", "--all")
	c.git(c.dir, "commit", "--quiet", "-m", message)
}

func (c *caller) git(dir string, args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(c.environ(), "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// environ has nothing of a workflow that this test itself runs in, nor of
// the user's configuration.
func (c *caller) environ() []string {
	return []string{"PATH=" + filepath.Join(testdata(c.t), "shell") + ":" + os.Getenv("PATH"), "HOME=" + filepath.Dir(c.dir), "TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
}

// event is the payload of the pull request that is checked out.
func (c *caller) event() map[string]any {
	repo := map[string]any{"id": 4711, "full_name": "octo/hello", "name": "hello", "default_branch": "main", "owner": map[string]any{"login": "octo"}}
	return map[string]any{
		"action": "synchronize", "number": 7, "repository": repo,
		"pull_request": map[string]any{
			"number": 7,
			"user":   map[string]any{"login": "octocat"},
			"head":   map[string]any{"ref": "change", "sha": c.head, "repo": repo},
			"base":   map[string]any{"ref": "main", "sha": c.base, "repo": repo},
		},
	}
}

var usesForm = regexp.MustCompile(`(?m)uses: (actions/([a-z-]+)@[0-9a-f]{40})`)

// refused runs a workflow that must fail and say why.
func (c *caller) refused(event string, payload map[string]any, says string) {
	c.t.Helper()
	out, ok := c.act(event, payload)
	if ok || !strings.Contains(out, says) {
		c.t.Errorf("succeeded: %t, want a failure that says %q\n%s", ok, says, out)
	}
}

// act runs the workflows of the event and returns what it printed, and
// whether it succeeded.
func (c *caller) act(event string, payload map[string]any, more ...string) (output string, ok bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 6*time.Minute)
	defer cancel()
	data, err := json.Marshal(payload)
	c.must(err)
	file := filepath.Join(c.t.TempDir(), "event.json")
	c.write(file, string(data))
	// One job at a time: they share act's map of local repositories, which has
	// no lock.
	args := []string{event, "--eventpath", file, "--rm", "--no-cache-server", "--concurrent-jobs", "1", "--artifact-server-addr", "127.0.0.1",
		"--action-cache-path", filepath.Join(filepath.Dir(c.dir), "cache"), "--env-file", os.DevNull, "--actor", "octocat",
		"--local-repository", "pbkdf2-gate/pbkdf2-gate@v1=" + c.project}
	for _, label := range []string{"ubuntu-24.04", "ubuntu-24.04-arm", "macos-15", "one"} {
		args = append(args, "-P", label+"=-self-hosted")
	}
	for k, v := range c.env {
		args = append(args, "--env", k+"="+v)
	}
	for _, stub := range c.stubs() {
		args = append(args, "--local-repository", stub)
	}
	cmd := exec.CommandContext(ctx, "act", append(args, more...)...)
	cmd.Dir = c.dir
	cmd.Env = c.environ()
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		c.t.Fatalf("act: %v\n%s", err, out)
	}
	return string(out), err == nil
}

// stubs maps the actions that the project's workflows use to those of the
// test.
func (c *caller) stubs() []string {
	files, err := filepath.Glob(filepath.Join(c.project, ".github/workflows/*.yml"))
	c.must(err)
	var all []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		c.must(err)
		for _, m := range usesForm.FindAllSubmatch(data, -1) {
			stub := string(m[1]) + "=" + filepath.Join(testdata(c.t), "stubs", string(m[2]))
			if !slices.Contains(all, stub) {
				all = append(all, stub)
			}
		}
	}
	return all
}

// logged are the lines that the stubs wrote, without those that start with
// one of the words.
func (c *caller) logged(without ...string) []string {
	c.t.Helper()
	data, err := os.ReadFile(c.log)
	c.must(err)
	var lines []string
	for line := range bytes.Lines(data) {
		first, _, _ := strings.Cut(string(line), " ")
		if text := strings.TrimSuffix(string(line), "\n"); !slices.Contains(without, strings.TrimSpace(first)) {
			lines = append(lines, text)
		}
	}
	return lines
}
