package probe

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBadStart(t *testing.T) {
	for role, want := range map[string][]string{
		"hang at start":  {"no answer: none within 300ms", "at its start"},
		"exit 3 at once": {"no answer", "exit status 3", "no library"},
		"exit 0":         nil, // starts well
		"usage as hello": {`"usage: probe FILE"`, "pbkdf2-probe/1 NAME", "exit status 2"},
		"hello/2":        {"version 2", "version 1 only"},
		"hello CRLF":     {"CR LF", "LF alone"},
		"hello no name":  {"not a probe's name"},
		"hello no LF":    {"no whole line", `"pbkdf2-probe/1 fake`, "line feed", "exit status 0"},
		"hello no flush": {"no whole line", "none within 2s", "flushed"},
		"hello twice":    {"too much output"},
		"stderr only":    {"none within 2s", `standard error: "pbkdf2-probe/1 fake`},
		"binary hello":   {`"\x7fELF\x00\x01"`},
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			c := play(t, role)
			c.grace = graceFor(want)
			c.HelloLimit = limitIn(want)
			p, err := c.Start(t.Context())
			if want == nil {
				if err != nil {
					t.Fatal(err)
				}
				p.Kill()
				return
			}
			wantFailure(t, err, want...)
			if f := err.(*Failure); f.Absent {
				t.Error("it is said to be absent")
			}
		})
	}
}

func TestCannotStart(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain", "#!/bin/sh\n", 0o644)
	write("text", "not a program\n", 0o755)
	write("empty", "", 0o755)
	write("orphan", "#!/nowhere/python\n", 0o755)
	path := "PATH=" + dir
	for _, c := range []struct {
		command Command
		is      error
		want    string
	}{
		{Command{}, nil, "no program to run"},
		{Command{Args: []string{"plain"}, Env: []string{path}}, fs.ErrNotExist, "no program plain on PATH (" + dir + ")"},
		{Command{Args: []string{"plain"}}, fs.ErrNotExist, "PATH (which is empty)"},
		{Command{Args: []string{"./absent"}, Dir: dir}, fs.ErrNotExist, "no program " + dir + "/absent: build it"},
		{Command{Args: []string{"./plain"}, Dir: dir}, fs.ErrPermission, "no permission to run " + dir + "/plain: make it executable"},
		{Command{Args: []string{"./text"}, Dir: dir}, syscall.ENOEXEC, "is not a program for " + runtime.GOOS},
		{Command{Args: []string{"text"}, Env: []string{path}}, syscall.ENOEXEC, dir + "/text is not a program"},
		{Command{Args: []string{"./empty"}, Dir: dir}, syscall.ENOEXEC, "is not a program"},
		{Command{Args: []string{"./orphan"}, Dir: dir}, fs.ErrNotExist, "interpreter"},
		{Command{Args: []string{dir}}, nil, "is a folder"},
		{Command{Args: []string{"true"}, Dir: dir + "/absent"}, fs.ErrNotExist, "no folder " + dir + "/absent"},
		{Command{Args: []string{"./plain/x"}, Dir: dir}, syscall.ENOTDIR, "cannot start"},
	} {
		_, err := c.command.Start(t.Context())
		wantFailure(t, err, c.want)
		if f, ok := err.(*Failure); ok && !f.Absent {
			t.Errorf("%v: it is not said to be absent", err)
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%v is not %v", err, c.is)
		}
	}
}

func TestRelativeToDir(t *testing.T) {
	t.Parallel()
	c := play(t, "good")
	c.Dir = t.TempDir()
	if err := os.Symlink(c.Args[0], filepath.Join(c.Dir, "r")); err != nil {
		t.Fatal(err)
	}
	c.Args = []string{"./r"}
	if err := start(t, c).Close(); err != nil {
		t.Error(err)
	}
}

func TestEnviron(t *testing.T) {
	one, two := newClient(Command{}), newClient(Command{})
	got := mark([]string{"A=1", markerName + "=0123456789abcdef", "B=2"}, one.marker)
	want := []string{"A=1", "B=2", markerName + "=" + one.marker}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if len(one.marker) != 16 || len(two.marker) != 16 || one.marker == two.marker || one.marker[:8] != two.marker[:8] {
		t.Errorf("markers %q, %q", one.marker, two.marker)
	}
}
