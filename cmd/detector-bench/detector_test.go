package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

func TestDeriver(t *testing.T) {
	for _, name := range []string{"0", "0.3", "5", "call", "path"} {
		truth, err := parseTruth(name)
		if err != nil {
			t.Fatal(err)
		}
		d := deriver{truth: truth}
		for _, prf := range []workload.PRF{workload.SHA1, workload.SHA256, workload.SHA512} {
			want, err := workload.Key(prf, "password", []byte("salt"), 333, 70)
			if err != nil {
				t.Fatal(err)
			}
			if got := d.derive(prf, "password", []byte("salt"), 333, 70); !bytes.Equal(got, want) {
				t.Errorf("%s %s: key %x, want %x", name, prf, got, want)
			}
		}
	}
	for _, bad := range []string{"", "-1", "x", "NaN", "1e9"} {
		if x, err := parseTruth(bad); err == nil {
			t.Errorf("%q: %+v", bad, x)
		}
	}
}

// Parts of an iteration are not lost, so that any truth holds on average.
func TestOwed(t *testing.T) {
	d := deriver{truth: truth{extra: 0.3}}
	more := 0
	for range 1000 {
		more += d.more(100)
	}
	if more < 299 || more > 300 {
		t.Errorf("%d iterations more of 100,000, want 300", more)
	}
}

func TestRate(t *testing.T) {
	for _, c := range []struct {
		k, n   int
		lo, hi float64
	}{{0, 300, 0, 0.01222}, {10, 10, 0.69150, 1}, {5, 10, 0.18709, 0.81291}, {1, 1, 0.025, 1}, {0, 1, 0, 0.975}} {
		lo, hi := rate(c.k, c.n)
		if math.Abs(lo-c.lo) > 1e-4 || math.Abs(hi-c.hi) > 1e-4 {
			t.Errorf("%d of %d: %.5f to %.5f, want %.5f to %.5f", c.k, c.n, lo, hi, c.lo, c.hi)
		}
	}
}

func TestNsPerOp(t *testing.T) {
	got, err := nsPerOp([]byte("goos: linux\nBenchmarkHash-2   \t       9\t 123456789 ns/op\nBenchmarkHash-2\t 10\t 120000000 ns/op\nPASS\n"))
	if err != nil || len(got) != 2 || math.Abs(got[0]-123456789) > 1 || math.Abs(got[1]-120e6) > 1 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := nsPerOp([]byte("PASS\n")); err == nil {
		t.Error("no benchmark is no error")
	}
}

// invented is a trial of a machine that makes no noise but what is given.
func invented(number int, load string, costs ...float64) trial {
	t := trial{Number: number, Load: load, Began: time.Date(2026, 12, 1, 0, number, 0, 0, time.UTC), Budget: time.Second,
		Host: host.Fingerprint{GOOS: "linux", GOARCH: "amd64", CPUID: "x", HostID: "h"}, Took: map[string]time.Duration{"gate": 2 * time.Second}}
	for i, c := range costs {
		side := result.Head
		if i == 0 {
			side = result.Base
		}
		run := result.Run{Target: "p", Side: side, ID: "1", Yardstick: "1 x", Workload: workload.Reference(),
			Plan: result.Plan{SliceIterations: 1000, Slices: 20, WarmUp: 2, Yardstick: 250 * time.Microsecond}, Outcome: result.Measured, Host: t.Host}
		raw := samples{Apart: true}
		for j := range 12 {
			x := c * (1 + float64(j%4)/10_000)
			run.Rounds = append(run.Rounds, result.Round{Clean: 100, CleanShare: 1, NsPerOp: 1e8 * x, RelCost: x, ChainNs: 40, LanesNs: 20})
			r := roundSamples{Chain: []int32{40_000}, Lanes: []int32{20_000}}
			for range 20 {
				r.Slices = append(r.Slices, int32(4e6*x))
				r.CPU = append(r.CPU, int32(4e6*x))
				r.Chain = append(r.Chain, 40_000)
				r.Lanes = append(r.Lanes, 20_000)
			}
			raw.Rounds = append(raw.Rounds, r)
		}
		t.Gate = append(t.Gate, gateSide{run, raw})
		t.Others = append(t.Others, otherSide{GoBench: []float64{100 * c, 101 * c, 102 * c, 103 * c, 104 * c, 105 * c, 106 * c, 107 * c}, Hyperfine: []float64{c, c * 1.01}})
	}
	return t
}

