package probecheck

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/goprobe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// script is how a scripted probe behaves; the zero value is an honest one.
// Time passes only when it derives.
type script struct {
	hello    string
	startErr func(process int) error
	asked    func(line string) (string, error)            // not handled: "", nil
	key      func(r probe.Request, key []byte) []byte     // what it answers instead
	request  func(r *probe.Request)                       // what it derives instead
	own      func(d time.Duration, n int) time.Duration   // what it reports instead
	close    func(process int) (time.Duration, error)     // how it ends
	refuse   func(r probe.Request) bool                   // in order, but not for it
	text     func(a probe.Answer, r probe.Request) string // of the answer
}

type world struct {
	script
	now       time.Duration
	processes int
	open      int
}

type process struct {
	*world
	n     int
	ended bool
}

const goodHello = "pbkdf2-probe/1 scripted version=1 toolchain=t mode=release"

func (w *world) config(prf workload.PRF) Config {
	return Config{
		Start: func(ctx context.Context) (Process, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			w.processes++
			if w.startErr != nil {
				if err := w.startErr(w.processes); err != nil {
					return nil, err
				}
			}
			w.open++
			return &process{world: w, n: w.processes}, nil
		},
		PRF:   prf,
		Clock: func() time.Duration { return w.now },
		Rand:  rand.New(rand.NewPCG(1, 2)),
	}
}

func (p *process) FirstLine() string {
	if p.hello != "" {
		return strings.ReplaceAll(p.hello, "PROCESS", strconv.Itoa(p.n))
	}
	return goodHello
}

func (p *process) Hello() probe.Hello {
	h, err := probe.ParseHello([]byte(p.FirstLine()))
	if err != nil {
		panic(err)
	}
	return h
}

func (p *process) CPU() (time.Duration, bool) { return p.now, true }

func (p *process) Kill() { p.end() }

func (p *process) end() {
	if !p.ended {
		p.ended = true
		p.open--
	}
}

func (p *process) Close() error {
	defer p.end()
	if p.close != nil {
		took, err := p.close(p.n)
		p.now += took
		return err
	}
	return nil
}

func (p *process) Ask(ctx context.Context, line []byte, limit time.Duration) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		p.end()
		return nil, err
	}
	if p.ended {
		panic("asked after its end")
	}
	p.now += 20 * time.Microsecond
	if p.asked != nil {
		answer, err := p.asked(string(line))
		if err != nil {
			p.end()
			if f, ok := err.(*probe.Failure); ok && f.Silent {
				p.now += limit
			}
			return nil, err
		}
		if answer != "" {
			return []byte(answer), nil
		}
	}
	r, err := parse(line)
	if err != nil {
		return []byte("error " + err.Error()), nil
	}
	asked := r
	if p.refuse != nil && p.refuse(r) {
		return []byte("error not for me"), nil
	}
	if p.request != nil {
		p.request(&r)
	}
	key, err := workload.Key(r.PRF, string(r.Password), r.Salt, r.Iterations, r.KeyBytes)
	if err != nil {
		return nil, err
	}
	took := time.Duration(200.3 * float64(r.Iterations*blocks(r)))
	p.now += took
	if p.key != nil {
		key = p.key(r, key)
	}
	if p.own != nil {
		took = p.own(took, r.Iterations)
	}
	a := probe.Answer{Key: key, Elapsed: took}
	if p.text != nil {
		return []byte(p.text(a, asked)), nil
	}
	return bytes.TrimSuffix(a.Append(nil), []byte("\n")), nil
}

var (
	died    = &probe.Failure{What: "no answer: its standard output ended", Status: "exit status 7", Stderr: "assertion failed", Ended: true}
	unasked = &probe.Failure{What: `unasked output "ok\n"`}
	silent  = &probe.Failure{What: "no answer: none within 10s", Silent: true}
)

// on handles the lines that have a part.
func on(part, answer string, err error) func(string) (string, error) {
	return func(line string) (string, error) {
		if strings.Contains(line, part) {
			return answer, err
		}
		return "", nil
	}
}

// exactly is for one line.
func exactly(line string, err error) func(string) (string, error) {
	return func(l string) (string, error) {
		if l == line {
			return "", err
		}
		return "", nil
	}
}

// then answers a line, and ends at the next one.
func then(part, answer string, err error) func(string) (string, error) {
	armed := false
	return func(line string) (string, error) {
		switch {
		case armed:
			armed = false
			return "", err
		case strings.Contains(line, part):
			armed = true
			return answer, nil
		}
		return "", nil
	}
}

// once ends at the first request.
func once(err error) func(string) (string, error) {
	done := false
	return func(string) (string, error) {
		if done {
			return "", nil
		}
		done = true
		return "", err
	}
}

// nth fails to start the nth process.
func nth(n int, err error) func(int) error {
	return func(process int) error {
		if process == n {
			return err
		}
		return nil
	}
}

func runsOnOnce() func(int) (time.Duration, error) {
	return func(process int) (time.Duration, error) {
		if process == 1 {
			return 2 * time.Second, errors.New("still running")
		}
		return 0, nil
	}
}

// withTime is a key with another text for its time.
func withTime(text string) func(probe.Answer, probe.Request) string {
	return func(a probe.Answer, _ probe.Request) string {
		return "key " + hex.EncodeToString(a.Key) + " ns " + text
	}
}

func dash(v *[]byte) {
	if len(*v) == 0 {
		*v = []byte("-")
	}
}

// first answers with the first key for all, as long as asked.
func first() func(probe.Request, []byte) []byte {
	var kept []byte
	return func(r probe.Request, key []byte) []byte {
		if kept == nil {
			kept = bytes.Repeat(key, 40)
		}
		return kept[:len(key)]
	}
}

func wrongFrom(iterations int) func(probe.Request, []byte) []byte {
	return func(r probe.Request, key []byte) []byte {
		if r.Iterations >= iterations {
			key[0] ^= 1
		}
		return key
	}
}

// parse reads a request as the built-in probe does.
func parse(line []byte) (probe.Request, error) {
	r, err := goprobe.ParseRequest(line)
	if err != nil {
		return probe.Request{}, err
	}
	prf, err := workload.ParsePRF(r.PRF)
	return probe.Request{PRF: prf, Iterations: r.Iterations, KeyBytes: r.KeyBytes, Salt: r.Salt, Password: []byte(r.Password)}, err
}
