package counter

import (
	"encoding/binary"
	"math"
	"testing"
)

func written(words ...uint64) []byte {
	var b []byte
	for _, w := range words {
		b = binary.NativeEndian.AppendUint64(b, w)
	}
	return b
}

func TestParse(t *testing.T) {
	if r, ok := parse(written(2, 900, 800, 7, 5)); !ok || r != (Reading{900, 800, 7, 5}) {
		t.Errorf("%+v, %t", r, ok)
	}
	for name, b := range map[string][]byte{
		"nothing":          nil,
		"cut":              written(2, 900, 800, 7, 5)[:39],
		"longer":           written(2, 900, 800, 7, 5, 3),
		"a group of one":   written(1, 900, 800, 7, 0),
		"a group of three": written(3, 900, 800, 7, 5),
	} {
		if r, ok := parse(b); ok {
			t.Errorf("%s is read as %+v", name, r)
		}
	}
}

func TestSince(t *testing.T) {
	then := Reading{100, 50, 1000, 400}
	for name, c := range map[string]struct {
		now  Reading
		want Counts
		ok   bool
	}{
		"all of the time":       {Reading{300, 250, 3000, 1400}, Counts{2000, 1000}, true},
		"half of the time":      {Reading{300, 150, 3000, 1400}, Counts{4000, 2000}, true},
		"more than all":         {Reading{300, 251, 3000, 1400}, Counts{2000, 1000}, true},
		"never on the counters": {Reading{300, 50, 1000, 400}, Counts{}, false},
		"did not run":           {then, Counts{}, false},
		"counters that stand":   {Reading{300, 250, 1000, 400}, Counts{}, false},
		"no cycles":             {Reading{300, 250, 3000, 400}, Counts{}, false},
		"backwards":             {Reading{300, 250, 900, 1400}, Counts{}, false},
		"past the middle":       {Reading{300, 250, 1<<63 + 1000, 1400}, Counts{math.Pow(2, 63), 1000}, true},
	} {
		if got, ok := c.now.Since(then); got != c.want || ok != c.ok {
			t.Errorf("%s: %+v, %t", name, got, ok)
		}
	}
}

// There are counters, or a word on why not.
func TestAbsentHasAReason(t *testing.T) {
	g := Open()
	defer g.Close()
	_, ok := g.Read()
	if reason := g.Absent(); ok != (reason == "") {
		t.Errorf("read %t, absent for %q", ok, reason)
	} else if !ok {
		t.Log("no counters: " + reason)
	}
	g.Close()
	if _, ok := g.Read(); ok {
		t.Error("a closed one is read")
	}
	g.Close()
}
