package workload

import (
	"bytes"
	"strings"
	"testing"
)

func TestKnownAnswers(t *testing.T) {
	all := Answers()
	if len(all) != 27 {
		t.Fatalf("%d answers, want 27", len(all))
	}
	for _, a := range all {
		if testing.Short() && a.Iterations > 100_000 {
			continue
		}
		key, err := Key(a.PRF, string(a.Password), a.Salt, a.Iterations, len(a.Key))
		if err != nil || !bytes.Equal(key, a.Key) {
			t.Errorf("%s, %d iterations (%s): key %x, %v; want %x", a.PRF, a.Iterations, a.Source, key, err, a.Key)
		}
	}
}

func TestValidate(t *testing.T) {
	with := func(f func(*Params)) Params { w := Reference(); f(&w); return w }
	for _, c := range []struct {
		w    Params
		want string // part of the error; empty: valid
	}{
		{Reference(), ""},
		{with(func(w *Params) { w.Iterations = 1 }), ""},
		{with(func(w *Params) { w.SaltBytes = 0 }), ""},
		{with(func(w *Params) { w.PRF = "md5" }), "unknown prf"},
		{with(func(w *Params) { w.Iterations = 0 }), "iterations 0 is out of range"},
		{with(func(w *Params) { w.Iterations = -5 }), "iterations -5"},
		{with(func(w *Params) { w.Iterations = 1_000_000_000_000 }), "use 1 to 100,000,000"},
		{with(func(w *Params) { w.SaltBytes = -1 }), "salt-bytes -1"},
		{with(func(w *Params) { w.KeyBytes = 0 }), "key-bytes 0"},
		{with(func(w *Params) { w.KeyBytes = 1 << 40 }), "key-bytes"},
		{with(func(w *Params) { w.Iterations = MaxIterations; w.KeyBytes = 96 }), "too much work"},
	} {
		err := c.w.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.w, err, c.want)
		}
	}
}

func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		w    Params
		want string // the names that start the lines
	}{
		{Params{SHA256, 600_000, 16, 32}, ""},
		{Params{SHA512, 220_000, 16, 64}, ""},
		{Reference(), "iterations key-bytes"},
		{Params{SHA1, 1, 8, 10}, "iterations prf salt-bytes key-bytes"},
		{Params{SHA1, 1_400_000, 16, 20}, "prf"},
	} {
		var names []string
		for _, l := range c.w.Advice() {
			names = append(names, l[:strings.Index(l, ":")])
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%v: advice on %q, want %q", c.w, got, c.want)
		}
	}
	if a := (Params{SHA1, 1, 16, 20}).Advice(); !strings.Contains(a[0], "below every floor") {
		t.Errorf("one iteration: %q", a)
	}
}

func TestGroup(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := Group(n); got != want {
			t.Errorf("Group(%d) = %s, want %s", n, got, want)
		}
	}
}
