package probecheck

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// few iterations are more than a request costs beside them, and soon over.
const few = 3000

// answers finds out which functions the probe has: whether it answers with
// keys at all.
func (r *run) answers(c *Check) {
	prfs := []workload.PRF{workload.SHA256, workload.SHA512, workload.SHA1}
	if r.PRF != "" {
		prfs = []workload.PRF{r.PRF}
	}
	type no struct{ asked, came string }
	var refusals []no
	var refuses []workload.PRF
	for _, prf := range prfs {
		req := r.request(prf, few, 32)
		asked := brief(lineOf(req))
		_, err := r.derive(req)
		var refused *probe.Refusal
		switch {
		case err == nil || errors.As(err, new(*probe.KeyError)): // whether keys are right is told later
			r.prfs = append(r.prfs, prf)
			continue
		case errors.As(err, &refused):
			refusals = append(refusals, no{asked, "error " + refused.Message})
			refuses = append(refuses, prf)
			continue
		}
		r.problemInOrder(c, asked, err)
		if len(r.prfs) == 0 || r.stop != "" {
			break
		}
	}
	switch {
	case len(r.prfs) > 0:
		c.say("keys for %s", join(r.prfs))
		if len(refuses) > 0 {
			c.say("keys for %s; refuses %s", join(r.prfs), join(refuses))
		}
		for _, n := range refusals {
			c.note(n.asked, n.came, "")
		}
	default:
		c.say("no key")
		for _, n := range refusals {
			c.fail(n.asked, n.came, fmt.Sprintf("answer with a key for at least one prf of %s, with a salt of 16 bytes and a key of 32", join(prfs)))
		}
		r.stop = "it gave no key yet"
	}
}

func join(prfs []workload.PRF) string {
	var s []string
	for _, p := range prfs {
		s = append(s, string(p))
	}
	return strings.Join(s, ", ")
}

// tally counts what came for a series of requests.
type tally struct{ asked, right, refused int }

func (t tally) String() string {
	s := fmt.Sprintf("%d of %d right", t.right, t.asked)
	if t.refused > 0 {
		s += fmt.Sprintf(", %d refused", t.refused)
	}
	return s
}

// series asks for keys and files what is not right. refusal is what an `error`
// counts as, and mend what to do about one. What ends the probe twice would
// end it again: the rest is not asked.
func (r *run) series(c *Check, reqs []probe.Request, refusal Outcome, mend string) tally {
	t := tally{asked: len(reqs)}
	ends := 0
	for _, req := range reqs {
		_, err := r.derive(req)
		asked := brief(lineOf(req))
		var refused *probe.Refusal
		switch {
		case r.ctx.Err() != nil:
			return t
		case err == nil:
			t.right++
			continue
		case errors.As(err, &refused):
			t.refused++
			c.add(Finding{refusal, asked, "error " + refused.Message, mend, false})
			continue
		}
		r.problemInOrder(c, asked, err)
		if r.p == nil {
			if ends++; ends == 2 || r.stop != "" {
				break
			}
		}
	}
	return t
}

// problemInOrder is problem for a request in order: lines too many, or too
// long, are then there for every one.
func (r *run) problemInOrder(c *Check, asked string, err error) {
	r.problem(c, asked, err)
	var f *probe.Failure
	if errors.As(err, &f) && !f.Ended && !f.Silent {
		r.stop = "its lines come first"
	}
}

// mayRefuse is said where a refusal is the library's right.
const mayRefuse = "nothing, where the library refuses it on purpose"

func (r *run) knownAnswers(c *Check) {
	var reqs []probe.Request
	for _, a := range workload.Answers() {
		if slices.Contains(r.prfs, a.PRF) {
			reqs = append(reqs, probe.Request{PRF: a.PRF, Iterations: a.Iterations, KeyBytes: len(a.Key), Salt: a.Salt, Password: a.Password})
		}
	}
	// cheap ones first: a mistake is found with those
	slices.SortStableFunc(reqs, func(a, b probe.Request) int { return a.Iterations - b.Iterations })
	c.say("%v", r.series(c, reqs, Note, mayRefuse))
}

