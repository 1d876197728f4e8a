package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/counter"
)

// DefaultLimit is the time for the first line, and for an answer where the
// caller sets none.
const DefaultLimit = 10 * time.Second

// Command is a program that speaks the protocol.
type Command struct {
	// Args are the program and its arguments. A program without a slash is
	// looked up on the PATH of Env; one with is relative to Dir.
	Args []string
	Dir  string   // folder to run it in; empty: the current one
	Env  []string // its whole environment; a marker of constant length is added

	// Evict has the system read the program's file anew: where its pages lie
	// in memory changes a program's speed by some per cent, and stays as it is
	// for as long as they are cached.
	Evict bool

	HelloLimit time.Duration // time for the first line; 0: DefaultLimit
	Debug      io.Writer     // gets every line as "-> ", "<- " or "<! " (standard error); nil: nothing does

	grace, closeLimit time.Duration // 0: the constants; tests on a busy machine need more
}

// EvictProgram does what Evict says, for a program that is run otherwise.
func (c Command) EvictProgram() {
	if path, err := c.Find(); err == nil {
		evict(path)
	}
}

// Start starts the program and reads its first line. It must be called, and
// the Client used, from one goroutine that is locked to its thread: the
// child inherits the thread's processor affinity, and on Linux dies with the
// thread. Nothing of the runtime's poller takes part, since that passes
// reads from thread to thread and so disturbs the core that is measured.
//
// The error is a *Failure, or ctx's own; nothing runs after it.
func (c Command) Start(ctx context.Context) (*Client, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, failure := c.find()
	if failure != nil {
		failure.Absent = true
		return nil, failure
	}
	if c.Evict {
		evict(path)
	}
	p := newClient(c)
	if failure := p.start(path, c); failure != nil {
		failure.Absent = true
		return nil, failure
	}
	line, err := p.exchange(ctx, nil, cmp.Or(c.HelloLimit, DefaultLimit))
	if err != nil {
		return nil, err
	}
	p.first = string(line)
	if p.hello, err = ParseHello(line); err != nil {
		return nil, p.fail(fmt.Sprintf("first line %s: %v; the protocol wants %s", quoted(line), err, wantHello), p.grace)
	}
	return p, nil
}

// start makes the pipes and the process. Our ends do not block; the child's
// do.
func (p *Client) start(path string, c Command) *Failure {
	var child [3]int
	n := 0
	var err error
	for ; n < 3; n++ {
		var r, w int
		if r, w, err = pipe(); err != nil {
			break
		}
		ours := r
		child[n] = w
		if n == 0 {
			ours, child[n] = w, r
		}
		unix.SetNonblock(ours, true)
		p.fds[n].Fd = int32(ours)
	}
	defer func() {
		for _, fd := range child[:n] {
			unix.Close(fd)
		}
	}()
	if err != nil {
		p.closeAll()
		return &Failure{What: fmt.Sprintf("no pipe to %s: %v; close files, or raise the limit (ulimit -n)", path, err), err: err}
	}
	p.counts = counter.Open()
	pid, err := syscall.ForkExec(path, c.Args, &syscall.ProcAttr{
		Dir:   c.Dir,
		Env:   mark(c.Env, p.marker),
		Files: []uintptr{uintptr(child[0]), uintptr(child[1]), uintptr(child[2])},
		Sys:   procAttr(),
	})
	if err != nil {
		p.counts.Close()
		p.closeAll()
		return startFailure(path, err)
	}
	p.pid = pid
	return nil
}

// Find is the program's absolute path; the error is a *Failure.
func (c Command) Find() (string, error) {
	path, failure := c.find()
	if failure != nil {
		return "", failure
	}
	return path, nil
}

func (c Command) find() (string, *Failure) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return "", &Failure{What: "no program to run: name one"}
	}
	if c.Dir != "" {
		if st, err := os.Stat(c.Dir); err != nil || !st.IsDir() {
			return "", &Failure{What: fmt.Sprintf("no folder %s to run %s in", c.Dir, c.Args[0]), err: err}
		}
	}
	name := c.Args[0]
	if !strings.Contains(name, "/") {
		return c.findOnPath(name)
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", &Failure{What: err.Error(), err: err}
	}
	switch st, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return "", &Failure{What: fmt.Sprintf("no program %s: build it first, or correct the path (%s)", path, name), err: err}
	case err != nil:
		return "", startFailure(path, err)
	case st.IsDir():
		return "", &Failure{What: fmt.Sprintf("%s is a folder: name the program in it", path)}
	}
	return path, nil
}

func (c Command) findOnPath(name string) (string, *Failure) {
	var dirs string
	for _, v := range c.Env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			dirs = p
		}
	}
	for _, dir := range filepath.SplitList(dirs) {
		if !filepath.IsAbs(dir) {
			continue // what is in the current folder is never meant by a bare name
		}
		path := filepath.Join(dir, name)
		if st, err := os.Stat(path); err == nil && !st.IsDir() && unix.Access(path, unix.X_OK) == nil {
			return path, nil
		}
	}
	if dirs == "" {
		dirs = "which is empty"
	}
	return "", &Failure{
		What: fmt.Sprintf("no program %s on PATH (%s): install it, or give its path (./%s)", name, dirs, name),
		err:  fs.ErrNotExist,
	}
}

// startFailure says why the program at path, which is there, did not start.
func startFailure(path string, err error) *Failure {
	f := &Failure{err: err}
	switch {
	case errors.Is(err, fs.ErrPermission):
		f.What = fmt.Sprintf("no permission to run %s: make it executable (chmod +x)", path)
	case errors.Is(err, syscall.ENOEXEC):
		f.What = fmt.Sprintf("%s is not a program for %s/%s: build it for this system, or begin a script with a #! line", path, runtime.GOOS, runtime.GOARCH)
	case errors.Is(err, fs.ErrNotExist):
		f.What = fmt.Sprintf("%s is there, but not the interpreter or loader that it names: install that, or correct its #! line", path)
	default:
		f.What = fmt.Sprintf("cannot start %s: %v", path, err)
	}
	return f
}
