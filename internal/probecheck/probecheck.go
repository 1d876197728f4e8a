// Package probecheck tests a probe for its author: known answers, odd
// requests, times that can be true, a clean end. What it finds is a value that
// says for each check what was asked, what came and how to mend it.
//
// No check turns a busy machine into a failure: times are the least of
// several tries, held against wide limits, and what looks wrong is tried again.
// The limits are wider than the gate's own, which has yardsticks to tell
// whether it was disturbed.
package probecheck

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// Process is one running probe; *probe.Client is the real one.
type Process interface {
	Hello() probe.Hello
	FirstLine() string
	// Ask sends a line, of any content, and returns the line that answers it.
	// Any error ended the process.
	Ask(ctx context.Context, line []byte, limit time.Duration) ([]byte, error)
	// CPU is the processor time that it has used; false where unknown.
	CPU() (time.Duration, bool)
	Close() error
	Kill()
}

// Config is what to check and with what.
type Config struct {
	Start    func(context.Context) (Process, error)
	PRF      workload.PRF         // only this one; empty: every one that the probe has
	Clock    func() time.Duration // monotonic, from any origin
	Rand     *rand.Rand
	Progress func(name string) // as a check begins; nil: none
}

// Outcome of a check.
type Outcome string

// The outcomes, from the best to the worst.
const (
	OK     Outcome = "ok"
	NotRun Outcome = "not-run" // something that failed before it stands in the way
	Note   Outcome = "note"    // worth knowing; the gate takes the probe as it is
	Failed Outcome = "failed"
)

// Result is what was found.
type Result struct {
	Checks []Check
}

// Count is how many checks have the outcome.
func (r Result) Count(o Outcome) int {
	n := 0
	for _, c := range r.Checks {
		if c.Outcome == o {
			n++
		}
	}
	return n
}

// Check is one check: the worst of its findings, and what was checked.
type Check struct {
	Name     string    `json:"name"`
	Outcome  Outcome   `json:"outcome"`
	Text     string    `json:"text"`     // one line
	Findings []Finding `json:"findings"` // the first few
	More     int       `json:"more"`     // findings that are left out
}

// Finding is one thing that is wrong, or worth a note. Each text is one line,
// and may be empty.
type Finding struct {
	Outcome Outcome `json:"outcome"` // Note or Failed
	Asked   string  `json:"asked"`   // the request, long values cut short
	Came    string  `json:"came"`
	Mend    string  `json:"mend"`

	known bool // mending it mends all that say the same
}

// maxFindings of a check are kept: more of them are rarely about something
// else.
const maxFindings = 3

func (c *Check) add(f Finding) {
	if f.Outcome == Failed || c.Outcome != Failed {
		c.Outcome = f.Outcome
	}
	if len(c.Findings) == maxFindings || slices.ContainsFunc(c.Findings, f.like) {
		c.More++
		return
	}
	c.Findings = append(c.Findings, f)
}

// like: the other finding says it already.
func (f Finding) like(o Finding) bool {
	return f.Outcome == o.Outcome && f.Mend == o.Mend && (f.Came == o.Came || f.known)
}

func (c *Check) fail(asked, came, mend string) { c.add(Finding{Failed, asked, came, mend, false}) }
func (c *Check) note(asked, came, mend string) { c.add(Finding{Note, asked, came, mend, false}) }

func (c *Check) say(format string, args ...any) { c.Text = fmt.Sprintf(format, args...) }

// steps are the checks in their order: each may lean on those before it.
var steps = []struct {
	name string
	do   func(*run, *Check)
}{
	{"first line", (*run).firstLine},
	{"answers", (*run).answers},
	{"known answers", (*run).knownAnswers},
	{"iterations", (*run).iterations},
	{"passwords", (*run).passwords},
	{"salts", (*run).salts},
	{"key lengths", (*run).keyLengths},
	{"unknown prf", (*run).unknownPRF},
	{"unknown request", (*run).unknownRequest},
	{"malformed hex", (*run).malformedHex},
	{"malformed number", (*run).malformedNumber},
	{"unknown words", (*run).unknownWords},
	{"long request", (*run).longRequest},
	{"several processes", (*run).severalProcesses},
	{timeLong, (*run).timeLong},
	{timeRepeated, (*run).timed},
	{timeOver, (*run).timed},
	{timeWhole, (*run).timed},
	{timeGrows, (*run).timed},
	{timeClock, (*run).timed},
	{timeProcessor, (*run).timed},
	{"end of input", (*run).endOfInput},
}

