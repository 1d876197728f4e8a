package baseline

import (
	"slices"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// A Step is what a release recorded of one target and workload on a platform,
// beside the release before it.
type Step struct {
	Platform host.Platform
	CPU      string // brand
	Target   string
	Workload workload.Params
	Now      Level
	Then     Level // of the release before that can be compared; zero: there is none
	// Unlike is, without Then, the release before, of another plan or yardstick;
	// empty: there is none.
	Unlike string
	// Resets: the change passes the threshold, so that the anchor of what
	// follows is this release.
	Resets bool
}

// Level is what a release cost.
type Level struct {
	Release  string
	NsPerOp  float64 // median over all rounds
	RelCost  float64 // likewise
	Replicas int
}

func (r release) level() Level {
	return Level{r.name, r.nsPerOp(), r.relCost(), len(r.runs)}
}

// Steps are those of one release in the file, ordered by target and workload.
// Threshold is Select's.
func (f File) Steps(name string, threshold float64) []Step {
	var steps []Step
	of := filter(f.Runs, func(r *result.Run) bool { return r.Release == name })
	for _, s := range seriesOf(of) {
		now := newest(filter(of, s.matches))
		// What can be compared with it, as alike has it for the latest.
		all := releases(filter(f.Runs, func(r *result.Run) bool {
			return s.matches(r) && sampledAlike(r, &now)
		}))
		at := slices.IndexFunc(all, func(r release) bool { return r.name == name })
		step := Step{Platform: f.Platform, CPU: now.Host.CPU, Target: s.target, Workload: s.workload, Now: all[at].level()}
		if at > 0 {
			step.Then = all[at-1].level()
			step.Resets = passes(all[at-1], all[at], threshold)
		} else {
			step.Unlike = latest(releases(filter(f.Runs, func(r *result.Run) bool {
				return s.matches(r) && r.Release != name && !r.Date.After(now.Date)
			}))).name
		}
		steps = append(steps, step)
	}
	return steps
}
