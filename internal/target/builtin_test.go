package target

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// The test binary is the program that has the built-in probe.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "probe" {
		os.Exit(m.Run())
	}
	if err := Serve(os.Stdin, os.Stdout, len(os.Args) > 2 && os.Args[2] == "--x-crypto"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// open starts a target on a thread of its own.
func open(t testing.TB, spec string, env ...string) *probe.Client {
	t.Helper()
	runtime.LockOSThread()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Command(Env{Self: self, Environ: append(os.Environ(), env...)})
	if err != nil {
		t.Fatal(err)
	}
	c.HelloLimit = time.Minute
	p, err := c.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

func TestKnownAnswers(t *testing.T) {
	for spec, name := range map[string]string{"a=go": "go", "b=go:x-crypto": "go-x-crypto"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, spec)
			h := p.Hello()
			if h.Name != name || h.Words["toolchain"] != word(runtime.Version()) || h.Words["version"] == "" {
				t.Errorf("%+v", h)
			}
			for _, a := range workload.Answers() {
				if testing.Short() && a.Iterations > 100_000 {
					continue
				}
				got, err := p.Derive(t.Context(), probe.Request{PRF: a.PRF, Iterations: a.Iterations, KeyBytes: len(a.Key), Salt: a.Salt, Password: a.Password}, time.Minute)
				if err != nil || !bytes.Equal(got.Key, a.Key) {
					t.Errorf("%s, %d iterations (%s): %x, %v; want %x", a.PRF, a.Iterations, a.Source, got.Key, err, a.Key)
				}
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// FIPS mode refuses short salts: one library returns an error, the other
// panics, and both go on.
func TestRefused(t *testing.T) {
	for spec, want := range map[string]string{"a=go": "salts shorter", "b=go:x-crypto": "panic: "} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			p := open(t, spec, "GODEBUG=fips140=only")
			if m := p.Hello().Words["mode"]; !strings.HasSuffix(m, "GODEBUG=fips140=only") {
				t.Errorf("mode %q", m)
			}
			r := probe.Request{PRF: workload.SHA256, Iterations: 2, KeyBytes: 32, Salt: []byte("short"), Password: []byte("longer than fourteen")}
			_, err := p.Derive(t.Context(), r, time.Minute)
			var refusal *probe.Refusal
			if !errors.As(err, &refusal) || !strings.Contains(refusal.Message, want) {
				t.Fatalf("%v, want a refusal with %q", err, want)
			}
			r.Salt = []byte("sixteen bytes ok")
			a, err := p.Derive(t.Context(), r, time.Minute)
			if key, _ := workload.Key(r.PRF, string(r.Password), r.Salt, 2, 32); err != nil || !bytes.Equal(key, a.Key) {
				t.Errorf("%x, %v; want %x", a.Key, err, key)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMode(t *testing.T) {
	got := mode([]debug.BuildSetting{
		{Key: "-compiler", Value: "gc"}, {Key: "-gcflags", Value: "-N -l"}, {Key: "CGO_ENABLED", Value: "1"},
		{Key: "GOAMD64", Value: "v1"}, {Key: "vcs.revision", Value: "abc"}, {Key: "GOEXPERIMENT", Value: ""},
	}, "cpu.sha=off,x=1")
	if want := "-gcflags=-N_-l,GOAMD64=v1,GODEBUG=cpu.sha=off,x=1"; got != want {
		t.Errorf("mode %q, want %q", got, want)
	}
	if got := mode(nil, ""); got != "" {
		t.Errorf("mode %q of nothing", got)
	}
	if got := word(strings.Repeat("é\n ", 100)); len(got) != 200 || strings.Trim(got, "_") != "" {
		t.Errorf("word %q", got)
	}
}

func TestServeRestoresTheCollector(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	if err := Serve(strings.NewReader(""), new(bytes.Buffer), false); err != nil {
		t.Error(err)
	}
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("GC percent %d after Serve", got)
	}
}