// Run checks one probe. The error is ctx's, or the *probe.Failure of a program
// that could not be started; whatever the probe itself does is in the Result.
// No process is left.
func Run(ctx context.Context, cfg Config) (Result, error) {
	// A probe belongs to the thread that started it; see probe.Command.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := &run{Config: cfg, ctx: ctx, given: map[string]bool{}}
	defer r.kill()
	var res Result
	for _, s := range steps {
		c := Check{Name: s.name, Outcome: OK, Findings: []Finding{}}
		if r.stop != "" {
			c.Outcome, c.Text = NotRun, r.stop
		} else {
			if cfg.Progress != nil {
				cfg.Progress(s.name)
			}
			s.do(r, &c)
		}
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if r.absent != nil && len(res.Checks) == 0 {
			return Result{}, r.absent
		}
		res.Checks = append(res.Checks, c)
	}
	return res, nil
}

// firstLine has the form that a probe needs to be started at all. Only advice
// is left to check.
func (r *run) firstLine(c *Check) {
	if err := r.start(); err != nil {
		c.say("none that can be used")
		c.fail("", err.Error(), "write `pbkdf2-probe/1 NAME version=... toolchain=... mode=...` within 10 s of the start, a line feed after it, and flush it")
		r.stop = "the first line comes first"
		return
	}
	line := r.p.FirstLine()
	c.say("%s", printable(line, 200))
	h := r.p.Hello()
	for _, w := range []struct{ key, what string }{
		{"version", "of the library or runtime"},
		{"toolchain", "the compiler that built it"},
		{"mode", "how it was built, such as release"},
	} {
		if h.Words[w.key] == "" {
			c.note("", "no "+w.key, fmt.Sprintf("say %s=... (%s), so that a report can put a drift down to it", w.key, w.what))
		}
	}
	for _, w := range ignored(line, h) {
		c.note("", fmt.Sprintf("the word %s is ignored", printable(w, 80)), "write KEY=VALUE in ASCII, without blanks, each key once")
	}
}

// problem files what a request led to as a failure.
func (r *run) problem(c *Check, asked string, err error) {
	var ended *probe.Failure
	var refused *probe.Refusal
	var wrong *probe.KeyError
	var form *formError
	switch {
	case r.ctx.Err() != nil:
	case errors.As(err, &ended):
		c.fail(asked, ended.Error(), mendEnd(ended))
	case errors.As(err, &refused):
		c.fail(asked, "error "+refused.Message, "answer with a key")
	case errors.As(err, &wrong):
		r.wrong = true
		mend := guess(wrong, errors.As(err, new(*repeatedError)))
		c.add(Finding{Outcome: Failed, Asked: asked, Came: fmt.Sprintf("key %s where %s is right", cut(wrong.Got), cut(wrong.Want)),
			Mend: mend, known: mend != noGuess})
	case errors.As(err, &form):
		c.fail(asked, form.Error(), form.mend)
	default:
		c.fail(asked, err.Error(), "")
	}
}

// mendEnd is what to do about a process that ended; what the protocol wants
// is in the failure's own text.
func mendEnd(f *probe.Failure) string {
	switch {
	case f.Silent:
		return "answer every line that comes, within 10 s, and flush what you write"
	case f.Noisy:
		return "write less to standard error: no more than 1 MiB in all, whatever it is asked"
	case f.Ended:
		return "catch what goes wrong, answer `error MESSAGE`, and read the next request; end at the end of input alone"
	}
	return "write one line for the first line and for each request, and nothing else, on standard output; messages go to standard error"
}
