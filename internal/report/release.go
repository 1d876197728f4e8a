package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// Release is a change of stored baselines, for who reviews it.
type Release struct {
	Name      string
	Threshold float64 // of stored baselines: 0.05 for 5 %
	Steps     []Step
}

// Step is what was stored of one target on one platform, and what is now.
type Step struct {
	Platform string // "linux/amd64 AMD EPYC 7763"
	CPUID    string
	Target   string
	Workload workload.Params
	Then     Level  // zero: nothing that can be compared
	Unlike   string // without Then: the release before, sampled otherwise; empty: there is none
	Now      Level  // zero: nothing is left
}

// Level is what a release's replicas cost.
type Level struct {
	Release  string
	Ns       float64 // median of one hash
	Relative float64 // times the chain yardstick
	Replicas int
}

// change is by how much the time and the relative cost changed, in per cent;
// false where there is nothing to compare.
func (s Step) change() (raw, relative float64, ok bool) {
	if !(s.Then.Ns > 0) || !(s.Now.Ns > 0) {
		return 0, 0, false
	}
	if s.Then.Relative > 0 {
		relative = perCent(s.Now.Relative/s.Then.Relative - 1)
	}
	return perCent(s.Now.Ns/s.Then.Ns - 1), relative, true
}

// past reports whether the change is one that re-sets the anchor: of the
// relative cost, since hosts differ in their clocks.
func (s Step) past(threshold float64) bool {
	_, relative, ok := s.change()
	return ok && math.Abs(relative) > perCent(threshold)
}

// Words says the step in a line: "go on linux/amd64 AMD EPYC 7763: v1.3.0
// 151 ms -> v1.4.0 162 ms (+7.3 %)".
func (s Step) Words() string {
	side := func(l Level) string {
		if !(l.Ns > 0) {
			return "nothing"
		}
		return l.Release + " " + duration(l.Ns)
	}
	text := fmt.Sprintf("%s on %s: %s -> %s", s.Target, s.Platform, side(s.Then), side(s.Now))
	if raw, _, ok := s.change(); ok {
		text += " (" + signed(raw, 1) + " %)"
	}
	return text
}

// releaseRows are how many rows are tried, one after another, until the text
// fits.
var releaseRows = []int{math.MaxInt, 300, 100, 30}

// Markdown writes it as the text of a pull request: at most MarkdownLimit
// bytes, and inert whatever the names are.
func (r Release) Markdown(w io.Writer) error {
	var b bytes.Buffer
	for _, most := range releaseRows {
		b.Reset()
		r.markdown(&b, most)
		if b.Len() <= MarkdownLimit {
			break
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (r Release) markdown(b *bytes.Buffer, most int) {
	steps := slices.Clone(r.Steps)
	size := func(s Step) float64 {
		_, relative, ok := s.change()
		switch {
		case s.Unlike != "":
			return math.Inf(1)
		case !ok:
			return -1
		}
		return math.Abs(relative)
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(size(b), size(a)) })
	platforms, workloads := map[string]bool{}, map[workload.Params]bool{}
	past, fresh, unlike := 0, 0, 0
	for _, s := range steps {
		platforms[s.CPUID+s.Platform] = true
		workloads[s.Workload] = true
		if s.past(r.Threshold) {
			past++
		}
		if !(s.Then.Ns > 0) {
			fresh++
		}
		if s.Unlike != "" {
			unlike++
		}
	}
	fmt.Fprintf(b, "### Baselines of %s\n\n", escapeName(r.Name))
	fmt.Fprintf(b, "%s on %s", count(len(steps), "figure"), count(len(platforms), "platform"))
	if len(workloads) == 1 {
		fmt.Fprintf(b, " · %s", escape(steps[0].Workload.String()))
	}
	b.WriteString("\n\n")
	limit := percent(perCent(r.Threshold))
	switch {
	case unlike > 0:
		fmt.Fprintf(b, "**%s sampled by another plan or yardstick than before**, so that nothing tells whether the cost changed. Merging accepts that: what follows is held against these.\n", count(unlike, "figure"))
	case past > 0:
		fmt.Fprintf(b, "**%s past %s** of the release before. Merging accepts that: it becomes the anchor of what follows.\n", count(past, "change"), limit)
	case fresh == len(steps):
		b.WriteString("There is no release before that these can be compared with.\n")
	default:
		fmt.Fprintf(b, "No change past %s of the release before.\n", limit)
	}

	b.WriteString("\n| Change | Relative | Target | Now | Was | Replicas |\n| --: | --: | :-- | --: | :-- | --: |\n")
	for i, s := range steps {
		if i == most {
			break
		}
		s.row(b, r.Threshold, len(workloads) > 1)
	}
	if len(steps) > most {
		more(b, len(steps)-most)
	}
	b.WriteString("\nMedians over the replicas. Relative is the change of the time over the yardstick's: hosts of one kind differ in " +
		"their clocks, so a change of the time alone may be the host's. Once this is merged, pull requests are held against it. " +
		"These files are measured, never edited: to leave a platform out, restore its file.\n")
}

func (s Step) row(b *bytes.Buffer, threshold float64, withWorkload bool) {
	change, relative, was := "new", "–", "–"
	if raw, rel, ok := s.change(); ok {
		change, relative = nowrap(signed(raw, 1)+" %"), nowrap(signed(rel, 1)+" %")
		was = escapeName(s.Then.Release) + ": " + nowrap(duration(s.Then.Ns))
	} else if s.Unlike != "" {
		change, was = "not comparable", escapeName(s.Unlike)+": sampled otherwise"
	}
	switch {
	case s.past(threshold) && s.Now.Relative > s.Then.Relative:
		relative = "🔺 **" + relative + "**"
	case s.past(threshold):
		relative = "⚡ **" + relative + "**"
	}
	target := "**" + escapeName(s.Target) + "**"
	if withWorkload {
		target += " · " + escape(s.Workload.String())
	}
	fmt.Fprintf(b, "| %s | %s | %s<br><sub>%s · %s</sub> | %s | %s | %d |\n", change, relative, target,
		escapeName(s.Platform), escapeName(s.CPUID), nowrap(duration(s.Now.Ns)), was, s.Now.Replicas)
}

func count(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return strings.TrimSpace(workload.Group(n) + " " + word)
}
