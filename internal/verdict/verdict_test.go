package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

var (
	epyc = host.Fingerprint{GOOS: "linux", GOARCH: "amd64", CPU: "AMD EPYC", CPUID: "amd-epyc-f25m17s1-sha", SHA: "sha_ni", HostID: "h1"}
	mac  = host.Fingerprint{GOOS: "darwin", GOARCH: "arm64", CPU: "Apple M1", CPUID: "apple-m1-sha", SHA: "sha2", HostID: "h3"}
	xeon = host.Fingerprint{GOOS: "linux", GOARCH: "amd64", CPU: "Intel Xeon 8272CL", CPUID: "intel-xeon-8272cl-f6m85s7-nosha", SHA: "none", HostID: "h9"}
	plan = result.Plan{SliceIterations: 3200, Slices: 160, WarmUp: 3, Yardstick: 450 * time.Microsecond}
)

func rules() policy.Policy {
	return policy.Policy{Threshold: 0.03, BaselineThreshold: 0.05,
		FailOn: []string{"slower", "wrong-key", "implausible", "missing", "failed"}}
}

// run is a measurement on epyc, changed by the options.
func run(opts ...func(*result.Run)) result.Run {
	r := result.Run{Host: epyc, Yardstick: "1 sha-ni", Workload: workload.Reference(), Plan: plan,
		Target: "go", Side: result.Head, ID: "r1", Outcome: result.Measured, Toolchain: "go1.26.8"}
	r.Rounds = rounds(154e6, 20, 0.003, 1)
	for _, o := range opts {
		o(&r)
	}
	return r
}

// rounds of a cost in ns, normally spread.
func rounds(ns float64, n int, sd float64, seed uint64) []result.Round {
	rnd := rand.New(rand.NewPCG(seed, 7))
	var rs []result.Round
	for range n {
		x := ns * math.Exp(sd*rnd.NormFloat64())
		rs = append(rs, result.Round{Clean: 100, CleanShare: 0.7, NsPerOp: x, ChainNs: 37, LanesNs: 19.5, RelCost: x / 2e6 / 37})
	}
	return rs
}

func takes(ns float64, n int, seed uint64) func(*result.Run) {
	return func(r *result.Run) { r.Rounds = rounds(ns, n, 0.003, seed) }
}
func on(h host.Fingerprint) func(*result.Run) { return func(r *result.Run) { r.Host = h } }
func portable(r *result.Run)                  { r.Yardstick = "1 portable" }
func boot(id string) func(*result.Run)        { return func(r *result.Run) { r.Host.HostID = id } }
func chain(f float64) func(*result.Run) { // the whole host is slower by f: raw costs are set by takes
	return func(r *result.Run) {
		for i := range r.Rounds {
			x := &r.Rounds[i]
			x.ChainNs, x.LanesNs, x.RelCost = x.ChainNs*f, x.LanesNs*f, x.RelCost/f
		}
	}
}
func outcome(o result.Outcome, msg string) func(*result.Run) {
	return func(r *result.Run) { r.Outcome, r.Message, r.Rounds = o, msg, nil }
}
func hashes(f func(*workload.Params)) func(*result.Run) {
	return func(r *result.Run) { f(&r.Workload) }
}

func stored(release string, runs ...result.Run) Stored {
	return Stored{Latest: Reference{release, runs}}
}

func one(c Case) Target { return Judge(rules(), []Case{c})[0] }

