package verdict

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// The rules of docs/baselines.md, as far as they are this package's: which
// runs are given is package baseline's.

// replicas are runs of one release on hosts of their own, whose raw cost
// varies by raw and whose cost relative to the yardstick by relative (standard
// deviations, of logarithms). The spread of their rounds is the same.
func replicas(n int, ns, raw, relative float64) []result.Run {
	// Evenly spread, scaled to the standard deviation that was asked for.
	var z []float64
	var sum float64
	for i := range n {
		x := float64(i) - float64(n-1)/2
		z = append(z, x)
		sum += x * x
	}
	var runs []result.Run
	for i := range n {
		unit := 0.0
		if n > 1 {
			unit = z[i] / math.Sqrt(sum/float64(n-1))
		}
		r := run(takes(ns*math.Exp(raw*unit), 20, 2), boot(fmt.Sprint("replica", i)))
		// The yardstick takes up what of the raw cost is not the code's.
		clock := math.Exp((raw - relative) * unit)
		chain(clock)(&r)
		runs = append(runs, r)
	}
	return runs
}

func otherBoot(ns, clock float64) *result.Run {
	r := run(takes(ns, 20, 99), boot("today"), chain(clock))
	return &r
}

// band and verdict of a run that takes factor times as long, on a host whose
// clock is slower by clock.
func against(t *testing.T, s Stored, factor, clock float64, want Kind, says string) {
	t.Helper()
	got := one(Case{Name: "go", Head: otherBoot(154e6*factor, clock), Stored: s})
	if got.Kind != want || !strings.Contains(got.Reason, says) {
		t.Errorf("%+.1f %%, clock %.2f: %s (%s), want %s ...%s...", 100*(factor-1), clock, got.Kind, got.Reason, want, says)
		for _, c := range got.Comparisons {
			t.Logf("  %s: raw %+v, relative %+v", c.Against, c.Raw, c.Relative)
		}
	}
}

func withReplicas(latest []result.Run, all ...[]result.Run) Stored {
	return Stored{Latest: Reference{"v1", latest}, Anchor: Reference{"v1", latest}, Replicas: all}
}

// Replicas that differ by 0.3 % leave a narrow band: 7 % is a drift.
func TestLearnedBandNarrow(t *testing.T) {
	three := replicas(3, 154e6, 0.003, 0.003)
	s := withReplicas(three, three)
	const why = "replicas of one release vary by ±1.5 %"
	against(t, s, 1, 1, OK, why)
	against(t, s, 1.02, 1, OK, why)
	against(t, s, 1.07, 1, Slower, why)
	against(t, s, 0.93, 1, Faster, why)
	against(t, s, 1.055, 1, Inconclusive, why)
}

// Replicas that differ by 10 % leave a wide one: 7 % may be a host, 80 % not.
func TestLearnedBandWide(t *testing.T) {
	three := replicas(3, 154e6, 0.1, 0.1)
	s := withReplicas(three, three)
	const why = "replicas of one release vary by ±49.7 %"
	against(t, s, 1, 1, Inconclusive, why)
	against(t, s, 1.07, 1, Inconclusive, why)
	against(t, s, 1.8, 1, Slower, why)
	// More replicas know better.
	nine := replicas(9, 154e6, 0.1, 0.1)
	against(t, withReplicas(nine, nine), 1.4, 1, Slower, "replicas of one release vary by ±24.3 %")
}

// Where the relative cost varies less, it decides: a slower clock is no drift,
// and a slower code is one on any clock.
func TestLearnedBandRelative(t *testing.T) {
	three := replicas(3, 154e6, 0.1, 0.003)
	s := withReplicas(three, three)
	against(t, s, 1.15, 1.15, OK, "vary by ±49.7 % here (±1.5 % relative")
	against(t, s, 1.07*1.15, 1.15, Slower, "vary by")
	against(t, s, 1.07*0.9, 0.9, Slower, "vary by")
	// And the other way round.
	three = replicas(3, 154e6, 0.003, 0.1)
	against(t, withReplicas(three, three), 1.07, 1.3, Slower, "vary by")
	against(t, withReplicas(three, three), 1, 1.3, OK, "vary by")
}

