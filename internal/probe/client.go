package probe

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/counter"
)

const (
	// slack is the longest that a wait lasts before the context is looked
	// at. Short waits are never cut up.
	slack = 100 * time.Millisecond
	// defaultGrace is how long a probe that broke off may take to end by
	// itself, so that its status and last words are known.
	defaultGrace = 200 * time.Millisecond
	// defaultCloseLimit is how long it may run on after the end of its input.
	defaultCloseLimit = 2 * time.Second
	// reapLimit bounds the wait for a killed process: one that hangs in the
	// kernel is left to it.
	reapLimit = 5 * time.Second

	maxStderr  = 1 << 20
	stderrTail = 4 << 10

	// minTimed is the fewest iterations whose time no clock worth using
	// reads as 0.
	minTimed = 1000
)

// markerName is the variable that marks a probe and what it starts, so that
// what left its process group is found.
const markerName = "PBKDF2_GATE_PROBE"

// A marker is 8 digits for this program's run and 8 for the probe.
var (
	runMarker = sync.OnceValue(func() string {
		var b [4]byte
		rand.Read(b[:])
		return hex.EncodeToString(b[:])
	})
	probes atomic.Uint32
)

// Sweep kills what probes of this program left running outside their process
// groups, and says how many processes that were. It knows them by a variable
// in their environment, and looks at every process of the machine (10 to 15
// microseconds each): call it where no Client is open, after a build and at the
// end. Linux
// only; elsewhere it finds nothing.
func Sweep() int { return sweep(runMarker()) }

// Mark is env with the variable by which Sweep finds a process: for what is
// run before a probe, such as its build.
func Mark(env []string) []string { return mark(env, runMarker()+"00000000") }

// mark adds the variable, in place of one of a caller's caller.
func mark(env []string, marker string) []string {
	out := make([]string, 0, len(env)+1)
	for _, v := range env {
		if !strings.HasPrefix(v, markerName+"=") {
			out = append(out, v)
		}
	}
	return append(out, markerName+"="+marker)
}

// Client is a running probe. It is not for concurrent use; see Start.
type Client struct {
	pid    int
	fds    [3]unix.PollFd // standard input, output, error: our ends; -1 when closed
	hello  Hello
	first  string // the line that hello is
	marker string
	debug  io.Writer
	counts *counter.Group

	grace, closeLimit time.Duration

	req []byte // the request
	buf []byte // what it wrote since
	key []byte // the last answer's key

	extra   []byte // the beginning of what it wrote after its last answer
	tail    []byte // the end of standard error
	written int    // bytes of standard error in all

	status *unix.WaitStatus // once reaped
	end    error            // why it ended; nil while it runs
}

var errClosed = errors.New("the probe is closed")

func newClient(c Command) *Client {
	p := &Client{
		debug:      c.Debug,
		marker:     fmt.Sprintf("%s%08x", runMarker(), probes.Add(1)),
		grace:      cmp.Or(c.grace, defaultGrace),
		closeLimit: cmp.Or(c.closeLimit, defaultCloseLimit),
		buf:        make([]byte, MaxLine),
		key:        make([]byte, 0, 256),
		req:        make([]byte, 0, 1024),
	}
	p.fds = [3]unix.PollFd{{Fd: -1, Events: unix.POLLOUT}, {Fd: -1, Events: unix.POLLIN}, {Fd: -1, Events: unix.POLLIN}}
	return p
}

// Hello is the first line that it sent.
func (c *Client) Hello() Hello { return c.hello }

// FirstLine is that line as it came, with what Hello leaves out.
func (c *Client) FirstLine() string { return c.first }

// CPU is the processor time that the probe's process has used so far, all
// its threads together but not its children; false where that cannot be
// told (macOS, or after its end).
func (c *Client) CPU() (time.Duration, bool) {
	if c.end != nil {
		return 0, false
	}
	return processorTime(c.pid)
}

// Counts reads what the processor counted since the probe's exec, in all its
// threads and children; false where it counts nothing, or after its end. While
// two probes of one thread run, the older one's counts have the newer one's too.
func (c *Client) Counts() (counter.Reading, bool) {
	if c.end != nil {
		return counter.Reading{}, false
	}
	return c.counts.Read()
}

// Derive sends a request and waits for the answer, at most limit (0:
// DefaultLimit). The key is as long as asked and valid until the next call;
// whether it is right is the caller's to check. The time is over 0, save for
// under 1,000 iterations, where a clock of microseconds may honestly read 0.
//
// The error is a *Refusal where the probe declines this request and goes on;
// a *Failure or the context's error where the probe has ended; another for a
// request that the protocol cannot carry.
func (c *Client) Derive(ctx context.Context, r Request, limit time.Duration) (Answer, error) {
	if c.end != nil {
		return Answer{}, c.end
	}
	c.req = r.Append(c.req[:0])
	if len(c.req) > MaxLine || r.KeyBytes > maxKeyBytes {
		return Answer{}, errors.New("the request or its answer would be over the protocol's 64 KiB a line: use a shorter salt, password or key")
	}
	line, err := c.ask(ctx, limit)
	if err != nil {
		return Answer{}, err
	}
	a, err := ParseAnswer(line, c.key)
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return Answer{}, err
	case err != nil:
	case len(a.Key) != r.KeyBytes:
		err = fmt.Errorf("a key of %d bytes, not the %d that were asked for", len(a.Key), r.KeyBytes)
	case a.Elapsed == 0 && r.Iterations >= minTimed:
		err = fmt.Errorf("%d iterations in 0 ns: use a monotonic clock of a microsecond or finer", r.Iterations)
	}
	if err != nil {
		return Answer{}, c.fail(fmt.Sprintf("answer %s: %v; the protocol wants %s", quoted(line), err, wantAnswer), c.grace)
	}
	c.key = a.Key
	return a, nil
}

