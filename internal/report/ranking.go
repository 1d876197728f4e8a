package report

import (
	"io"
	"math"
	"slices"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// RankingFormat names the JSON of a ranking and its version.
const RankingFormat = "pbkdf2-gate-compare/1"

// RankingFormats has each format of a ranking by the name that --format takes.
var RankingFormats = map[string]func(io.Writer, Ranking) error{
	"text":     RankingText,
	"markdown": RankingMarkdown,
	"json":     RankingJSON,
}

// RankingInput is what a ranking is made of.
type RankingInput struct {
	ToolVersion string
	Places      []verdict.Place // as verdict.Rank orders them
	Reference   int             // of Places; -1: none
	Exit        int
	Workload    workload.Params
	Notices     []string
}

// Ranking is what the targets of one run cost beside each other. Its JSON is
// an interface, as Report's is.
type Ranking struct {
	Format      string   `json:"format"` // RankingFormat
	ToolVersion string   `json:"tool_version"`
	Headline    string   `json:"headline"`
	Exit        int      `json:"exit_code"`
	ExitMeaning string   `json:"exit_meaning"`
	Platform    string   `json:"platform"`
	Host        Host     `json:"host"`
	Workload    Workload `json:"workload"`
	// Reference is the target whose time the others' are held against: the
	// fastest whose keys could be checked, else the fastest; empty for none.
	Reference string   `json:"reference"`
	Targets   []Ranked `json:"targets"` // fastest first, those without a time last
	Advice    []string `json:"advice"`  // on the workload's parameters
	Notices   []string `json:"notices"`
	Spent     *Spent   `json:"spent_seconds"` // null where it is not known
}

// Ranked is one target of a ranking.
type Ranked struct {
	Name                   string      `json:"target"`
	Outcome                string      `json:"outcome"` // measured, failed, wrong-key, implausible
	Reason                 string      `json:"reason"`  // why there is no time; empty where there is one
	Unverified             bool        `json:"unverified"`
	NsPerHash              float64     `json:"ns_per_hash,omitzero"`
	IntervalNs             *IntervalNs `json:"interval_ns"` // null where too few rounds count
	HashesPerSecondPerCore float64     `json:"hashes_per_second_per_core,omitzero"`
	TimesReference         float64     `json:"times_reference,omitzero"` // time over the reference's
	// IterationsForReferenceTime is how many iterations of this target the
	// time of one hash of the reference buys.
	IterationsForReferenceTime int      `json:"iterations_for_reference_time,omitzero"`
	NotToldApartFrom           []Near   `json:"not_told_apart_from"` // faster targets
	Notes                      []string `json:"notes"`
	Measured                   Side     `json:"measured"`
}

// IntervalNs is the 95 % interval of a time, ns.
type IntervalNs struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// Near is a faster target, and the change from its time to that of the target
// that cannot be told apart from it.
type Near struct {
	Target        string `json:"target"`
	ChangePercent Change `json:"change_percent"`
}

// NewRanking makes the ranking of one run's places.
func NewRanking(in RankingInput) Ranking {
	r := Ranking{
		Format: RankingFormat, ToolVersion: in.ToolVersion, Exit: in.Exit,
		Workload: newWorkload(in.Workload), Targets: []Ranked{},
		Advice: list(in.Workload.Advice()), Notices: list(in.Notices),
	}
	var runs []result.Run
	for _, p := range in.Places {
		runs = append(runs, *p.Run)
		r.Targets = append(r.Targets, newRanked(p))
	}
	if len(runs) > 0 {
		r.Platform, r.Host = platform(runs[0].Host), newHost(runs[0].Host)
	}
	if in.Reference >= 0 {
		r.Reference = r.Targets[in.Reference].Name
	}
	r.Spent = spent(runs)
	r.Headline = r.headline(asIs)
	r.ExitMeaning = r.exitMeaning(asIs)
	return r
}

func newRanked(p verdict.Place) Ranked {
	t := Ranked{
		Name: p.Run.Target, Outcome: string(p.Run.Outcome), Reason: p.Run.Message, Unverified: p.Run.Unverified,
		NsPerHash: round(p.NsPerOp, 1), TimesReference: round(p.Times, 4),
		NotToldApartFrom: []Near{}, Notes: list(p.Run.Notes), Measured: *newSide(p.Run),
	}
	if t.NsPerHash > 0 {
		t.HashesPerSecondPerCore = round(1e9/p.NsPerOp, 4)
		t.IterationsForReferenceTime = int(math.Min(round(p.Iterations, 0), 1e15))
	} else if t.Reason == "" {
		t.Reason = "every round was disturbed: use a longer --budget or a quieter machine"
	}
	if p.Lo > 0 {
		t.IntervalNs = &IntervalNs{round(p.Lo, 1), round(p.Hi, 1)}
	}
	for _, a := range p.Alike {
		if ch := newChange(a.Change); ch != nil {
			t.NotToldApartFrom = append(t.NotToldApartFrom, Near{a.Target, *ch})
		}
	}
	return t
}

// headline names the fastest and the slowest.
func (r Ranking) headline(esc func(string) string) string {
	n := 0
	for n < len(r.Targets) && r.Targets[n].NsPerHash > 0 {
		n++
	}
	if n == 0 {
		return "nothing could be measured"
	}
	name := func(t Ranked) string {
		if t.Unverified {
			return esc(t.Name) + " (unverified)"
		}
		return esc(t.Name)
	}
	first, last := r.Targets[0], r.Targets[n-1]
	each := duration(first.NsPerHash) + " a hash"
	switch {
	case n == 1:
		return name(first) + " takes " + each
	case len(r.Targets[1].NotToldApartFrom) > 0 && n == 2:
		return name(first) + " and " + name(last) + " cannot be told apart: " + each
	}
	s := name(first) + " is the fastest, " + each
	if len(r.Targets[1].NotToldApartFrom) > 0 {
		s = name(first) + " is the fastest, though " + name(r.Targets[1]) + " cannot be told apart from it, " + each
	}
	return s + "; " + name(last) + " takes " + three(last.NsPerHash/first.NsPerHash) + " times as long"
}

func (r Ranking) exitMeaning(esc func(string) string) string {
	switch r.Exit {
	case 0:
		return "no wrong key and no impossible time was found"
	case 1:
		var bad []string
		for _, t := range r.Targets {
			switch result.Outcome(t.Outcome) {
			case result.WrongKey:
				bad = append(bad, esc(t.Name)+" derives wrong keys")
			case result.Implausible:
				bad = append(bad, esc(t.Name)+" reports impossible times")
			}
		}
		return few(bad, ", ")
	}
	return "no target could be measured"
}

// few joins the first of them and counts the others.
func few(s []string, sep string) string {
	const most = 3
	if len(s) > most {
		return strings.Join(s[:most], sep) + " and " + workload.Group(len(s)-most) + " more"
	}
	return strings.Join(s, sep)
}

// last is the last cell of its row: what it is, or why it has no figures.
func (t Ranked) last(esc, reason func(string) string) string {
	if !(t.NsPerHash > 0) {
		switch o := result.Outcome(t.Outcome); o {
		case result.Measured:
			return reason(t.Reason)
		case result.WrongKey, result.Implausible:
			return strings.ToUpper(kindWords(verdict.Kind(o))) + ": " + reason(t.Reason)
		default:
			return esc(t.Outcome) + ": " + reason(t.Reason)
		}
	}
	s := t.Measured.builtWith(esc)
	if t.Unverified {
		s = strings.TrimSuffix("unverified, "+s, ", ")
	}
	return s
}

// iterations are exact for the reference, else as fine as a run resolves.
func (r Ranking) iterations(t Ranked) string {
	switch n := t.IterationsForReferenceTime; {
	case n == 0:
		return "-"
	case t.Name == r.Reference:
		return workload.Group(n)
	default:
		return workload.Group(digits(float64(n), 3))
	}
}

// half is half of the interval, in per cent of the time.
func (t Ranked) half() string {
	if t.IntervalNs == nil {
		return "-"
	}
	return fixed(100*max(t.IntervalNs.Hi/t.NsPerHash-1, 1-t.IntervalNs.Lo/t.NsPerHash), 2) + " %"
}

func (t Ranked) chain() string {
	if t.Measured.Cost == nil {
		return "-"
	}
	return fixed(t.Measured.Cost.OverChain, 2)
}

// remarks are what is to be said of a target beside its row.
func (t Ranked) remarks() []string {
	var n []string
	if t.Unverified {
		n = append(n, "unverified: its keys cannot be checked, nor whether it derives what was asked")
	}
	if t.NsPerHash > 0 && t.IntervalNs == nil {
		n = append(n, "too few undisturbed rounds for an interval: its place is not sure")
	}
	if s := t.Measured.Cost.shaHint(); s != "" {
		n = append(n, s)
	}
	return append(n, t.Notes...)
}

// hostNotes are about the machine.
func (r Ranking) hostNotes() []string {
	if r.Host.Emulated == "" {
		return nil
	}
	return []string{"the CPU is emulated by " + r.Host.Emulated + ": this says little of a real one"}
}

// reference says what the iterations are; empty where there are none.
func (r Ranking) reference(esc func(string) string) string {
	i := slices.IndexFunc(r.Targets, func(t Ranked) bool { return t.Name == r.Reference })
	if i < 0 || r.Reference == "" {
		return ""
	}
	s := "iterations: what " + duration(r.Targets[i].NsPerHash) + ", one hash of " + esc(r.Reference) + ", buys with each"
	if i > 0 {
		s += " (the fastest whose keys are checked)"
	}
	return s
}
