// Package report turns verdicts into one Report value, and that value into
// what people and programs read: text, Markdown, JSON, Go benchmark format.
// It decides nothing and reads no clock, environment or terminal.
package report

import (
	"io"
	"math"
	"slices"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// Format names the JSON report and its version.
const Format = "pbkdf2-gate-report/1"

// Formats has each format by the name that --format takes. Each writes the
// whole report with one call of Write; its errors are the writer's.
var Formats = map[string]func(io.Writer, Report) error{
	"text":     Text,
	"markdown": Markdown,
	"json":     JSON,
	"bench":    Bench,
}

// Input is what a report is made of.
type Input struct {
	ToolVersion       string
	Targets           []verdict.Target // in the order in which they are shown
	Overall           verdict.Kind     // the worst of Targets
	Exit              int              // the exit code
	Threshold         float64          // of a pair, 0.03 for 3 %
	BaselineThreshold float64          // of stored baselines
	Workload          workload.Params
	Notices           []string // about the run as a whole, each said aloud
	Coverage          []Coverage
}

// Report is everything that a format may say. Its JSON is an interface:
// within version 1, members are added and never renamed or removed. Text is
// as it came, unescaped; a number that was not measured is left out; lists
// are never null. Verdicts are ok, slower, faster, inconclusive,
// no-baseline, not-comparable, workload-changed, wrong-key, implausible,
// failed and missing.
type Report struct {
	Format                   string               `json:"format"` // Format
	ToolVersion              string               `json:"tool_version"`
	Verdict                  verdict.Kind         `json:"verdict"`  // the worst of the targets'
	Headline                 string               `json:"headline"` // the verdict and the worst change in one line
	Exit                     int                  `json:"exit_code"`
	ExitMeaning              string               `json:"exit_meaning"`
	Worst                    *Worst               `json:"worst_change"` // null where nothing was compared
	Counts                   map[verdict.Kind]int `json:"counts"`       // targets by verdict
	Workload                 Workload             `json:"workload"`
	ThresholdPercent         float64              `json:"threshold_percent"`          // of a pair
	BaselineThresholdPercent float64              `json:"baseline_threshold_percent"` // of stored baselines
	Advice                   []string             `json:"advice"`                     // on the workload's parameters
	MissingLegs              []string             `json:"missing_legs"`               // expected, and without any result
	Notices                  []string             `json:"notices"`
	Spent                    *Spent               `json:"spent_seconds"` // null where it is not known
	Coverage                 []Coverage           `json:"coverage"`      // of the legs that have a name
	Targets                  []Target             `json:"targets"`

	runs   []result.Run    // heads and bases, for Bench
	perLeg map[string]int  // targets by Target.leg
	told   map[string]bool // legs whose coverage a target's reason gives
}

// Worst is the comparison that the headline speaks of: the largest change
// behind the verdict, else the largest of all that decide.
type Worst struct {
	Target        string `json:"target"`
	Leg           string `json:"leg"`
	Against       string `json:"against"`
	ChangePercent Change `json:"change_percent"`
	Relative      bool   `json:"relative"` // the change is of the cost relative to the yardstick

	at int // in Targets
}

// Change is a relative change in per cent with its 95 % interval: 3 is 3 %
// slower, -50 twice as fast.
type Change struct {
	Est float64 `json:"est"`
	Lo  float64 `json:"lo"`
	Hi  float64 `json:"hi"`
}

// Workload is what one hash is.
type Workload struct {
	PRF        string `json:"prf"`
	Iterations int    `json:"iterations"`
	SaltBytes  int    `json:"salt_bytes"`
	KeyBytes   int    `json:"key_bytes"`
}

// Target is the verdict on one target of one leg. A leg that sent nothing is
// a target without a name.
type Target struct {
	Leg                    string       `json:"leg"`    // the job's label; may be empty
	Name                   string       `json:"target"` // empty: the whole leg
	Platform               string       `json:"platform"`
	Verdict                verdict.Kind `json:"verdict"`
	Fails                  bool         `json:"fails"` // this verdict fails the run
	Reason                 string       `json:"reason"`
	Hint                   string       `json:"hint"`       // what to make of it or to do next; may be empty
	Unverified             bool         `json:"unverified"` // its keys could not be checked
	NsPerHash              float64      `json:"ns_per_hash,omitzero"`
	HashesPerSecondPerCore float64      `json:"hashes_per_second_per_core,omitzero"`
	RelativeCost           float64      `json:"relative_cost,omitzero"` // time over the chain yardstick's
	Comparisons            []Comparison `json:"comparisons"`
	Notes                  []string     `json:"notes"`
	Host                   Host         `json:"host"`
	Head                   *Side        `json:"head"` // null when missing
	Base                   *Side        `json:"base"` // null without a pair
}

// Comparison is one target held against one reference.
type Comparison struct {
	Against          string       `json:"against"` // "base", "v1.4.0", "v1.0.0 (anchor)"
	Verdict          verdict.Kind `json:"verdict"`
	Decides          bool         `json:"decides"` // the target's verdict is this one
	ThresholdPercent float64      `json:"threshold_percent"`
	// ChangePercent is the change of the time of one hash, without what a
	// change of workload explains; null where nothing was compared.
	ChangePercent *Change `json:"change_percent"`
	// RelativeChangePercent is the change of the cost relative to the chain
	// yardstick, which leaves out a faster or slower host.
	RelativeChangePercent  *Change `json:"relative_change_percent"`
	ExpectedFactor         float64 `json:"expected_factor,omitzero"` // of the time, from a change of workload; 1 without one
	SmallestVisiblePercent float64 `json:"smallest_visible_percent,omitzero"`
	// SameProgram says that base and head are one program, so that any change
	// is the machine's.
	SameProgram bool `json:"same_program"`
	// HeadHalvesPercent is what two halves of the head's own rounds, drawn at
	// random, differ by; null where the rounds are too few.
	HeadHalvesPercent *Change `json:"head_halves_percent"`
	ThenNsPerHash     float64 `json:"then_ns_per_hash,omitzero"` // at the reference's own workload
	NowNsPerHash      float64 `json:"now_ns_per_hash,omitzero"`
	// Instructions are left out where they were not counted on both sides.
	Instructions *Instructions `json:"instructions,omitzero"`
	Reason       string        `json:"reason"`
	Differs      []Difference  `json:"differs"`
}

// Difference is a fact that is not what it was; empty where it is not known.
type Difference struct {
	Name string `json:"name"`
	Then string `json:"then"`
	Now  string `json:"now"`
}

// Host is the machine, as far as a hash's cost depends on it.
type Host struct {
	GOOS     string `json:"goos"`
	GOARCH   string `json:"goarch"`
	CPU      string `json:"cpu"`
	CPUID    string `json:"cpu_id"`
	SHA      string `json:"sha"` // the CPU's SHA instructions
	HostID   string `json:"host_id"`
	Image    string `json:"image"`
	Kernel   string `json:"kernel"`
	Emulated string `json:"emulated"` // by what; empty: not
}

// Side is what was measured on one side, and how. Medians are over the
// rounds.
type Side struct {
	Outcome               string   `json:"outcome"` // measured, failed, wrong-key, implausible
	Message               string   `json:"message"`
	Workload              Workload `json:"workload"`
	Rounds                int      `json:"rounds"`
	DisturbedRounds       int      `json:"disturbed_rounds"`                  // measured and dropped
	Contended             bool     `json:"contended,omitzero"`                // so many whole runs were disturbed that the calmer ones are the rounds
	CleanPercent          float64  `json:"clean_percent,omitzero"`            // median share of undisturbed slices; none where contended
	ChainNsPerCompression float64  `json:"chain_ns_per_compression,omitzero"` // median
	LanesNsPerCompression float64  `json:"lanes_ns_per_compression,omitzero"` // median
	// What a nominal compression takes in user space, where the processor shows it.
	InstructionsPerCompression float64 `json:"instructions_per_compression,omitzero"`
	CyclesPerCompression       float64 `json:"cycles_per_compression,omitzero"`
	Yardstick                  string  `json:"yardstick"`
	Plan                       Plan    `json:"plan"`
	Toolchain                  string  `json:"toolchain"`
	TargetVersion              string  `json:"target_version"`
	Mode                       string  `json:"mode"`
	Commit                     string  `json:"commit"`
	RunID                      string  `json:"run_id"`
	Cost                       *Cost   `json:"cost"` // null where no round counts
}

// Plan is how the target was sampled.
type Plan struct {
	SliceIterations int   `json:"slice_iterations"`
	Slices          int   `json:"slices"`
	WarmUpSlices    int   `json:"warm_up_slices"`
	YardstickNs     int64 `json:"yardstick_ns"`
}

// New makes the report.
func New(in Input) Report {
	r := Report{
		Format:                   Format,
		ToolVersion:              in.ToolVersion,
		Verdict:                  in.Overall,
		Exit:                     in.Exit,
		Counts:                   map[verdict.Kind]int{},
		Workload:                 newWorkload(in.Workload),
		ThresholdPercent:         perCent(in.Threshold),
		BaselineThresholdPercent: perCent(in.BaselineThreshold),
		Advice:                   list(in.Workload.Advice()),
		MissingLegs:              []string{},
		Notices:                  list(in.Notices),
		Coverage:                 in.Coverage,
		Targets:                  []Target{},
		perLeg:                   map[string]int{},
		told:                     map[string]bool{},
	}
	sent := map[string]bool{}
	for _, t := range in.Targets {
		r.Targets = append(r.Targets, newTarget(t))
		r.perLeg[r.Targets[len(r.Targets)-1].leg()]++
		r.Counts[t.Kind]++
		sent[t.Leg] = sent[t.Leg] || t.Kind != verdict.Missing
		for _, run := range []*result.Run{t.Head, t.Base} {
			if run != nil {
				r.runs = append(r.runs, *run)
			}
		}
	}
	if r.Coverage == nil {
		r.Coverage = []Coverage{}
	}
	for i, t := range r.Targets {
		r.Targets[i].Hint = r.hint(t)
		if head := in.Targets[i].Head; head != nil && (t.Verdict == verdict.NoBaseline || t.Verdict == verdict.NotComparable) {
			if s := r.lacks(t, head.Leg); s != "" {
				r.told[head.Leg] = true
				r.Targets[i].Reason = strings.TrimPrefix(t.Reason+"; "+s, "; ")
			}
		}
		if !sent[t.Leg] && t.Leg != "" {
			r.MissingLegs = append(r.MissingLegs, t.Leg)
			sent[t.Leg] = true // named once
		}
	}
	r.Spent = spent(r.runs)
	r.Worst = r.worst()
	r.Headline = r.headline(asIs)
	r.ExitMeaning = r.exitMeaning(asIs)
	return r
}

func newTarget(t verdict.Target) Target {
	out := Target{
		Leg:          t.Leg,
		Name:         t.Name,
		Platform:     platform(t.Host),
		Verdict:      t.Kind,
		Fails:        t.Fails,
		Reason:       t.Reason,
		NsPerHash:    round(t.NsPerOp, 1),
		RelativeCost: round(t.RelCost, 4),
		Comparisons:  []Comparison{},
		Notes:        list(t.Notes),
		Host:         newHost(t.Host),
		Head:         newSide(t.Head),
		Base:         newSide(t.Base),
	}
	if t.Head != nil {
		out.Unverified = t.Head.Unverified
		if out.Reason == "" {
			out.Reason = t.Head.Message
		}
	}
	if out.NsPerHash > 0 {
		out.HashesPerSecondPerCore = round(1e9/t.NsPerOp, 4)
	}
	for _, c := range t.Comparisons {
		out.Comparisons = append(out.Comparisons, newComparison(c))
	}
	return out
}

func newHost(f host.Fingerprint) Host {
	return Host{f.GOOS, f.GOARCH, f.CPU, f.CPUID, f.SHA, f.HostID, f.Image, f.Kernel, f.Emulated}
}

func newComparison(c verdict.Comparison) Comparison {
	out := Comparison{
		Against:          c.Against,
		Verdict:          c.Kind,
		Decides:          c.Decides,
		ThresholdPercent: perCent(c.Threshold),
		ExpectedFactor:   round(c.Expected, 4),
		ThenNsPerHash:    round(c.ThenNs, 1),
		NowNsPerHash:     round(c.NowNs, 1),
		Reason:           c.Reason,
		Differs:          []Difference{},
		SameProgram:      c.Same,
		Instructions:     newInstructions(c),
	}
	for _, d := range c.Differs {
		out.Differs = append(out.Differs, Difference(d))
	}
	if c.Kind != verdict.NotComparable {
		out.ChangePercent = newChange(c.Raw)
		out.RelativeChangePercent = newChange(c.Relative)
	}
	if out.ChangePercent != nil {
		out.SmallestVisiblePercent = perCent(c.Smallest)
		out.HeadHalvesPercent = newChange(c.Halves)
	}
	return out
}

// newChange is nil for an interval that says nothing.
func newChange(i verdict.Interval) *Change {
	for _, x := range []float64{i.Est, i.Lo, i.Hi} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
	}
	if i == (verdict.Interval{}) {
		return nil
	}
	return &Change{perCent(i.Est), perCent(i.Lo), perCent(i.Hi)}
}

