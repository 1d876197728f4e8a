package goprobe

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// answersTo runs Serve over the requests and returns its lines after hello.
func answersTo(t *testing.T, in io.Reader, derive Derive) ([]string, error) {
	t.Helper()
	var out bytes.Buffer
	err := Serve(in, &out, "pbkdf2-probe/1 go", derive)
	lines := strings.Split(out.String(), "\n")
	if lines[0] != "pbkdf2-probe/1 go" || lines[len(lines)-1] != "" {
		t.Fatalf("wrote %q", out.String())
	}
	return lines[1 : len(lines)-1], err
}

func TestServeKnownAnswers(t *testing.T) {
	t.Parallel()
	var in []byte
	var want []workload.Answer
	for _, a := range workload.Answers() {
		if testing.Short() && a.Iterations > 100_000 {
			continue
		}
		in = probe.Request{PRF: a.PRF, Iterations: a.Iterations, KeyBytes: len(a.Key), Salt: a.Salt, Password: a.Password}.Append(in)
		want = append(want, a)
	}
	lines, err := answersTo(t, bytes.NewReader(in), library)
	if err != nil || len(lines) != len(want) {
		t.Fatalf("%d answers to %d requests, %v", len(lines), len(want), err)
	}
	for i, a := range want {
		got, err := probe.ParseAnswer([]byte(lines[i]), nil)
		if err != nil || !bytes.Equal(got.Key, a.Key) || got.Elapsed <= 0 {
			t.Errorf("%s, %d iterations (%s): %q, %v; want key %x", a.PRF, a.Iterations, a.Source, lines[i], err, a.Key)
		}
	}
}

func errorHas(err error, part string) bool {
	if part == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), part)
}

func TestServe(t *testing.T) {
	ok := "derive sha256 1 1 - -\n"
	key := "key f7 ns " // HMAC-SHA256("", 00000001)
	for _, c := range []struct {
		name, in string
		derive   Derive
		want     []string // what the answers begin with
		err      string
	}{
		{"nothing", "", library, nil, ""},
		{"two", ok + ok, library, []string{key, key}, ""},
		{"unknown", "quit\n" + ok, library, []string{"error unknown request", key}, ""},
		{"empty", "\n" + ok, library, []string{"error unknown request", key}, ""},
		{"trailing words", "derive sha256 1 1 - - x=1 y\n", library, []string{key}, ""},
		{"bad number", "derive sha256 -1 1 - -\n" + ok, library, []string{"error iterations", key}, ""},
		{"unknown prf", "derive md5 1 1 - -\n", library, []string{"error unknown prf"}, ""},
		{"key too long", "derive sha256 1 4294967295 - -\n" + ok, library, []string{"error a key of 4294967295 bytes", key}, ""},
		{"too long", "derive " + strings.Repeat("x", 200_000) + "\n" + ok, library, []string{"error the request is over 64 KiB", key}, ""},
		{"longest", strings.TrimSpace(ok) + strings.Repeat(" ", maxLine-len(ok)) + "\n", library, []string{key}, ""},
		{"one too long", strings.TrimSpace(ok) + strings.Repeat(" ", maxLine-len(ok)+1) + "\n" + ok, library, []string{"error the request is over", key}, ""},
		{"too long, no end", strings.Repeat("x", 200_000), library, nil, "no end"},
		{"cut off", ok + "derive sha256 1", library, []string{key}, "cut off"},
		{"error", ok + ok, func(string, string, []byte, int, int) ([]byte, error) {
			return nil, errors.New("not\nallowed \x00")
		}, []string{"error not allowed ?", "error not"}, ""},
		{"panic", ok + ok, func(string, string, []byte, int, int) ([]byte, error) {
			panic("no entropy")
		}, []string{"error panic: no entropy", "error panic"}, ""},
		{"fault", ok, func(_ string, _ string, salt []byte, _, _ int) ([]byte, error) {
			return salt[5:6:6], nil
		}, []string{"error panic: runtime error"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, in := range []io.Reader{strings.NewReader(c.in), iotest.HalfReader(strings.NewReader(c.in))} {
				got, err := answersTo(t, in, c.derive)
				if !errorHas(err, c.err) {
					t.Errorf("error %v, want %q", err, c.err)
				}
				if len(got) != len(c.want) {
					t.Fatalf("answers %.200q, want %q", got, c.want)
				}
				for i := range got {
					if !strings.HasPrefix(got[i], c.want[i]) || len(got[i]) > 300 {
						t.Errorf("answer %.300q, want %q", got[i], c.want[i])
					}
				}
			}
		})
	}
}

