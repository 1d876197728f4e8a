package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
)

// buildLimit is how long one command that builds may take.
const buildLimit = 15 * time.Minute

// What an error shows of a build's output; the log has it all.
const (
	shownLines = 5
	shownBytes = 500
)

// A program is run before anything is measured.
type program struct {
	args    []string
	dir     string
	env     []string
	limit   time.Duration
	log     io.Writer // gets what it prints; nil: nothing does
	stdout  io.Writer // gets its standard output too; nil: nothing does
	stderr  io.Writer // likewise
	sweep   bool      // nothing that it started may go on, on Linux
	explain string    // what to do where the time is up
	// quote picks what an error shows of the lines that it printed; nil: the last.
	quote func(lines []string) []string
}

// run waits for it to end; its process group is gone afterwards. The error
// is ctx's own, or says how it failed with the last lines that it printed.
func (p program) run(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, p.args[0], p.args[1:]...)
	var err error
	if cmd.Path, err = lookPath(p.args[0], p.dir, p.env); err != nil {
		return err
	}
	cmd.Err = nil // it was looked for on another PATH
	cmd.Dir, cmd.Env = p.dir, probe.Mark(p.env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	group := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = func() error {
		if errors.Is(group(), syscall.ESRCH) {
			return cmd.Process.Kill()
		}
		return nil
	}
	cmd.WaitDelay = 2 * time.Second
	var tail tailWriter
	out := io.Writer(&tail)
	if p.log != nil {
		out = io.MultiWriter(&tail, p.log)
	}
	both := &locked{w: out}
	cmd.Stdout, cmd.Stderr = io.Writer(both), io.Writer(both)
	if p.stdout != nil {
		cmd.Stdout = io.MultiWriter(p.stdout, both)
	}
	if p.stderr != nil {
		cmd.Stderr = io.MultiWriter(p.stderr, both)
	}
	err = cmd.Run()
	if cmd.Process != nil {
		_ = group() // what it left in the background,
		if p.sweep {
			probe.Sweep() // and in groups of its own
		}
	}
	if n := len(tail.buf); p.log != nil && n > 0 && tail.buf[n-1] != '\n' {
		fmt.Fprintln(p.log) // what follows begins a line, and a log by lines shows this one
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return fmt.Errorf("it was still running after %v and was stopped: %s%s", p.limit, p.explain, tail.lines(p.quote))
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // it left a child with its output, which is gone now
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%s is not a program for this system: begin a script with a #! line", p.args[0])
	case err != nil:
		return fmt.Errorf("%w%s", err, tail.lines(p.quote))
	}
	return nil
}

// lookPath finds a program as probe.Command does: without a slash on the PATH
// of env, else relative to dir.
func lookPath(name, dir string, env []string) (string, error) {
	return probe.Command{Args: []string{name}, Dir: dir, Env: env}.Find()
}

// locked takes what two streams write.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// tailWriter keeps the end of what is written.
type tailWriter struct{ buf []byte }

func (t *tailWriter) Write(b []byte) (int, error) {
	const most = 16 << 10
	t.buf = append(t.buf, b...)
	if len(t.buf) > 2*most {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-most:]...)
	}
	return len(b), nil
}

// lines are those that quote picks, or the last ones, on one line, after a
// colon.
func (t *tailWriter) lines(quote func([]string) []string) string {
	var all []string
	for line := range strings.SplitSeq(string(bytes.ToValidUTF8(t.buf, []byte("?"))), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	picked := quote != nil
	if !picked {
		quote = func(all []string) []string { return all[max(0, len(all)-shownLines):] }
	}
	shown := quote(all)
	if len(shown) == 0 {
		return ""
	}
	text := strings.Join(shown[:min(len(shown), shownLines)], " | ")
	switch {
	case len(text) <= shownBytes:
	case picked: // it begins with why
		text = text[:shownBytes] + "..."
	default:
		text = "..." + text[len(text)-shownBytes:]
	}
	return ": " + text
}
