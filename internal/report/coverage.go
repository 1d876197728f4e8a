package report

import (
	"bytes"
	"fmt"
	"slices"
)

// Coverage is how many of the CPUs that one label stands for have a baseline.
type Coverage struct {
	Leg     string       `json:"leg"`
	Release string       `json:"release"` // the newest recorded on the label; empty: none
	CPUs    []CoveredCPU `json:"cpus"`    // seen on the label, in the releases kept or now
	// Runs are the last ones on the label that are known of, and
	// RunsWithBaseline those that met a CPU with a baseline of Release.
	Runs             int `json:"runs"`
	RunsWithBaseline int `json:"runs_with_baseline"`
}

// CoveredCPU is a CPU that was seen, and whether Release has a baseline of it.
type CoveredCPU struct {
	CPUID       string `json:"cpu_id"`
	HasBaseline bool   `json:"has_baseline"`
}

// have is how many of the CPUs have a baseline.
func (c Coverage) have() (n int) {
	for _, x := range c.CPUs {
		if x.HasBaseline {
			n++
		}
	}
	return n
}

// words: "3 of 5 CPUs seen on ubuntu-24.04 have a baseline of v1.4.0 (11 of its
// last 15 runs)".
func (c Coverage) words() string {
	return fmt.Sprintf("%d of %s seen on %s have a baseline of %s (%d of its last %s)",
		c.have(), count(len(c.CPUs), "CPU"), c.Leg, c.Release, c.RunsWithBaseline, count(c.Runs, "run"))
}

// lacks is what to say of a target whose CPU has no baseline where others of
// its label do; empty elsewhere.
func (r Report) lacks(t Target, leg string) string {
	i := slices.IndexFunc(r.Coverage, func(c Coverage) bool { return c.Leg == leg })
	if i < 0 || r.Coverage[i].Release == "" || r.Coverage[i].have() == 0 {
		return ""
	}
	c := r.Coverage[i]
	if !slices.Contains(c.CPUs, CoveredCPU{t.Host.CPUID, false}) {
		return ""
	}
	return fmt.Sprintf("this CPU has no baseline yet: %d of %d seen on %s have one of %s, which %d of its last %s met",
		c.have(), len(c.CPUs), leg, c.Release, c.RunsWithBaseline, count(c.Runs, "run"))
}

// gaps are the labels whose CPUs do not all have a baseline, where no target's
// reason says so already.
func (r Report) gaps() []string {
	var all []string
	for _, c := range r.Coverage {
		if n := c.have(); c.Release != "" && n < len(c.CPUs) && !r.told[c.Leg] {
			all = append(all, c.words())
		}
	}
	return all
}

// markdownCoverage stands among what is folded away.
func (r Report) markdownCoverage(b *bytes.Buffer) {
	for _, g := range r.gaps() {
		fmt.Fprintf(b, "- %s\n", escape(g))
	}
}
