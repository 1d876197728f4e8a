package cli

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probecheck"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/target"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

var probeCheck = subcommand{
	name:     "probe-check",
	synopsis: "COMMAND ARG...",
	summary:  "test a probe: known answers, odd requests, times, a clean end",
	help: `COMMAND is run as it is, in this folder; what follows it is the probe's. It says
what is wrong and how to mend it. Exit codes: 0 nothing is; 1 a check failed;
3 COMMAND cannot be started. The protocol is documented in docs/protocol.md.`,
	verbatim: true,
	run: func(c *Command, ctx context.Context, in *invocation) error {
		if len(in.args) == 0 || in.args[0] == "" {
			return usageError("probe-check: no command given: name the probe, such as `pbkdf2-gate probe-check ./my-probe`")
		}
		write, ok := map[string]func(io.Writer, checkedProbe) error{"text": writeCheckedText, "json": writeCheckedJSON}[in.format]
		if !ok {
			return usageError("probe-check: --format %q is not for this: use text or json", in.format)
		}
		var prf workload.PRF
		if in.prf != "" {
			var err error
			if prf, err = workload.ParsePRF(in.prf); err != nil {
				return usageError("probe-check: --prf: %w", err)
			}
		}
		debug, err := c.debug()
		if err != nil {
			return err
		}
		// It runs the tree's code, as measuring does.
		switch event, err := c.event(); {
		case err != nil:
			return err
		case event != nil:
			if err := event.MayMeasure(); err != nil {
				return err
			}
		}

		cmd := probe.Command{Args: in.args, Dir: c.Dir, Env: target.Environ(c.Environ), Debug: debug}
		show := c.progress()
		start := time.Now()
		defer probe.Sweep()
		res, err := probecheck.Run(ctx, probecheck.Config{
			Start: func(ctx context.Context) (probecheck.Process, error) {
				client, err := cmd.Start(ctx)
				if err != nil {
					return nil, err
				}
				return client, nil
			},
			PRF:   prf,
			Clock: func() time.Duration { return time.Since(start) },
			Rand:  rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
			Progress: func(name string) {
				if c.Terminal {
					show.say("checking: %s", name)
				}
			},
		})
		show.end()
		if err != nil {
			return err
		}
		p := checkedProbe{Format: "pbkdf2-gate-probe-check/1", Command: in.args, Checks: res.Checks,
			Failed: res.Count(probecheck.Failed), Notes: res.Count(probecheck.Note), NotRun: res.Count(probecheck.NotRun)}
		if p.Failed > 0 {
			p.Exit = exitFound
		}
		if err := write(c.Stdout, p); err != nil {
			return fmt.Errorf("write what was found: %w", err)
		}
		if p.Exit != exitOK {
			return &exitError{p.Exit, nil}
		}
		return nil
	},
}

// checkedProbe is what probe-check found.
type checkedProbe struct {
	Format  string             `json:"format"`
	Command []string           `json:"command"`
	Exit    int                `json:"exit"`
	Failed  int                `json:"failed"`
	Notes   int                `json:"notes"`
	NotRun  int                `json:"not_run"`
	Checks  []probecheck.Check `json:"checks"`
}

func writeCheckedJSON(w io.Writer, p checkedProbe) error { return writeJSON(w, p) }

// writeCheckedText has a line for each check, and under it what it found.
func writeCheckedText(w io.Writer, p checkedProbe) error {
	var b strings.Builder
	for i := 0; i < len(p.Checks); i++ {
		k := p.Checks[i]
		if last := p.notRunTo(i); last > i {
			fmt.Fprintf(&b, "%-6s%s to %s: %s\n", checkWord(k.Outcome), k.Name, p.Checks[last].Name, k.Text)
			i = last
			continue
		}
		fmt.Fprintf(&b, "%-6s%-20s%s\n", checkWord(k.Outcome), k.Name, k.Text)
		for _, f := range k.Findings {
			if f.Asked != "" {
				fmt.Fprintf(&b, "      asked  %s\n", f.Asked)
			}
			fmt.Fprintf(&b, "      came   %s\n", f.Came)
			if f.Mend != "" {
				fmt.Fprintf(&b, "      mend   %s\n", f.Mend)
			}
		}
		if k.More > 0 {
			fmt.Fprintf(&b, "      and %d more like it\n", k.More)
		}
	}
	fmt.Fprintf(&b, "\nexit %d: %s\n", p.Exit, p.summary())
	_, err := io.WriteString(w, b.String())
	return err
}

// notRunTo is the last of the checks from i on that were not run for the same
// reason; i or less where there are none.
func (p checkedProbe) notRunTo(i int) int {
	last := i
	for last < len(p.Checks) && p.Checks[last].Outcome == probecheck.NotRun && p.Checks[last].Text == p.Checks[i].Text {
		last++
	}
	return last - 1
}

func checkWord(o probecheck.Outcome) string {
	switch o {
	case probecheck.Failed:
		return "FAIL"
	case probecheck.NotRun:
		return "-"
	}
	return string(o)
}

func (p checkedProbe) summary() string {
	s := fmt.Sprintf("all %d checks passed", len(p.Checks))
	if p.Failed > 0 {
		s = fmt.Sprintf("%d of %d checks failed", p.Failed, len(p.Checks))
	}
	switch {
	case p.Notes == 1:
		s += ", with a note"
	case p.Notes > 1:
		s += fmt.Sprintf(", with notes to %d", p.Notes)
	}
	if p.NotRun > 0 {
		s += fmt.Sprintf("; %d not run", p.NotRun)
	}
	return s
}
