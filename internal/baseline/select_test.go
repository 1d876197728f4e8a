package baseline

import (
	"math"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

func TestSelect(t *testing.T) {
	t.Parallel()
	plan := func(n int) func(*result.Run) {
		return func(r *result.Run) { r.Plan.SliceIterations = n }
	}
	yardstick := func(s string) func(*result.Run) { return func(r *result.Run) { r.Yardstick = s } }
	iterations := func(n int) func(*result.Run) { return func(r *result.Run) { r.Workload.Iterations = n } }
	node := func(r *result.Run) { r.Target = "node" }

	type want struct {
		latest, anchor, otherWorkload, otherYardstick string
		replicas                                      []string
	}
	for name, c := range map[string]struct {
		runs []result.Run
		want want
	}{
		"nothing": {},
		"another target": {
			runs: []result.Run{with(released("v1", "a", day(1), 100), node)},
		},
		"one release": {
			runs: []result.Run{released("v1", "a", day(1), 100)},
			want: want{latest: "v1/go/a", anchor: "v1/go/a"},
		},
		"latest by date, whatever the order of the file": {
			runs: []result.Run{released("v3", "c", day(3), 100), released("v1", "a", day(1), 100), released("v2", "b", day(2), 100)},
			want: want{latest: "v3/go/c", anchor: "v1/go/a"},
		},
		"equal dates: as recorded": {
			runs: []result.Run{released("v2", "b", day(1), 100), released("v1", "a", day(1), 100)},
			want: want{latest: "v1/go/a", anchor: "v2/go/b"},
		},
		"a newer release of another target": {
			runs: []result.Run{released("v1", "a", day(1), 100), with(released("v2", "b", day(2), 100), node)},
			want: want{latest: "v1/go/a", anchor: "v1/go/a"},
		},
		"replicas": {
			runs: []result.Run{
				released("v1", "a", day(1), 100), released("v1", "b", day(1), 100),
				released("v2", "c", day(2), 100),
				released("v3", "d", day(3), 100), released("v3", "e", day(3), 100), released("v3", "f", day(3), 100),
			},
			want: want{latest: "v3/go/d v3/go/e v3/go/f", anchor: "v1/go/a v1/go/b",
				replicas: []string{"v1/go/a v1/go/b", "v3/go/d v3/go/e v3/go/f"}},
		},
		"creep: five steps of 3 % keep the anchor": {
			runs: []result.Run{released("v1", "a", day(1), 100), released("v2", "b", day(2), 103), released("v3", "c", day(3), 106.1),
				released("v4", "d", day(4), 109.3), released("v5", "e", day(5), 112.6), released("v6", "f", day(6), 115.9)},
			want: want{latest: "v6/go/f", anchor: "v1/go/a"},
		},
		"a step past the threshold moves the anchor": {
			runs: []result.Run{released("v1", "a", day(1), 100), released("v2", "b", day(2), 106), released("v3", "c", day(3), 108)},
			want: want{latest: "v3/go/c", anchor: "v2/go/b"},
		},
		"faster counts too": {
			runs: []result.Run{released("v1", "a", day(1), 100), released("v2", "b", day(2), 94), released("v3", "c", day(3), 95)},
			want: want{latest: "v3/go/c", anchor: "v2/go/b"},
		},
		"the median of all replicas counts": {
			runs: []result.Run{released("v1", "a", day(1), 100),
				released("v2", "b", day(2), 120), released("v2", "c", day(2), 100), released("v2", "d", day(2), 100)},
			want: want{latest: "v2/go/b v2/go/c v2/go/d", anchor: "v1/go/a", replicas: []string{"v2/go/b v2/go/c v2/go/d"}},
		},
		"the newest run's plan, in every release": {
			runs: []result.Run{
				released("v1", "a", day(1), 100),
				with(released("v2", "b", day(2), 100), plan(5000)),
				released("v3", "c", day(3), 100), with(released("v3", "d", day(3), 100), plan(5000)),
			},
			want: want{latest: "v3/go/d", anchor: "v2/go/b"},
		},
		"another yardstick version": {
			runs: []result.Run{
				with(released("v2", "b", day(2), 100), yardstick("2 sha-ni")),
				released("v1", "a", day(1), 100),
			},
			want: want{latest: "v1/go/a", anchor: "v1/go/a", otherYardstick: "v2/go/b"},
		},
		"another yardstick version only": {
			runs: []result.Run{
				with(released("v1", "a", day(1), 100), yardstick("2 sha-ni")), with(released("v1", "b", day(1), 100), yardstick("3 sha-ni")),
			},
			want: want{otherYardstick: "v1/go/b"},
		},
		"another kind of yardstick is the caller's to judge": {
			runs: []result.Run{with(released("v1", "a", day(1), 100), yardstick("1 portable"))},
			want: want{latest: "v1/go/a", anchor: "v1/go/a"},
		},
		"another workload": {
			runs: []result.Run{
				with(released("v1", "a", day(1), 100), iterations(1000)),
				with(released("v2", "b", day(2), 100), iterations(2000)), with(released("v2", "c", day(2), 100), iterations(3000)),
				with(released("v3", "d", day(3), 100), func(r *result.Run) { r.Workload.Iterations, r.Yardstick = 5, "2 sha-ni" }),
			},
			want: want{otherWorkload: "v2/go/c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Select(c.runs, "go", workload.Reference(), "1", 0.05)
			got := want{latest: names(s.Latest), anchor: names(s.Anchor), otherWorkload: names(s.OtherWorkload), otherYardstick: names(s.OtherYardstick)}
			for _, r := range s.Replicas {
				got.replicas = append(got.replicas, names(r))
			}
			equals(t, got.latest, c.want.latest)
			equals(t, got.anchor, c.want.anchor)
			equals(t, got.otherWorkload, c.want.otherWorkload)
			equals(t, got.otherYardstick, c.want.otherYardstick)
			equals(t, got.replicas, c.want.replicas)
			if len(s.Latest) > 0 && (s.LatestRelease != s.Latest[0].Release || s.AnchorRelease != s.Anchor[0].Release) {
				t.Errorf("releases are %q and %q", s.LatestRelease, s.AnchorRelease)
			}
		})
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	of := func(ns ...float64) release {
		var r result.Run
		for _, x := range ns {
			r.Rounds = append(r.Rounds, result.Round{NsPerOp: x})
		}
		return release{runs: []result.Run{{}, r}}
	}
	for want, r := range map[float64]release{3: of(9, 3, 1), 4: of(9, 5, 3, 1), 7: of(7)} {
		if got := r.nsPerOp(); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if got := of().nsPerOp(); !math.IsNaN(got) {
		t.Errorf("of nothing: %v", got)
	}
}

// Releases meet hosts whose clocks differ: the anchor goes by the relative
// cost, so that it neither follows a clock nor misses a step that one hides.
func TestAnchorAndClocks(t *testing.T) {
	t.Parallel()
	at := func(release string, n int, ms, clock float64) result.Run {
		r := released(release, "r", day(n), ms*clock)
		for i := range r.Rounds {
			r.Rounds[i].RelCost /= clock
			r.Rounds[i].ChainNs *= clock
		}
		return r
	}
	for name, c := range map[string]struct {
		runs []result.Run
		want string
	}{
		"slow hosts in turn": {[]result.Run{at("v1", 1, 100, 1), at("v2", 2, 101.8, 1.07), at("v3", 3, 103.6, 1)}, "v1"},
		"a fast host hides":  {[]result.Run{at("v1", 1, 100, 1), at("v2", 2, 108, 0.93)}, "v2"},
	} {
		if got := Select(c.runs, "go", workload.Reference(), "1", 0.05).AnchorRelease; got != c.want {
			t.Errorf("%s: anchor %s, want %s", name, got, c.want)
		}
	}
}
