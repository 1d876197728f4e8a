package result

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// sample is a run with so many rounds.
func sample(rounds int) Run {
	r := Run{
		Host: host.Fingerprint{GOOS: "linux", GOARCH: "amd64", CPU: "AMD EPYC 7763 64-Core Processor", CPUID: "amd-epyc-7763-f25m1s1-sha",
			SHA: "sha_ni", HostID: "5f0c9e1b7a42d386", Image: "Ubuntu 24.04.3 LTS", Kernel: "6.11.0-1018-azure"},
		Yardstick: "1 sha-ni",
		Workload:  workload.Reference(),
		Plan:      Plan{SliceIterations: 3200, Slices: 120, WarmUp: 2, Yardstick: 400 * time.Microsecond},
		Target:    "go", Side: Head, Leg: "ubuntu-24.04", ID: "r-20260831-7f3a91",
		Toolchain: "go1.26.8", TargetVersion: "go1.26.8", Mode: "GOAMD64=v1",
		Outcome: Measured,
		Program: "0123456789abcdef", Spent: Spent{Build: 1500 * time.Millisecond, Around: time.Millisecond},
		Commit: "3c1f0a9be57d2648fa10c39d8e7b6512f04a7d9c",
		Date:   time.Date(2026, 8, 31, 9, 12, 44, 0, time.UTC),
	}
	for i := range rounds {
		clean := 60 + i%50
		r.Rounds = append(r.Rounds, Round{
			Clean: clean, NsPerOp: 154_012_300 + 1000*float64(i), RelCost: 2.0804, ChainNs: 37.01, LanesNs: 19.41,
			CleanShare: significant(float64(clean)/120, digitsShare),
		})
	}
	return r
}

func failed() Run {
	r := sample(0)
	r.Plan, r.Outcome, r.Message = Plan{}, Failed, "did not start"
	return r
}

