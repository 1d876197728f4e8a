package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
)

// Instructions are those of a nominal compression in user space on both sides
// of a comparison: noise moves the time, not them. They decide no verdict.
type Instructions struct {
	ThenPerCompression float64 `json:"then_per_compression"`
	NowPerCompression  float64 `json:"now_per_compression"`
	ChangePercent      float64 `json:"change_percent"`
	// Meaning is what they say of the change of the time; may be empty.
	Meaning string `json:"meaning"`
}

func newInstructions(c verdict.Comparison) *Instructions {
	i := c.Instructions
	if i == (verdict.Instructions{}) {
		return nil
	}
	return &Instructions{round(i.Then, 4), round(i.Now, 4), perCent(i.Change()), c.Meaning()}
}

func (i Instructions) change() string { return signed(i.ChangePercent, 2) + " %" }

// instructions are those of the comparison that decides; nil without.
func (t Target) instructions() *Instructions {
	if c := t.decider(); c != nil {
		return c.Instructions
	}
	return nil
}

// note says what the instructions make of the verdict.
func (i *Instructions) note() string {
	if i == nil || i.Meaning == "" {
		return ""
	}
	return "instructions a compression " + i.change() + ": " + i.Meaning
}

// textInstructions has those of a block's targets in one paragraph.
func (r Report) textInstructions(at []int) string {
	var parts []string
	for _, n := range at {
		t := r.Targets[n]
		switch i := t.instructions(); {
		case i != nil:
			parts = append(parts, fmt.Sprintf("%s %s → %s (%s)", brief(t.Name), fixed(i.ThenPerCompression, 2), fixed(i.NowPerCompression, 2), i.change()))
		case t.Head != nil && t.Head.InstructionsPerCompression > 0:
			parts = append(parts, brief(t.Name)+" "+fixed(t.Head.InstructionsPerCompression, 2))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "instructions a compression: " + strings.Join(parts, ", ")
}

// markdownInstructions folds away what was counted.
func (r Report) markdownInstructions(b *bytes.Buffer, order []int) {
	var rows bytes.Buffer
	for _, n := range order {
		t := r.Targets[n]
		var counted, cycles, changes []string
		for _, s := range []*Side{t.Head, t.Base} {
			if s != nil && s.InstructionsPerCompression > 0 {
				counted = append(counted, fixed(s.InstructionsPerCompression, 2))
				cycles = append(cycles, fixed(s.CyclesPerCompression, 2))
			}
		}
		if len(counted) == 0 {
			continue
		}
		for _, c := range t.Comparisons {
			if c.Instructions != nil {
				changes = append(changes, escapeName(c.Against)+":&nbsp;"+nowrap(c.Instructions.change()))
			}
		}
		name := escapeName(t.Name)
		if t.Leg != "" {
			name += "<br><sub>" + escapeName(t.Leg) + "</sub>"
		}
		if len(changes) == 0 {
			changes = []string{"–"}
		}
		fmt.Fprintf(&rows, "| %s | %s | %s | %s |\n", name, strings.Join(counted, ",&nbsp;"), strings.Join(cycles, ",&nbsp;"), strings.Join(changes, "<br>"))
	}
	if rows.Len() == 0 {
		return
	}
	fold(b, "Instructions")
	b.WriteString("| Target | Instructions a compression | Cycles a compression | Instructions against |\n| :-- | --: | --: | :-- |\n")
	b.Write(rows.Bytes())
	b.WriteString("\nOf a nominal compression in user space, by the processor's counters. Noise moves the time and the cycles, not the instructions; no verdict rests on them. " +
		"Where there are two figures: head, base.\n")
	unfold(b)
}
