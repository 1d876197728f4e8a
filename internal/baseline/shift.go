package baseline

import (
	"maps"
	"slices"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// A Shift is what another folder of baselines would hold a target against, and
// this one does not.
type Shift struct {
	Platform     host.Platform
	CPU          string // brand
	Target       string
	Workload     workload.Params
	Then, Now    Applies
	Incomparable bool // the two were sampled by different plans or yardsticks
}

// Applies are the releases that a run is held against; zero where there are
// none.
type Applies struct{ Latest, Anchor Level }

// Shifts compares two folders: ordered by platform, target and workload, what
// applies in one and not in the other. Threshold is Select's.
func Shifts(before, after []File, threshold float64) []Shift {
	byPlatform := map[host.Platform][2][]result.Run{}
	for i, files := range [][]File{before, after} {
		for _, f := range files {
			both := byPlatform[f.Platform]
			both[i] = f.Runs
			byPlatform[f.Platform] = both
		}
	}
	var shifts []Shift
	for _, p := range slices.SortedFunc(maps.Keys(byPlatform), comparePlatforms) {
		both := byPlatform[p]
		for _, s := range seriesOf(slices.Concat(both[0], both[1])) {
			then, old := applies(filter(both[0], s.matches), threshold)
			now, fresh := applies(filter(both[1], s.matches), threshold)
			if then == now {
				continue
			}
			shift := Shift{Platform: p, Target: s.target, Workload: s.workload, Then: then, Now: now}
			for _, r := range []*result.Run{old, fresh} {
				if r != nil {
					shift.CPU = r.Host.CPU
				}
			}
			shift.Incomparable = old != nil && fresh != nil && !sampledAlike(old, fresh)
			shifts = append(shifts, shift)
		}
	}
	return shifts
}

// applies is what runs of one series come to, and the newest of them.
func applies(runs []result.Run, threshold float64) (Applies, *result.Run) {
	all := alike(runs)
	if len(all) == 0 {
		return Applies{}, nil
	}
	n := newest(latest(all).runs)
	return Applies{latest(all).level(), all[anchorOf(all, threshold)].level()}, &n
}
