package workflows

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const workflowFile = ".github/workflows/pbkdf2.yml"

// The five lines of the documentation, on three runners.
func TestGate(t *testing.T) {
	c := newCaller(t, map[string]string{workflowFile: example(t, "gate")})
	out, ok := c.act("pull_request", c.event())
	if !ok {
		t.Fatalf("act failed:\n%s", out)
	}
	const rest = "key=pbkdf2-gate fail-on=none target= budget= threshold=, baselines=none token=none setup=none"
	got := c.logged("build", "download")
	slices.Sort(got[:3]) // legs end in any order
	want := []string{
		"action leg=macos-15 " + rest,
		"action leg=ubuntu-24.04 " + rest,
		"action leg=ubuntu-24.04-arm " + rest,
		"report [--expect] [ubuntu-24.04,ubuntu-24.04-arm,macos-15] [--comment] [always] [--key] [pbkdf2-gate] [--]" +
			" [../results/pbkdf2-gate-ubuntu-24.04-1/result.txt] [../results/pbkdf2-gate-ubuntu-24.04-arm-1/result.txt] [../results/pbkdf2-gate-macos-15-1/result.txt] in repository",
		"result of ubuntu-24.04", "result of ubuntu-24.04-arm", "result of macos-15",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("calls (-want +got):\n%s\n%s", d, out)
	}
}

const withInputs = `
on: pull_request
permissions: {contents: read, pull-requests: write}
jobs:
  hash:
    uses: pbkdf2-gate/pbkdf2-gate/.github/workflows/gate.yml@v1
    with:
      runners: '["one"]'
      setup: ./ci/setup
      key: mine
      budget: 1s
      threshold: 2%
      baseline-threshold: 4%
      fail-on: slower
      comment: on-drift
      target: |
        go=go
        ours=probe:./ours "a b"
  after:
    needs: hash
    runs-on: one
    steps:
      - shell: bash
        env: { GOT: "${{ needs.hash.outputs.verdict }} ${{ needs.hash.outputs.worst-change }}" }
        run: echo "after $GOT" >>"$TEST_LOG"
`

// The build comes first, then the caller's setup, then the measurement; the
// report's outputs reach the caller.
func TestGateInputs(t *testing.T) {
	c := newCaller(t, map[string]string{workflowFile: withInputs})
	c.copyDir("testdata/setup", filepath.Join(c.dir, "ci/setup"))
	c.commit("setup")
	out, ok := c.act("pull_request", c.event())
	if !ok {
		t.Fatalf("act failed:\n%s", out)
	}
	want := []string{
		"build",
		"setup: built=yes status=[] beside=there",
		"build",
		`action leg=one key=mine fail-on=none target=go=go;ours=probe:./ours "a b"; budget=1s threshold=2%,4% baselines=none token=none setup=yes`,
		"build",
		"download mine-one-1",
		"report [--expect] [one] [--comment] [on-drift] [--key] [mine] [--target] [go=go", `ours=probe:./ours "a b"`,
		"] [--threshold] [2%] [--baseline-threshold] [4%] [--fail-on] [slower] [--] [../results/mine-one-1/result.txt] in repository",
		"result of one",
		"after slower +12.3",
	}
	if d := cmp.Diff(want, c.logged()); d != "" {
		t.Errorf("calls (-want +got):\n%s\n%s", d, out)
	}
}

// A leg that fails is missing in the report, which fails whatever the command
// says. Artifacts of other gates and legs are left alone.
func TestGateMissingLeg(t *testing.T) {
	c := newCaller(t, map[string]string{workflowFile: strings.Replace(example(t, "gate"), "@v1", "@v1\n    with: {runners: '[\"ubuntu-24.04\", \"one\"]'}", 1)})
	c.env["TEST_BROKEN"] = "one"
	c.write(filepath.Join(c.artifacts, "pbkdf2-gate-two-1/result.txt"), "another leg\n")
	c.write(filepath.Join(c.artifacts, "pbkdf2-gate-x-ubuntu-24.04-1/result.txt"), "another gate\n")
	c.write(filepath.Join(c.artifacts, "pbkdf2-gate-ubuntu-24.04-1/result.txt"), "an earlier attempt\n")
	out, ok := c.act("pull_request", c.event())
	if ok || !strings.Contains(out, "a measuring job ended with failure") || !regexp.MustCompile(`/report *\] .*Job failed`).MatchString(out) {
		t.Errorf("act succeeded, or failed for another reason:\n%s", out)
	}
	want := []string{
		"download pbkdf2-gate-ubuntu-24.04-1",
		"report [--expect] [ubuntu-24.04,one] [--comment] [always] [--key] [pbkdf2-gate] [--] [../results/pbkdf2-gate-ubuntu-24.04-1/result.txt] in repository",
		"result of ubuntu-24.04",
	}
	if d := cmp.Diff(want, c.logged("build", "action")); d != "" {
		t.Errorf("calls (-want +got):\n%s\n%s", d, out)
	}
}

// The exit code of the report is the job's, and nothing is missing then.
func TestGateRed(t *testing.T) {
	c := newCaller(t, map[string]string{workflowFile: strings.Replace(example(t, "gate"), "@v1", "@v1\n    with: {runners: '[\"one\"]', setup: ci/none}", 1)})
	c.refused("pull_request", c.event(), "that folder has no action.yml")

	c.write(filepath.Join(c.dir, workflowFile), strings.Replace(example(t, "gate"), "@v1", "@v1\n    with: {runners: '[\"one\"]'}", 1))
	c.env["TEST_REPORT_EXIT"] = "1"
	out, ok := c.act("pull_request", c.event())
	if ok || strings.Contains(out, "a measuring job ended with") {
		t.Errorf("a report that fails: act succeeded, or failed for another reason:\n%s", out)
	}
}

// Both workflows of the documentation: the second one comments, on pull
// requests only.
func TestComment(t *testing.T) {
	c := newCaller(t, map[string]string{".github/workflows/pbkdf2-comment.yml": example(t, "comment")})
	run := map[string]any{"id": 4711, "event": "pull_request", "path": workflowFile, "head_sha": c.head}
	payload := map[string]any{"action": "completed", "workflow_run": run, "repository": c.event()["repository"]}
	if out, ok := c.act("workflow_run", payload); !ok {
		t.Fatalf("act failed:\n%s", out)
	}
	want := []string{"build", "report [--from-run] [4711] [--workflow] [" + workflowFile + "] [--expect] [ubuntu-24.04,ubuntu-24.04-arm,macos-15]" +
		" [--comment] [always] [--key] [pbkdf2-gate] in repository"}
	if d := cmp.Diff(want, c.logged()); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}

	run["event"] = "push"
	if out, ok := c.act("workflow_run", payload); !ok {
		t.Fatalf("act failed:\n%s", out)
	}
	if d := cmp.Diff(want, c.logged()); d != "" {
		t.Errorf("calls for a push (-want +got):\n%s", d)
	}
}
