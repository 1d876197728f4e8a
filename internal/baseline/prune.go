package baseline

import (
	"errors"
	"fmt"
	"os"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// Prune drops old releases from every file in the folder, and says which runs
// went. The newest releases stay, as many as keep says (at least 1), and
// with them, of each target and workload, the runs that Select has as latest
// and as its anchor. Where the step from there to the next one that
// stays would pass the threshold, so do the fewest in between that divide it:
// the anchor is then the same as before. Threshold is Select's.
func Prune(dir string, keep int, threshold float64) (Report, error) {
	var rep Report
	if keep < 1 {
		return rep, fmt.Errorf("prune baselines: cannot keep %d releases: keep at least 1", keep)
	}
	store, err := Open(dir)
	if err != nil {
		return rep, err
	}
	if _, err := os.Stat(dir); err != nil {
		return rep, nil // Open has seen that there is none
	}
	unlock, err := lock(dir)
	if err != nil {
		return rep, err
	}
	defer unlock()
	files, err := store.All()
	if err != nil {
		return rep, err
	}
	var edits []edit
	for _, f := range files {
		kept, dropped := prune(f.Runs, keep, threshold)
		edits = append(edits, edit{f.Platform, f.Path, f.Runs, kept, dropped})
	}
	rep.Files, err = apply(edits)
	return rep, err
}

// fit drops old releases until the file holds the runs: those that Prune would
// drop for the most releases that fit.
func fit(runs []result.Run, threshold float64) (kept, dropped []result.Run, err error) {
	kept = runs
	for keep := len(releases(runs)) - 1; ; keep-- {
		_, err = result.Encode(kept)
		if !errors.Is(err, result.ErrFull) || keep < 1 {
			return kept, dropped, err
		}
		kept, dropped = prune(runs, keep, threshold)
	}
}

func prune(runs []result.Run, keep int, threshold float64) (kept, dropped []result.Run) {
	all := releases(runs)
	recent := map[string]bool{}
	for _, r := range all[max(0, len(all)-keep):] {
		recent[r.name] = true
	}
	type block struct {
		release string
		series  series
	}
	support := map[block]bool{}
	for _, s := range seriesOf(runs) {
		for _, name := range supports(alike(filter(runs, s.matches)), recent, threshold) {
			support[block{name, s}] = true
		}
	}
	for _, r := range runs {
		if recent[r.Release] || support[block{r.Release, seriesOfRun(&r)}] {
			kept = append(kept, r)
		} else {
			dropped = append(dropped, r)
		}
	}
	return kept, dropped
}

// supports names those of the releases, alike and oldest first, that must stay
// beside the recent ones for Select to find the same anchor: the anchor, and
// the fewest after it that lead to the latest in steps within the threshold.
func supports(all []release, recent map[string]bool, threshold float64) []string {
	anchor, end := anchorOf(all, threshold), len(all)-1
	// From the end backwards: how many steps it takes from each release, and
	// the first of them. A recent one is never stepped over.
	steps, next := make([]int, len(all)), make([]int, len(all))
	for i := end - 1; i >= anchor; i-- {
		steps[i] = len(all)
		for j := i + 1; j <= end; j++ {
			if steps[j]+1 < steps[i] && !passes(all[i], all[j], threshold) {
				steps[i], next[i] = steps[j]+1, j
			}
			if recent[all[j].name] {
				break
			}
		}
	}
	names := []string{all[end].name}
	for i := anchor; i < end; i = next[i] {
		names = append(names, all[i].name)
	}
	// Something older stays: so does the release that the anchor was a change
	// from.
	for _, r := range all[:anchor] {
		if recent[r.name] {
			return append(names, all[anchor-1].name)
		}
	}
	return names
}