func TestKinds(t *testing.T) {
	ref := func(opts ...func(*result.Run)) *result.Run {
		r := run(append([]func(*result.Run){takes(154e6, 20, 2)}, opts...)...)
		return &r
	}
	head := func(opts ...func(*result.Run)) *result.Run { r := run(opts...); return &r }
	same := stored("v1", *ref())
	threeReplicas := func(s Stored) Stored {
		s.Replicas = [][]result.Run{{*ref(boot("a")), *ref(takes(154.6e6, 20, 3), boot("b")), *ref(takes(153.8e6, 20, 4), boot("c"))}}
		return s
	}
	for _, c := range []struct {
		name string
		c    Case
		kind Kind
		fail bool
		says string
	}{
		{"identical code", Case{Head: head(), Base: ref()}, OK, false, ""},
		{"slower in the pair", Case{Head: head(takes(162e6, 20, 5)), Base: ref()}, Slower, true, ""},
		{"faster in the pair", Case{Head: head(takes(32e6, 20, 5)), Base: ref()}, Faster, false, ""},
		{"within the threshold", Case{Head: head(takes(156e6, 20, 5)), Base: ref()}, OK, false, ""},
		{"at the threshold", Case{Head: head(takes(154e6*1.03, 20, 5)), Base: ref()}, Inconclusive, false, ""},
		{"the pair decides, not the baseline", Case{Head: head(), Base: ref(), Stored: stored("v1", *ref(takes(120e6, 20, 6)))}, OK, false, ""},
		{"a base that failed leaves it to the baseline", Case{Head: head(takes(170e6, 20, 5)), Base: ref(outcome(result.Failed, "exit status 1")), Stored: same}, Slower, true, ""},
		{"stored, same boot", Case{Head: head(), Stored: same}, OK, false, ""},
		{"stored, same boot, slower", Case{Head: head(takes(165e6, 20, 5)), Stored: same}, Slower, true, ""},
		{"stored, other boot, a little slower: the prior is wide", Case{Head: head(takes(165e6, 20, 5), boot("h2")), Stored: same}, Inconclusive, false, "until 3 replicas"},
		{"stored, other boot, the same", Case{Head: head(boot("h2")), Stored: same}, OK, false, "another host"},
		{"stored, other boot, far slower", Case{Head: head(takes(200e6, 20, 5), boot("h2")), Stored: same}, Slower, true, ""},
		{"three replicas narrow the band", Case{Head: head(takes(166e6, 20, 5), boot("h2")), Stored: threeReplicas(same)}, Slower, true, "replicas of one release"},
		{"the whole host is slower", Case{Head: head(takes(154e6*1.2, 20, 5), chain(1.2)), Stored: same}, OK, false, "the host is slower, the code is not"},
		{"a faster host hides no slower code", Case{Head: head(takes(154e6, 20, 5), chain(0.9)), Stored: same}, Slower, true, "the time alone reads ok"},
		{"where the yardstick is on another core it may", Case{Head: head(on(mac), takes(154e6, 20, 5), chain(0.9)), Stored: stored("v1", *ref(on(mac)))}, Inconclusive, false, "must agree"},
		{"anchor: small steps add up", Case{Head: head(), Stored: Stored{Latest: Reference{"v5", []result.Run{*ref(takes(152e6, 20, 6))}}, Anchor: Reference{"v1", []result.Run{*ref(takes(138e6, 20, 6))}}}}, Slower, true, ""},
		{"no baseline", Case{Head: head()}, NoBaseline, false, "no release is recorded"},
		{"another CPU only", Case{Head: head(), Stored: Stored{OtherPlatform: []result.Run{*ref(on(xeon))}}}, NotComparable, false, "SHA instructions sha_ni, were none"},
		{"an emulated baseline", Case{Head: head(), Stored: stored("v1", *ref(func(r *result.Run) { r.Host.Emulated = "qemu" }))}, NotComparable, false, "emulated"},
		{"another stepping", Case{Head: head(func(r *result.Run) { r.Host.CPUID = "amd-epyc-f25m17s2-sha" }), Stored: Stored{OtherPlatform: []result.Run{*ref()}}}, NotComparable, false, "f25m17s2"},
		{"another plan", Case{Head: head(), Stored: stored("v1", *ref(func(r *result.Run) { r.Plan.SliceIterations = 100 }))}, NotComparable, false, "another plan"},
		{"another yardstick", Case{Head: head(), Stored: stored("v1", *ref(func(r *result.Run) { r.Yardstick = "2 sha-ni" }))}, NotComparable, false, "yardstick"},
		{"more iterations, as dear each", Case{Head: head(hashes(func(w *workload.Params) { w.Iterations = 600_000 }), takes(154e6*1.2, 20, 5)), Stored: Stored{OtherWorkload: []result.Run{*ref()}}}, WorkloadChanged, false, "500,000 -> 600,000"},
		{"more iterations, and dearer each", Case{Head: head(hashes(func(w *workload.Params) { w.Iterations = 600_000 }), takes(154e6*1.2*1.1, 20, 5), chain(1/1.2)), Stored: Stored{OtherWorkload: []result.Run{*ref()}}}, Slower, true, "factor of 1.2"},
		{"another prf", Case{Head: head(hashes(func(w *workload.Params) { w.PRF = workload.SHA512 })), Stored: Stored{OtherWorkload: []result.Run{*ref()}}}, WorkloadChanged, false, "prf sha256 -> sha512"},
		{"wrong key", Case{Head: head(outcome(result.WrongKey, "derived 00"))}, WrongKey, true, "derived 00"},
		{"implausible", Case{Head: head(outcome(result.Implausible, "too fast"))}, Implausible, true, "too fast"},
		{"failed", Case{Head: head(outcome(result.Failed, "exit status 3"))}, Failed, true, "exit status 3"},
		{"missing", Case{}, Missing, true, "no result has it"},
		{"too few rounds", Case{Head: head(takes(154e6, 5, 1)), Stored: same}, Inconclusive, false, "5 undisturbed rounds"},
		{"too few rounds, nothing stored", Case{Head: head(takes(154e6, 5, 1))}, Inconclusive, false, "5 undisturbed rounds"},
		{"a baseline of too few rounds", Case{Head: head(), Stored: stored("v1", *ref(takes(154e6, 4, 2)))}, Inconclusive, false, "v1 has 4"},
		{"a waiting neighbour throughout", Case{Head: head(takes(154e6*1.15, 20, 5), func(r *result.Run) {
			for i := range r.Rounds {
				r.Rounds[i].LanesNs *= 0.985
			}
		}), Stored: same}, Inconclusive, false, "contended throughout"},
		{"portable yardsticks hold their ratio less well", Case{Head: head(portable, takes(154e6*1.15, 20, 5), func(r *result.Run) {
			for i := range r.Rounds {
				r.Rounds[i].LanesNs *= 0.985
			}
		}), Stored: stored("v1", *ref(portable))}, Slower, true, ""},
		{"contended throughout", Case{Head: head(takes(180e6, 20, 5), func(r *result.Run) {
			for i := range r.Rounds {
				r.Rounds[i].LanesNs *= 1.3
			}
		}), Stored: same}, Inconclusive, false, "contended throughout"},
	} {
		c.c.Name = "go"
		got := one(c.c)
		if got.Kind != c.kind || got.Fails != c.fail || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %s (fails: %v) %q; want %s (%v) ...%q...", c.name, got.Kind, got.Fails, got.Reason, c.kind, c.fail, c.says)
			for _, x := range got.Comparisons {
				t.Logf("  %+v", x)
			}
		}
		decides := 0
		for _, x := range got.Comparisons {
			if x.Decides {
				decides++
			}
		}
		if len(got.Comparisons) > 0 && decides != 1 {
			t.Errorf("%s: %d comparisons decide", c.name, decides)
		}
	}
}

