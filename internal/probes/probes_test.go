// Package probes has no code: its tests build the example probes in the folder
// probes of the repository, as its READMEs say, and hold them to the protocol.
package probes

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/measure"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probecheck"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

const root = "../.."

// known are the probes by folder.
var known = map[string]struct {
	word   string // for PBKDF2_GATE_REQUIRE
	name   string // in the first line
	salted bool   // the library takes no empty salt
}{
	"rust-aws-lc-rs": {word: "rust", name: "aws-lc-rs"},
	"rust-ring":      {word: "rust", name: "ring"},
	"zig":            {word: "zig", name: "zig"},
	"odin":           {word: "odin", name: "odin"},
	"node":           {word: "node", name: "node"},
	"python":         {word: "python", name: "python"},
	"java":           {word: "java", name: "java", salted: true},
	"c-openssl":      {word: "c", name: "openssl"},
}

func TestProbes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	table := table(t)
	var mu sync.Mutex
	built := map[string]probe.Command{}
	outer := t // whose folders last until all are measured together
	t.Run("each", func(t *testing.T) {
		for folder, want := range known {
			dir := outer.TempDir()
			t.Run(folder, func(t *testing.T) {
				t.Parallel()
				c := build(t, dir, folder)
				t.Run("keys", func(t *testing.T) { keys(t, c, folder, table[folder]) })
				t.Run("requests", func(t *testing.T) { requests(t, c, want.salted) })
				t.Run("end", func(t *testing.T) {
					if err := start(t, c).Close(); err != nil {
						t.Error(err)
					}
				})
				t.Run("probe-check", func(t *testing.T) { check(t, c) })
				mu.Lock()
				defer mu.Unlock()
				built[folder] = c
			})
		}
	})
	t.Run("together", func(t *testing.T) { together(t, built) })
}

