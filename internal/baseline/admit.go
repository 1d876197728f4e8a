package baseline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// An InputError is results that cannot be recorded as one release.
type InputError struct{ err error }

func (e *InputError) Error() string { return "update baselines: " + e.err.Error() }

func (e *InputError) Unwrap() error { return e.err }

func inputError(format string, args ...any) error {
	return &InputError{fmt.Errorf(format, args...)}
}

// admit sorts the runs that can be recorded by platform.
func admit(rep *Report, release string, runs []result.Run, opt Options) (map[host.Platform][]result.Run, error) {
	type identity struct {
		platform host.Platform
		id       string
		series   series
	}
	admitted := map[host.Platform][]result.Run{}
	seen := map[identity]bool{}
	workloads := map[string]workload.Params{} // by target
	var first *result.Run
	for _, r := range runs {
		p := r.Host.Platform()
		this := identity{p, r.ID, seriesOfRun(&r)}
		reason := refuse(&r, opt)
		if reason == "" && seen[this] {
			reason = "the same run was given before"
		}
		if reason != "" {
			rep.LeftOut = append(rep.LeftOut, LeftOut{Run: r, Reason: reason})
			continue
		}
		seen[this] = true
		if first == nil {
			first = &r
		}
		w, ok := workloads[r.Target]
		if !ok {
			w = r.Workload
			workloads[r.Target] = w
		}
		switch {
		case r.Release != "" && r.Release != release:
			return nil, inputError("run %s of %s is recorded as release %s already: give results as `pbkdf2-gate measure` wrote them, not baseline files", r.ID, r.Target, r.Release)
		case r.Commit != first.Commit:
			return nil, inputError("the results are of several commits (%s, %s): record one commit as release %s", commitName(first), commitName(&r), release)
		case r.YardstickVersion() != first.YardstickVersion():
			return nil, inputError("the results are in units of several yardsticks (%q, %q): measure all with one version of pbkdf2-gate", first.Yardstick, r.Yardstick)
		case r.Workload != w:
			return nil, inputError("the results of %s are of several workloads (%s; %s): measure all with the same settings, or record one after the other", r.Target, w, r.Workload)
		}
		r.Release, r.Spent = release, result.Spent{}
		admitted[p] = append(admitted[p], thin(r))
	}
	return admitted, nil
}

func commitName(r *result.Run) string { return cmp.Or(r.Commit, "none") }

// refuse says why r is no baseline, in words that follow its name.
func refuse(r *result.Run, opt Options) string {
	usable := len(usableOf(r.Rounds))
	switch {
	case r.Side != result.Head:
		return "it is the base of a comparison, not the release"
	case r.Outcome != result.Measured:
		return fmt.Sprintf("it is %s: %s", r.Outcome, r.Message)
	case len(r.Rounds) == 0:
		return "it has no rounds: measure again on a quieter machine"
	case r.Contended:
		return "most of its runs were disturbed, so that they hold beside the other side in their job alone: measure again on a quieter machine"
	case r.Unverified && !opt.Unverified:
		return "its keys could not be checked: allow unverified to record it"
	case r.Host.Emulated != "" && !opt.Emulated:
		return fmt.Sprintf("its CPU is emulated (%s): allow emulated to record it", r.Host.Emulated)
	case usable < result.MinRounds && !opt.Disturbed:
		return fmt.Sprintf("it was disturbed (%d usable rounds, a baseline needs %d): measure again, or allow disturbed to record it", usable, result.MinRounds)
	}
	return ""
}

// onePlan parts runs of one series: those of the plan that is recorded, and
// the others with the reason. Replicas of a first release chose their plans
// each on its own host; measurements whose plans differ are never compared, so
// a release keeps to one: the plan of what is recorded already where any run
// has it, else the one that most runs share, then the one with more usable
// rounds, then the shorter slices.
func onePlan(recorded, runs []result.Run) (kept, others []result.Run, why string) {
	version := runs[0].YardstickVersion()
	before := alike(filter(recorded, func(r *result.Run) bool { return r.YardstickVersion() == version }))
	if len(before) > 0 {
		plan := newest(latest(before).runs).Plan
		if kept, others = byPlan(runs, plan); len(kept) > 0 {
			return kept, others, "it was sampled by another plan than the baseline recorded before, and cannot be compared with it"
		}
	}
	var best []result.Run
	for _, r := range runs {
		if same, rest := byPlan(runs, r.Plan); best == nil || betterPlan(same, best) {
			best, others = same, rest
		}
	}
	return best, others, fmt.Sprintf("it was sampled by another plan than the release's other replicas (%d), and cannot be compared with them: measure it again once they are recorded", len(best))
}

func byPlan(runs []result.Run, p result.Plan) (same, others []result.Run) {
	for _, r := range runs {
		if r.Plan.Alike(p) {
			same = append(same, r)
		} else {
			others = append(others, r)
		}
	}
	return same, others
}

// betterPlan does not depend on the order in which results are given.
func betterPlan(a, b []result.Run) bool {
	usable := func(runs []result.Run) (n int) {
		for i := range runs {
			n += len(usableOf(runs[i].Rounds))
		}
		return n
	}
	p, q := a[0].Plan, b[0].Plan
	return cmp.Or(
		cmp.Compare(len(b), len(a)),
		cmp.Compare(usable(b), usable(a)),
		cmp.Compare(p.SliceIterations, q.SliceIterations),
		cmp.Compare(p.Slices, q.Slices),
		cmp.Compare(p.WarmUp, q.WarmUp),
		cmp.Compare(p.Yardstick, q.Yardstick),
	) < 0
}

func hasRelease(runs []result.Run, name string) bool {
	return slices.ContainsFunc(runs, func(r result.Run) bool { return r.Release == name })
}