func TestFailOn(t *testing.T) {
	slow, ref := run(takes(180e6, 20, 5)), run(takes(154e6, 20, 6))
	p := rules()
	p.FailOn = []string{"faster"}
	if got := Judge(p, []Case{{Name: "go", Head: &slow, Base: &ref}})[0]; got.Kind != Slower || got.Fails {
		t.Errorf("slower fails although only faster should: %+v", got)
	}
	if got := Judge(p, []Case{{Name: "go", Head: &ref, Base: &slow}})[0]; got.Kind != Faster || !got.Fails {
		t.Errorf("faster does not fail although it should: %+v", got)
	}
}

func TestExit(t *testing.T) {
	for _, c := range []struct {
		ts   []Target
		want int
	}{
		{[]Target{{Kind: OK}, {Kind: Inconclusive}}, 0},
		{[]Target{{Kind: OK}, {Kind: Slower, Fails: true}}, 1},
		{[]Target{{Kind: OK}, {Kind: Failed, Fails: true}}, 1},
		{[]Target{{Kind: Failed, Fails: true}, {Kind: Failed, Fails: true}}, 3},
		{[]Target{{Kind: Slower}}, 0},
		{nil, 3},
	} {
		if got := Exit(c.ts); got != c.want {
			t.Errorf("%+v: exit %d, want %d", c.ts, got, c.want)
		}
	}
	if o := Overall([]Target{{Kind: OK}, {Kind: WrongKey}, {Kind: Slower}}); o != WrongKey {
		t.Errorf("overall %s", o)
	}
	kinds := []Kind{OK, Slower, Faster, Inconclusive, NoBaseline, NotComparable, WorkloadChanged, WrongKey, Implausible, Failed, Missing}
	for _, k := range kinds {
		if rank(k) < 0 {
			t.Errorf("%s has no rank", k)
		}
	}
}