// check is what probe-check says.
func check(t *testing.T, c probe.Command) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := time.Now()
	got, err := probecheck.Run(t.Context(), probecheck.Config{
		Start: func(ctx context.Context) (probecheck.Process, error) {
			p, err := c.Start(ctx)
			if err != nil {
				return nil, err
			}
			return p, nil
		},
		Clock: func() time.Duration { return time.Since(begin) },
		Rand:  rand.New(rand.NewPCG(1, 2)),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got.Checks {
		if c.Outcome == probecheck.Failed {
			t.Errorf("%+v", c)
		}
	}
}

// together measures all probes in one run: their keys are right, and their
// times are believed. What they take is not looked at.
func together(t *testing.T, built map[string]probe.Command) {
	if len(built) == 0 {
		t.Skip("none was built")
	}
	var subjects []measure.Subject
	for name, c := range built {
		subjects = append(subjects, measure.Subject{Name: name, Side: result.Head, Workload: workload.Reference(), Brief: true,
			Start: func(ctx context.Context) (measure.Process, error) {
				p, err := c.Start(ctx)
				if err != nil {
					return nil, err
				}
				return p, nil
			}})
	}
	begin := time.Now()
	runs, err := measure.Run(t.Context(), measure.Config{
		Subjects: subjects, Budget: time.Second, Enough: func([]result.Round) bool { return true },
		Clock: func() time.Duration { return time.Since(begin) }, Kernels: measure.RealKernels(),
		Rand: rand.New(rand.NewPCG(3, 4)), Pin: measure.PinThread,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if r.Outcome != result.Measured {
			t.Errorf("%s is %s: %s", r.Target, r.Outcome, r.Message)
		}
	}
}

// keys holds the first line, and the keys of a probe that is asked one by one.
func keys(t *testing.T, c probe.Command, folder string, prfs []string) {
	p := start(t, c)
	h := p.Hello()
	if h.Name != known[folder].name {
		t.Errorf("it calls itself %s", h.Name)
	}
	for _, word := range []string{"version", "toolchain", "mode"} {
		if h.Words[word] == "" {
			t.Errorf("no word %s in its first line: %v", word, h.Words)
		}
	}
	if readme := read(t, folder+"/README.md"); known[folder].word == "rust" && !strings.Contains(readme, h.Words["version"]) {
		t.Errorf("its README does not name the version %s", h.Words["version"])
	}

	derive := func(r probe.Request) ([]byte, error) {
		a, err := p.Derive(t.Context(), r, time.Minute)
		return a.Key, err
	}
	var refusal *probe.Refusal
	n := 0
	for _, a := range workload.Answers() {
		if a.Iterations > 100_000 {
			continue // nothing new, and slow in some
		}
		key, err := derive(probe.Request{PRF: a.PRF, Iterations: a.Iterations, KeyBytes: len(a.Key), Salt: a.Salt, Password: a.Password})
		switch {
		case !slices.Contains(prfs, string(a.PRF)):
			if !errors.As(err, &refusal) {
				t.Errorf("%s, which the table does not list: %x, %v", a.PRF, key, err)
			}
		case err != nil || !bytes.Equal(key, a.Key):
			t.Errorf("%s, %d iterations (%s): %x, %v; want %x", a.PRF, a.Iterations, a.Source, key, err, a.Key)
		default:
			n++
		}
	}
	if n < 10 {
		t.Errorf("%d known answers", n)
	}

	r := probe.Request{PRF: workload.SHA256, Iterations: 2, KeyBytes: 32, Salt: []byte("a salt"), Password: []byte("password")}
	check := func(what string, change func(*probe.Request)) {
		t.Helper()
		r := r
		change(&r)
		want, err := workload.Key(r.PRF, string(r.Password), r.Salt, r.Iterations, r.KeyBytes)
		if err != nil {
			t.Fatal(err)
		}
		if key, err := derive(r); err != nil || !bytes.Equal(key, want) {
			t.Errorf("%s: %x, %v; want %x", what, key, err, want)
		}
	}
	check("4,096 bytes of password", func(r *probe.Request) { r.Password = bytes.Repeat([]byte("p"), 4096) })
	check("the longest key", func(r *probe.Request) { r.KeyBytes = 32754 })
	if known[folder].salted {
		r := r
		r.Salt = nil
		if key, err := derive(r); !errors.As(err, &refusal) {
			t.Errorf("no salt: %x, %v; want a refusal", key, err)
		}
	} else {
		check("no salt", func(r *probe.Request) { r.Salt = nil })
	}
	r.PRF = "md5"
	if key, err := derive(r); !errors.As(err, &refusal) {
		t.Errorf("an unknown prf: %x, %v; want a refusal", key, err)
	}
	r.PRF = workload.SHA256
	check("after it", func(*probe.Request) {})
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// requests are written all at once, and their answers read.
func requests(t *testing.T, c probe.Command, salted bool) {
	const good = "derive sha256 1 20 73616c74 70617373776f7264"
	goodKey := []byte("\x12\x0f\xb6\xcf\xfc\xf8\xb3\x2c\x43\xe7\x22\x52\x56\xc4\xf8\x37\xa8\x65\x48\xc9")
	long := "derive sha256 1 20 73616c74 "
	long += strings.Repeat("61", (probe.MaxLine-len(long)-1)/2) // to within two bytes
	longKey, err := workload.Key(workload.SHA256, strings.Repeat("a", (len(long)-28)/2), []byte("salt"), 1, 20)
	if err != nil {
		t.Fatal(err)
	}
	type exchange struct {
		line string
		key  []byte // nil: an error
	}
	all := []exchange{
		{good, goodKey},
		{good + " later words -", goodKey},
		{good + " \x01\xff", goodKey},
		{long, longKey},
		{long + " a", nil},
		{good + strings.Repeat(" x", 1<<19), nil},
		{strings.Repeat("x", probe.MaxLine) + good, nil}, // one line all the same
	}
	for _, line := range []string{
		"", " ", "hello", "derive", "derive ", "DERIVE sha256 1 20 73616c74 70", "\xff\xfe", "derive \xff 1 20 73616c74 70",
		"derive sha256 1 20 73616c74", "derive sha256 1 20 73616c74 ", "derive sha256  1 20 73616c74 70", " " + good,
		"derive md5 1 20 73616c74 70", "derive SHA256 1 20 73616c74 70", "derive sha-256 1 20 73616c74 70", "derive toString 1 20 73616c74 70",
		"derive sha256 1 20 73616c7 70", "derive sha256 1 20 73616c7g 70", "derive sha256 1 20 73616C74 70", "derive sha256 1 20 0x73 70",
		"derive sha256 1 20 73616c74 7", "derive sha256 1 20 73616c74 --", "derive sha256 1 20 73616c74 -0", "derive sha256 1 20 73616c74 7\xc3\xa9",
		"derive sha256 1 20 73616c74 +7", "derive sha256 1 20 73616c74 70\x00", "derive sha256 1 20 73616c74 70\x000", good + "\r", good + "\t",
	} {
		all = append(all, exchange{line, nil})
	}
	for _, n := range []string{"0", "-1", "+1", "1_0", "1e3", "0x1", "1.0", "", "4294967296", "99999999999999999999", "\u0661"} {
		all = append(all, exchange{"derive sha256 " + n + " 20 73616c74 70", nil}, exchange{"derive sha256 1 " + n + " 73616c74 70", nil})
	}
	all = append(all, exchange{"derive sha256 1 32755 73616c74 70", nil}, exchange{"derive sha256 1 4294967295 73616c74 70", nil})
	if !salted {
		key, err := workload.Key(workload.SHA512, "", nil, 3, 100)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, exchange{"derive sha512 3 100 - -", key})
	}
	all = append(all, exchange{good, goodKey})

	var in strings.Builder
	for _, e := range all {
		in.WriteString(e.line + "\n")
	}
	got := converse(t, c, in.String())
	if len(got) != 1+len(all) {
		t.Errorf("%d lines for the first and %d requests", len(got), len(all))
	}
	var refusal *probe.Refusal
	for i, line := range got[1:min(len(got), 1+len(all))] {
		asked := all[i].line[:min(len(all[i].line), 80)]
		a, err := probe.ParseAnswer([]byte(line), nil)
		switch {
		case all[i].key == nil && (!errors.As(err, &refusal) || len(line) <= len("error ")):
			t.Errorf("%q is answered by %.80q, want an error", asked, line)
		case all[i].key != nil && (err != nil || !bytes.Equal(a.Key, all[i].key)):
			t.Errorf("%q is answered by %.80q, want the key %x", asked, line, all[i].key)
		}
	}
}

// converse runs the probe on an input that ends, and returns its lines.
func converse(t *testing.T, c probe.Command, in string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, strings.NewReader(in)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("it ended with %v\n%s", err, stderr.String())
	}
	text, ok := strings.CutSuffix(string(out), "\n")
	if !ok {
		t.Fatalf("its last line has no end: %.80q\n%s", text, stderr.String())
	}
	return strings.Split(text, "\n")
}

// start starts the probe for the rest of the test, which has a thread of its
// own.
func start(t *testing.T, c probe.Command) *probe.Client {
	t.Helper()
	runtime.LockOSThread()
	p, err := c.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}
