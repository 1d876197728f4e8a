package report

import (
	"strings"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// What changed in real systems, from the records to what people read.
func TestDriftCases(t *testing.T) {
	var (
		without   = "as slow as without the CPU's SHA instructions: was it built for this CPU"
		generic   = epyc
		shown     = *measured(epyc, "", "borg", result.Head, 154.8e6)
		hidden    = *measured(epyc, "", "borg", result.Head, 1100e6)
		odinThen  = *measured(n2, "", "odin", result.Head, 3624e6)
		odinNow   = *measured(n2, "", "odin", result.Head, 181.2e6)
		sigNative = *measured(epyc, "", "sig", result.Base, 154.8e6)
		sigPlain  = *measured(epyc, "", "sig", result.Head, 7*154.8e6)
	)
	generic.CPU, generic.CPUID, generic.SHA = "QEMU Virtual CPU version 2.5+", "amd-qemu-f15m107s1-nosha", "none"
	hidden.Host, hidden.Yardstick = generic, "1 portable"
	odinThen.Yardstick, odinNow.Yardstick = "1 arm64-sha2", "1 arm64-sha2"
	sigNative.Mode, sigPlain.Mode = "ReleaseFast cpu=znver4", "ReleaseFast cpu=x86_64"
	odinBase := odinThen
	odinBase.Side = result.Base

	for _, c := range []struct {
		name    string
		c       verdict.Case
		kind    verdict.Kind
		exit    int
		says    []string
		without [2]bool // head's and base's cost says so
	}{
		{"acceleration arrived, against a baseline", verdict.Case{Head: &odinNow, Stored: verdict.Stored{Latest: verdict.Reference{Release: "v1.4.0", Runs: []result.Run{odinThen}}}},
			verdict.Faster, 0, []string{"20.0x faster than v1.4.0", "the baseline is out of date: record the new figure", "raising iterations to about 10,000,000", "exit 0"}, [2]bool{}},
		{"acceleration arrived, in a pair", verdict.Case{Head: &odinNow, Base: &odinBase},
			verdict.Faster, 0, []string{"20.0x faster than the base"}, [2]bool{false, true}},
		{"a generic virtual CPU hides the instructions", verdict.Case{Head: &hidden, Stored: verdict.Stored{OtherPlatform: []result.Run{shown}}},
			verdict.NotComparable, 0, []string{"ran on other hardware", "SHA instructions none, were sha_ni", "a generic virtual CPU hides them", "sha sha_ni → none", "exit 0"}, [2]bool{}},
		{"built for baseline x86-64", verdict.Case{Head: &sigPlain, Base: &sigNative},
			verdict.Slower, 1, []string{"SLOWER: sig is 7.00x slower than the base", "mode ReleaseFast cpu=znver4 → ReleaseFast cpu=x86_64", "sig: " + without, "exit 1"}, [2]bool{true, false}},
		{"built for baseline x86-64 from the start", verdict.Case{Head: &sigPlain},
			verdict.NoBaseline, 0, []string{"sig: " + without, "exit 0"}, [2]bool{true, false}},
	} {
		c.c.Name = c.c.Head.Target
		p := policy.Default()
		targets := verdict.Judge(p, []verdict.Case{c.c})
		r := New(Input{ToolVersion: "v0.1.0", Targets: targets, Overall: verdict.Overall(targets), Exit: verdict.Exit(targets),
			Threshold: p.Threshold, BaselineThreshold: p.BaselineThreshold, Workload: workload.Reference()})
		if r.Verdict != c.kind || r.Exit != c.exit {
			t.Errorf("%s: %s, exit %d, want %s, %d", c.name, r.Verdict, r.Exit, c.kind, c.exit)
		}
		text := strings.Join(strings.Fields(render(t, "text", r)), " ")
		for _, s := range c.says {
			if !strings.Contains(text, s) {
				t.Errorf("%s: does not say %q:\n%s", c.name, s, render(t, "text", r))
			}
		}
		got := [2]bool{r.Targets[0].Head.Cost.AsWithoutSHA}
		if b := r.Targets[0].Base; b != nil {
			got[1] = b.Cost.AsWithoutSHA
		}
		if got != c.without {
			t.Errorf("%s: as without SHA %v, want %v", c.name, got, c.without)
		}
		if strings.Contains(text, without) != c.without[0] {
			t.Errorf("%s: the note on SHA instructions:\n%s", c.name, text)
		}
	}
}
