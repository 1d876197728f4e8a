package probecheck

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// run is one pass through the checks: a process that is started again when it
// has ended, and what was learned of it.
type run struct {
	Config
	ctx    context.Context
	p      Process // nil: none runs
	absent error   // why there is no program to run
	stop   string  // why the checks that are left are not run

	prfs      []workload.PRF // that it has, the one that is timed first
	iteration float64        // what one iteration of one block takes at least, ns; 0: unknown
	stalled   bool           // it was silent once, and was given another try
	silences  int            // how often it was silent beyond that

	given map[string]bool // keys that it answered
	right *answered       // the last right one
	wrong bool            // a wrong one was found
	seen  []exchange      // every key that it timed

	last   probe.Request // that was timed
	rounds []round
	judged map[string]Check
	failed error // why nothing was judged
}

type answered struct{ line, key []byte }

// exchange is one key that came: the time that was reported, that which passed
// here, and the processor time (-1: unknown).
type exchange struct {
	asked          string
	own, wall, cpu time.Duration
}

// A probe is asked no more when it was silent this often: each time costs the
// protocol's ten seconds.
const mostSilences = 2

// formError is an answer that is none of the protocol's. It does not end the
// process.
type formError struct {
	line string
	why  error
	mend string
}

func (e *formError) Error() string { return fmt.Sprintf("%s: %v", e.line, e.why) }

// start makes sure that a process runs.
func (r *run) start() error {
	if r.p != nil {
		return nil
	}
	p, err := r.Start(r.ctx)
	if err != nil {
		var f *probe.Failure
		if errors.As(err, &f) {
			if f.Absent {
				r.absent = err
			}
			if f.Silent {
				r.silent()
			}
		}
		return err
	}
	r.p = p
	return nil
}

func (r *run) kill() {
	if r.p != nil {
		r.p.Kill()
		r.p = nil
	}
}

func (r *run) silent() {
	if r.silences++; r.silences >= mostSilences {
		r.stop = "it was silent too often"
	}
}

// ask sends one line. Where the answer is late it is asked for once more, the
// first time: on a machine that stands still an honest probe is late, too.
func (r *run) ask(line []byte, limit time.Duration) (answer []byte, x exchange, err error) {
	for {
		if err := r.start(); err != nil {
			return nil, x, err
		}
		if answer, x, err = r.exchange(r.p, line, limit); err == nil {
			return answer, x, nil
		}
		r.p = nil
		var f *probe.Failure
		if !errors.As(err, &f) || !f.Silent {
			return nil, x, err
		}
		if r.stalled {
			r.silent()
			return nil, x, err
		}
		r.stalled = true
	}
}

// exchange asks a process, with the time that it takes.
func (r *run) exchange(p Process, line []byte, limit time.Duration) ([]byte, exchange, error) {
	x := exchange{cpu: -1}
	before, known := p.CPU()
	start := r.Clock()
	answer, err := p.Ask(r.ctx, line, limit)
	x.wall = r.Clock() - start
	if err != nil {
		return nil, x, err
	}
	if after, ok := p.CPU(); ok && known {
		x.cpu = after - before
	}
	return answer, x, nil
}

// derive asks for a key and holds it against the standard library's. The
// error is a *probe.Refusal, *probe.KeyError or *formError where the probe goes
// on.
func (r *run) derive(req probe.Request) (exchange, error) {
	line := lineOf(req)
	answer, x, err := r.ask(line, req.Limit(r.perIteration()))
	if err != nil {
		return x, err
	}
	return r.check(req, line, answer, x)
}

// check reads the answer to a request.
func (r *run) check(req probe.Request, line, answer []byte, x exchange) (exchange, error) {
	a, err := read(answer)
	if err != nil {
		return x, err
	}
	x.own, x.asked = a.Elapsed, brief(line)
	r.seen = append(r.seen, x)
	if per := float64(x.wall) / float64(req.Iterations*blocks(req)); req.Iterations >= 1000 && (r.iteration == 0 || per < r.iteration) {
		r.iteration = per
	}
	if r.right != nil && bytes.Equal(line, r.right.line) && bytes.Equal(a.Key, r.right.key) {
		return x, nil // asked again
	}
	again := r.given[string(a.Key)]
	r.given[string(a.Key)] = true
	switch err = req.Verify(a.Key); {
	case err == nil:
		r.right = &answered{line, a.Key}
	case again:
		err = &repeatedError{err}
	}
	return x, err
}

// repeatedError is a wrong key that was an answer before.
type repeatedError struct{ error }

func (e *repeatedError) Unwrap() error { return e.error }

// told: the error is a wrong key, and that there are such was found before.
func (r *run) told(err error) bool { return r.wrong && errors.As(err, new(*probe.KeyError)) }

func (r *run) perIteration() float64 {
	if r.iteration == 0 {
		return probe.UnknownIteration
	}
	return r.iteration
}

func blocks(r probe.Request) int {
	return workload.Params{PRF: r.PRF, KeyBytes: r.KeyBytes}.Blocks()
}

// read is the answer in a line, or what is wrong with that.
func read(line []byte) (probe.Answer, error) {
	a, err := probe.ParseAnswer(line, nil)
	var refusal *probe.Refusal
	if err == nil || errors.As(err, &refusal) {
		return a, err
	}
	text := strconv.QuoteToASCII(string(line[:min(len(line), 80)]))
	if len(line) > 80 {
		text += "..."
	}
	return a, &formError{text, err,
		"write `key KEY_HEX ns N` with lower-case hex and N a whole number of nanoseconds, or `error MESSAGE`, one space between words, and a line feed alone at the end"}
}

// request has a new salt of 16 bytes.
func (r *run) request(prf workload.PRF, iterations, keyBytes int) probe.Request {
	return probe.Request{PRF: prf, Iterations: iterations, KeyBytes: keyBytes, Salt: r.salt(16), Password: []byte(workload.Password)}
}

func (r *run) salt(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Rand.Uint32())
	}
	return b
}

// lineOf is the request without its line feed.
func lineOf(r probe.Request) []byte { return bytes.TrimSuffix(r.Append(nil), []byte("\n")) }

// brief is a request for people: long values are cut short.
func brief(line []byte) string {
	words := strings.Split(string(line), " ")
	for i, w := range words {
		switch {
		case len(w) <= 24:
		case i == 4 || i == 5:
			words[i] = fmt.Sprintf("%s..(%s bytes)", w[:8], workload.Group(len(w)/2))
		default:
			words[i] = w[:8] + ".."
		}
	}
	return printable(strings.Join(words, " "), 160)
}

// cut is a key for people.
func cut(key []byte) string {
	if len(key) > 8 {
		return fmt.Sprintf("%x..(%d bytes)", key[:8], len(key))
	}
	return hex.EncodeToString(key)
}

// printable is s as ASCII of at most max bytes.
func printable(s string, max int) string {
	if len(s) > max {
		s = s[:max-2] + ".."
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, s)
}

// ignored lists the words of a first line that its Hello lacks.
func ignored(line string, h probe.Hello) []string {
	var out []string
	counted := map[string]bool{}
	for i, w := range strings.Split(line, " ") {
		if i < 2 || w == "" {
			continue
		}
		key, value, ok := strings.Cut(w, "=")
		if v, has := h.Words[key]; !ok || !has || v != value || counted[key] {
			out = append(out, w)
		}
		counted[key] = true
	}
	return out
}
