package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
)

// textWidth is where prose is wrapped, in columns.
const textWidth = 96

// Text writes the report for a terminal: the verdict first, the meaning of
// the exit code last.
func Text(w io.Writer, r Report) error {
	var b strings.Builder
	wrap(&b, "", "", r.headline(brief))
	b.WriteByte('\n')
	r.textTables(&b)

	order := r.bySeverity()
	section := func(title string, lines []string) {
		for _, l := range lines {
			wrap(&b, title, strings.Repeat(" ", utf8.RuneCountInString(title)), l)
		}
	}
	about := func(of func(Target) []string) []string {
		var lines []string
		for _, m := range r.remarks(order, of) {
			lines = append(lines, r.whom(m.at, brief)+": "+clean(m.text))
		}
		return lines
	}
	if len(r.Targets) > 0 {
		b.WriteByte('\n')
	}
	section("why      ", about(Target.reasons))
	section("next     ", about(func(t Target) []string { return []string{t.Hint} }))
	section("differs  ", r.textDifferences(order))
	section("note     ", about(Target.notes))
	for _, n := range r.Notices {
		section("notice   ", []string{clean(n)})
	}
	for _, g := range r.gaps() {
		section("coverage ", []string{clean(g)})
	}
	section("advice   ", r.Advice)
	if r.Spent != nil {
		section("time     ", []string{r.Spent.words("head")})
	}
	fmt.Fprintf(&b, "\nexit %d: ", r.Exit)
	b.WriteString(r.exitMeaning(brief) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// textDifferences keeps each line whole: its parts are cleaned one by one.
func (r Report) textDifferences(order []int) []string {
	var lines []string
	for _, m := range r.remarks(order, func(t Target) []string { return t.differences(clean) }) {
		lines = append(lines, r.whom(m.at, brief)+" "+m.text)
	}
	return lines
}

// reasons are given where the verdict asks for one.
func (t Target) reasons() []string {
	if c := t.decider(); t.Verdict == verdict.OK && !t.relative() && (c == nil || !c.SameProgram) {
		return nil
	}
	return []string{t.Reason}
}

// relative reports whether the verdict rests on the relative cost alone.
func (t Target) relative() bool {
	c := t.decider()
	if c == nil {
		return false
	}
	_, rel := c.shown()
	return rel
}

// textTables writes one table a leg, in columns that line up across them.
func (r Report) textTables(b *strings.Builder) {
	head := []string{"target", "one hash", "/s/core", "against", "was", "change", "95 % interval", "seen from", "verdict"}
	const left = "100100101" // by column: 1 is aligned to the left
	type block struct {
		title string
		at    []int
		rows  [][]string
	}
	var blocks []*block
	index := map[string]*block{}
	for i, t := range r.Targets {
		key := t.leg() + "\x00" + t.Platform
		bl := index[key]
		if bl == nil {
			bl = &block{title: r.textPlace(t)}
			index[key] = bl
			blocks = append(blocks, bl)
		}
		if t.Name == "" {
			continue
		}
		bl.at = append(bl.at, i)
		bl.rows = append(bl.rows, t.textRows()...)
	}
	var width [len(left)]int
	for _, bl := range blocks {
		for _, row := range append([][]string{head}, bl.rows...) {
			for i, cell := range row {
				width[i] = max(width[i], utf8.RuneCountInString(cell))
			}
		}
	}
	write := func(row []string) {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if left[i] == '1' {
				line.WriteString(cell + pad + "  ")
			} else {
				line.WriteString(pad + cell + "  ")
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	for i, bl := range blocks {
		b.WriteString(bl.title + "\n")
		if i == 0 {
			b.WriteString(clean(r.Workload.params().String()) + "\n")
		}
		if len(bl.rows) > 0 {
			b.WriteByte('\n')
			write(head)
		}
		for _, row := range bl.rows {
			write(row)
		}
		for _, s := range []string{r.textEvidence(bl.at), r.textCosts(bl.at), r.textInstructions(bl.at)} {
			if s != "" {
				wrap(b, "", "", s)
			}
		}
		if i < len(blocks)-1 {
			b.WriteByte('\n')
		}
	}
}

// textPlace names the machine of a block, and its leg.
func (r Report) textPlace(t Target) string {
	s := clip(t.Platform, textWidth)
	switch {
	case t.Name == "":
		return brief(t.leg()) + ": " + t.word() + ", it sent no result"
	case s == "":
		return brief(t.leg())
	case t.Leg != "":
		s = brief(t.Leg) + ": " + s
	}
	if t.Host.Emulated != "" {
		s += ", emulated by " + clean(t.Host.Emulated)
	}
	return s
}

// word is the verdict, loud where it fails the run.
func (t Target) word() string {
	if t.Fails {
		return strings.ToUpper(kindWords(t.Verdict))
	}
	return kindWords(t.Verdict)
}

// textRows has a row for each comparison, or one where there is none.
func (t Target) textRows() [][]string {
	name := brief(t.Name)
	if name == "" {
		name = "-"
	}
	if len(t.Comparisons) == 0 {
		return [][]string{{name, duration(t.NsPerHash), rate(t.HashesPerSecondPerCore), "-", "-", "-", "", "-", t.word()}}
	}
	var rows [][]string
	for i, c := range t.Comparisons {
		row := []string{"", "", "", clip(c.Against, 40), duration(c.ThenNsPerHash), "-", "", visible(c.SmallestVisiblePercent), kindWords(c.Verdict)}
		if i == 0 {
			row[0], row[1], row[2] = name, duration(t.NsPerHash), rate(t.HashesPerSecondPerCore)
		}
		ch, relative := c.shown()
		if ch != nil {
			row[5], row[6] = ch.figure(), ch.interval()
		}
		switch {
		case !c.Decides:
			row[8] = "(" + row[8] + ")"
		default:
			row[8] = t.word()
		}
		rows = append(rows, row)
		if relative {
			rows = append(rows, under("relative cost"))
		}
		if ch != nil && c.workloadChanged() {
			rows = append(rows, under("beyond "+expected(c.ExpectedFactor)))
		}
	}
	return rows
}

// under is a row that says what kind of change stands above.
func under(s string) []string { return []string{"", "", "", "", "", "", s, "", ""} }

// textEvidence sums up in a line how well a block was measured.
func (r Report) textEvidence(at []int) string {
	var sides []*Side
	for _, i := range at {
		sides = append(sides, r.Targets[i].Head, r.Targets[i].Base)
	}
	s := evidenceWords(sides)
	for _, i := range at {
		if b := r.Targets[i].Base; b != nil && b.Commit != "" && s != "" {
			return s + "; base " + shortCommit(b.Commit)
		}
	}
	return s
}

func evidenceWords(sides []*Side) string {
	var rounds, clean, chain, lanes span
	disturbed, measured, contended, yardstick := 0, 0, 0, ""
	for _, s := range sides {
		if s == nil || s.Rounds == 0 {
			continue
		}
		measured++
		rounds.add(float64(s.Rounds))
		if s.Contended {
			contended++
		} else {
			clean.add(s.CleanPercent)
		}
		chain.add(s.ChainNsPerCompression)
		lanes.add(s.LanesNsPerCompression)
		disturbed += s.DisturbedRounds
		yardstick = s.Yardstick
	}
	if !rounds.any {
		return ""
	}
	s := rounds.words(0) + " rounds each"
	if clean.any {
		s += ", " + clean.words(0) + " % clean"
		if contended > 0 {
			s += fmt.Sprintf(" but for %d of %d sides", contended, measured)
		}
	}
	if disturbed > 0 {
		s += fmt.Sprintf(", %d disturbed", disturbed)
	}
	return s + "; yardstick " + clip(yardstick, 40) + ": chain " + chain.words(1) + " ns, lanes " + lanes.words(1) + " ns"
}

// span is the least and the greatest of some numbers.
type span struct {
	lo, hi float64
	any    bool
}

func (s *span) add(x float64) {
	if !s.any {
		*s = span{x, x, true}
	}
	s.lo, s.hi = min(s.lo, x), max(s.hi, x)
}

func (s span) words(decimals int) string {
	lo, hi := fixed(s.lo, decimals), fixed(s.hi, decimals)
	if lo == hi {
		return lo
	}
	return lo + " to " + hi
}

// wrap writes a paragraph with a first and a further indentation, broken
// between words but not within `code`.
func wrap(b *strings.Builder, first, rest, s string) { wrapAt(b, textWidth, first, rest, s) }

func wrapAt(b *strings.Builder, width int, first, rest, s string) {
	line := first
	used := utf8.RuneCountInString(first)
	empty := true
	inCode := false
	words := strings.FieldsFunc(s, func(c rune) bool {
		if c == '`' {
			inCode = !inCode
		}
		return c == ' ' && !inCode
	})
	for _, word := range words {
		n := utf8.RuneCountInString(word)
		if !empty && used+1+n > width {
			b.WriteString(line + "\n")
			line, used, empty = rest, utf8.RuneCountInString(rest), true
		}
		if !empty {
			line += " "
			used++
		}
		line += word
		used += n
		empty = false
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}