// compared is the pair's comparison of two lists of costs.
func compared(then, now []result.Round) Comparison {
	h, b := run(), run()
	h.Rounds, b.Rounds = now, then
	return compare(h, "base", []result.Run{b}, 0.03, pairBand(run()))
}

func scaled(rs []result.Round, f float64) []result.Round {
	rs = slices.Clone(rs)
	for i := range rs {
		rs[i].NsPerOp *= f
		rs[i].RelCost *= f
	}
	return rs
}

// What must hold whatever the figures are.
func TestProperties(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for i := range 2000 {
		n, m := 6+rnd.IntN(30), 6+rnd.IntN(30)
		then := rounds(154e6, n, 0.01*rnd.Float64(), uint64(i))
		now := rounds(154e6*(1+0.1*(rnd.Float64()-0.5)), m, 0.01*rnd.Float64(), uint64(i)+1e6)
		c := compared(then, now)

		k := math.Exp(4 * rnd.NormFloat64())
		if s := compared(scaled(then, k), scaled(now, k)); s.Kind != c.Kind || math.Abs(s.Raw.Est-c.Raw.Est) > 1e-9 || math.Abs(s.Raw.Hi-c.Raw.Hi) > 1e-9 {
			t.Fatalf("scaling by %v turned %+v into %+v", k, c, s)
		}
		mirror := map[Kind]Kind{Slower: Faster, Faster: Slower, OK: OK, Inconclusive: Inconclusive}
		if s := compared(now, then); s.Kind != mirror[c.Kind] || math.Abs((1+s.Raw.Est)*(1+c.Raw.Est)-1) > 1e-9 {
			t.Fatalf("swapped sides: %+v and %+v", c, s)
		}
		far := slices.Clone(now)
		far[rnd.IntN(m)].NsPerOp *= 3
		if s := compared(then, far); c.Kind == OK && (s.Kind == Slower || s.Kind == Faster) {
			t.Fatalf("one far round turned %+v into %+v", c, s)
		}
		more := compared(then, scaled(now, 1.02))
		order := []Kind{Faster, Inconclusive, OK, Inconclusive, Slower}
		if first, last := slices.Index(order, c.Kind), lastIndex(order, more.Kind); last < first {
			t.Fatalf("2 %% more cost turned %s into %s", c.Kind, more.Kind)
		}
		if !(c.Raw.Lo <= c.Raw.Est && c.Raw.Est <= c.Raw.Hi) || c.Smallest < 0.03 {
			t.Fatalf("%+v is no interval", c)
		}
	}
}

func lastIndex(order []Kind, k Kind) int {
	last := -1
	for i, o := range order {
		if o == k {
			last = i
		}
	}
	return last
}

