package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// MarkdownLimit bounds the Markdown report in bytes: GitHub takes comments of
// 65,536 characters, and who posts one adds a marker.
const MarkdownLimit = 59_000

// emoji stands before the word of each verdict; their shapes differ, so that
// nothing is told by colour alone.
var emoji = map[verdict.Kind]string{
	verdict.OK: "✅", verdict.Slower: "🔺", verdict.Faster: "⚡", verdict.Inconclusive: "❓",
	verdict.NoBaseline: "🆕", verdict.NotComparable: "🚫", verdict.WorkloadChanged: "🔧",
	verdict.WrongKey: "❌", verdict.Implausible: "❌", verdict.Failed: "❌", verdict.Missing: "❌",
}

// detail is how much a Markdown report tells.
type detail struct {
	measurement bool   // folded: rounds, fingerprints
	okRows      bool   // a row for targets that are ok, too
	rows        int    // rows of the table
	remarks     int    // lines of each list
	left        string // what is left out, for people
}

// details are tried in turn until a report fits.
var details = []detail{
	{true, true, math.MaxInt, 40, ""},
	{false, true, math.MaxInt, 20, "Rounds and fingerprints are left out"},
	{false, false, math.MaxInt, 20, "Rounds, fingerprints and what is ok are left out"},
	{false, false, 150, 10, "Only the worst rows are shown"},
	{false, false, 50, 5, "Only the worst rows are shown"},
	{false, false, 15, 3, "Only the worst rows are shown"},
	{false, false, 0, 1, "Only counts are shown"},
}

