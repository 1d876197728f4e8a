package probe

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// Failure is the end of a probe: it did not start, broke the protocol, was
// silent or died. Its process is gone.
type Failure struct {
	What   string // what it did and what the protocol wants; one line
	Status string // how it ended by itself: "exit status 3", "signal: killed"; empty where it was stopped
	Stderr string // the last 4 KiB that it wrote to standard error, as they came
	Silent bool   // its time was up; it may only have been kept from running
	Ended  bool   // it ended by itself, or closed what it reads or writes
	Noisy  bool   // it wrote too much to standard error
	Absent bool   // there was nothing to run: no program, or the system would not start it
	err    error  // the system's error, if that is the cause
}

// maxErrorTail bounds what Error shows of Stderr.
const maxErrorTail = 400

// Error is one line of printable ASCII.
func (f *Failure) Error() string {
	s := printable(f.What, 1000)
	if f.Status != "" {
		s += "; " + f.Status
	}
	if tail := f.Stderr; tail != "" {
		if len(tail) > maxErrorTail {
			tail = "..." + tail[len(tail)-maxErrorTail:]
		}
		s += "; standard error: " + strconv.QuoteToASCII(tail)
	}
	return s
}

func (f *Failure) Unwrap() error { return f.err }

// statusText is how a process ended, in words.
func statusText(ws unix.WaitStatus) string {
	if ws.Signaled() {
		return fmt.Sprintf("signal: %v", ws.Signal())
	}
	return fmt.Sprintf("exit status %d", ws.ExitStatus())
}
