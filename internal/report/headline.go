package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// headline is the verdict and the worst change in one line. esc makes text
// from outside safe for where the line goes.
func (r Report) headline(esc func(string) string) string {
	word := kindWords(r.Verdict)
	if len(r.Targets) == 0 {
		return word + ": nothing was measured"
	}
	t, ok := r.lead()
	if !ok {
		return word
	}
	if t.Fails || t.Verdict == verdict.WrongKey {
		word = strings.ToUpper(word)
	}
	switch r.Verdict {
	case verdict.OK:
		s := "ok: nothing drifted past " + r.limit()
		if w := r.Worst; w != nil {
			s += fmt.Sprintf("; the largest change is %s%s (%s against %s%s)", w.ChangePercent, relatively(w.Relative), esc(w.Target), than(w.Against, esc), r.on(t, esc))
		}
		return s
	case verdict.NoBaseline:
		if n := len(r.Targets) - r.Counts[verdict.NoBaseline]; n > 0 {
			return fmt.Sprintf("no baseline yet for %s of %s targets; the others are ok", workload.Group(r.Counts[verdict.NoBaseline]), workload.Group(len(r.Targets)))
		}
		return "no baseline: measured, and nothing to compare with yet"
	}
	s := word + ": " + t.sentence(esc)
	if t.Name != "" {
		s += r.on(t, esc)
	}
	if n := r.Counts[r.Verdict] - 1; n > 0 {
		s += "; and " + workload.Group(n) + " more"
	}
	return s
}

// lead is the target that the headline speaks of.
func (r Report) lead() (Target, bool) {
	if w := r.Worst; w != nil && r.Targets[w.at].Verdict == r.Verdict {
		return r.Targets[w.at], true
	}
	i := slices.IndexFunc(r.Targets, func(t Target) bool { return t.Verdict == r.Verdict })
	if i < 0 {
		return Target{}, false
	}
	return r.Targets[i], true
}

// sentence says what the verdict on one target is, its name first.
func (t Target) sentence(esc func(string) string) string {
	name := esc(t.Name)
	switch t.Verdict {
	case verdict.WrongKey:
		return name + " does not derive the keys of PBKDF2"
	case verdict.Implausible:
		return "the times that " + name + " reports cannot be true"
	case verdict.Failed:
		return name + " could not be measured"
	case verdict.Missing:
		if t.Name == "" {
			return esc(t.leg()) + " sent no result"
		}
		return "no result for " + name
	}
	c := t.decider()
	if c == nil {
		return name
	}
	against := than(c.Against, esc)
	ch, relative := c.shown()
	switch t.Verdict {
	case verdict.NotComparable:
		if c.otherHardware() {
			return name + " ran on other hardware than " + against
		}
		return name + " cannot be held against " + against
	case verdict.WorkloadChanged:
		s := name
		if d := t.workloadDiff(*c, esc); d != "" {
			s += ", " + d
		}
		if c.workloadChanged() {
			s += ": " + expected(c.ExpectedFactor) + " expected"
			if ch != nil {
				s += ", " + ch.String() + " beyond it"
			}
		}
		return s
	}
	if ch == nil {
		return name + " has too little clean evidence"
	}
	if t.Verdict == verdict.Inconclusive {
		return fmt.Sprintf("%s reads %s against %s, a change past %s is neither shown nor ruled out",
			name, ch, against, percent(c.ThresholdPercent))
	}
	s := fmt.Sprintf("%s is %s than %s %s%s", name, ch.words(), against, ch.interval(), relatively(relative))
	if c.workloadChanged() {
		s += " beyond its change of workload"
	}
	return s
}

func relatively(relative bool) string {
	if relative {
		return " relative to the yardstick"
	}
	return ""
}

// exitMeaning says what the exit code means, in words.
func (r Report) exitMeaning(esc func(string) string) string {
	switch r.Exit {
	case 0:
		switch r.Verdict {
		case verdict.OK:
			return "nothing drifted past " + r.limit()
		case verdict.NoBaseline:
			return "having nothing to compare with is no failure, and nothing drifted where there was"
		case verdict.Inconclusive:
			return "no drift is shown, though not every drift is ruled out"
		case verdict.NotComparable:
			return "nothing drifted where a comparison was possible"
		case verdict.WorkloadChanged:
			return "a changed workload is no failure, and no drift was shown beyond it"
		}
		return kindWords(r.Verdict) + " does not fail this gate"
	case 1:
		return r.failing(esc)
	case 2:
		return "usage, configuration or a baseline file is wrong"
	case 3:
		if r.Counts[verdict.Failed] == len(r.Targets) {
			return "no target could be measured"
		}
		return "something could not be reached or written"
	}
	return "ended early"
}

// failing names what fails the run, the worst first.
func (r Report) failing(esc func(string) string) string {
	const most = 3
	var what []string
	n := 0
	for _, i := range r.bySeverity() {
		t := r.Targets[i]
		if !t.Fails {
			continue
		}
		if n++; n > most {
			continue
		}
		s := t.shortly(esc)
		if t.Name != "" {
			s += r.on(t, esc)
		}
		what = append(what, s)
	}
	switch {
	case n == 0:
		return kindWords(r.Verdict)
	case n > most:
		return strings.Join(what, ", ") + " and " + workload.Group(n-most) + " more"
	}
	return strings.Join(what, ", ")
}

// shortly says why a target fails, without figures.
func (t Target) shortly(esc func(string) string) string {
	switch t.Verdict {
	case verdict.WrongKey:
		return esc(t.Name) + " derives wrong keys"
	case verdict.Implausible:
		return esc(t.Name) + " reports impossible times"
	case verdict.Failed:
		return esc(t.Name) + " failed"
	case verdict.Missing:
		return esc(cmp.Or(t.Name, t.leg())) + " is missing"
	}
	s := esc(t.Name) + " is " + kindWords(t.Verdict)
	switch c := t.decider(); {
	case c != nil && c.workloadChanged():
		s += " beyond its change of workload"
	case c != nil && (t.Verdict == verdict.Slower || t.Verdict == verdict.Faster):
		s += " than " + than(c.Against, esc)
	}
	return s
}
