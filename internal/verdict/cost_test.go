package verdict

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

func TestCost(t *testing.T) {
	c, ok := CostOf(run(takes(155.4e6, 30, 1)))
	if !ok || math.Abs(c.Chain-2.1) > 0.01 || c.Compressions != 2*c.Chain || math.Abs(c.Lanes-2.1*37/19.5) > 0.02 || c.AsWithoutSHA {
		t.Errorf("%+v, %v", c, ok)
	}
	if c, ok := CostOf(run(outcome(result.Failed, "exit status 1"))); ok {
		t.Errorf("a run that failed costs %+v", c)
	}
	if c, ok := CostOf(run(func(r *result.Run) { r.Rounds = nil })); ok {
		t.Errorf("a run without rounds costs %+v", c)
	}
}

// docs/comparing.md gives the limits.
func TestLimitsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/comparing.md")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("is past %v for sha256, %v for sha1", withoutSHA[workload.SHA256], withoutSHA[workload.SHA1])
	if !strings.Contains(strings.Join(strings.Fields(string(doc)), " "), want) || len(withoutSHA) != 2 {
		t.Errorf("docs/comparing.md does not say %q", want)
	}
}

func TestAsWithoutSHA(t *testing.T) {
	on := func(f func(*host.Fingerprint)) func(*result.Run) { return func(r *result.Run) { f(&r.Host) } }
	sha := func(s string) func(*result.Run) { return on(func(h *host.Fingerprint) { h.SHA = s }) }
	of := func(p workload.PRF) func(*result.Run) { return hashes(func(w *workload.Params) { w.PRF = p }) }
	// costs are times of the reference workload where the chain takes 74 ms
	for _, c := range []struct {
		name string
		ms   float64
		opts []func(*result.Run)
		want bool
	}{
		{"Go", 154, nil, false},
		{"Node 18", 197, nil, false},
		{"Python", 224, nil, false},
		{"Go without SHA-NI", 370, nil, true},
		{"portable Go", 620, nil, true},
		{"Java", 506, nil, true}, // which only looks so
		{"arm64", 620, []func(*result.Run){sha("sha1+sha2+sha512")}, true},
		{"Python's sha1", 225, []func(*result.Run){of(workload.SHA1)}, false},
		{"Node's sha1 without SHA-NI", 525, []func(*result.Run){of(workload.SHA1)}, true},
		{"arm64 without those of sha1", 525, []func(*result.Run){of(workload.SHA1), sha("sha2")}, false},
		{"the CPU has none", 370, []func(*result.Run){sha("none")}, false},
		{"it is not known", 370, []func(*result.Run){sha("")}, false},
		{"the wrong ones", 370, []func(*result.Run){sha("sha1+sha512")}, false},
		{"a portable yardstick", 370, []func(*result.Run){func(r *result.Run) { r.Yardstick = "1 portable" }}, false},
		{"an emulated CPU", 370, []func(*result.Run){on(func(h *host.Fingerprint) { h.Emulated = "qemu" })}, false},
		{"unverified", 370, []func(*result.Run){func(r *result.Run) { r.Unverified = true }}, false},
		{"no instructions are known for the prf", 620, []func(*result.Run){of(workload.SHA512)}, false},
		{"few iterations", 370, []func(*result.Run){hashes(func(w *workload.Params) { w.Iterations = 100 })}, false},
		{"too few rounds", 370, []func(*result.Run){func(r *result.Run) { r.Rounds = r.Rounds[:5] }}, false},
		{"an interval that reaches below", 300, []func(*result.Run){func(r *result.Run) { r.Rounds = rounds(300e6, 8, 0.2, 3) }}, false},
	} {
		r := run(append([]func(*result.Run){takes(c.ms*1e6, 20, 5)}, c.opts...)...)
		if got, ok := CostOf(r); !ok || got.AsWithoutSHA != c.want {
			t.Errorf("%s: %+v, want %v", c.name, got, c.want)
		}
	}
}
