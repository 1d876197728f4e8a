package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/measure"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// progress shows how far measuring is: a line that overwrites itself on a
// terminal, a few plain lines elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	width    int // of the line on the terminal
	said     time.Duration
}

// plainStep is how much measuring passes between two plain lines.
const plainStep = 5 * time.Second

func (c *Command) progress() *progress {
	return &progress{w: c.Stderr, terminal: c.Terminal}
}

func (p *progress) update(u measure.Progress) {
	name := u.Name
	if u.Side != "head" {
		name += " (" + u.Side + ")"
	}
	switch {
	case u.Failed != "":
		p.line("%s: %s", name, result.Text(u.Failed))
	case u.Opening && u.Unverified:
		p.say("%s: runs, measuring", name)
	case u.Opening:
		p.say("%s: keys right, measuring", name)
	case p.terminal:
		p.say("measuring %3.0f %%  %s: round %d", 100*min(1, u.Spent.Seconds()/u.Budget.Seconds()), name, u.Rounds)
	case u.Spent-p.said >= plainStep:
		p.said = u.Spent
		p.say("measured %.0f s, budget %.0f s", u.Spent.Seconds(), u.Budget.Seconds())
	}
}

// say shows a passing state.
func (p *progress) say(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !p.terminal {
		fmt.Fprintln(p.w, s)
		return
	}
	fmt.Fprintf(p.w, "\r%s%s", s, strings.Repeat(" ", max(0, p.width-len(s))))
	p.width = len(s)
}

// line shows something that stays.
func (p *progress) line(format string, args ...any) {
	p.end()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// end clears the passing state.
func (p *progress) end() {
	if p.terminal && p.width > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}
