package probe

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseHello(t *testing.T) {
	for _, c := range []struct {
		line string
		want Hello
		err  string // part of it; empty: none
	}{
		{"pbkdf2-probe/1 go", Hello{Name: "go"}, ""},
		{"pbkdf2-probe/1 go ", Hello{Name: "go"}, ""},
		{"pbkdf2-probe/1 aws-lc-rs version=1.2 mode=a=b", Hello{"aws-lc-rs", map[string]string{"version": "1.2", "mode": "a=b"}}, ""},
		{"pbkdf2-probe/1 go word =x v=  k=\xc3\xa9 v=2 w=1", Hello{"go", map[string]string{"v": "", "w": "1"}}, ""},
		{"pbkdf2-probe/1 go v=" + strings.Repeat("x", maxWord), Hello{Name: "go"}, ""},
		{"pbkdf2-probe/2 go", Hello{}, "version 2"},
		{"pbkdf2-probe/1.1 go", Hello{}, "not a version"},
		{"pbkdf2-probe/ go", Hello{}, "not a version"},
		{"pbkdf2-probe/1", Hello{}, "not a probe's name"},
		{"pbkdf2-probe/1  go", Hello{}, "not a probe's name"},
		{"pbkdf2-probe/1 Go", Hello{}, "not a probe's name"},
		{"pbkdf2-probe/1 -go", Hello{}, "not a probe's name"},
		{"pbkdf2-probe/1 " + strings.Repeat("x", 65), Hello{}, "not a probe's name"},
		{"pbkdf2-probe/1 go\r", Hello{}, "CR LF"},
		{"pbkdf2-probe/1 go a=\x1b", Hello{}, "control character"},
		{"", Hello{}, "not a probe's first line"},
		{"PBKDF2-PROBE/1 go", Hello{}, "not a probe's first line"},
	} {
		got, err := ParseHello([]byte(c.line))
		if !errorHas(err, c.err) {
			t.Errorf("%q: error %v, want %q", c.line, err, c.err)
		} else if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q: %s", c.line, d)
		}
	}
}

func errorHas(err error, part string) bool {
	if part == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), part)
}

func TestParseAnswer(t *testing.T) {
	long := time.Duration(math.MaxInt64)
	for _, c := range []struct {
		line string
		want Answer
		err  string
	}{
		{"key 00ff ns 5", Answer{[]byte{0, 255}, 5}, ""},
		{"key 00ff ns 5 note", Answer{[]byte{0, 255}, 5}, ""},
		{"key 00 ns 0", Answer{[]byte{0}, 0}, ""},
		{"key 00 ns 9223372036854775807", Answer{[]byte{0}, long}, ""},
		{"key 00 ns 9223372036854775808", Answer{}, "nanoseconds"},
		{"key 00 ns 18446744073709551616", Answer{}, "nanoseconds"},
		{"key 00 ns -1", Answer{}, "nanoseconds"},
		{"key 00 ns", Answer{}, "nanoseconds"},
		{"key 00 ns 1.5e3", Answer{}, "nanoseconds"},
		{"key 00 us 5", Answer{}, `no "ns"`},
		{"key - ns 5", Answer{}, "hex"},
		{"key 0F ns 5", Answer{}, "hex"},
		{"key 00 ns 5\r", Answer{}, "CR LF"},
		{"Key 00 ns 5", Answer{}, "not an answer"},
		{"", Answer{}, "not an answer"},
		{"errors", Answer{}, "not an answer"},
		{"error", Answer{}, "refused: "},
		{"error no such prf", Answer{}, "refused: no such prf"},
	} {
		got, err := ParseAnswer([]byte(c.line), nil)
		if !errorHas(err, c.err) {
			t.Errorf("%q: error %v, want %q", c.line, err, c.err)
		} else if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q: %s", c.line, d)
		}
	}
}

func FuzzParseHello(f *testing.F) {
	f.Add([]byte("pbkdf2-probe/1 aws-lc-rs version=1.2 mode=a=b x"))
	f.Add([]byte("pbkdf2-probe/1 go v= v=2 =3 k=\xff"))
	f.Add([]byte("pbkdf2-probe/2 go"))
	f.Fuzz(func(t *testing.T, line []byte) {
		h, err := ParseHello(line)
		if err != nil {
			return
		}
		again, err := ParseHello(trimLF(t, h.Append(nil)))
		if d := cmp.Diff(h, again); err != nil || d != "" {
			t.Errorf("%q: %v %s", line, err, d)
		}
	})
}

func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte("key 00ff ns 5 x"))
	f.Add([]byte("key 00 ns 9223372036854775808"))
	f.Add([]byte("error no\tsuch \x1b"))
	f.Add([]byte("error " + strings.Repeat("long ", 60)))
	f.Fuzz(func(t *testing.T, line []byte) {
		a, err := ParseAnswer(line, nil)
		var r *Refusal
		switch {
		case errors.As(err, &r):
			_, again := ParseAnswer(trimLF(t, r.Append(nil)), nil)
			if again == nil || again.Error() != err.Error() || len(r.Message) > maxMessage {
				t.Errorf("%q: %v, then %v", line, err, again)
			}
		case err == nil:
			again, err := ParseAnswer(trimLF(t, a.Append(nil)), nil)
			if d := cmp.Diff(a, again); err != nil || d != "" || a.Elapsed < 0 || len(a.Key) == 0 {
				t.Errorf("%q: %v %s", line, err, d)
			}
			if !bytes.HasPrefix(line, trimLF(t, a.Append(nil))) {
				t.Errorf("%q was read as %q", line, a.Append(nil))
			}
		}
	})
}

// trimLF is a written line without its one LF.
func trimLF(t *testing.T, line []byte) []byte {
	if i := bytes.IndexByte(line, '\n'); i != len(line)-1 {
		t.Fatalf("%s is not one line", strconv.Quote(string(line)))
	}
	return line[:len(line)-1]
}