// Processes of one program that fall into two modes, mixed differently each
// time, are no drift.
func TestTwoModes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	wrong, trials := 0, 400
	for i := range trials {
		mixed := func(seed uint64) []result.Round {
			rs := rounds(2.9e6, 24, 0.003, seed)
			for j := range rs {
				if rnd.Float64() < 0.5 {
					rs[j].NsPerOp *= 3.4 / 2.9
				}
			}
			return rs
		}
		if k := compared(mixed(uint64(2*i)), mixed(uint64(2*i+1))).Kind; k == Slower || k == Faster {
			wrong++
		}
	}
	if wrong > trials/100 {
		t.Errorf("%d of %d mixtures of one program were called a drift", wrong, trials)
	}
}

func TestPrecise(t *testing.T) {
	if Precise(rounds(154e6, 5, 0, 1), 0.05) {
		t.Error("five rounds are never enough")
	}
	if !Precise(rounds(154e6, 20, 0.003, 1), 0.05) {
		t.Error("0.3 % of spread over 20 rounds is enough for 5 %")
	}
	if Precise(rounds(154e6, 20, 0.02, 1), 0.01) {
		t.Error("2 % of spread over 20 rounds is not enough for 1 %")
	}
}

// The band is learned within releases: what a release changed is no noise.
func TestSpread(t *testing.T) {
	a := []result.Run{run(takes(100e6, 20, 1)), run(takes(101e6, 20, 2))}
	b := []result.Run{run(takes(200e6, 20, 3)), run(takes(202e6, 20, 4))}
	sd, df := spread([][]result.Run{a, b}, raw)
	if df != 2 || sd < 0.005 || sd > 0.009 {
		t.Errorf("sd %.4f with %d degrees of freedom, want about 0.007 with 2", sd, df)
	}
	if _, df := spread([][]result.Run{{a[0]}}, raw); df != 0 {
		t.Errorf("one run teaches %d", df)
	}
}

func BenchmarkJudge(b *testing.B) {
	head := run(takes(155e6, 40, 1), boot("x"))
	var replicas [][]result.Run
	for i := range 20 {
		replicas = append(replicas, []result.Run{run(takes(154e6, 40, uint64(3*i))), run(takes(154e6, 40, uint64(3*i+1))), run(takes(154e6, 40, uint64(3*i+2)))})
	}
	c := Case{Name: "go", Head: &head, Stored: Stored{Latest: Reference{"v20", replicas[19]}, Anchor: Reference{"v1", replicas[0]}, Replicas: replicas}}
	for b.Loop() {
		Judge(rules(), []Case{c})
	}
}

// paired is a base beside a head, of one command's run.
func paired(opts ...func(*result.Run)) *result.Run {
	r := run(append([]func(*result.Run){takes(154e6, 20, 9)}, opts...)...)
	r.Side = result.Base
	return &r
}

func program(id string) func(*result.Run) { return func(r *result.Run) { r.Program = id } }

func TestSameProgram(t *testing.T) {
	same, other := program("p1"), program("p2")
	for _, c := range []struct {
		name string
		head result.Run
		base *result.Run
		want Kind
		same bool
	}{
		{"same", run(same), paired(same), OK, true},
		{"same, few rounds", run(same, takes(154e6, 6, 3)), paired(same, takes(154e6, 6, 4)), OK, true},
		{"same, yet slower", run(same, takes(165e6, 20, 3)), paired(same), Slower, true},
		{"same, yet faster", run(same, takes(144e6, 20, 3)), paired(same), Faster, true},
		{"same, too few rounds", run(same, takes(154e6, 5, 3)), paired(same), Inconclusive, false},
		{"another", run(other, takes(165e6, 20, 3)), paired(same), Slower, false},
		{"unknown", run(takes(165e6, 20, 3)), paired(), Slower, false},
		{"another mode", run(same, takes(165e6, 20, 3), func(r *result.Run) { r.Mode = "GODEBUG=cpu.sha=off" }), paired(same), Slower, false},
	} {
		got := judge(rules(), Case{Name: "go", Leg: "l", Head: &c.head, Base: c.base})
		if cmp := got.Comparisons[0]; got.Kind != c.want || cmp.Same != c.same || c.same && !strings.Contains(cmp.Reason, "same program") {
			t.Errorf("%s: %s (%s), same %v; want %s, %v", c.name, got.Kind, cmp.Reason, cmp.Same, c.want, c.same)
		}
	}
}

