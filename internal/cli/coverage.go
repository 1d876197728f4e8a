package cli

import (
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/baseline"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/report"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// coverage says of each leg that has a name which of the CPUs seen there have a
// baseline.
func (l library) coverage(runs []result.Run) []report.Coverage {
	var legs []string
	for _, r := range runs {
		if r.Leg != "" {
			legs = add(legs, r.Leg)
		}
	}
	var all []report.Coverage
	for _, leg := range legs {
		c := baseline.Cover(l.files, leg, runs)
		out := report.Coverage{Leg: leg, Release: c.Release, CPUs: []report.CoveredCPU{}, Runs: c.Runs, RunsWithBaseline: c.Covered}
		for _, x := range c.CPUs {
			out.CPUs = append(out.CPUs, report.CoveredCPU{CPUID: x.Platform.CPUID, HasBaseline: x.Has})
		}
		all = append(all, out)
	}
	return all
}
