package probe

import (
	"bytes"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Close ends the probe's input and waits 2 s at most for it to exit with
// status 0. The error is the *Failure where it does not, or wrote more; or
// what ended the probe before. Nothing of its process group is left.
func (c *Client) Close() error {
	switch {
	case c.end == errClosed:
		return nil
	case c.end != nil:
		return c.end
	}
	c.close(0)
	if !c.awaitExit(c.closeLimit) {
		return c.fail(fmt.Sprintf("still running %v after the end of its input; the protocol wants it to exit", c.closeLimit), 0)
	}
	c.drain()
	switch {
	case *c.status != 0:
		return c.fail("ended badly after the end of its input; the protocol wants exit status 0", 0)
	case len(c.extra) > 0:
		return c.fail(fmt.Sprintf("unasked output %s; the protocol wants nothing after the last answer", quoted(c.extra)), 0)
	case c.written > maxStderr:
		return c.noisy()
	}
	c.stop(errClosed)
	return nil
}

// Kill ends the probe at once and returns when it is gone. It may be called
// again, and after Close.
func (c *Client) Kill() {
	if c.end == nil {
		c.stop(errClosed)
	}
}

// fail ends the probe, after a wait for it to end by itself, and returns the
// Failure.
func (c *Client) fail(what string, wait time.Duration) *Failure {
	c.close(0)
	f := &Failure{What: what}
	if c.awaitExit(wait) {
		f.Status = statusText(*c.status)
	}
	c.stop(f)
	f.Stderr = string(c.tail[max(0, len(c.tail)-stderrTail):])
	return f
}

// noisy is fail for a probe whose standard error is over its limit.
func (c *Client) noisy() *Failure {
	f := c.fail("over 1 MiB of standard error: have it write less", 0)
	f.Noisy = true
	return f
}

// gone is fail for a probe that broke off by itself.
func (c *Client) gone(what string, wait time.Duration) *Failure {
	f := c.fail(what, wait)
	f.Ended = true
	return f
}

// stop kills the process group, reaps the child, reads the last of its
// standard error and closes the pipes. What held them open beyond that is
// looked for and killed too.
func (c *Client) stop(end error) {
	c.end = end
	wild := c.status == nil
	// Where the leader has been reaped, its number still stands for the group:
	// no process gets it while the group has members.
	if unix.Kill(-c.pid, unix.SIGKILL) == nil {
		wild = true
	}
	if c.status == nil {
		unix.Kill(c.pid, unix.SIGKILL) // it may have changed its group
		c.awaitExit(reapLimit)
	}
	c.drain()
	if c.fds[1].Fd >= 0 || c.fds[2].Fd >= 0 || wild {
		sweep(c.marker)
	}
	c.closeAll()
	c.counts.Close()
}

// reap asks once whether the child has ended.
func (c *Client) reap() bool {
	if c.status != nil {
		return true
	}
	var ws unix.WaitStatus
	pid, err := unix.Wait4(c.pid, &ws, unix.WNOHANG, nil)
	for err == unix.EINTR {
		pid, err = unix.Wait4(c.pid, &ws, unix.WNOHANG, nil)
	}
	if pid == c.pid || err == unix.ECHILD {
		c.status = &ws
	}
	return c.status != nil
}

// awaitExit waits for the child to end, reading what it writes meanwhile so
// that it can. It asks often at first: the end is usually near.
func (c *Client) awaitExit(limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, 16*time.Millisecond) {
		if c.reap() {
			return true
		}
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		c.poll(false, min(left, pause))
		c.drain()
	}
}

// poll waits for what the probe writes, and with writing for room in its
// input. An interrupted wait is a short one.
func (c *Client) poll(writing bool, limit time.Duration) (ready int, err error) {
	fds := c.fds[1:]
	if writing {
		fds = c.fds[:]
	}
	ready, err = unix.Poll(fds, int((max(limit, 0)+time.Millisecond-1)/time.Millisecond))
	if err != nil {
		for i := range fds {
			fds[i].Revents = 0
		}
		if err == unix.EINTR || err == unix.EAGAIN {
			err = nil
		}
	}
	return ready, err
}

// drain reads what is there, keeping the end of standard error and the
// beginning of standard output, and closes what is at its end.
func (c *Client) drain() {
	const most = 2 * maxStderr // a call's share of a stream without end
	for total := 0; c.fds[2].Fd >= 0 && total < most; {
		n := c.readStderr()
		if n <= 0 {
			break
		}
		total += n
	}
	for total := 0; c.fds[1].Fd >= 0 && total < most; {
		n, err := unix.Read(c.fd(1), c.buf)
		if n <= 0 {
			if n == 0 || err != unix.EAGAIN && err != unix.EINTR {
				c.close(1)
			}
			break
		}
		total += n
		c.trace("<- ", c.buf[:n])
		c.extra = append(c.extra, c.buf[:min(n, maxQuoted+1-len(c.extra))]...)
	}
}

// readStderr reads once and says how much came.
func (c *Client) readStderr() int {
	var buf [stderrTail]byte
	n, err := unix.Read(c.fd(2), buf[:])
	if n <= 0 {
		if n == 0 || err != unix.EAGAIN && err != unix.EINTR {
			c.close(2)
		}
		return 0
	}
	c.trace("<! ", buf[:n])
	c.written += n
	if len(c.tail) > 4*stderrTail {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-stderrTail:]...)
	}
	c.tail = append(c.tail, buf[:n]...)
	return n
}

func (c *Client) fd(i int) int { return int(c.fds[i].Fd) }

func (c *Client) close(i int) {
	if c.fds[i].Fd >= 0 {
		unix.Close(c.fd(i))
		c.fds[i].Fd = -1
	}
}

func (c *Client) closeAll() {
	for i := range c.fds {
		c.close(i)
	}
}

// trace writes every line of text, or the part of one that came, to Debug.
func (c *Client) trace(mark string, text []byte) {
	if c.debug == nil {
		return
	}
	for line := range bytes.Lines(text) {
		fmt.Fprintf(c.debug, "%s%s\n", mark, printable(bytes.TrimSuffix(line, []byte("\n")), MaxLine))
	}
}
