package workflows

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const bothActions = `
on: pull_request
permissions: {contents: read}
jobs:
  hash:
    runs-on: one
    env: {GOFLAGS: -mod=vendor, GOTOOLCHAIN: local}
    steps:
      - uses: actions/checkout@v7
        with: {fetch-depth: 2, persist-credentials: false}
      # A busy machine may have no measurement to give: not what is tested here.
      - uses: pbkdf2-gate/pbkdf2-gate@v1
        id: published
        continue-on-error: true
        with: {leg: one, budget: 1s, fail-on: none}
      - uses: ./
        id: local
        continue-on-error: true
        with: {leg: one, budget: 1s, fail-on: none, key: local, target: "c=go:x-crypto"}
      - shell: bash
        env:
          PUBLISHED: ${{ toJSON(steps.published.outputs) }}
          LOCAL: ${{ toJSON(steps.local.outputs) }}
          FILES: ${{ steps.published.outputs.result-file }} ${{ steps.local.outputs.result-file }} ${{ steps.local.outputs.report-json }} ${{ steps.local.outputs.report-markdown }}
        run: |
          printf '%s\n' "published $PUBLISHED" "local $LOCAL" "status [$(git status --porcelain)]" >>"$TEST_LOG"
          for file in $FILES; do
            test -s "$file"
            echo "file ${file#"$RUNNER_TEMP"}" >>"$TEST_LOG"
          done
          grep -h '^target: ' $FILES >>"$TEST_LOG"
          "$RUNNER_TEMP/pbkdf2-gate/bin/pbkdf2-gate" version >>"$TEST_LOG"
`

// The action, built by itself and measuring: by name, and as `uses: ./`.
func TestActionMeasures(t *testing.T) {
	c := newCaller(t, map[string]string{workflowFile: bothActions})
	// What it is built from, without tests.
	copySource := func(to string) {
		c.must(filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			c.must(err)
			top, _, _ := strings.Cut(filepath.ToSlash(name), "/")
			switch {
			case name == ".":
			case top != ".github" && top != "cmd" && top != "internal" && top != "go.mod" && top != "go.sum" && top != "action.yml",
				e.IsDir() && (e.Name() == "testdata" || e.Name() == "workflows"):
				if e.IsDir() {
					return filepath.SkipDir
				}
			case e.Type().IsRegular() && !strings.HasSuffix(name, "_test.go"):
				c.copyFile(path, filepath.Join(to, name))
			}
			return nil
		}))
	}
	copySource(c.project)
	copySource(c.dir)
	c.commit("the action's own repository")
	// Modules from this machine, the rest from where it gets them: the sums in
	// go.sum hold for both.
	modules, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	c.must(err)
	cache, source, _ := strings.Cut(strings.TrimSpace(string(modules)), "\n")
	c.env["GOPROXY"] = "file://" + filepath.Join(cache, "cache/download") + "," + source
	delete(c.env, "TEST_BINARY")

	out, ok := c.act("pull_request", c.event())
	if !ok {
		t.Fatalf("act failed:\n%s", out)
	}
	got := strings.Join(c.logged(), "\n")
	platform := runtime.GOOS + "-" + runtime.GOARCH
	for _, want := range []string{
		`"platform": "` + platform + `"`, `"verdict": "`, `"worst-change": "`,
		"file /pbkdf2-gate/pbkdf2-gate-one/result.txt\n", "file /pbkdf2-gate/local-one/result.txt\n", "target: go\n", "target: c\n",
		"status []\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s", want)
		}
	}
	if t.Failed() {
		t.Logf("log:\n%s\n%s", got, out)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "baselines")); err == nil {
		t.Error("something was written to the clone")
	}
}
