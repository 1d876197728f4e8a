package verdict

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

func named(name string) func(*result.Run) { return func(r *result.Run) { r.Target = name } }

func unverified(r *result.Run) { r.Unverified = true }

func TestRank(t *testing.T) {
	places, ref := Rank([]result.Run{
		run(named("broken"), outcome(result.Failed, "no program")),
		run(named("slow"), takes(300e6, 20, 1)),
		run(named("shell"), takes(20e6, 20, 2), unverified),
		run(named("twin"), takes(150.1e6, 20, 3)),
		run(named("disturbed"), func(r *result.Run) { r.Rounds = nil }),
		run(named("fast"), takes(150e6, 20, 4)),
	})
	var got []string
	for _, p := range places {
		var alike []string
		for _, a := range p.Alike {
			alike = append(alike, a.Target)
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %.2f %.0f %s", p.Run.Target, p.Times, p.Iterations/1e4, strings.Join(alike, ","))))
		if (p.NsPerOp > 0) != (p.Lo > 0 && p.Lo < p.NsPerOp && p.NsPerOp < p.Hi) {
			t.Errorf("%s: %v in [%v, %v]", p.Run.Target, p.NsPerOp, p.Lo, p.Hi)
		}
	}
	want := "shell 0.13 374|fast 1.00 50|twin 1.00 50 fast|slow 2.00 25|broken 0.00 0|disturbed 0.00 0"
	if g := strings.Join(got, "|"); g != want || ref != 1 {
		t.Errorf("places\n%s, reference %d, want\n%s, 1", g, ref, want)
	}

	if places, ref := Rank([]result.Run{run(named("a"), outcome(result.Failed, "")), run(named("b"), outcome(result.Failed, ""))}); ref != -1 || places[0].Run.Target != "a" {
		t.Errorf("nothing has a time: reference %d, first %s", ref, places[0].Run.Target)
	}
	if _, ref := Rank([]result.Run{run(takes(2e8, 20, 1), unverified), run(takes(1e8, 20, 1), unverified)}); ref != 0 {
		t.Errorf("all unverified: reference %d", ref)
	}
	if _, ref := Rank(nil); ref != -1 {
		t.Errorf("no targets: reference %d", ref)
	}
}

// Equal programs are told apart in few runs of many, 2 % nearly always, and
// too few rounds never.
func TestAlike(t *testing.T) {
	told := func(more float64) (n int) {
		for i := range uint64(200) {
			if _, same := alike(run(takes(150e6, 30, 2*i)), run(takes(150e6*more, 30, 2*i+1))); !same {
				n++
			}
		}
		return n
	}
	if n := told(1); n > 6 {
		t.Errorf("equal programs were told apart %d times in 200", n)
	}
	if n := told(1.02); n < 195 {
		t.Errorf("2 %% were told apart %d times in 200", n)
	}
	few := run(func(r *result.Run) { r.Rounds = rounds(1e8, 5, 0.003, 1) })
	places, _ := Rank([]result.Run{few, few})
	if p := places[1]; p.Alike != nil || p.Lo != 0 || math.Abs(p.Times-1) > 1e-9 {
		t.Errorf("five rounds have an interval: %+v", p)
	}
}

// A target most of whose runs had a neighbour is told apart by what no neighbour
// does.
func TestAlikeContended(t *testing.T) {
	busy := func(r *result.Run) { r.Contended, r.Unverified = true, true }
	calm := run(takes(100e6, 20, 1))
	for ns, want := range map[float64]bool{115e6: true, 150e6: false} {
		if c, got := alike(calm, run(takes(ns, 20, 2), busy)); got != want {
			t.Errorf("%.0f ms beside 100: alike %v (%+v), want %v", ns/1e6, got, c, want)
		}
		if _, got := alike(calm, run(takes(ns, 20, 2), unverified)); got {
			t.Errorf("%.0f ms beside 100, undisturbed: alike", ns/1e6)
		}
	}
}

func TestRankExit(t *testing.T) {
	ok, failed := run(), run(outcome(result.Failed, "no program"))
	wrong, implausible := run(outcome(result.WrongKey, "")), run(outcome(result.Implausible, ""))
	for i, c := range []struct {
		runs []result.Run
		want int
	}{
		{[]result.Run{ok}, 0},
		{[]result.Run{ok, failed}, 0},
		{[]result.Run{failed, failed}, 3},
		{[]result.Run{failed, wrong}, 1},
		{[]result.Run{ok, implausible}, 1},
		{[]result.Run{run(func(r *result.Run) { r.Rounds = nil })}, 0}, // disturbed
		{nil, 3},
	} {
		places, _ := Rank(c.runs)
		if got := RankExit(places); got != c.want {
			t.Errorf("case %d: exit %d, want %d", i, got, c.want)
		}
	}
}
