package target

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/goprobe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// The test binary is the program that has the built-in probe.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != "probe" {
		layouts = 2
		os.Exit(m.Run())
	}
	if err := goprobe.Run(os.Stdin, os.Stdout, len(os.Args) > 2 && os.Args[2] == "--x-crypto"); err != nil {
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
	built, err := Side{Self: self, Dir: t.TempDir(), Temp: t.TempDir(), Environ: append(os.Environ(), env...)}.Prepare(t.Context(), []Spec{s})
	if err != nil || built[0].Err != nil {
		t.Fatal(err, built[0].Err)
	}
	c := built[0].Commands[0]
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
			if h.Name != name || h.Words["toolchain"] != runtime.Version() || h.Words["version"] == "" {
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
