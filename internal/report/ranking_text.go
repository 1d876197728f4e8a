package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// narrowest is how far the last column is squeezed to keep within textWidth.
const narrowest = 28

// RankingText writes the ranking for a terminal.
func RankingText(w io.Writer, r Ranking) error {
	var b strings.Builder
	wrap(&b, "", "", r.headline(brief))
	b.WriteByte('\n')
	if r.Platform != "" {
		b.WriteString(clip(r.Platform, textWidth) + "\n")
	}
	b.WriteString(clean(r.Workload.params().String()) + "\n\n")
	r.textTable(&b)

	var sides []*Side
	var costs []string
	for _, t := range r.Targets {
		if sides = append(sides, &t.Measured); t.Measured.Cost != nil {
			costs = append(costs, brief(t.Name)+" "+t.Measured.Cost.words())
		}
	}
	for _, s := range []string{r.reference(brief), evidenceWords(sides), r.Workload.costs(costs)} {
		if s != "" {
			wrap(&b, "", "", s)
		}
	}
	b.WriteByte('\n')
	section := func(title string, lines []string) {
		for _, l := range lines {
			wrap(&b, title, strings.Repeat(" ", utf8.RuneCountInString(title)), l)
		}
	}
	section("alike    ", r.alike(brief))
	section("note     ", r.notes(brief, clean))
	for _, n := range r.Notices {
		section("notice   ", []string{clean(n)})
	}
	section("advice   ", r.Advice)
	if r.Spent != nil {
		section("time     ", []string{r.Spent.words("targets")})
	}
	fmt.Fprintf(&b, "\nexit %d: %s\n", r.Exit, r.exitMeaning(brief))
	_, err := io.WriteString(w, b.String())
	return err
}

// RankingJSON writes the ranking as the JSON that Ranking documents.
func RankingJSON(w io.Writer, r Ranking) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the comparison as JSON: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// textTable has a row a target; its last column goes on below.
func (r Ranking) textTable(b *strings.Builder) {
	rows := [][]string{{"target", "one hash", "±", "/s/core", "x chain", "iterations", "version, toolchain, mode"}}
	for _, t := range r.Targets {
		name := brief(t.Name)
		if name == "" {
			name = "-"
		}
		rows = append(rows, []string{name, duration(t.NsPerHash), t.half(), rate(t.HashesPerSecondPerCore), t.chain(), r.iterations(t), t.last(brief, clean)})
	}
	last := len(rows[0]) - 1
	width := make([]int, last)
	for _, row := range rows {
		for i := range width {
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row[:last] {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line.WriteString(cell + pad + "  ")
			} else {
				line.WriteString(pad + cell + "  ")
			}
		}
		indent := utf8.RuneCountInString(line.String())
		wrapAt(b, max(textWidth, indent+narrowest), line.String(), strings.Repeat(" ", indent), row[last])
	}
}

// alike says which targets cannot be told apart, a line a target.
func (r Ranking) alike(esc func(string) string) []string {
	var lines []string
	for _, t := range r.Targets {
		var from []string
		for _, n := range t.NotToldApartFrom {
			from = append(from, esc(n.Target)+", "+n.ChangePercent.String())
		}
		if len(from) > 0 {
			lines = append(lines, esc(t.Name)+" cannot be told apart from "+few(from, "; "))
		}
	}
	return lines
}

// notes has each remark once, with the targets that it is about.
func (r Ranking) notes(escName, esc func(string) string) []string {
	var lines, texts []string
	who := map[string][]string{}
	for _, t := range r.Targets {
		for _, s := range t.remarks() {
			if who[s] == nil {
				texts = append(texts, s)
			}
			who[s] = append(who[s], escName(t.Name))
		}
	}
	for _, s := range r.hostNotes() {
		lines = append(lines, esc(s))
	}
	for _, s := range texts {
		lines = append(lines, few(who[s], ", ")+": "+esc(s))
	}
	return lines
}