// The halves of unbiased rounds hold 0 as often as their interval promises,
// and always are the same of one run.
func TestHalves(t *testing.T) {
	misses := 0
	const runs = 400
	for i := range runs {
		r := run(takes(154e6, 30, uint64(100+i)))
		h := halves(r)
		if h != halves(r) {
			t.Fatal("two answers for one run")
		}
		if h.Lo > 0 || h.Hi < 0 {
			misses++
		}
	}
	if share := float64(misses) / runs; share > 0.08 || misses == 0 {
		t.Errorf("%.1f %% of the intervals miss 0, want at most about 5 %%", 100*share)
	}
	if h := halves(run(takes(154e6, 11, 1))); h != (Interval{}) {
		t.Errorf("of eleven rounds: %+v", h)
	}
}

// What the base's run has to say is heard.
func TestBaseNotes(t *testing.T) {
	head := run(func(r *result.Run) { r.Notes = []string{"both"} })
	got := judge(rules(), Case{Head: &head, Base: paired(func(r *result.Run) { r.Notes = []string{"both", "only the base"} })})
	if want := []string{"both", "base: only the base"}; !slices.Equal(got.Notes, want) {
		t.Errorf("notes %q, want %q", got.Notes, want)
	}
}

func TestWhyMissing(t *testing.T) {
	if got := judge(rules(), Case{Name: "x", Why: "taken out"}); got.Kind != Missing || got.Reason != "taken out" {
		t.Errorf("%+v", got)
	}
}

// What was measured on a core that was busy throughout holds beside the other
// side of its job, and against nothing else.
func TestContended(t *testing.T) {
	busy := func(r *result.Run) { r.Contended, r.Unverified = true, true }
	then, calm := run(takes(154e6, 20, 1), unverified), run(takes(200e6, 20, 2), unverified)
	then.ID, then.Release = "then", "v1"
	head, base := run(takes(200e6, 20, 2), busy), paired(takes(154e6, 20, 1), busy)
	alone := head // no ratio says so
	alone.Rounds = slices.Clone(head.Rounds)
	// beside a neighbour the ratio of whole runs is anything
	for i := range head.Rounds {
		head.Rounds[i].LanesNs *= 1.1
	}
	busyThen := then
	busyThen.Contended = true
	for _, test := range []struct {
		name string
		c    Case
		want Kind
		says string
	}{
		{"its pair", Case{Name: "go", Head: &head, Base: base, Stored: stored("v1", then)}, Slower, ""},
		{"stored", Case{Name: "go", Head: &alone, Stored: stored("v1", then)}, Inconclusive, "most runs of this run were disturbed"},
		{"stored by such", Case{Name: "go", Head: &calm, Stored: stored("v1", busyThen)}, Inconclusive, "most runs of v1 were disturbed"},
		{"stored, calm both", Case{Name: "go", Head: &calm, Stored: stored("v1", then)}, Slower, ""},
	} {
		got := one(test.c)
		if got.Kind != test.want || !strings.Contains(got.Reason, test.says) || test.says == "" && strings.Contains(got.Reason, "most runs") {
			t.Errorf("%s: %s (%s), want %s ...%s...", test.name, got.Kind, got.Reason, test.want, test.says)
		}
	}
}

// Whole runs are not believed as finely.
func TestUnverifiedIsWider(t *testing.T) {
	whole := func(r *result.Run) { r.Unverified = true }
	fine := judge(rules(), Case{Head: ptr(run()), Base: paired()}).Comparisons[0].Raw
	wide := judge(rules(), Case{Head: ptr(run(whole)), Base: paired(whole)}).Comparisons[0].Raw
	if wide.Est != fine.Est || wide.Hi-wide.Est < 0.01 || wide.Hi-wide.Est < fine.Hi-fine.Est {
		t.Errorf("verified %+v, unverified %+v", fine, wide)
	}
}

func ptr[T any](x T) *T { return &x }