func TestServeReadAndWriteErrors(t *testing.T) {
	bad := errors.New("bad disk")
	if err := Serve(iotest.ErrReader(bad), io.Discard, "pbkdf2-probe/1 go", library); !errors.Is(err, bad) {
		t.Errorf("reading: %v", err)
	}
	r, w := io.Pipe()
	r.CloseWithError(bad)
	if err := Serve(strings.NewReader(""), w, "pbkdf2-probe/1 go", library); !errors.Is(err, bad) {
		t.Errorf("writing: %v", err)
	}
}

func TestParseRequest(t *testing.T) {
	plain := Request{PRF: "sha256", Iterations: 500000, KeyBytes: 64, Salt: []byte{0xab, 1}, Password: "p"}
	for _, c := range []struct {
		line string
		want Request
		err  string
	}{
		{"derive sha256 500000 64 ab01 70", plain, ""},
		{"derive sha256 500000 64 ab01 70 hint=1 x", plain, ""},
		{"derive sha1 1 1 - -", Request{PRF: "sha1", Iterations: 1, KeyBytes: 1}, ""},
		{"derive sha512 4294967295 1 - -", Request{PRF: "sha512", Iterations: math.MaxUint32, KeyBytes: 1}, ""},
		{"derive sha512 1 4294967295 - -", Request{}, "does not fit"},
		{"", Request{}, "unknown request"},
		{"quit", Request{}, "unknown request"},
		{"derived sha1 1 1 - -", Request{}, "unknown request"},
		{"derive", Request{}, "too few words"},
		{"derive sha256 1 1 -", Request{}, "too few words"},
		{"derive sha256 0 1 - -", Request{}, "iterations"},
		{"derive sha256 -1 1 - -", Request{}, "iterations"},
		{"derive sha256 +1 1 - -", Request{}, "iterations"},
		{"derive sha256 01 1 - -", Request{}, "iterations"},
		{"derive sha256 1e3 1 - -", Request{}, "iterations"},
		{"derive sha256 4294967296 1 - -", Request{}, "iterations"},
		{"derive sha256 99999999999999999999999 1 - -", Request{}, "iterations"},
		{"derive sha256 1 0 - -", Request{}, "key bytes"},
		{"derive sha256 1 1 AB -", Request{}, "salt"},
		{"derive sha256 1 1 a -", Request{}, "salt"},
		{"derive sha256 1 1 - 7", Request{}, "password"},
		{"derive sha256 1 1 - --", Request{}, "password"},
		{"derive sha256 1 1 -  ", Request{}, "password"},
		{"derive sha256 1 1 - -\r", Request{}, "CR LF"},
		{"derive sha256 1 1 - -\x00", Request{}, "control"},
	} {
		got, err := ParseRequest([]byte(c.line))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: error %v, want %q", c.line, err, c.err)
			}
		} else if d := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); err != nil || d != "" {
			t.Errorf("%q: %v %s", c.line, err, d)
		}
	}
}

func FuzzServe(f *testing.F) {
	f.Add([]byte("derive sha256 1 1 - -\nquit\n\nderive sha1 2 4 00 ff x\n"))
	f.Add([]byte("derive sha256 1"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		Serve(bytes.NewReader(in), &out, "pbkdf2-probe/1 go", func(prf, _ string, _ []byte, _, keyBytes int) ([]byte, error) {
			return make([]byte, keyBytes), nil
		})
		lines := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
		if want := bytes.Count(in, []byte("\n")) + 1; len(lines) != want {
			t.Fatalf("%d lines for %d", len(lines), want)
		}
		for _, l := range lines[1:] {
			var r *probe.Refusal
			if _, err := probe.ParseAnswer(l, nil); err != nil && !errors.As(err, &r) {
				t.Errorf("answer %q: %v", l, err)
			}
		}
	})
}