func (r *run) iterations(c *Check) {
	var reqs []probe.Request
	for _, prf := range r.prfs {
		for _, n := range []int{1, 2, few} {
			reqs = append(reqs, r.request(prf, n, 64))
		}
	}
	c.say("1, 2 and %s: %v", workload.Group(few), r.series(c, reqs, Failed, "derive it: the gate asks for 1, 2 and 3,000 iterations before it measures, so that their count is seen to be used"))
}

// passwords are empty, as long as the hash's block, longer by one, and long.
func (r *run) passwords(c *Check) {
	var reqs []probe.Request
	for _, prf := range r.prfs {
		for _, n := range []int{0, 64, 65, 128, 129, 4096} {
			req := r.request(prf, 2, 32)
			req.Password = bytes.Repeat([]byte("p"), n)
			reqs = append(reqs, req)
		}
	}
	c.say("0, 64, 65, 128, 129 and 4,096 bytes: %v", r.series(c, reqs, Note, mayRefuse))
}

func (r *run) salts(c *Check) {
	var reqs []probe.Request
	for _, prf := range r.prfs {
		for _, n := range []int{0, 1, 15, workload.MaxSaltBytes} {
			req := r.request(prf, 2, 32)
			req.Salt = r.salt(n)
			reqs = append(reqs, req)
		}
	}
	c.say("0, 1, 15 and %s bytes: %v", workload.Group(workload.MaxSaltBytes), r.series(c, reqs, Note, mayRefuse))
}

// keyLengths are one block or less, many, and no multiple of one.
func (r *run) keyLengths(c *Check) {
	var reqs []probe.Request
	for _, prf := range r.prfs {
		size := prf.Size()
		for _, n := range []int{1, size - 1, size, size + 1, 3*size + 7, workload.MaxKeyBytes} {
			reqs = append(reqs, r.request(prf, 2, n))
		}
	}
	c.say("1 to 1,024 bytes, whole blocks and parts: %v", r.series(c, reqs, Note, mayRefuse))
}

// severalProcesses: two at once, and one after the other.
func (r *run) severalProcesses(c *Check) {
	req := r.request(r.prfs[0], few, 64)
	line, asked := lineOf(req), brief(lineOf(req))
	ok := 0
	defer func() { c.say("%d of 4 answers from three processes, two of them at once", ok) }()
	of := func(p Process) bool {
		answer, x, err := r.exchange(p, line, req.Limit(r.perIteration()))
		if err == nil {
			_, err = r.check(req, line, answer, x)
		}
		if err != nil && !r.told(err) {
			r.problem(c, asked, err)
			return false
		}
		ok++
		return true
	}
	if err := r.start(); err != nil {
		r.problem(c, "to start", err)
		return
	}
	first := r.p.FirstLine()
	for i := range 2 {
		p, err := r.Start(r.ctx)
		if err != nil {
			r.problem(c, "to start beside another process of it", err)
			return
		}
		if p.FirstLine() != first {
			c.note("to start again", "another first line: "+printable(p.FirstLine(), 120), "say the same every time: reports compare what it says")
		}
		good := of(p)
		if good && i == 0 {
			// its own process goes on beside the other one
			if good = of(r.p); !good {
				r.kill()
			}
			good = good && of(p)
		}
		p.Kill()
		if !good {
			return
		}
	}
}

// endOfInput ends the process that has answered so far, and a new one that was
// asked nothing.
func (r *run) endOfInput(c *Check) {
	good := 0
	defer func() { c.say("exit 0 within 2 s: %d of 2 times", good) }()
	for i, when := range []string{"after its requests", "without a request"} {
		err := r.start()
		if i == 0 && err == nil {
			err = r.goesOn()
		}
		if err != nil {
			r.problem(c, "to go on, before the end of its input", err)
			continue
		}
		if err := r.end(); err != nil {
			c.fail("the end of its input, "+when, err.Error(), "exit with 0 within 2 s of the end of standard input, and write nothing after the last answer")
			continue
		}
		good++
	}
}

// end closes the process. Where it took its time, another one is tried: the
// machine may have been busy.
func (r *run) end() error {
	start := r.Clock()
	err := r.p.Close()
	r.p = nil
	if err == nil || r.Clock()-start < closeLimit || r.ctx.Err() != nil {
		return err
	}
	if err := r.start(); err != nil {
		return err
	}
	err = r.p.Close()
	r.p = nil
	return err
}
