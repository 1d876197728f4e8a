package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// Cost is where the time goes, by the yardsticks on the same core. They are
// SHA-256's, whatever the prf.
type Cost struct {
	// CompressionsPerIteration is the time of an iteration of one block in
	// compressions at the chain's speed; PBKDF2 needs 2 of its own hash's.
	CompressionsPerIteration float64 `json:"compressions_per_iteration"`
	OverChain                float64 `json:"over_chain"` // time of a nominal compression over the chain's: the relative cost
	OverLanes                float64 `json:"over_lanes"` // likewise: how many times as much a core does that interleaves chains
	// AsWithoutSHA says that it is as slow as code that does without the SHA
	// instructions that this CPU has; a hint, not a finding.
	AsWithoutSHA bool `json:"as_without_sha"`
}

func newCost(run *result.Run) *Cost {
	c, ok := verdict.CostOf(*run)
	if !ok {
		return nil
	}
	return &Cost{round(c.Compressions, 4), round(c.Chain, 4), round(c.Lanes, 4), c.AsWithoutSHA}
}

// words: "go 4.2 (2.1, 4.0)".
func (c Cost) words() string {
	return fmt.Sprintf("%s (%s, %s)", fixed(c.CompressionsPerIteration, 1), fixed(c.OverChain, 1), fixed(c.OverLanes, 1))
}

// costTitle: of another hash than the yardsticks', 2 is no measure.
func costTitle(w Workload) string {
	s := "compressions an iteration at the chain's speed, 2 are nominal (x chain, x lanes): "
	if w.PRF != string(workload.SHA256) {
		s = "SHA-256 compressions at the chain's speed that an iteration takes as long as (x chain, x lanes): "
	}
	return s
}

// shaHint is careful: a runtime that does much around each compression looks
// the same.
func (c *Cost) shaHint() string {
	if c == nil || !c.AsWithoutSHA {
		return ""
	}
	return "as slow as without the CPU's SHA instructions: was it built for this CPU, or does it do much else in each iteration?"
}

// textCosts has the costs of a block's targets in one paragraph.
func (r Report) textCosts(at []int) string {
	var parts []string
	for _, i := range at {
		if t := r.Targets[i]; t.Head != nil && t.Head.Cost != nil {
			parts = append(parts, brief(t.Name)+" "+t.Head.Cost.words())
		}
	}
	return r.Workload.costs(parts)
}

func (w Workload) costs(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return costTitle(w) + strings.Join(parts, ", ")
}

// markdownCosts folds away where the time goes.
func (r Report) markdownCosts(b *bytes.Buffer, order []int) {
	var rows [][2]string
	for _, i := range order {
		t := r.Targets[i]
		name := escapeName(t.Name)
		if t.Leg != "" {
			name += "<br><sub>" + escapeName(t.Leg) + "</sub>"
		}
		sides := slices.DeleteFunc([]*Side{t.Head, t.Base}, func(s *Side) bool { return s == nil || s.Cost == nil })
		if len(sides) == 0 {
			continue
		}
		rows = append(rows, [2]string{name, markdownCost(sides)})
	}
	costTable(b, rows, " Where there are two figures: head, base.")
}

// markdownCost has three cells.
func markdownCost(sides []*Side) string {
	var cells []string
	for _, of := range []func(Cost) float64{
		func(c Cost) float64 { return c.CompressionsPerIteration },
		func(c Cost) float64 { return c.OverChain },
		func(c Cost) float64 { return c.OverLanes },
	} {
		var s []string
		for _, side := range sides {
			s = append(s, fixed(of(*side.Cost), 2))
		}
		cells = append(cells, strings.Join(s, ",&nbsp;"))
	}
	return strings.Join(cells, " | ")
}

func costTable(b *bytes.Buffer, rows [][2]string, more string) {
	if len(rows) == 0 {
		return
	}
	fold(b, "Where the time goes")
	b.WriteString("| Target | Compressions an iteration | Over chain | Over lanes |\n| :-- | --: | --: | --: |\n")
	for _, row := range rows {
		fmt.Fprintf(b, "| %s | %s |\n", row[0], row[1])
	}
	b.WriteString("\nCompressions an iteration: what an iteration of one block takes, in SHA-256 compressions at the chain's speed; PBKDF2 needs 2 of its own hash's. " +
		"Over chain, over lanes: a nominal compression's time over the yardsticks'." + more + "\n")
	unfold(b)
}
