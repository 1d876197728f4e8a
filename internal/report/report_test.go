package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

var update = flag.Bool("update", false, "rewrite the files under testdata")

func render(t *testing.T, format string, r Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Formats[format](&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, in := range scenarios {
		for ext, format := range map[string]string{"text": "text", "md": "markdown", "json": "json"} {
			if name == "huge" && ext != "md" {
				continue // half a megabyte that shows nothing new
			}
			t.Run(name+"."+ext, func(t *testing.T) {
				got := render(t, format, New(in()))
				file := filepath.Join("testdata", name+"."+ext)
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("differs from %s (go test -update rewrites it); got:\n%s", file, got)
				}
			})
		}
	}
}

// TestSaid holds each scenario to what it has to say, whatever the words
// around it; the golden files hold the rest.
func TestSaid(t *testing.T) {
	for name, said := range map[string][]string{
		"ok":               {"nothing drifted past 5 % of the baseline", "+0.31 % [+0.10, +0.52]", "6.46"},
		"slower":           {"node is 12.1 % slower than the base [+11.8, +12.4]", "OpenSSL 1.1.1 → node v18.20.8, OpenSSL 3.0", "v1.4.0", "exit 1: node is slower than the base"},
		"instructions":     {"go 61.25 → 61.25 (+0.00 %), node 68.95 → 77.01 (+11.70 %), python 84.21 → 84.22 (+0.01 %)", "ruby 85.10", "node: instructions a compression +11.70 %: the code does more work", "python: instructions a compression +0.01 %: the same instructions took longer", "java: instructions a compression -0.04 %: the code does the same work"},
		"faster":           {"4.81x faster", "[4.76, 4.86]", "2,400,000", "were parameters weakened?", "28.1 ms"},
		"inconclusive":     {"-1.1, +6.5", "8.8 %", "--budget"},
		"first-run":        {"no baseline", "baseline update --release", "no base commit", "exit 0"},
		"uncovered":        {"this CPU has no baseline yet: 3 of 5 seen on ubuntu-24.04 have one of v1.4.0, which 11 of its last 15 runs met", "coverage 1 of 2 CPUs seen on ubuntu-24.04-arm have a baseline of v1.4.0 (6 of its last 7 runs)", "exit 0"},
		"other-cpu":        {"other hardware", "8272CL", "exit 0"},
		"broken":           {"WRONG KEY", "FAILED", "MISSING", "macos-15", "exit 1", "main.rs:14"},
		"workload-changed": {"iterations 600,000 → 720,000", "+20 % expected", "+2.13 % [+1.32, +2.94] beyond it"},
		"host-slower":      {"relative", "the host is slower, the code is not", "exit 0"},
		"emulated":         {"emulated by qemu", "never a baseline", "3.41 s"},
		"matrix":           {"41.0 % slower", "ubuntu-24.04-arm", "(slower)", "exit 1"},
	} {
		text := render(t, "text", New(scenarios[name]()))
		for _, s := range said {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), s) {
				t.Errorf("%s does not say %q:\n%s", name, s, text)
			}
		}
	}
}