func newSide(run *result.Run) *Side {
	if run == nil {
		return nil
	}
	median := func(of func(result.Round) float64, digits int) float64 {
		if len(run.Rounds) == 0 {
			return 0
		}
		var xs []float64
		for _, r := range run.Rounds {
			xs = append(xs, of(r))
		}
		slices.Sort(xs)
		n := len(xs)
		return round((xs[(n-1)/2]+xs[n/2])/2, digits)
	}
	clean := median(func(r result.Round) float64 { return 100 * r.CleanShare }, 2)
	if run.Contended {
		clean = 0
	}
	return &Side{
		Outcome:                    string(run.Outcome),
		Message:                    run.Message,
		Workload:                   newWorkload(run.Workload),
		Rounds:                     len(run.Rounds),
		DisturbedRounds:            run.Disturbed,
		Contended:                  run.Contended,
		CleanPercent:               clean,
		ChainNsPerCompression:      median(func(r result.Round) float64 { return r.ChainNs }, 4),
		LanesNsPerCompression:      median(func(r result.Round) float64 { return r.LanesNs }, 4),
		InstructionsPerCompression: round(run.Instructions, 4),
		CyclesPerCompression:       round(run.Cycles, 4),
		Yardstick:                  run.Yardstick,
		Plan:                       Plan{run.Plan.SliceIterations, run.Plan.Slices, run.Plan.WarmUp, run.Plan.Yardstick.Nanoseconds()},
		Toolchain:                  run.Toolchain,
		TargetVersion:              run.TargetVersion,
		Mode:                       run.Mode,
		Commit:                     run.Commit,
		RunID:                      run.ID,
		Cost:                       newCost(run),
	}
}

func newWorkload(w workload.Params) Workload {
	return Workload{string(w.PRF), w.Iterations, w.SaltBytes, w.KeyBytes}
}

// params is the workload again, for its words and numbers.
func (w Workload) params() workload.Params {
	return workload.Params{PRF: workload.PRF(w.PRF), Iterations: w.Iterations, SaltBytes: w.SaltBytes, KeyBytes: w.KeyBytes}
}

func asIs(s string) string { return s }

// platform names a machine for people: "linux/amd64 AMD EPYC 7763".
func platform(f host.Fingerprint) string {
	switch {
	case f.GOOS == "":
		return ""
	case f.CPU == "":
		return f.GOOS + "/" + f.GOARCH
	}
	return f.GOOS + "/" + f.GOARCH + " " + f.CPU
}

func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
