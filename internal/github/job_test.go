package github

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

type jobTest struct {
	*Job
	log             bytes.Buffer
	output, summary string // files
}

func newJob(t *testing.T) *jobTest {
	t.Helper()
	dir := t.TempDir()
	j := &jobTest{output: filepath.Join(dir, "output"), summary: filepath.Join(dir, "summary")}
	env := map[string]string{
		"GITHUB_OUTPUT": j.output, "GITHUB_STEP_SUMMARY": j.summary,
		"INPUT_BASELINE_THRESHOLD": " 5% \n", "INPUT_FAIL-ON": "not this",
	}
	j.Job = NewJob(&j.log, func(name string) string { return env[name] })
	return j
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q in it", err, want)
	}
}

func TestJobOutputs(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	for name, value := range map[string]string{"worst-change": "+3.1 %", "empty": ""} {
		if err := j.SetOutput(name, value); err != nil {
			t.Error(err)
		}
		if !strings.Contains(read(t, j.output), name+"<<") {
			t.Errorf("%s is not in %q", name, read(t, j.output))
		}
	}
	before := read(t, j.output)
	wantError(t, j.SetOutput("verdict", "ok\n_GitHubActionsFileCommandDelimeter_\nx=y"), "more than one line")
	wantError(t, j.SetOutput("verdict", "ok\r"), "more than one line")
	wantError(t, j.SetOutput("ver\ndict", "ok"), "is no name of an output")
	wantError(t, j.SetOutput("", "ok"), "is no name of an output")
	if after := read(t, j.output); after != before {
		t.Errorf("a refused output was written: %q", after)
	}
	if got := j.Input("baseline-threshold"); got != "5%" {
		t.Errorf("input %q", got)
	}
	if got := j.Input("fail-on"); got != "" {
		t.Errorf("input %q, want none", got)
	}
}

func TestJobCannotWrite(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "none", "file")
	j := NewJob(brokenWriter{}, func(string) string { return missing })
	wantError(t, j.SetOutput("verdict", "ok"), "the output verdict cannot be set: unable to write")
	wantError(t, j.AddSummary("text"), "the summary cannot be written: unable to write")
	wantError(t, j.Warn("", "text"), "broken")
	wantError(t, j.Error("title", "text"), "broken")
	wantError(t, j.Group("text"), "broken")
	wantError(t, j.EndGroup(), "broken")
	wantError(t, j.Print("text"), "broken")
	outside := NewJob(brokenWriter{}, func(string) string { return "" })
	wantError(t, outside.SetOutput("verdict", "ok"), "GITHUB_OUTPUT is not set")
	wantError(t, outside.AddSummary("text"), "GITHUB_STEP_SUMMARY is not set")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestJobSummary(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("é", 500) + "\n"
	for name, parts := range map[string][]string{
		"one":      {strings.Repeat(line, 2000)},
		"many":     {strings.Repeat(line, 1000), strings.Repeat(line, 1000), "not written"},
		"one line": {strings.Repeat("é", 1<<20)},
		"exact":    {strings.Repeat("x", maxSummary), "not written"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t)
			for _, part := range parts {
				if err := j.AddSummary(part); err != nil {
					t.Fatal(err)
				}
			}
			got := read(t, j.summary)
			if len(got) > maxSummary || len(got) < maxSummary-2000 || !utf8.ValidString(got) {
				t.Errorf("%d bytes", len(got))
			}
			if strings.Count(got, "The summary ends here") != 1 || !strings.HasSuffix(strings.TrimSpace(got), "1 MiB of it at most.") {
				t.Errorf("it ends in %q", got[len(got)-200:])
			}
		})
	}
	j := newJob(t)
	for range 2 {
		if err := j.AddSummary("## Fine\n"); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, j.summary); strings.Count(got, "## Fine") != 2 || strings.Contains(got, "ends here") {
		t.Errorf("%q", got)
	}
}

func TestJobAnnotations(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	if err := j.Close(); err != nil || j.log.Len() != 0 {
		t.Errorf("%v, %q", err, j.log.String())
	}
	for i := range 13 {
		if err := errors.Join(j.Warn("a: b", fmt.Sprintf("%d: 3 %%\n::error::x", i)), j.Error("", "bad")); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	log := j.log.String()
	if n := strings.Count(log, "::warning title=a%3A b::"); n != 10 {
		t.Errorf("%d warnings", n)
	}
	if n := strings.Count(log, "\n::error::bad"); n != 10 {
		t.Errorf("%d errors", n)
	}
	if !strings.Contains(log, "0: 3 %25%0A::error::x\n") {
		t.Errorf("not escaped: %q", log)
	}
	if strings.Count(log, "GitHub shows 10 of each: 3 more errors, 3 more warnings") != 1 {
		t.Errorf("the rest is not counted once: %q", log)
	}
}

func TestJobLog(t *testing.T) {
	t.Parallel()
	j := newJob(t)
	if err := errors.Join(j.Group("a\n::error::b"), j.EndGroup()); err != nil {
		t.Fatal(err)
	}
	if got, want := j.log.String(), "::group::a%0A::error::b\n::endgroup::\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	j.log.Reset()
	for in, want := range map[string]string{
		"plain a::b\n":            "plain a::b\n",
		"::error::x\n":            ":\u200b:error::x\n",
		"a\n \t::set-env::x":      "a\n \t:\u200b:set-env::x",
		"a\r\u00a0::x":            "a\r\u00a0:\u200b:x",
		"\n\n::a\n::b\n":          "\n\n:\u200b:a\n:\u200b:b\n",
		"text ##[error]x ###[y":   "text ##\u200b[error]x ###\u200b[y",
		":::stop-commands::token": ":\u200b::stop-commands::token",
	} {
		j.log.Reset()
		if err := j.Print(in); err != nil || j.log.String() != want {
			t.Errorf("Print(%q) writes %q, want %q (%v)", in, j.log.String(), want, err)
		}
	}
}