// Markdown writes the report as a GitHub comment or job summary: at most
// MarkdownLimit bytes whatever the targets, with less detail where there are
// many, and saying so. All text from outside is inert in it.
func Markdown(w io.Writer, r Report) error {
	var b bytes.Buffer
	for _, d := range details {
		b.Reset()
		r.markdown(&b, d)
		if b.Len() <= MarkdownLimit {
			break
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (r Report) markdown(b *bytes.Buffer, d detail) {
	fmt.Fprintf(b, "### %s %s\n\n", emoji[r.Verdict], strings.ReplaceAll(r.headline(escapeName), " %", "&nbsp;%"))
	fmt.Fprintf(b, "%s · %s\n", r.countWords(), escape(r.Workload.params().String()))
	for i, n := range r.Notices {
		if i == d.remarks {
			more(b, len(r.Notices)-i)
			break
		}
		fmt.Fprintf(b, "\n> ⚠️ %s\n", escape(n))
	}
	order := r.bySeverity()
	r.markdownTable(b, d, order)

	r.markdownList(b, d, "What changed with it", ", ", r.remarks(order, Target.newsOfDifferences), asIs)
	r.markdownList(b, d, "Why, and what to do", ": ", r.remarks(order, Target.markdownReason), asIs)
	r.markdownList(b, d, "Notes", ": ", r.remarks(order, Target.notes), escape)
	for i, a := range r.Advice {
		fmt.Fprintf(b, "%s💡 %s", []string{"\n", "<br>"}[min(i, 1)], escape(a))
	}
	b.WriteByte('\n')
	if d.measurement {
		r.markdownMeasurement(b, order)
	}
	r.markdownHow(b)
	if d.left != "" {
		fmt.Fprintf(b, "\n%s, to keep this comment within GitHub's limit: the text and JSON reports have everything.\n", d.left)
	}
	fmt.Fprintf(b, "\n**Exit %d:** %s · pbkdf2-gate %s\n", r.Exit, r.exitMeaning(escapeName), escapeName(r.ToolVersion))
}

// countWords counts the targets by verdict, the worst first.
func (r Report) countWords() string {
	var s []string
	for _, k := range severity {
		if n := r.Counts[k]; n > 0 {
			s = append(s, workload.Group(n)+" "+kindWords(k))
		}
	}
	if len(s) == 0 {
		return "no targets"
	}
	return strings.Join(s, ", ")
}

func more(b *bytes.Buffer, n int) {
	fmt.Fprintf(b, "\n… and %s more.\n", workload.Group(n))
}

// markdownTable has a row a target: what a phone shows of it comes first.
func (r Report) markdownTable(b *bytes.Buffer, d detail, order []int) {
	var rows []int
	ok := 0
	for _, i := range order {
		switch {
		case r.Targets[i].Verdict == verdict.OK && !d.okRows:
			ok++
		default:
			rows = append(rows, i)
		}
	}
	left := max(0, len(rows)-d.rows)
	rows = rows[:len(rows)-left]
	pair, stored := false, false
	for _, i := range rows {
		for _, c := range r.Targets[i].Comparisons {
			pair, stored = pair || c.Against == "base", stored || c.Against != "base"
		}
	}
	if len(rows) > 0 {
		head, rule := "| Verdict | Change | Target | Now |", "| :-- | :-- | :-- | --: |"
		if pair {
			head, rule = head+" Base |", rule+" --: |"
		}
		if stored {
			head, rule = head+" Since release |", rule+" :-- |"
		}
		fmt.Fprintf(b, "\n%s\n%s\n", head, rule)
	}
	for _, i := range rows {
		t := r.Targets[i]
		fmt.Fprintf(b, "| %s %s | %s | %s | %s |", emoji[t.Verdict], t.markdownWord(), t.markdownChange(), r.markdownPlace(t), nowrap(duration(t.NsPerHash)))
		if pair {
			fmt.Fprintf(b, " %s |", t.markdownBase())
		}
		if stored {
			fmt.Fprintf(b, " %s |", t.markdownSince())
		}
		b.WriteByte('\n')
	}
	if left > 0 && len(rows) > 0 {
		fmt.Fprintf(b, "\n… and %s more rows, none of them worse.\n", workload.Group(left))
	}
	if ok > 0 {
		fmt.Fprintf(b, "\n✅ %s more ok%s.\n", workload.Group(ok), r.okSpan())
	}
}

// okSpan says between which changes the targets lie that are ok.
func (r Report) okSpan() string {
	var s span
	for _, t := range r.Targets {
		if c := t.decider(); c != nil && t.Verdict == verdict.OK {
			if ch, _ := c.shown(); ch != nil {
				s.add(ch.Est)
			}
		}
	}
	if !s.any {
		return ""
	}
	return ", their changes between " + signed(s.lo, 1) + " % and " + signed(s.hi, 1) + " %"
}

func (t Target) markdownWord() string {
	if t.Fails {
		return "**" + kindWords(t.Verdict) + "**"
	}
	return kindWords(t.Verdict)
}

func (t Target) markdownChange() string {
	c := t.decider()
	if c == nil {
		return "–"
	}
	ch, relative := c.shown()
	if ch == nil {
		return "–"
	}
	s := "**" + nowrap(ch.figure()) + "**<br>" + nowrap(ch.interval())
	if relative {
		s += "<br>relative"
	}
	if c.workloadChanged() {
		s += "<br>beyond&nbsp;" + nowrap(expected(c.ExpectedFactor))
	}
	return s
}

// markdownPlace names the target and where it ran.
func (r Report) markdownPlace(t Target) string {
	var s []string
	if t.Name != "" {
		s = append(s, "**"+escapeName(t.Name)+"**")
	}
	if t.Leg != "" {
		s = append(s, escapeName(t.Leg))
	}
	place := strings.Join(s, " · ")
	if t.Host.GOOS != "" {
		place += "<br><sub>" + escapeName(t.Host.GOOS+"/"+t.Host.GOARCH+" "+shortBrand(t.Host.CPU)) + "</sub>"
	}
	return place
}

// shortBrand leaves out of a CPU's name what tells nothing in a table.
func shortBrand(s string) string {
	s, _, _ = strings.Cut(s, " @ ")
	s = strings.NewReplacer("(R)", "", "(TM)", "", " CPU", "", " Processor", "").Replace(s)
	if i := strings.LastIndexByte(s, ' '); i > 0 && strings.HasSuffix(s, "-Core") {
		s = s[:i]
	}
	return s
}

func (t Target) markdownBase() string {
	for _, c := range t.Comparisons {
		if c.Against == "base" {
			return nowrap(duration(c.ThenNsPerHash))
		}
	}
	return "–"
}

// markdownSince has each release that the target was held against: how long
// a hash took then, and where another comparison decides, the change since.
func (t Target) markdownSince() string {
	var lines []string
	for _, c := range t.Comparisons {
		if c.Against == "base" {
			continue
		}
		s := escapeName(c.Against) + ": "
		ch, _ := c.shown()
		switch {
		case c.Decides || ch == nil:
			s += nowrap(duration(c.ThenNsPerHash))
		default:
			s += nowrap(ch.figure())
		}
		if c.Verdict != verdict.OK && !c.Decides {
			s += " " + emoji[c.Verdict] + "&nbsp;" + kindWords(c.Verdict)
		}
		lines = append(lines, s)
	}
	if len(lines) == 0 {
		return "–"
	}
	return strings.Join(lines, "<br>")
}

// nowrap keeps a figure of ours on one line.
func nowrap(s string) string { return strings.ReplaceAll(s, " ", "&nbsp;") }

// markdownReason is the verdict's reason and what to do next, in one.
func (t Target) markdownReason() []string {
	s := escape(strings.TrimRight(strings.Join(t.reasons(), ""), "."))
	if t.Hint != "" {
		if s != "" {
			s += ". "
		}
		s += "*Next:* " + t.Hint
	}
	return []string{s}
}

// newsOfDifferences are the differences of targets whose verdict is news.
func (t Target) newsOfDifferences() []string {
	if t.Verdict == verdict.OK {
		return nil
	}
	return t.differences(escapeName)
}

func (r Report) markdownList(b *bytes.Buffer, d detail, title, sep string, ms []remark, esc func(string) string) {
	if len(ms) == 0 {
		return
	}
	fmt.Fprintf(b, "\n**%s**\n\n", title)
	for i, m := range ms {
		if i == d.remarks {
			more(b, len(ms)-i)
			return
		}
		fmt.Fprintf(b, "- %s%s%s\n", r.whom(m.at, escapeName), sep, esc(m.text))
	}
}
