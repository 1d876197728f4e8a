package probe

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

func library(prf workload.PRF, password string, salt []byte, iterations, keyBytes int) ([]byte, error) {
	return workload.Key(prf, password, salt, iterations, keyBytes)
}

// answersTo runs Serve over the requests and returns its lines after hello.
func answersTo(t *testing.T, in io.Reader, derive Deriver) ([]string, error) {
	t.Helper()
	var out bytes.Buffer
	err := Serve(in, &out, Hello{Name: "go"}, derive)
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
		in = Request{a.PRF, a.Iterations, len(a.Key), a.Salt, a.Password}.Append(in)
		want = append(want, a)
	}
	lines, err := answersTo(t, bytes.NewReader(in), library)
	if err != nil || len(lines) != len(want) {
		t.Fatalf("%d answers to %d requests, %v", len(lines), len(want), err)
	}
	for i, a := range want {
		got, err := ParseAnswer([]byte(lines[i]), nil)
		if err != nil || !bytes.Equal(got.Key, a.Key) || got.Elapsed <= 0 {
			t.Errorf("%s, %d iterations (%s): %q, %v; want key %x", a.PRF, a.Iterations, a.Source, lines[i], err, a.Key)
		}
	}
}

func TestServe(t *testing.T) {
	ok := "derive sha256 1 1 - -\n"
	key := "key f7 ns " // HMAC-SHA256("", 00000001)
	for _, c := range []struct {
		name, in string
		derive   Deriver
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
		{"longest", strings.TrimSpace(ok) + strings.Repeat(" ", MaxLine-len(ok)) + "\n", library, []string{key}, ""},
		{"one too long", strings.TrimSpace(ok) + strings.Repeat(" ", MaxLine-len(ok)+1) + "\n" + ok, library, []string{"error the request is over", key}, ""},
		{"too long, no end", strings.Repeat("x", 200_000), library, nil, "no end"},
		{"cut off", ok + "derive sha256 1", library, []string{key}, "cut off"},
		{"error", ok + ok, func(workload.PRF, string, []byte, int, int) ([]byte, error) {
			return nil, errors.New("not\nallowed \x00")
		}, []string{"error not allowed ?", "error not"}, ""},
		{"panic", ok + ok, func(workload.PRF, string, []byte, int, int) ([]byte, error) {
			panic("no entropy")
		}, []string{"error panic: no entropy", "error panic"}, ""},
		{"fault", ok, func(_ workload.PRF, _ string, salt []byte, _, _ int) ([]byte, error) {
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
	if err := Serve(iotest.ErrReader(bad), io.Discard, Hello{Name: "go"}, library); !errors.Is(err, bad) {
		t.Errorf("reading: %v", err)
	}
	r, w := io.Pipe()
	r.CloseWithError(bad)
	if err := Serve(strings.NewReader(""), w, Hello{Name: "go"}, library); !errors.Is(err, bad) {
		t.Errorf("writing: %v", err)
	}
	for _, h := range []Hello{
		{},
		{Name: "Go"},
		{Name: "go\n"},
		{Name: "go", Words: map[string]string{"a b": "1"}},
		{Name: "go", Words: map[string]string{"v": "1 2"}},
		{Name: "go", Words: map[string]string{"v": "é"}},
	} {
		if err := Serve(strings.NewReader(""), io.Discard, h, library); err == nil {
			t.Errorf("%v is served", h)
		}
	}
}

func TestServeAllocatesLittle(t *testing.T) {
	s := server{derive: func(workload.PRF, string, []byte, int, int) ([]byte, error) { return nil, nil }}
	line := []byte("derive sha256 3000 64 000102030405060708090a0b0c0d0e0f 70617373776f7264")
	out := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { out = s.answer(out[:0], line) }); n > 0 {
		t.Errorf("%v allocations for a request", n)
	}
}

func FuzzServe(f *testing.F) {
	f.Add([]byte("derive sha256 1 1 - -\nquit\n\nderive sha1 2 4 00 ff x\n"))
	f.Add([]byte("derive sha256 1"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		Serve(bytes.NewReader(in), &out, Hello{Name: "go"}, func(prf workload.PRF, _ string, _ []byte, _, keyBytes int) ([]byte, error) {
			return make([]byte, keyBytes), nil
		})
		lines := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
		if want := bytes.Count(in, []byte("\n")) + 1; len(lines) != want {
			t.Fatalf("%d lines for %d", len(lines), want)
		}
		for _, l := range lines[1:] {
			var r *Refusal
			if _, err := ParseAnswer(l, nil); err != nil && !errors.As(err, &r) {
				t.Errorf("answer %q: %v", l, err)
			}
		}
	})
}
