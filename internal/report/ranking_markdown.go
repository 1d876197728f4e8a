package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
)

// rankingRows are how many rows and lines are tried, one after another, until
// the text fits.
var rankingRows = []int{math.MaxInt, 100, 30, 10, 3}

// RankingMarkdown writes the ranking for a job's summary or a comment: at most
// MarkdownLimit bytes, and inert whatever the names are.
func RankingMarkdown(w io.Writer, r Ranking) error {
	var b bytes.Buffer
	for _, most := range rankingRows {
		b.Reset()
		r.markdown(&b, most)
		if b.Len() <= MarkdownLimit {
			break
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (r Ranking) markdown(b *bytes.Buffer, most int) {
	fmt.Fprintf(b, "### %s\n\n", strings.ReplaceAll(r.headline(escapeName), " %", "&nbsp;%"))
	if r.Platform != "" {
		fmt.Fprintf(b, "%s · ", escapeName(r.Platform))
	}
	fmt.Fprintf(b, "%s\n", escape(r.Workload.params().String()))
	for i, n := range r.Notices {
		if i == most {
			more(b, len(r.Notices)-i)
			break
		}
		fmt.Fprintf(b, "\n> ⚠️ %s\n", escape(n))
	}
	b.WriteString("\n| Target | One hash | ± | Hashes/s/core | Over chain | Iterations | Version, toolchain, mode |\n| :-- | --: | --: | --: | --: | --: | :-- |\n")
	var costs [][2]string
	for i, t := range r.Targets {
		if i == most {
			more(b, len(r.Targets)-i)
			break
		}
		name := "**" + escapeName(t.Name) + "**"
		cells := []string{duration(t.NsPerHash), t.half(), rate(t.HashesPerSecondPerCore), t.chain(), r.iterations(t)}
		for j, c := range cells {
			if cells[j] = nowrap(c); c == "-" {
				cells[j] = "–"
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, strings.Join(cells, " | "), t.last(escapeName, escape))
		if t.Measured.Cost != nil {
			costs = append(costs, [2]string{escapeName(t.Name), markdownCost([]*Side{&t.Measured})})
		}
	}
	if s := r.reference(escapeName); s != "" {
		fmt.Fprintf(b, "\n±: half of the 95 %% interval. Over chain: time of a nominal compression over the yardstick's. I%s.\n", strings.TrimPrefix(s, "i"))
	}
	items := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(b, "\n**%s**\n\n", title)
		}
		for i, l := range lines {
			if i == most {
				more(b, len(lines)-i)
				return
			}
			fmt.Fprintf(b, "- %s\n", l)
		}
	}
	items("Not told apart", r.alike(escapeName))
	items("Notes", r.notes(escapeName, escape))
	for i, a := range r.Advice {
		fmt.Fprintf(b, "%s💡 %s", []string{"\n", "<br>"}[min(i, 1)], escape(a))
	}
	b.WriteByte('\n')
	costTable(b, costs, "")
	fmt.Fprintf(b, "\n**Exit %d:** %s · pbkdf2-gate %s\n", r.Exit, r.exitMeaning(escapeName), escapeName(r.ToolVersion))
}
