package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// ranked is a run whose rounds lie evenly within 0.4 % about ns.
func ranked(name string, ns float64, built ...string) result.Run {
	r := *measured(epyc, "", name, result.Head, ns)
	for i := range r.Rounds {
		x := &r.Rounds[i]
		x.NsPerOp = ns * (1 + 0.004*(float64(i)/29-0.5))
		x.RelCost = x.NsPerOp / r.Workload.Compressions() / 37
	}
	if built != nil {
		r.TargetVersion, r.Toolchain, r.Mode = built[0], built[1], built[2]
	}
	return r
}

func ranking(runs ...result.Run) Ranking {
	places, ref := verdict.Rank(runs)
	return NewRanking(RankingInput{ToolVersion: "v0.1.0", Places: places, Reference: ref,
		Exit: verdict.RankExit(places), Workload: workload.Reference()})
}

// rankings are those whose output is kept under testdata.
var rankings = map[string]func() Ranking{
	"compare": func() Ranking {
		java := ranked("java", 506.2e6, "17.0.19", "jdk-17.0.19", "")
		odin := ranked("odin", 173e6)
		odin.Outcome, odin.Rounds, odin.Message = result.Failed, nil, "no program probes/odin/odin-probe: build it first, or correct the path"
		odin.TargetVersion, odin.Toolchain, odin.Mode = "", "", ""
		busy := ranked("busy", 224e6)
		busy.Rounds = nil
		shell := ranked("shell", 98e6, "", "", "")
		shell.Unverified = true
		python := ranked("python", 224.1e6, "3.13.5", "GCC-14.2.0", "release")
		python.Rounds = python.Rounds[:4]
		return ranking(java, odin, ranked("go", 154.8e6), busy, ranked("ring", 140.2e6, "0.17.14", "rustc-1.97.1", "release"),
			ranked("node", 154.9e6, "24.11.0", "v8-13.6.233.10-node.28", "Release"), shell, python)
	},
	"compare-wrong": func() Ranking {
		wrong, none := ranked("js", 10e6), ranked("ring", 0)
		wrong.Outcome, wrong.Rounds, wrong.Message = result.WrongKey, nil, "iteration 2 derives another key: want 3b1f..., got 0000..."
		none.Outcome, none.Rounds, none.Message = result.Failed, nil, "no program cargo"
		return ranking(wrong, ranked("go", 154.8e6), none)
	},
	"compare-nothing": func() Ranking {
		none := ranked("ring", 0)
		none.Outcome, none.Rounds, none.Message = result.Failed, nil, "no program cargo"
		return ranking(none)
	},
	"compare-hostile": func() Ranking {
		evil := "@octocat #1 GH-2 :tada: www.evil.example https://evil.example/?a=b&c <img src=x onerror=alert(1)> |a|b| `x` **b** [l](http://e.example)\n\n- item\n\x1b[31mred\u202e\x00 a@b.example"
		return hostileRanking(evil)
	},
}

// hostileRanking has one text everywhere.
func hostileRanking(s string) Ranking {
	bad, gone, near := ranked(s, 154.8e6, s, s, s), ranked(s+"b", 0, s, s, s), ranked(s+"c", 154.9e6, s, s, s)
	bad.Host = host.Fingerprint{GOOS: s, GOARCH: s, CPU: s, CPUID: s, SHA: s, HostID: s, Image: s, Kernel: s, Emulated: s}
	bad.Notes, bad.Unverified, bad.Yardstick = []string{s, s + "x"}, true, s
	gone.Outcome, gone.Rounds, gone.Message = result.WrongKey, nil, s
	places, ref := verdict.Rank([]result.Run{bad, near, gone})
	return NewRanking(RankingInput{ToolVersion: s, Places: places, Reference: ref, Exit: 1, Workload: workload.Reference(), Notices: []string{s}})
}