// Ask sends a line, whatever it holds, and returns the line that answers it,
// both without their LF, in the same time as Derive. What comes back is valid
// until the next call; ParseAnswer reads it. It is for testing probes: an
// answer that breaks the protocol does not end the probe.
func (c *Client) Ask(ctx context.Context, line []byte, limit time.Duration) ([]byte, error) {
	if c.end != nil {
		return nil, c.end
	}
	c.req = append(append(c.req[:0], line...), '\n')
	return c.ask(ctx, limit)
}

// ask sends what is in req.
func (c *Client) ask(ctx context.Context, limit time.Duration) ([]byte, error) {
	if n, _ := unix.Read(c.fd(1), c.buf); n > 0 {
		c.trace("<- ", c.buf[:n])
		return nil, c.fail(fmt.Sprintf("unasked output %s; the protocol wants nothing between an answer and the next request", quoted(c.buf[:n])), c.grace)
	}
	return c.exchange(ctx, c.req, cmp.Or(limit, DefaultLimit))
}

// exchange sends out, perhaps nothing, and returns the one line that comes
// back, without its LF and valid until the next call. In the usual case that
// is one write, one poll and one read.
func (c *Client) exchange(ctx context.Context, out []byte, limit time.Duration) ([]byte, error) {
	c.trace("-> ", out)
	start := time.Now()
	left := limit
	n := 0
	for {
		if err := ctx.Err(); err != nil {
			c.stop(err)
			return nil, err
		}
		if len(out) > 0 {
			m, err := unix.Write(c.fd(0), out)
			if err != nil && err != unix.EAGAIN && err != unix.EINTR {
				return nil, c.gone("no answer: its standard input was closed; the protocol wants it read until it ends", c.grace)
			}
			out = out[max(m, 0):]
		}
		ready, err := c.poll(len(out) > 0, min(left, slack))
		if err != nil {
			return nil, c.fail(fmt.Sprintf("waiting for an answer: %v", err), 0)
		}
		if c.fds[2].Revents != 0 && c.readStderr() > 0 && c.written > maxStderr {
			return nil, c.noisy()
		}
		if c.fds[1].Revents != 0 {
			m, err := unix.Read(c.fd(1), c.buf[n:])
			if m > 0 {
				got := c.buf[n : n+m]
				c.trace("<- ", got)
				eol := bytes.IndexByte(got, '\n')
				switch n += m; {
				case eol >= 0:
					return c.line(n-m+eol, n)
				case n == len(c.buf):
					return nil, c.fail(fmt.Sprintf("a line over 64 KiB: %s", quoted(c.buf[:n])), c.grace)
				}
			} else if err != unix.EAGAIN && err != unix.EINTR {
				return nil, c.gone(noAnswer("its standard output ended", c.buf[:n]), c.grace)
			}
		}
		if left = limit - time.Since(start); left <= 0 {
			return nil, c.silent(limit, c.buf[:n])
		}
		// A child of its own may hold the pipes of one that is gone.
		if ready == 0 && c.reap() {
			return nil, c.gone(noAnswer("it ended", c.buf[:n]), 0)
		}
	}
}

// silent ends a probe whose time is up.
func (c *Client) silent(limit time.Duration, got []byte) error {
	why := fmt.Sprintf("none within %v", limit)
	if used, ok := c.CPU(); ok {
		why += fmt.Sprintf(", with %v of processor time used so far", used.Round(time.Millisecond))
	}
	f := c.fail(noAnswer(why, got), 0)
	f.Silent = true
	return f
}

// line is the line that ends at eol, which must be all that came.
func (c *Client) line(eol, n int) ([]byte, error) {
	line, more := c.buf[:eol], c.buf[eol+1:n]
	if len(more) > 0 {
		return nil, c.fail(fmt.Sprintf("too much output: after %s came %s; the protocol wants one line for a request", quoted(line), quoted(more)), c.grace)
	}
	return line, nil
}

// noAnswer is the text for a probe that did not write a whole line.
func noAnswer(why string, got []byte) string {
	if len(got) > 0 {
		return fmt.Sprintf("no whole line: %s after %s; the protocol wants a line feed at the end, and every line flushed", why, quoted(got))
	}
	return fmt.Sprintf("no answer: %s; the protocol wants a line from it at its start and for every request", why)
}