// What differs between releases is drift, and never widens the band.
func TestLearnedBandWithinReleases(t *testing.T) {
	then, now := replicas(3, 120e6, 0.003, 0.003), replicas(3, 154e6, 0.003, 0.003)
	s := withReplicas(now, then, now)
	against(t, s, 1.07, 1, Slower, "replicas of one release vary by ±1.0 %")
	// Two releases of two replicas each are three degrees, less their means.
	two := replicas(2, 154e6, 0.003, 0.003)
	against(t, withReplicas(two, replicas(2, 120e6, 0.003, 0.003), two), 1.08, 1, Slower, "replicas of one release vary by")
}

// Until three replicas exist, hosts are taken to differ.
func TestPrior(t *testing.T) {
	const why = "until 3 replicas of a release are stored, hosts are taken to differ by ±12 % (±3 % relative to the yardstick)"
	for n := 1; n <= 2; n++ {
		runs := replicas(n, 154e6, 0.001, 0.001)
		s := withReplicas(runs)
		if n > 1 {
			s.Replicas = [][]result.Run{runs}
		}
		against(t, s, 1, 1, OK, why)
		against(t, s, 1.07, 1, Inconclusive, why)
		against(t, s, 1.12, 1.12, OK, why)
		against(t, s, 1.3, 1, Slower, why)
	}
	// The boot that it was recorded on needs neither.
	same := run(takes(154e6, 20, 3), boot("today"))
	against(t, withReplicas([]result.Run{same}), 1.07, 1, Slower, "")
}

// Five steps of 3 % under a threshold of 10 %: each is ok against the release
// before, and the anchor sees 16 %.
func TestCreep(t *testing.T) {
	p := rules()
	p.BaselineThreshold = 0.10
	level := func(steps int) []result.Run {
		return replicas(3, 154e6*math.Pow(1.03, float64(steps)), 0.003, 0.003)
	}
	all := [][]result.Run{level(0), level(1), level(2), level(3), level(4)}
	for step := 1; step <= 5; step++ {
		s := Stored{Latest: Reference{fmt.Sprint("v", step-1), level(step - 1)}, Anchor: Reference{"v0", level(0)}, Replicas: all}
		got := Judge(p, []Case{{Name: "go", Head: otherBoot(154e6*math.Pow(1.03, float64(step)), 1), Stored: s}})[0]
		want := map[int]Kind{1: OK, 2: OK, 3: Inconclusive, 4: Slower, 5: Slower}[step]
		if got.Kind != want || got.Comparisons[0].Kind != OK {
			t.Errorf("step %d: %s, against the release before %s; want %s", step, got.Kind, got.Comparisons[0].Kind, want)
		}
		if step == 5 {
			anchor := got.Comparisons[1]
			if !anchor.Decides || anchor.Against != "v0 (anchor)" || math.Abs(anchor.Raw.Est-0.16) > 0.01 || !got.Fails {
				t.Errorf("the anchor reads %+v", anchor)
			}
		}
	}
	// Accepted: the release is the anchor, and there is nothing to add up.
	s := Stored{Latest: Reference{"v5", level(5)}, Anchor: Reference{"v5", level(5)}, Replicas: all}
	got := Judge(p, []Case{{Name: "go", Head: otherBoot(154e6*math.Pow(1.03, 5), 1), Stored: s}})[0]
	if got.Kind != OK || len(got.Comparisons) != 1 {
		t.Errorf("after it was accepted: %s, %d comparisons", got.Kind, len(got.Comparisons))
	}
}

// Another CPU's figure is context, and never judged.
func TestOtherPlatformIsContext(t *testing.T) {
	for _, factor := range []float64{0.1, 1, 10} {
		other := run(takes(154e6*factor, 20, 3), on(xeon))
		got := one(Case{Name: "go", Head: otherBoot(154e6, 1), Stored: Stored{OtherPlatform: []result.Run{other}}})
		if got.Kind != NotComparable || got.Fails || len(got.Comparisons) != 1 || got.Comparisons[0].Raw != (Interval{}) || got.Comparisons[0].ThenNs == 0 {
			t.Errorf("factor %v: %+v", factor, got)
		}
	}
}