func renderRanking(t *testing.T, format string, r Ranking) string {
	t.Helper()
	var b bytes.Buffer
	if err := RankingFormats[format](&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRankingGolden(t *testing.T) {
	for name, make := range rankings {
		for ext, format := range map[string]string{"text": "text", "md": "markdown", "json": "json"} {
			got, file := renderRanking(t, format, make()), filepath.Join("testdata", name+"."+ext)
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
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("%s (go test -update rewrites it; -want +got):\n%s", file, d)
			}
		}
	}
}

func TestRankingSaid(t *testing.T) {
	for name, said := range map[string][]string{
		"compare": {"shell (unverified) is the fastest, 98.0 ms a hash; java takes 5.17 times as long", "ring 140 ms",
			"iterations: what 140 ms, one hash of ring, buys with each (the fastest whose keys are checked)", "138,000 17.0.19",
			"failed: no program probes/odin/odin-probe", "every round was disturbed",
			"node cannot be told apart from go, +0.06 % [", "java: as slow as without the CPU's SHA instructions",
			"shell: unverified: its keys cannot be checked", "python: too few undisturbed rounds for an interval",
			"java 13.7 (6.8, 13.0)", "exit 0"},
		"compare-wrong":   {"WRONG KEY: iteration 2", "failed: no program cargo", "exit 1: js derives wrong keys"},
		"compare-nothing": {"nothing could be measured", "exit 3: no target could be measured"},
		"compare-hostile": {"emulated by"},
	} {
		text := renderRanking(t, "text", rankings[name]())
		for _, s := range said {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), s) {
				t.Errorf("%s does not say %q:\n%s", name, s, text)
			}
		}
		for l := range strings.Lines(text) {
			if n := utf8.RuneCountInString(l); name != "compare-hostile" && n > textWidth+1 {
				t.Errorf("%s: %d columns: %s", name, n, l)
			}
		}
	}
	other := ranking(ranked("a", 154.8e6))
	other.Workload.PRF = "sha512"
	if text := renderRanking(t, "text", other); strings.Contains(text, "nominal") || !strings.Contains(text, "SHA-256 compressions") {
		t.Errorf("sha512 is held against SHA-256's two compressions:\n%s", text)
	}
	twins := ranking(ranked("a", 154.8e6), ranked("b", 154.9e6))
	if twins.Headline != "a and b cannot be told apart: 155 ms a hash" {
		t.Errorf("twins: %s", twins.Headline)
	}
	if s := ranking(ranked("a", 154.8e6), ranked("b", 154.9e6), ranked("c", 200e6)).Headline; !strings.HasPrefix(s, "a is the fastest, though b cannot be told apart from it, 155 ms") {
		t.Errorf("twins and another: %s", s)
	}
}

func TestRankingMarkdownStaysUnderItsLimit(t *testing.T) {
	var runs []result.Run
	for i := range 200 {
		x := ranked(strings.Repeat("@#:", 300)+string(rune('a'+i%26))+strings.Repeat("y", i), 154.8e6)
		x.Notes = []string{strings.Repeat("@#:", 300) + strings.Repeat("z", i)}
		runs = append(runs, x)
	}
	md := renderRanking(t, "markdown", ranking(runs...))
	if len(md) > MarkdownLimit || !strings.Contains(md, "more.") || !strings.Contains(md, "**Exit 0:**") {
		t.Errorf("%d bytes of Markdown: %.2000s", len(md), md)
	}
}

func TestRankingWriterFails(t *testing.T) {
	for name, write := range RankingFormats {
		if err := write(full{}, rankings["compare"]()); !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRanking puts one text everywhere.
func FuzzRanking(f *testing.F) {
	f.Add("@octocat <b>|x|`")
	f.Add("\x1b[31m\u202e\xff\n\n# x\n```\n")
	f.Add("")
	f.Add("-- &amp; www.a.b")
	f.Fuzz(func(t *testing.T, s string) {
		r := hostileRanking(s)
		if text := renderRanking(t, "text", r); !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }) {
			t.Errorf("text with control characters: %q", text)
		}
		var v any
		if err := json.Unmarshal([]byte(renderRanking(t, "json", r)), &v); err != nil {
			t.Error(err)
		}
		md := renderRanking(t, "markdown", r)
		if len(md) > MarkdownLimit {
			t.Errorf("%d bytes of Markdown", len(md))
		}
		checkInert(t, md)
	})
}
