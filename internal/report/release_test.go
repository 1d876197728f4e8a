package report

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

func releaseMarkdown(t *testing.T, r Release) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func step(machine int, target string, then, now float64) Step {
	m := machines[machine].host
	s := Step{Platform: platform(m), CPUID: m.CPUID, Target: target, Workload: workload.Reference(),
		Now: Level{"v1.4.0", now * 1e6, 2.08, 3}}
	if then > 0 {
		s.Then = Level{"v1.3.0", then * 1e6, 2.08 * then / now, 2}
	}
	return s
}

func clocks(s Step, slower float64) Step {
	s.Now.Ns *= slower
	return s
}

func unlike(s Step, before string) Step {
	s.Unlike = before
	return s
}

// releases are changes of baselines whose text is kept under testdata.
var releaseScenarios = map[string]Release{
	"release-first": {"v1.4.0", 0.05, []Step{step(0, "go", 0, 154.8), step(1, "go", 0, 181.2)}},
	"release-ok":    {"v1.4.0", 0.05, []Step{step(0, "go", 154.2, 154.8), step(0, "node", 126, 125), step(1, "go", 0, 181.2)}},
	"release-past":  {"v1.4.0", 0.05, []Step{step(0, "go", 154.2, 154.8), step(0, "node", 126, 198.4), step(2, "python", 224, 180)}},
	// the time of one follows its host's clock, that of another hides a drift
	"release-clocks": {"v1.4.0", 0.05, []Step{clocks(step(0, "go", 150, 151), 1.08), clocks(step(0, "node", 180, 194.4), 0.93)}},
	"release-unlike": {"v1.4.0", 0.05, []Step{unlike(step(0, "go", 0, 151), "v1.3.0"), step(0, "node", 180, 181)}},
	"release-hostile": {"@octocat/<b>#1", 0.05, []Step{{Platform: "linux/amd64 |x| @a", CPUID: "`c`", Target: "**go** :tada:",
		Workload: workload.Params{PRF: "https://evil.example", Iterations: 1}, Then: Level{"[l](u)", 1e6, 1, 1}, Now: Level{"v2", 2e6, 2, 1}}, step(0, "go", 154.2, 154.8)}},
}

func TestReleaseGolden(t *testing.T) {
	for name, r := range releaseScenarios {
		got := releaseMarkdown(t, r)
		checkInert(t, got)
		file := "testdata/" + name + ".md"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("differs from %s (go test -update rewrites it); got:\n%s", file, got)
		}
	}
}

func TestReleaseSaid(t *testing.T) {
	for name, said := range map[string][]string{
		"release-first":  {"2 figures on 2 platforms", "500,000 iterations", "no release before", "| new | – | **go**"},
		"release-ok":     {"3 figures on 2 platforms", "No change past 5 % of", "| +0.4&nbsp;% | +0.4&nbsp;% | **go**", "v1.3.0: 154&nbsp;ms"},
		"release-clocks": {"**1 change past 5 %**", "| +0.4&nbsp;% | 🔺 **+8.0&nbsp;%** | **node**", "| +8.7&nbsp;% | +0.7&nbsp;% | **go**"},
		"release-unlike": {"**1 figure sampled by another plan or yardstick than before**", "| not comparable | – | **go**", "v1.3.0: sampled otherwise"},
		"release-past":   {"**2 changes past 5 %**", "Merging accepts that", "🔺 **+57.5&nbsp;%**", "⚡ **-19.6&nbsp;%**"},
	} {
		md := releaseMarkdown(t, releaseScenarios[name])
		for _, s := range said {
			if !strings.Contains(md, s) {
				t.Errorf("%s does not say %q:\n%s", name, s, md)
			}
		}
	}
	if err := (Release{}).Markdown(full{}); !errors.Is(err, errFull) {
		t.Errorf("a writer that fails: %v", err)
	}
}

func TestStepWords(t *testing.T) {
	gone := step(0, "go", 150, 160)
	gone.Now = Level{}
	for want, s := range map[string]Step{
		"go on linux/amd64 AMD EPYC 7763 64-Core Processor: v1.3.0 150 ms -> v1.4.0 161 ms (+7.3 %)": step(0, "go", 150, 160.9),
		"go on linux/amd64 AMD EPYC 7763 64-Core Processor: nothing -> v1.4.0 161 ms":                step(0, "go", 0, 160.9),
		"go on linux/amd64 AMD EPYC 7763 64-Core Processor: v1.3.0 150 ms -> nothing":                gone,
	} {
		if got := s.Words(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestReleaseStaysUnderItsLimit(t *testing.T) {
	r := Release{Name: "v1", Threshold: 0.05}
	for i := range 2000 {
		s := step(i%3, fmt.Sprintf("target%d", i), 100, 100+float64(i%7)/10)
		s.CPUID = strings.Repeat("@", 100) + fmt.Sprint(i)
		r.Steps = append(r.Steps, s)
	}
	r.Steps[1700].Now.Relative *= 2
	md := releaseMarkdown(t, r)
	if len(md) > MarkdownLimit || !strings.Contains(md, "more.") || !strings.Contains(md, "**target1700**") {
		t.Errorf("%d bytes:\n%.900s", len(md), md)
	}
}

func FuzzRelease(f *testing.F) {
	f.Add("@octocat <b>|x|`", 1.5e8, 1.6e8, 0.05)
	f.Add("\x1b[31m\u202e\xff\n\n# x\n```\n", -1.0, 1e308, 0.0)
	f.Fuzz(func(t *testing.T, s string, then, now, threshold float64) {
		w := workload.Params{PRF: workload.PRF(s), Iterations: 1}
		x := Step{Platform: s, CPUID: s, Target: s, Workload: w, Then: Level{s, then, then, 1}, Unlike: s, Now: Level{s, now, now, 2}}
		md := releaseMarkdown(t, Release{s, threshold, []Step{x, step(0, "go", 1, 2), x}})
		if len(md) > MarkdownLimit {
			t.Errorf("%d bytes", len(md))
		}
		checkInert(t, md)
		if words := x.Words(); strings.Contains(words, "%!") && !strings.Contains(s, "%!") {
			t.Error(words)
		}
	})
}