// No share of clean slices is said of runs that were disturbed.
func TestEvidenceOfContended(t *testing.T) {
	busy := func(contended bool) *Side {
		r := result.Run{Outcome: result.Measured, Workload: workload.Reference(), Yardstick: "1 sha-ni", Contended: contended}
		r.Rounds = []result.Round{{Clean: 1, CleanShare: 1, NsPerOp: 1e8, RelCost: 2, ChainNs: 40, LanesNs: 20}}
		return newSide(&r)
	}
	for _, c := range []struct {
		sides []*Side
		want  string
	}{
		{[]*Side{busy(false)}, "1 rounds each, 100 % clean; yardstick"},
		{[]*Side{busy(true), nil}, "1 rounds each; yardstick"},
		{[]*Side{busy(true), nil, busy(false)}, "1 rounds each, 100 % clean but for 1 of 2 sides; yardstick"},
	} {
		if got := evidenceWords(c.sides); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestTextFitsATerminal(t *testing.T) {
	for name, in := range scenarios {
		if name == "hostile" || name == "huge" {
			continue
		}
		text := render(t, "text", New(in()))
		lines := strings.Split(strings.TrimSpace(text), "\n")
		for _, l := range lines[:len(lines)-1] {
			if n := utf8.RuneCountInString(l); n > 100 {
				t.Errorf("%s: %d columns: %s", name, n, l)
			}
		}
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, "exit ") {
			t.Errorf("%s: the last line is %q", name, last)
		}
	}
}

func TestMarkdownStaysUnderItsLimit(t *testing.T) {
	long := func(i int) string { return fmt.Sprintf("%d %s", i, strings.Repeat("@#:", 300)) }
	everyTextDiffers := huge(60, 5, 1)
	for i := range everyTextDiffers.Targets {
		x := &everyTextDiffers.Targets[i]
		x.Name, x.Leg, x.Reason, x.Notes = long(i), long(i/5), long(i), []string{long(i), long(-i)}
		x.Comparisons[0].Differs = []host.Difference{{Name: long(i), Then: long(i), Now: long(i)}}
		x.Comparisons[0].Against = long(i)
		everyTextDiffers.Notices = append(everyTextDiffers.Notices, long(i))
	}
	for name, in := range map[string]Input{
		"500, 13 slower":     huge(100, 5, 40),
		"1500, none slower":  huge(300, 5, math.MaxInt),
		"1500, all slower":   huge(300, 5, 1),
		"every text differs": everyTextDiffers,
	} {
		md := render(t, "markdown", New(in))
		if len(md) > MarkdownLimit {
			t.Errorf("%s: %d bytes", name, len(md))
		}
		if len(md) < 1000 || !strings.Contains(md, "left out") && !strings.Contains(md, "shown, to keep") {
			t.Errorf("%s: does not say what is left out:\n%s", name, md)
		}
		if !strings.Contains(md, "**Exit 1:**") {
			t.Errorf("%s: cut off", name)
		}
	}
	if md := render(t, "markdown", New(huge(300, 5, 1))); strings.Count(md, "🔺 **slower**") < 100 {
		t.Errorf("1500 slower: only %d rows shown", strings.Count(md, "🔺 **slower**"))
	}
}

// TestEveryVerdict: no combination of verdict, exit code and missing parts
// is without words.
func TestEveryVerdict(t *testing.T) {
	bare := []verdict.Target{{}, {Name: "go"}, {Leg: "macos-15"}, of(0, "go", 1e8), of(1, "", 0),
		with(of(2, "go", 1e8), against("base", verdict.OK, 1e8, 0.01, 0.002)),
		with(of(2, "go", 1e8), verdict.Comparison{Against: "v1", Expected: 2})}
	for _, k := range severity {
		for _, tg := range bare {
			for exit := range 5 {
				tg.Kind, tg.Fails = k, exit == 1
				for i := range tg.Comparisons {
					tg.Comparisons[i].Kind = k
				}
				r := New(input(exit, k, tg, tg))
				for format := range Formats {
					if format == "bench" {
						continue
					}
					s := render(t, format, r)
					if s == "" || strings.Contains(s, "NaN") || strings.Contains(s, "Inf") || strings.Contains(s, "%!") {
						t.Errorf("%s, exit %d, %s: %s", k, exit, format, s)
					}
				}
				if r.Headline == "" || r.ExitMeaning == "" {
					t.Errorf("%s, exit %d: %q, %q", k, exit, r.Headline, r.ExitMeaning)
				}
			}
		}
	}
	if r := New(input(3, verdict.NoBaseline)); !strings.Contains(r.Headline, "nothing was measured") || r.ExitMeaning != "no target could be measured" || r.Worst != nil {
		t.Errorf("no targets: %q, %v", r.Headline, r.Worst)
	}
}

func TestWorst(t *testing.T) {
	a := with(of(0, "a", 1e8), against("v1", verdict.OK, 1e8, -0.02, 0.001))
	b := with(of(0, "b", 1e8), against("v1", verdict.OK, 1e8, 0.01, 0.001))
	c := with(of(0, "c", 1e8), against("v1", verdict.Slower, 1e8, 0.07, 0.001), against("v0 (anchor)", verdict.Slower, 1e8, 0.5, 0.001))
	d := with(of(0, "d", 1e8), against("v1", verdict.Faster, 1e8, -0.6, 0.001))
	wrong := verdict.Target{Name: "w", Kind: verdict.WrongKey, Fails: true}
	for _, x := range []struct {
		in   Input
		want string // target, and per cent
	}{
		{input(0, verdict.OK, a, b), "a -2"},
		{input(1, verdict.Slower, a, b, c, d), "c 7"}, // what does not decide is not the worst
		{input(0, verdict.Faster, a, b, d), "d -60"},
		{input(1, verdict.WrongKey, a, wrong, c, d), "c 7"},
		{input(1, verdict.WrongKey, wrong), ""},
	} {
		got := ""
		if w := New(x.in).Worst; w != nil {
			got = fmt.Sprint(w.Target, " ", w.ChangePercent.Est)
		}
		if got != x.want {
			t.Errorf("worst %q, want %q", got, x.want)
		}
	}
}

func TestMissingLegs(t *testing.T) {
	miss := func(leg, name string) verdict.Target {
		return verdict.Target{Leg: leg, Name: name, Kind: verdict.Missing}
	}
	r := New(input(1, verdict.Missing, of(0, "go", 1e8), miss("ubuntu-24.04", "node"), miss("macos-15", ""), miss("arm", "go"), miss("arm", "node")))
	if got := fmt.Sprint(r.MissingLegs); got != "[macos-15 arm]" {
		t.Errorf("missing legs %s", got)
	}
}

func TestBench(t *testing.T) {
	r := New(scenarios["slower"]())
	got := render(t, "bench", r)
	runs, err := result.Read(strings.NewReader(got), "report")
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 6 || runs[0].Side != result.Head || runs[1].Side != result.Base || len(runs[0].Rounds) != 30 {
		t.Errorf("%d runs from\n%s", len(runs), got)
	}
}

func TestWriterFails(t *testing.T) {
	for name, write := range Formats {
		if err := write(full{}, New(scenarios["slower"]())); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// FuzzReport puts one text everywhere, and any numbers.
func FuzzReport(f *testing.F) {
	f.Add("@octocat <b>|x|`", uint8(4), 1.5e8, 0.1, 0.02, 1)
	f.Add("\x1b[31m\u202e\xff\n\n# x\n```\n", uint8(5), math.Inf(1), math.NaN(), -2.0, 0)
	f.Add("", uint8(3), -1.0, -0.9999999, 1e300, 3)
	f.Add("-- &amp; www.a.b", uint8(10), 1e-300, 1e306, 1e308, 9)
	f.Fuzz(func(t *testing.T, s string, k uint8, ns, est, half float64, exit int) {
		kind := severity[int(k)%len(severity)]
		x := of(0, s, ns)
		x = with(x, against(s, kind, ns, est, half), against("base", kind, ns, est, half))
		x.Leg, x.Reason, x.Notes, x.Fails = s, s, []string{s}, exit == 1
		x.Host = host.Fingerprint{GOOS: s, GOARCH: s, CPU: s, CPUID: s, SHA: s, HostID: s, Image: s, Kernel: s, Emulated: s}
		x.Head.Toolchain, x.Head.Mode, x.Head.TargetVersion, x.Head.ID, x.Head.Commit, x.Head.Yardstick, x.Head.Unverified = s, s, s, s, s, s, true
		x.Base = x.Head
		x.Comparisons[0].Differs = []host.Difference{{Name: s, Then: s, Now: s}, {Name: "iterations", Then: s, Now: s}}
		x.Comparisons[0].Expected = est
		in := input(exit, kind, x, of(1, "go", 1e8))
		in.ToolVersion, in.Notices, in.Workload.PRF = s, []string{s}, x.Head.Workload.PRF
		x.Head.Leg = s
		in.Coverage = []Coverage{{s, s, []CoveredCPU{{s, false}, {"x" + s, true}}, int(k), exit}}
		r := New(in)

		if text := render(t, "text", r); !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }) {
			t.Errorf("text with control characters: %q", text)
		}
		var v any
		if err := json.Unmarshal([]byte(render(t, "json", r)), &v); err != nil {
			t.Error(err)
		}
		md := render(t, "markdown", r)
		if len(md) > MarkdownLimit {
			t.Errorf("%d bytes of Markdown", len(md))
		}
		checkInert(t, md)
	})
}

// checkInert: tables are whole, and GitHub makes nothing of text from outside.
func checkInert(t *testing.T, md string) {
	t.Helper()
	columns := 0
	for line := range strings.Lines(md) {
		switch {
		case !strings.HasPrefix(line, "|"):
			columns = 0
			if strings.Contains(line, "|") {
				t.Errorf("a pipe outside a table: %s", line)
			}
		case columns == 0:
			columns = strings.Count(line, "|")
		case strings.Count(line, "|") != columns:
			t.Errorf("%d columns, not %d: %s", strings.Count(line, "|"), columns, line)
		}
	}
	for _, tag := range []string{"<br>", "<sub>", "</sub>", "<details><summary>", "</summary>", "</details>"} {
		md = strings.ReplaceAll(md, tag, "")
	}
	if i := strings.IndexByte(md, '<'); i >= 0 {
		t.Errorf("a tag: %.80q", md[i:])
	}
	if m := joined(md); m != "" {
		t.Errorf("GitHub would link %q in\n%s", m, md)
	}
}

// Only a probe is asked anything.
func TestFailedHint(t *testing.T) {
	for reason, want := range map[string][2]string{
		"exit status 2": {"PBKDF2_GATE_DEBUG=probe", ""},
		"the build command \"make\" failed: exit status 2": {"", ""},
	} {
		for i, unverified := range []bool{false, true} {
			for kind, want := range map[verdict.Kind]string{verdict.Failed: want[i], verdict.Implausible: [2]string{"check how it times itself", ""}[i]} {
				got := Report{}.hint(Target{Verdict: kind, Reason: reason, Unverified: unverified})
				if (got == "") != (want == "") || !strings.Contains(got, want) {
					t.Errorf("%s, %s, unverified %v: %q, want %q", kind, reason, unverified, got, want)
				}
			}
		}
	}
}
