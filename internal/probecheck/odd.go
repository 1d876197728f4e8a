package probecheck

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

const answerError = "answer `error MESSAGE` and read the next request"

// odd sends lines that are no requests. Each wants `error`, and that the probe
// goes on; key is what a key in answer counts as.
func (r *run) odd(c *Check, key Outcome, mend string, lines ...string) {
	good := 0
	defer func() { c.say("%d of %d answered with an error", good, len(lines)) }()
	for _, line := range lines {
		asked := brief([]byte(line))
		answer, _, err := r.ask([]byte(line), 0)
		if err == nil {
			_, err = read(answer)
		}
		var refused *probe.Refusal
		var form *formError
		switch {
		case err == nil:
			c.add(Finding{key, asked, brief(answer), mend, false})
		case errors.As(err, &refused):
			good++
		case errors.As(err, &form):
			c.fail(asked, form.Error(), answerError)
		default:
			r.problem(c, asked, err)
			if r.stop != "" {
				return
			}
			continue // nothing is left of the process to go on
		}
		if err := r.goesOn(); err != nil {
			r.problem(c, asked+" and then a request in order", err)
			good = max(0, good-1)
		}
	}
}

// goesOn asks for a key after something odd.
func (r *run) goesOn() error {
	_, err := r.derive(r.request(r.prfs[0], 2, 32))
	if r.told(err) {
		return nil
	}
	return err
}

// prefix begins a request in order, up to its salt.
func (r *run) prefix() string { return fmt.Sprintf("derive %s 2 32 ", r.prfs[0]) }

func (r *run) unknownPRF(c *Check) {
	r.odd(c, Failed, "there is no such function: "+answerError,
		"derive sha257 2 32 00112233445566778899aabbccddeeff 70617373776f7264")
}

func (r *run) unknownRequest(c *Check) {
	r.odd(c, Failed, answerError,
		"hello",
		"derived sha256 2 32 00112233445566778899aabbccddeeff 70617373776f7264",
		"derive",
		r.prefix()+"00112233445566778899aabbccddeeff")
}

func (r *run) malformedHex(c *Check) {
	const salt, password = "00112233445566778899aabbccddeeff ", "70617373776f7264"
	r.odd(c, Note, "better to "+answerError+": a mistake becomes a key here",
		r.prefix()+"0011223 "+password,
		r.prefix()+"001122zz "+password,
		r.prefix()+salt+"7061737",
		r.prefix()+salt+"pass")
}

// malformedNumber ends with those that a lenient probe might work at for long.
func (r *run) malformedNumber(c *Check) {
	const rest = " 00112233445566778899aabbccddeeff 70617373776f7264"
	prf := string(r.prfs[0])
	r.odd(c, Note, "better to "+answerError+": numbers are decimals from 1 to 4294967295",
		"derive "+prf+" 0 32"+rest,
		"derive "+prf+" two 32"+rest,
		"derive "+prf+" 2x 32"+rest,
		"derive "+prf+" 2 0"+rest,
		"derive "+prf+" 2 -32"+rest,
		"derive "+prf+" -2 32"+rest,
		"derive "+prf+" 2 99999999999999999999"+rest,
		"derive "+prf+" 99999999999999999999 32"+rest,
		"derive "+prf+" 4294967296 32"+rest)
}

// unknownWords at the end of a request are for later versions.
func (r *run) unknownWords(c *Check) {
	good := 0
	for _, words := range []string{" hint=1", " a b=2 -"} {
		req := r.request(r.prfs[0], 2, 32)
		line := append(lineOf(req), words...)
		answer, x, err := r.ask(line, 0)
		if err == nil {
			_, err = r.check(req, line, answer, x)
		}
		var refused *probe.Refusal
		switch {
		case err == nil || r.told(err):
			good++
		case errors.As(err, &refused):
			c.fail(brief(line), "error "+refused.Message, "ignore what follows the password: later versions of the protocol may add words there")
		default:
			r.problem(c, brief(line), err)
		}
	}
	c.say("%d of 2 requests with some answered rightly", good)
}

// longRequest has nearly the 64 KiB that a line may have.
func (r *run) longRequest(c *Check) {
	req := r.request(r.prfs[0], 2, 32)
	req.Password = bytes.Repeat([]byte("long-"), 6480)
	line := lineOf(req)
	c.say("%s bytes", workload.Group(len(line)))
	_, err := r.derive(req)
	var refused *probe.Refusal
	switch {
	case err == nil || r.told(err):
	case errors.As(err, &refused):
		c.note(brief(line), "error "+refused.Message, mayRefuse)
	default:
		r.problem(c, brief(line), err)
		return
	}
	if err := r.goesOn(); err != nil {
		r.problem(c, brief(line)+" and then a request in order", err)
	}
}
