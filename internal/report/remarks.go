package report

import (
	"fmt"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// The commands that record a baseline.
const (
	measureCommand = "pbkdf2-gate measure --out result.txt"
	recordCommand  = "pbkdf2-gate baseline update --release vX.Y.Z result.txt"
)

// A change by this factor is worth more iterations.
const suggestFactor = 1.5

// hint says what to make of a verdict, or what to do next.
func (r Report) hint(t Target) string {
	c := t.decider()
	switch t.Verdict {
	case verdict.WrongKey:
		return "these are not PBKDF2's keys, so the time means nothing: do not ship this"
	case verdict.Implausible:
		if t.Unverified {
			return "" // the reason says what to do
		}
		return "check how it times itself, and that it derives a key for every request"
	case verdict.Failed:
		if t.Unverified || strings.Contains(t.Reason, "build") || strings.Contains(t.Reason, "compile") || strings.Contains(t.Reason, "no program") {
			return "" // it was asked nothing, and the reason says what to do
		}
		return "PBKDF2_GATE_DEBUG=probe shows what it was asked and what it answered"
	case verdict.Missing:
		if t.Name == "" {
			return "look at the log of its job"
		}
		if t.Reason != verdict.NoResult {
			return "" // the reason says what became of it
		}
		return "it is configured; look at the log of the job that should have measured it"
	case verdict.NoBaseline, verdict.NotComparable:
		switch {
		case t.Host.Emulated != "":
			return "measure on a real CPU: an emulated one is never a baseline"
		case c != nil && c.lostSHA():
			return "either this CPU has no SHA instructions or a generic virtual CPU hides them: have it show the host's, record a baseline on such a machine, or compare base and head in one job"
		case c != nil && c.otherHardware():
			return "record a baseline on such a machine, or compare base and head in one job"
		case c == nil && t.Verdict == verdict.NotComparable:
			return "" // the reason says what to do
		}
		return fmt.Sprintf("record one and commit it: `%s`, then `%s`", measureCommand, recordCommand)
	case verdict.Slower:
		if c != nil && c.Against == "base" {
			return "if it is intended, merge it knowingly: it is the base of what follows"
		}
		return "if it is intended, record the new figure as a baseline and merge it"
	case verdict.Inconclusive:
		s := "use a longer --budget or a quieter machine"
		if c != nil && c.SmallestVisiblePercent > 0 {
			s = "a slowdown of " + visible(c.SmallestVisiblePercent) + " or more would have been seen; " + s
		}
		return s
	case verdict.Faster:
		return r.fasterHint(t, c)
	}
	return ""
}

func (r Report) fasterHint(t Target, c *Comparison) string {
	s := "the baseline is out of date: record the new figure"
	if t.Unverified {
		s = "its keys cannot be checked: were parameters weakened? If not, " + s
	}
	if c == nil || c.workloadChanged() {
		return s
	}
	ch, _ := c.shown()
	if ch == nil || ch.Est <= -100 {
		return s
	}
	iterations := r.Workload.Iterations
	if t.Head != nil && t.Head.Workload.Iterations > 0 {
		iterations = t.Head.Workload.Iterations
	}
	if f := ch.factor(ch.Est); ch.Est < 0 && f >= suggestFactor {
		if n := digits(float64(iterations)*f, 2); n > 0 {
			s += "; consider raising iterations to about " + workload.Group(n) + " for the old time"
		}
	}
	return s
}

// remark is a text and the targets that it is about.
type remark struct {
	text string
	at   []int // in Targets
}

// remarks gathers what is said of targets, each text once, in the order of
// their first target.
func (r Report) remarks(order []int, of func(Target) []string) []remark {
	var all []remark
	index := map[string]int{}
	for _, i := range order {
		for _, text := range of(r.Targets[i]) {
			if text == "" {
				continue
			}
			n, ok := index[text]
			if !ok {
				n = len(all)
				index[text] = n
				all = append(all, remark{text: text})
			}
			if at := &all[n].at; len(*at) == 0 || (*at)[len(*at)-1] != i {
				*at = append(*at, i)
			}
		}
	}
	return all
}

// whom names a remark's targets in a few words: whole legs where it is about
// all of them.
func (r Report) whom(at []int, esc func(string) string) string {
	const most = 3
	if len(at) == len(r.Targets) && len(at) > 1 {
		return "all"
	}
	in := map[string]int{}
	for _, i := range at {
		in[r.Targets[i].leg()]++
	}
	var names []string
	n := 0
	add := func(name string) {
		if n++; n <= most {
			names = append(names, name)
		}
	}
	for _, i := range at {
		t := r.Targets[i]
		l := t.leg()
		switch k := in[l]; {
		case k == 0: // named as a whole
		case t.Name == "":
			add(esc(l))
		case len(r.perLeg) > 1 && k > 1 && k == r.perLeg[l]:
			add(esc(l))
			in[l] = 0
		default:
			add(esc(t.Name) + r.on(t, esc))
		}
	}
	s := strings.Join(names, ", ")
	if n > most {
		s += " and " + workload.Group(n-most) + " more"
	}
	return s
}

// notes are what is to be said of a target beside its verdict.
func (t Target) notes() []string {
	var n []string
	if e := t.Host.Emulated; e != "" {
		n = append(n, "the CPU is emulated by "+e+": this says little of a real one, and is never a baseline")
	}
	if t.Unverified {
		n = append(n, "unverified: its keys cannot be checked")
	}
	if t.Head != nil {
		if s := t.Head.Cost.shaHint(); s != "" {
			n = append(n, s)
		}
	}
	n = append(n, t.instructions().note())
	return append(n, t.Notes...)
}

// differences writes what differs from each reference, one line a
// comparison.
func (t Target) differences(esc func(string) string) []string {
	var lines []string
	for _, c := range t.Comparisons {
		var d []string
		for _, f := range c.Differs {
			d = append(d, f.words(esc))
		}
		if len(d) > 0 {
			lines = append(lines, "since "+than(c.Against, esc)+": "+strings.Join(d, "; "))
		}
	}
	return lines
}

func (d Difference) words(esc func(string) string) string {
	side := func(s string) string {
		switch {
		case s != "":
			return esc(s)
		case d.Name == "emulated":
			return "no"
		}
		return "unknown"
	}
	return esc(d.Name) + " " + side(d.Then) + " → " + side(d.Now)
}
