package report

import (
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// Spent is where the time of all runs together went, in seconds. The parts add
// up to the whole.
type Spent struct {
	Building   float64 `json:"building"`
	Base       float64 `json:"base"` // opening, starting, slices; without its yardsticks
	Head       float64 `json:"head"`
	Yardsticks float64 `json:"yardsticks"` // of both sides
}

// spent adds up the runs' times.
func spent(runs []result.Run) *Spent {
	var s Spent
	for _, r := range runs {
		side := &s.Head
		if r.Side == result.Base {
			side = &s.Base
		}
		s.Building += r.Spent.Build.Seconds()
		s.Yardsticks += r.Spent.Yardsticks.Seconds()
		*side += (r.Spent.Measuring() - r.Spent.Yardsticks).Seconds()
	}
	if s == (Spent{}) {
		return nil
	}
	return &Spent{round(s.Building, 3), round(s.Base, 3), round(s.Head, 3), round(s.Yardsticks, 3)}
}

// words are where the time went; head is what that side is called.
func (s Spent) words(head string) string {
	parts := []string{}
	for _, p := range []struct {
		name string
		s    float64
	}{{"building", s.Building}, {"base", s.Base}, {head, s.Head}, {"yardsticks", s.Yardsticks}} {
		if p.s > 0 {
			parts = append(parts, p.name+" "+fixed(p.s, 1)+" s")
		}
	}
	return strings.Join(parts, ", ")
}
