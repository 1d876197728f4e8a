package probes

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/target"
)

// build builds a copy of the probe, and returns the command of its README.
// It skips the test where the toolchain is missing, unless
// PBKDF2_GATE_REQUIRE names that.
func build(t *testing.T, dir, folder string) probe.Command {
	t.Helper()
	s := newScriptIn(t, dir, folder)
	stdout, stderr, code := s.run(folder)
	switch {
	case code != 0:
		t.Fatalf("build.sh %s exits with %d\n%s%s", folder, code, stdout, stderr)
	case strings.Contains(stderr, "skipped"):
		t.Skip(strings.TrimSpace(stderr))
	case stdout != folder+" built\n" || stderr != "":
		t.Fatalf("build.sh %s says %q, %q", folder, stdout, stderr)
	}
	_, spec := config(t, folder)
	// PYTHONUNBUFFERED would hide a line that is not flushed.
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PYTHON") })
	built, err := target.Side{Dir: s.dir, Environ: environ}.Prepare(t.Context(), []target.Spec{spec})
	if err != nil || built[0].Err != nil {
		t.Fatal(err, built[0].Err)
	}
	c := built[0].Commands[0]
	c.HelloLimit = time.Minute
	return c
}

// script is a copy of probes/build.sh with some of the probes.
type script struct {
	t   *testing.T
	dir string // holds the folder probes
	env []string
}

func newScript(t *testing.T, folders ...string) *script {
	t.Helper()
	return newScriptIn(t, t.TempDir(), folders...)
}

func newScriptIn(t *testing.T, dir string, folders ...string) *script {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash here")
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, dir: dir, env: os.Environ()}
	s.copy("build.sh")
	products := strings.Fields(read(t, ".gitignore"))
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, "probes", folder), func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name, err := filepath.Rel(filepath.Join(root, "probes"), path)
			if err != nil {
				return err
			}
			switch {
			case d.IsDir() && slices.Contains(products, "/"+name+"/"):
				return filepath.SkipDir
			case d.IsDir() || slices.Contains(products, "/"+name):
				return nil
			}
			s.copy(name)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *script) copy(name string) { s.file("probes/"+name, read(s.t, name)) }

func (s *script) file(name, text string) {
	s.t.Helper()
	name = filepath.Join(s.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o777)); err != nil {
		s.t.Fatal(err)
	}
}

// onPath leaves the script these programs and no others.
func (s *script) onPath(programs ...string) {
	s.t.Helper()
	dir := filepath.Join(s.dir, "path")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		s.t.Fatal(err)
	}
	for _, name := range append(programs, "dirname", "mktemp", "rm", "tail") {
		path, err := exec.LookPath(name)
		if err != nil {
			s.t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.env = []string{"PATH=" + dir}
}

func (s *script) run(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(s.t.Context(), bash, append([]string{filepath.Join(s.dir, "probes/build.sh")}, args...)...)
	cmd.Dir, cmd.Env = s.dir, s.env
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// Not parallel, nor is the next: a program just written cannot be run while
// another test is between fork and exec.
func TestBuildWithoutToolchains(t *testing.T) {
	var folders []string
	for folder := range known {
		folders = append(folders, folder)
	}
	s := newScript(t, folders...)
	s.onPath()
	stdout, stderr, code := s.run()
	if code != 0 || stdout != "" || strings.Count(stderr, "\n") != len(known) {
		t.Errorf("exit %d, %q\n%s", code, stdout, stderr)
	}
	for folder, want := range known {
		if !strings.Contains(stderr, "probes/build.sh: "+folder+" skipped: ") {
			t.Errorf("%s is not named:\n%s", folder, stderr)
		}
		s := *s
		s.env = append(slices.Clone(s.env), "PBKDF2_GATE_REQUIRE=other,"+want.word)
		if _, stderr, code := s.run(folder); code != 1 || !strings.Contains(stderr, folder+": ") || !strings.Contains(stderr, "PBKDF2_GATE_REQUIRE names "+want.word) {
			t.Errorf("%s is required: exit %d\n%s", folder, code, stderr)
		}
	}
}

func TestBuildThatFails(t *testing.T) {
	s := newScript(t, "zig", "odin")
	s.onPath()
	lines := "#!/bin/sh\n[ $1 != version ] || exit 0\n"
	for i := range 30 {
		lines += fmt.Sprintf("echo line %d\n", i+1)
	}
	s.file("path/zig", lines+"exit 3\n")
	s.file("path/odin", lines)
	stdout, stderr, code := s.run("zig", "odin")
	var want string
	for i := range 20 {
		want += fmt.Sprintf("line %d\n", i+11)
	}
	want += "probes/build.sh: zig: failed, see above: zig build\n"
	if code != 1 || stdout != "odin built\n" || stderr != want {
		t.Errorf("exit %d, %q\n%s", code, stdout, stderr)
	}
	if _, stderr, code := s.run("zag"); code != 1 || !strings.Contains(stderr, "no probe zag: there are rust-aws-lc-rs ") {
		t.Errorf("an unknown probe: exit %d\n%s", code, stderr)
	}
}