func encode(t testing.TB, runs ...Run) string {
	t.Helper()
	b, err := Encode(runs)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func read(t testing.TB, s string) []Run {
	t.Helper()
	runs, err := Read(strings.NewReader(s), "x.txt")
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func TestGoldenFiles(t *testing.T) {
	t.Parallel()
	for file, runs := range map[string]int{"ok.txt": 1, "failed-and-wrong-key.txt": 4, "base-and-head.txt": 4, "releases.txt": 6} {
		want, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != runs {
			t.Errorf("%s: %d runs, want %d", file, len(got), runs)
		}
		if diff := cmp.Diff(string(want), encode(t, got...)); diff != "" {
			t.Errorf("%s changes when it is written back:\n%s", file, diff)
		}
		for _, r := range got {
			for i, x := range r.Rounds {
				if ns := x.RelCost * x.ChainNs * r.Workload.Compressions(); math.Abs(ns/x.NsPerOp-1) > 2e-4 {
					t.Errorf("%s, %s %s, round %d: %v ns/op, but the other figures give %v", file, r.Target, r.Side, i, x.NsPerOp, ns)
				}
			}
		}
	}
}

func TestGoldenOutcomes(t *testing.T) {
	t.Parallel()
	runs, err := ReadFile("testdata/failed-and-wrong-key.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range runs {
		got = append(got, fmt.Sprintf("%s %s %t %d", r.Target, r.Outcome, r.Message != "", len(r.Rounds)))
	}
	want := []string{"go measured false 8", "openssl failed true 0", "team-kdf wrong-key true 0", "cached implausible true 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	full := sample(3)
	full.Host.Emulated, full.Release, full.Unverified, full.Disturbed = "qemu", "probes/v1.2.0+a", true, 7
	full.Instructions, full.Cycles = 61.2501, 40.1
	full.Notes = []string{"plain", "a | b", `C:\dir`, `\|`, `||`, `ends in \`, `| starts with a bar`, `a |  b`}
	full.Message = "only three rounds: the budget was spent"
	empty := sample(1)
	empty.Host.CPU, empty.Host.SHA, empty.Host.Image, empty.Host.Kernel = "", "", "", ""
	empty.Leg, empty.Toolchain, empty.TargetVersion, empty.Mode, empty.Commit = "", "", "", "", ""
	whole := sample(2)
	whole.Plan.Slices, whole.Unverified, whole.Contended = 1, true, true
	for i := range whole.Rounds {
		whole.Rounds[i].Clean, whole.Rounds[i].CleanShare = 1, 1
	}
	want := []Run{full, empty, whole, failed(), sample(0)}
	if diff := cmp.Diff(want, read(t, encode(t, want...))); diff != "" {
		t.Error(diff)
	}
}

func TestFiguresAreRoundedOnce(t *testing.T) {
	t.Parallel()
	r := sample(1)
	r.Date = time.Date(2026, 8, 31, 11, 12, 44, 999, time.FixedZone("", 7200))
	r.Instructions, r.Cycles = 61.24999951, 1234567.8
	r.Rounds[0] = Round{Clean: 12, NsPerOp: 154012345.678, RelCost: 9.99996, ChainNs: 99.996, LanesNs: 19.41449, CleanShare: 0.1}
	first := encode(t, r)
	const want = "BenchmarkPBKDF2/target=go-1 12 154012300 ns/op 10 relcost 100 chain-ns 19.41 lanes-ns 0.1 clean\n"
	if !strings.HasSuffix(first, want) || !strings.Contains(first, "\ndate: 2026-08-31T09:12:44Z\n") || !strings.Contains(first, "\ninstructions: 61.25\ncycles: 1234570\n") {
		t.Errorf("got\n%s\nwant\n%s", first, want)
	}
	if second := encode(t, read(t, first)...); second != first {
		t.Errorf("written again it becomes\n%s", second)
	}
	long := strings.Replace(first, " 10 relcost", " 9.99996123 relcost", 1)
	if got := encode(t, read(t, long)...); got != first {
		t.Errorf("more digits become\n%s", got)
	}
}

// A run of 40 rounds takes 5 KB, one of 30, which a budget of 10 s fills, 4.
func TestSize(t *testing.T) {
	t.Parallel()
	for rounds, limit := range map[int]int{30: 4096, 40: 5120} {
		if n := len(encode(t, sample(rounds))); n > limit {
			t.Errorf("%d rounds take %d bytes, more than %d", rounds, n, limit)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for want, edit := range map[string]func(*Run){
		"cpu has a character that is not printable": func(r *Run) { r.Host.CPU = "Genuine\tIntel" },
		"image has a character that is not":         func(r *Run) { r.Host.Image = "Débian" },
		"kernel starts or ends with a space":        func(r *Run) { r.Host.Kernel = "6 " },
		"mode is 301 bytes long":                    func(r *Run) { r.Mode = strings.Repeat("m", 301) },
		"notes has an empty note":                   func(r *Run) { r.Notes = []string{""} },
		"notes has a note that starts or ends":      func(r *Run) { r.Notes = []string{"a", " b"} },
		"too long for one line":                     func(r *Run) { r.Notes = strings.Fields(strings.Repeat(strings.Repeat("n", 290)+" ", 14)) },
		"instructions NaN is out of range":          func(r *Run) { r.Instructions = math.NaN() },
		"cycles 1e-06 is out of range":              func(r *Run) { r.Cycles = 1e-6 },
		"host-id \"\" is not an id":                 func(r *Run) { r.Host.HostID = "" },
		"date has the year 1":                       func(r *Run) { r.Date = time.Time{} },
		"slice-iterations 0 is out of range":        func(r *Run) { r.Plan = Plan{} },
		"round 2: ns/op NaN is out of range":        func(r *Run) { r.Rounds[1].NsPerOp = math.NaN() },
		"round 1: relcost +Inf is out of range":     func(r *Run) { r.Rounds[0].RelCost = math.Inf(1) },
		"round 1: clean 0 is out of range":          func(r *Run) { r.Rounds[0].CleanShare = 0 },
		"need more slices than the plan's 120":      func(r *Run) { r.Rounds[0].CleanShare = 0.4 },
		"rounds 1001 is out of range":               func(r *Run) { *r = sample(1001) },
		"a run that is failed has none":             func(r *Run) { r.Outcome, r.Message = Failed, "x" },
		"outcome \"broken\" is unknown":             func(r *Run) { r.Outcome = "broken" },
		"iterations of this workload are refused":   func(r *Run) { r.Workload.Iterations, r.Workload.KeyBytes = 100_000_000, 1024 },
	} {
		r := sample(2)
		edit(&r)
		if _, err := Encode([]Run{sample(1), r}); err == nil || !strings.HasPrefix(err.Error(), "run 2 of 2 (target") || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to have %q", err, want)
		}
	}
	if _, err := Encode(nil); err == nil {
		t.Error("an empty file was written")
	}
	if _, err := Encode(make([]Run, MaxBlocks+1)); err == nil {
		t.Error("too many runs were written")
	}
	big := make([]Run, 60)
	for i := range big {
		big[i] = sample(maxRounds)
	}
	if _, err := Encode(big); err == nil || !strings.Contains(err.Error(), "baseline prune") {
		t.Errorf("a file over the limit: %v", err)
	}
	var b bytes.Buffer
	if err := Write(&b, []Run{{}}); err == nil || b.Len() > 0 {
		t.Errorf("Write of a run that is none: %v, %d bytes", err, b.Len())
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		valid func(string) error
		ok    string // words
		bad   []string
	}{
		{ValidTarget, "go go1 0 x-crypto a_b.c+d go-1a go- x.1 " + strings.Repeat("a", 64),
			[]string{"", "-go", ".go", "Go", "go-1", "a-b-22", "go 1", "go/1", "gö", strings.Repeat("a", 65)}},
		{ValidID, "a A.b_c+d-e .. -1 " + strings.Repeat("a", 128),
			[]string{"", "a/b", "a b", "ä", "a:b", "a\n", strings.Repeat("a", 129)}},
		{ValidRelease, "v1.2.0 1 probes/v1.2.0 v1+build_3 a/b/c v1.lockx " + strings.Repeat("a", 100),
			[]string{"", "../x", "v1..2", "a//b", "a/", "/a", "a.lock", "a.lock/b", "a/.b", "v1.", "-a", "a b", "a~1", strings.Repeat("a", 300)}},
	} {
		for s := range strings.FieldsSeq(c.ok) {
			if err := c.valid(s); err != nil {
				t.Error(err)
			}
		}
		for _, s := range c.bad {
			if c.valid(s) == nil {
				t.Errorf("%q is accepted", s)
			}
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                           "",
		" a\r\n\tb  c ":              "a b c",
		"Débian \x1b[31m \xff":       "D?bian ?[31m ?",
		strings.Repeat("x", 400):     strings.Repeat("x", 297) + "...",
		"45ms ± 2\u00b5s, 3\u03bcs":  "45ms +- 2us, 3us",
		"Intel(R) Xeon(R)   6973P-C": "Intel(R) Xeon(R) 6973P-C",
	} {
		got := Text(in)
		if got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
		if err := validText(got); err != nil {
			t.Errorf("Text(%q): %v", in, err)
		}
	}
}

func TestYardstickVersion(t *testing.T) {
	t.Parallel()
	if got := (Run{Yardstick: "12 sha-ni"}).YardstickVersion(); got != "12" {
		t.Errorf("got %q", got)
	}
}

func TestInHardware(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{"1 sha-ni": true, "1 arm64-sha2": true, "1 portable": false} {
		if got := (Run{Yardstick: kind}).InHardware(); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	// Small seeds: the fuzzer spends its time on shrinking large ones.
	full := encode(f, sample(2))
	f.Add([]byte(full))
	f.Add([]byte(encode(f, failed())))
	f.Add([]byte(strings.Replace(full, "notes:", `notes: a \| b | c\\ | \\\|`, 1)))
	f.Add([]byte(strings.Replace(full, "154012300", "1.540123e+08", 1)))
	f.Add([]byte(strings.Replace(full, " 37.01 chain", " 99.9999999 chain", 1)))
	f.Add([]byte(strings.Replace(full, "instructions:", "instructions: 6.12499999e1", 1)))
	f.Add([]byte("format: pbkdf2-gate/2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		runs, err := Read(bytes.NewReader(data), "x.txt")
		if err != nil {
			if _, ok := errors.AsType[*SyntaxError](err); !ok || !printable(err.Error()) {
				t.Fatalf("%q", err)
			}
			return
		}
		first := encode(t, runs...)
		again := read(t, first)
		if diff := cmp.Diff(runs, again); diff != "" {
			t.Fatal(diff)
		}
		if second := encode(t, again...); second != first {
			t.Fatal(cmp.Diff(first, second))
		}
	})
}

func TestUsable(t *testing.T) {
	t.Parallel()
	for r, want := range map[Round]bool{
		{Clean: 8, CleanShare: 0.25}:    true,
		{Clean: 7, CleanShare: 0.9}:     false,
		{Clean: 100, CleanShare: 0.249}: false,
	} {
		if r.Usable() != want {
			t.Errorf("%+v: %v", r, !want)
		}
	}
}

func TestPlanAlike(t *testing.T) {
	p := Plan{SliceIterations: 1000, Slices: 160, WarmUp: 2, Yardstick: 250 * time.Microsecond}
	for _, c := range []struct {
		change func(*Plan)
		want   bool
	}{
		{func(p *Plan) { p.WarmUp = 20 }, true},
		{func(p *Plan) { p.SliceIterations = 800 }, false},
		{func(p *Plan) { p.Slices = 200 }, false},
		{func(p *Plan) { p.Yardstick *= 2 }, false},
	} {
		o := p
		c.change(&o)
		if got := p.Alike(o); got != c.want {
			t.Errorf("%+v and %+v: %t", p, o, got)
		}
	}
}