// Comparisons of one truth have no side in common.
func TestComparisons(t *testing.T) {
	for sides, want := range map[string][]comparison{
		"0,1":             {{0, 1, "1"}},
		"0,0,0.5,call":    {{0, 1, "0"}, {0, 2, "0.5"}, {0, 3, "call"}},
		"0,0.3,0,0.3":     {{0, 2, "0"}, {1, 3, "0"}, {0, 1, "0.3"}, {2, 3, "0.3"}},
		"0,0,0,1,1,1,1,1": {{0, 1, "0"}, {3, 4, "0"}, {5, 6, "0"}, {0, 3, "1"}, {1, 4, "1"}, {2, 5, "1"}},
	} {
		x := trial{Sides: strings.Split(sides, ",")}
		if got := x.comparisons(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", sides, got, want)
		}
	}
}

// One alarm among a trial's identical pairs makes the trial one.
func TestFamilies(t *testing.T) {
	trials := []trial{invented(0, "none", 1, 1.5, 1, 1), invented(1, "none", 1, 1, 1, 1.5), invented(2, "none", 1, 1, 1, 1), invented(3, "late", 1, 1.5)}
	for i := range trials {
		trials[i].Sides = []string{"0", "0", "0", "0"}[:len(trials[i].Gate)]
	}
	if n := pairRule(0.03).families(trials, "none"); n.n != 3 || n.alarms != 2 {
		t.Errorf("%+v", n)
	}
	if n := pairRule(0.03).count(trials, "none", identical); n.n != 6 || n.alarms != 2 {
		t.Errorf("%+v", n)
	}
}

// Every rule calls a large drift, and what it says of none is what its kind
// says.
func TestRules(t *testing.T) {
	trials := []trial{invented(0, "none", 1, 1, 2.5), invented(1, "none", 1, 1, 2.5)}
	for i := range trials {
		trials[i].Sides = []string{"0", "0", "150"}
	}
	for _, r := range rules(trials) {
		if c := r.count(trials, "none", "150"); c.n == 0 || c.alarms != c.n {
			t.Errorf("%s: +150 %%: %s", r.name, c)
		}
		if c := r.count(trials, "none", "0"); c.n == 0 || c.alarms != 0 || c.undecided != 0 {
			t.Errorf("%s: no drift: %s", r.name, c)
		}
		if c := r.count(trials, "bursts", "0"); c.n != 0 {
			t.Errorf("%s: a load that was not there: %s", r.name, c)
		}
	}
	for _, e := range estimates() {
		if row := e.row(trials, "none"); !strings.Contains(row, "| 4 of 4 | 0.000 % |") {
			t.Error(row)
		}
	}
}

// What was recorded is read again, and only that.
func TestTrialFiles(t *testing.T) {
	dir := t.TempDir()
	want := invented(3, "late", 1, 1.01)
	want.Sides = []string{"0", "1"}
	if err := writeTrial(filepath.Join(dir, "0003.json.gz"), want); err != nil {
		t.Fatal(err)
	}
	all, err := readRecordings([]string{dir})
	if err != nil || len(all) != 1 || len(all[0].digest) != 64 || len(all[0].trials) != 1 {
		t.Fatalf("%d recordings, %v", len(all), err)
	}
	got := all[0].trials
	for i, g := range got[0].Gate {
		if len(g.Run.Rounds) != len(want.Gate[i].Run.Rounds) || math.Abs(g.Run.Rounds[1].NsPerOp/g.Run.Rounds[0].NsPerOp-1.0001) > 1e-6 {
			t.Errorf("side %d: the rounds are not its samples': %+v", i, g.Run.Rounds)
		}
	}
	want.price()
	if !reflect.DeepEqual(got[0], want) {
		t.Error("what was read is not what was written")
	}
	if err := os.WriteFile(filepath.Join(dir, "0004.json.gz"), []byte("cut"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := readRecordings([]string{dir}); err == nil || !strings.Contains(err.Error(), "0004.json.gz") {
		t.Error(err)
	}
	if _, err := readRecordings([]string{t.TempDir()}); err == nil {
		t.Error("an empty folder is read")
	}
}

func TestPlots(t *testing.T) {
	x := invented(0, "none", 1, 1, 1.01)
	x.Sides = []string{"0", "0", "1"}
	for _, plot := range []func(io.Writer, []trial, string) error{plotPower, plotErrors} {
		var b bytes.Buffer
		if err := plot(&b, []trial{x}, "none"); err != nil {
			t.Fatal(err)
		}
		circles, d := 0, xml.NewDecoder(&b)
		for {
			tok, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "circle" {
				circles++
			}
		}
		if circles < 2 {
			t.Errorf("%d points", circles)
		}
	}
}
