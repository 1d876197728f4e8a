package cli

import (
	"context"
	"fmt"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/counter"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/measure"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/yardstick"
)

var hostFacts = subcommand{
	name:    "host",
	summary: "show this machine's fingerprint, its yardsticks, and what could disturb a measurement here",
	run: func(c *Command, ctx context.Context, in *invocation) error {
		if err := in.noArgs(); err != nil {
			return err
		}
		h := c.Host()
		w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
		for _, f := range [][2]string{
			{"platform", h.GOOS + "/" + h.GOARCH}, {"cpu", h.CPU}, {"cpu-id", h.CPUID}, {"sha", h.SHA},
			{"emulated", h.Emulated}, {"image", h.Image}, {"kernel", h.Kernel}, {"host-id", h.HostID},
		} {
			if f[1] != "" {
				fmt.Fprintf(w, "%s\t%s\n", f[0], f[1])
			}
		}
		s := yardsticks()
		fmt.Fprintf(w, "yardstick\t%s\n", yardstick.ID())
		fmt.Fprintf(w, "chain\t%.1f ns a compression\n", s.Chain)
		fmt.Fprintf(w, "lanes\t%.1f ns a compression (%.2f of the chain)\n", s.Lanes, s.Lanes/s.Chain)
		counts := "counted"
		if why := counters(); why != "" {
			counts = "not counted: " + why
		}
		fmt.Fprintf(w, "instructions\t%s\n", counts)
		if err := w.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(c.Stdout)
		for _, l := range host.Conditions() {
			fmt.Fprintln(c.Stdout, l)
		}
		fmt.Fprintf(c.Stdout, "undisturbed: %.0f %% of %d readings in %v ", 100*s.Clean, s.Readings, s.Took.Round(10*time.Millisecond))
		if s.Apart {
			fmt.Fprintf(c.Stdout, "had lanes to chain within %.0f %% of its low quantile; between those the clock moved by %.1f %%\n", 100*measure.RatioAllowed, 100*s.Moved)
		} else {
			fmt.Fprintf(c.Stdout, "were within %.1f %% (chain) and %.0f %% (lanes) of their low quantile\n", 100*measure.ChainTimeAllowed, 100*measure.LanesTimeAllowed)
		}
		return nil
	},
}

// counters says why the processor's counters cannot be used; empty where they
// can.
func counters() string {
	g := counter.Open()
	defer g.Close()
	return g.Absent()
}

// yardsticks reads them for about half a second.
func yardsticks() measure.Survey {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if undo, err := measure.PinThread(); err == nil {
		defer undo()
	}
	start := time.Now()
	return measure.SurveyHost(func() time.Duration { return time.Since(start) }, measure.RealKernels(), 500*time.Millisecond)
}
