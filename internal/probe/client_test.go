package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/counter"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// request wants a key of 8 bytes.
var request = Request{PRF: workload.SHA256, Iterations: 5000, KeyBytes: 8, Salt: []byte("salt"), Password: []byte("password")}

// play is a Command for a role, on a thread of its own. What it starts must
// be gone at the end of the test.
func play(t *testing.T, role string) Command {
	t.Helper()
	runtime.LockOSThread()
	mark := fmt.Sprintf("PROBE_TEST_MARK=%s.%d.", t.Name(), time.Now().UnixNano())
	t.Cleanup(func() { noneLeft(t, mark) })
	return Command{
		Args:       []string{os.Args[0]},
		Env:        append(os.Environ(), roleVar+"="+role, mark),
		HelloLimit: time.Minute,
		closeLimit: time.Minute,
	}
}

// noneLeft fails while a process has the mark, for as long as a killed one
// may take to go.
func noneLeft(t *testing.T, mark string) {
	var pids []int
	for range 500 {
		if pids = withEnv(mark); len(pids) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("still running: %v", pids)
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

func start(t *testing.T, c Command) *Client {
	t.Helper()
	p, err := c.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// wantFailure checks the text of a Failure, which must be one printable line.
func wantFailure(t *testing.T, err error, parts ...string) {
	t.Helper()
	var f *Failure
	if !errors.As(err, &f) {
		t.Fatalf("%v (%T), want a *Failure", err, err)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%q does not say %q", err, p)
		}
	}
	if s := err.Error(); s != printable(s, 2000) {
		t.Errorf("%q is not one line of printable ASCII", s)
	}
}

func TestKnownAnswers(t *testing.T) {
	t.Parallel()
	p := start(t, play(t, "good"))
	want := Hello{Name: "fake", Words: map[string]string{"version": "1.2"}}
	if d := cmp.Diff(want, p.Hello()); d != "" {
		t.Error(d)
	}
	for _, a := range workload.Answers() {
		if testing.Short() && a.Iterations > 100_000 {
			continue
		}
		got, err := p.Derive(t.Context(), Request{a.PRF, a.Iterations, len(a.Key), a.Salt, a.Password}, time.Minute)
		if err != nil || !bytes.Equal(got.Key, a.Key) || got.Elapsed <= 0 {
			t.Errorf("%s, %d iterations (%s): %x in %v, %v; want %x", a.PRF, a.Iterations, a.Source, got.Key, got.Elapsed, err, a.Key)
		}
	}
	cpu, ok := p.CPU()
	if ok != (runtime.GOOS == "linux") || ok && cpu <= 0 {
		t.Errorf("CPU() = %v, %v", cpu, ok)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if _, err := p.Derive(t.Context(), request, 0); err == nil {
		t.Error("a closed probe derives")
	}
	if _, ok := p.CPU(); ok {
		t.Error("a closed probe has processor time")
	}
	p.Kill()
}

// graceFor is long where the probe ends by itself and must be seen to.
func graceFor(want []string) time.Duration {
	for _, w := range want {
		if strings.HasPrefix(w, "exit status") || strings.HasPrefix(w, "signal") {
			return time.Minute
		}
	}
	return 0
}

// limitIn is the limit that is expected to run out, or a generous one.
func limitIn(want []string) time.Duration {
	for _, w := range want {
		if _, limit, ok := strings.Cut(w, "within "); ok {
			d, _ := time.ParseDuration(limit)
			return d
		}
	}
	return time.Minute
}

// Where the processor counts, it counts each derivation of the probe.
func TestCounts(t *testing.T) {
	t.Parallel()
	p := start(t, play(t, "good"))
	g := counter.Open()
	defer g.Close()
	before, ok := p.Counts()
	if why := g.Absent(); ok != (why == "") {
		t.Errorf("counted: %t, absent for %q", ok, why)
	}
	if _, err := p.Derive(t.Context(), request, time.Minute); err != nil {
		t.Fatal(err)
	}
	if ok {
		now, _ := p.Counts()
		if c, counted := now.Since(before); !counted || c.Instructions < 10*float64(request.Iterations) {
			t.Errorf("%+v, %t for %d iterations", c, counted, request.Iterations)
		}
	}
	p.Kill()
	if _, ok := p.Counts(); ok {
		t.Error("a killed probe counts")
	}
}

func TestBadAnswer(t *testing.T) {
	ends := map[string]bool{"exit 3": true, "exit 0": true, "killed": true, "segfault": true, "truncated": true,
		"closes stdout": true, "closes stdin": true, "child holds, dies": true}
	const wants = `the protocol wants "key KEY_HEX ns N"`
	for role, want := range map[string][]string{
		"hang on request":   {"none within 300ms"},
		"exit 3":            {"no answer", "exit status 3", `standard error: "out of luck\nreally\n"`},
		"exit 0":            {"no answer", "exit status 0"},
		"killed":            {"no answer", "signal: killed"},
		"segfault":          {"no answer", "signal: segmentation fault"},
		"garbage":           {`"hello yourself": not an answer`, wants},
		"empty line":        {`"": not an answer`, wants},
		"truncated":         {"no whole line", `"key 0102030405060708 ns 12"`},
		"cut":               {"none within 2s", `after "key 0102"`},
		"long line":         {"line over 64 KiB", `"key 0000`},
		"wrong word":        {`"kez 0102030405060708 ns 5"`, wants},
		"no ns":             {`no "ns"`, wants},
		"negative":          {`ns -5": the time is not a count of nanoseconds`},
		"zero":              {"5000 iterations in 0 ns", "clock"},
		"huge":              {"not a count of nanoseconds"},
		"fraction":          {"not a count of nanoseconds"},
		"uppercase":         {"lower-case hex", wants},
		"not hex":           {"lower-case hex"},
		"short key":         {"a key of 7 bytes, not the 8"},
		"long key":          {"a key of 9 bytes, not the 8"},
		"no key":            {"lower-case hex"},
		"CRLF":              {"CR LF", `\r"`},
		"NUL":               {"control character", `\x00"`},
		"refuses CRLF":      {"CR LF"},
		"two answers":       {"too much output", "one line for a request"},
		"floods stdout":     {"too much output"},
		"floods zeros":      {"line over 64 KiB"},
		"floods stderr":     {"over 1 MiB of standard error", "...", `warning\n`},
		"closes stdout":     {"standard output ended"},
		"closes stdin":      {"standard input was closed"},
		"child holds, dies": {"it ended", "exit status 3"},
		"grandchild, hangs": {"none within 300ms"},
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			c := play(t, role)
			c.grace = graceFor(want)
			p := start(t, c)
			limit := limitIn(want)
			if role == "closes stdin" {
				time.Sleep(100 * time.Millisecond) // the pipe would hold a request
			}
			_, err := p.Derive(t.Context(), request, limit)
			wantFailure(t, err, want...)
			if f := err.(*Failure); f.Ended != ends[role] {
				t.Errorf("Ended is %v", f.Ended)
			}
			if _, again := p.Derive(t.Context(), request, limit); again != err {
				t.Errorf("then %v", again)
			}
			if again := p.Close(); again != err {
				t.Errorf("Close: %v", again)
			}
		})
	}
}

func TestClose(t *testing.T) {
	for role, want := range map[string][]string{
		"good":                    nil,
		"slow end":                nil,
		"chatty":                  nil,
		"child holds":             nil,
		"grandchild holds":        nil,
		"grandchild floods after": nil,
		"ignores the end":         {"still running 1s after"},
		"exit 7 at the end":       {"ended badly", "exit status 7", "leaking"},
		"bye":                     {"unasked output", `"bye\n"`},
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			c := play(t, role)
			if role == "ignores the end" {
				c.closeLimit = time.Second
			}
			p := start(t, c)
			for range 3 {
				a, err := p.Derive(t.Context(), request, 0)
				if err != nil {
					t.Fatal(err)
				}
				if key, _ := workload.Key(request.PRF, "password", request.Salt, 5000, 8); !bytes.Equal(key, a.Key) {
					t.Errorf("key %x, want %x", a.Key, key)
				}
			}
			if err := p.Close(); want != nil {
				wantFailure(t, err, want...)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnswersThatPass(t *testing.T) {
	for _, role := range []string{"trailing", "slow trickle"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			p := start(t, play(t, role))
			a, err := p.Derive(t.Context(), request, 0)
			if want := (Answer{[]byte{1, 2, 3, 4, 5, 6, 7, 8}, 5}); err != nil || !cmp.Equal(a, want) {
				t.Errorf("%v, %v; want %v", a, err, want)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A microsecond clock reads 0 for a few iterations.
func TestZeroOfShort(t *testing.T) {
	t.Parallel()
	p := start(t, play(t, "zero"))
	r := request
	r.Iterations = 1
	if a, err := p.Derive(t.Context(), r, 0); err != nil || a.Elapsed != 0 {
		t.Errorf("%v, %v", a, err)
	}
}

func TestUnaskedOutput(t *testing.T) {
	t.Parallel()
	p := start(t, play(t, "more later"))
	if _, err := p.Derive(t.Context(), request, 0); err != nil {
		t.Fatal(err)
	}
	p.awaitOutput(t)
	_, err := p.Derive(t.Context(), request, 0)
	wantFailure(t, err, "unasked output", `"done\n"`)
}

// awaitOutput waits until the probe has written something.
func (c *Client) awaitOutput(t *testing.T) {
	for range 100 {
		if n, err := c.poll(false, slack); err != nil {
			t.Fatal(err)
		} else if n > 0 {
			return
		}
	}
	t.Fatal("no output")
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	p := start(t, play(t, "refuses"))
	for range 2 { // it goes on
		_, err := p.Derive(t.Context(), request, 0)
		var r *Refusal
		if !errors.As(err, &r) {
			t.Fatalf("%v, want a *Refusal", err)
		}
		if !strings.HasPrefix(r.Message, "no ?[31msuch thing ???") || len(r.Message) != maxMessage || !strings.HasSuffix(r.Message, "...") {
			t.Errorf("message %q", r.Message)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	p := start(t, play(t, "good"))
	if p.FirstLine() != hello {
		t.Errorf("first line %q", p.FirstLine())
	}
	for line, want := range map[string]string{
		"":                           "error unknown request",
		"hello \x00":                 "error the line has a control character",
		"derive sha256 1 4 - - x=1":  "key ",
		strings.Repeat("x", MaxLine): "error the request is over 64 KiB",
	} {
		got, err := p.Ask(t.Context(), []byte(line), 0)
		if err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("%.20q: %q, %v; want %q", line, got, err, want)
		}
	}
	if _, err := p.Derive(t.Context(), request, 0); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := p.Ask(t.Context(), []byte("x"), 0); err == nil {
		t.Error("a closed probe answers")
	}
}

// An answer that breaks the protocol is the caller's to judge.
func TestAskGarbage(t *testing.T) {
	t.Parallel()
	p := start(t, play(t, "garbage"))
	for range 2 {
		if got, err := p.Ask(t.Context(), []byte("x"), 0); err != nil || string(got) != "hello yourself" {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func TestRequestTooLong(t *testing.T) {
	t.Parallel()
	p := start(t, play(t, "good"))
	for _, change := range []func(*Request){
		func(r *Request) { r.Password = bytes.Repeat([]byte("p"), 33<<10) },
		func(r *Request) { r.KeyBytes = 40000 },
	} {
		r := request
		change(&r)
		if _, err := p.Derive(t.Context(), r, 0); err == nil || !strings.Contains(err.Error(), "64 KiB") {
			t.Errorf("%v", err)
		}
	}
	r := request
	r.Password, r.Iterations, r.KeyBytes = bytes.Repeat([]byte("p"), 32000), 1, maxKeyBytes
	if _, err := p.Derive(t.Context(), r, 0); err != nil {
		t.Errorf("the longest request: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"hang at start", "hang on request", "grandchild, hangs"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			c := play(t, role)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if role != "hang at start" {
				p := start(t, c)
				time.AfterFunc(50*time.Millisecond, cancel)
				if _, err := p.Derive(ctx, request, time.Hour); err != context.Canceled {
					t.Errorf("Derive: %v", err)
				}
				if err := p.Close(); err != context.Canceled {
					t.Errorf("Close: %v", err)
				}
				return
			}
			time.AfterFunc(50*time.Millisecond, cancel)
			if _, err := c.Start(ctx); err != context.Canceled {
				t.Errorf("Start: %v", err)
			}
			if _, err := c.Start(ctx); err != context.Canceled {
				t.Errorf("Start after: %v", err)
			}
		})
	}
}

// Sweep is for all clients, so this test is not parallel with any.
func TestSweep(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Linux only")
	}
	defer runtime.UnlockOSThread()
	p := start(t, play(t, "grandchild"))
	if _, err := p.Derive(t.Context(), request, 0); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if n := Sweep(); n != 1 {
		t.Errorf("swept %d processes, want 1", n)
	}
	// a busy machine takes its time to end what was killed
	for deadline := time.Now().Add(10 * time.Second); Sweep() != 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("what was swept is still there")
		}
	}
}

func TestDebug(t *testing.T) {
	t.Parallel()
	c := play(t, "refuses")
	var log strings.Builder
	c.Debug = &log
	p := start(t, c)
	p.Derive(t.Context(), request, 0)
	p.Close()
	c = play(t, "exit 3")
	c.Debug = &log
	start(t, c).Derive(t.Context(), request, 0)
	req := "-> derive sha256 5000 8 73616c74 70617373776f7264\n"
	want := "<- " + hello + "\n" + req + "<- error no ?[31msuch thing "
	if !strings.HasPrefix(log.String(), want) {
		t.Errorf("log %q, want first %q", log.String(), want)
	}
	if want := "<- " + hello + "\n" + req + "<! out of luck\n<! really\n"; !strings.HasSuffix(log.String(), want) {
		t.Errorf("log %q, want last %q", log.String(), want)
	}
}

func TestAllocatesLittle(t *testing.T) {
	p := start(t, play(t, "trailing"))
	n := testing.AllocsPerRun(50, func() {
		if _, err := p.Derive(t.Context(), request, 0); err != nil {
			t.Fatal(err)
		}
	})
	if n > 2 { // poll's timeout is one
		t.Errorf("%v allocations for an answer", n)
	}
}
