package baseline

import (
	"slices"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// Latest is the newest release in the files, by the date of its commit, of
// equal dates the one recorded last; empty where there is none.
func Latest(files []File) string {
	var newest release
	for _, f := range files {
		last := latest(releases(f.Runs))
		if newest.name == "" || last.date.After(newest.date) || last.date.Equal(newest.date) && hasRelease(f.Runs, newest.name) {
			newest = last
		}
	}
	return newest.name
}

// Coverage says of the CPUs that one label's runners turned out to have which
// ones have a baseline.
type Coverage struct {
	Leg     string
	Release string // the newest recorded on the label; empty: none
	CPUs    []CPU  // seen on the label, in any release kept or just now; ordered
	// Runs are the last ones on the label, maxRuns at most, and Covered those
	// that met a CPU which has a baseline.
	Runs, Covered int
}

// CPU is one that was seen. It has a baseline where Release was recorded on it.
type CPU struct {
	Platform host.Platform
	Has      bool
}

// maxRuns is how many of the last runs count: what a label's runners are
// changes within months.
const maxRuns = 20

// Cover looks at what the files know of a label, and at runs that were made
// there just now.
func Cover(files []File, leg string, now []result.Run) Coverage {
	type seen struct {
		platform host.Platform
		id       string
		date     time.Time
	}
	var runs []seen
	known := map[seen]bool{}
	add := func(r *result.Run, p host.Platform) {
		if s := (seen{p, r.ID, r.Date}); r.Leg == leg && !known[s] {
			known[s] = true
			runs = append(runs, s)
		}
	}
	c := Coverage{Leg: leg}
	var here []File // files that know the label, each with no other runs
	for _, f := range files {
		on := filter(f.Runs, func(r *result.Run) bool { return r.Leg == leg })
		for i := range on {
			add(&on[i], f.Platform)
		}
		if len(on) > 0 {
			here = append(here, File{f.Platform, f.Path, on})
		}
	}
	c.Release = Latest(here)
	slices.SortStableFunc(runs, func(a, b seen) int { return a.date.Compare(b.date) })
	for i := range now {
		add(&now[i], now[i].Host.Platform())
	}

	has := map[host.Platform]bool{}
	for _, f := range files {
		has[f.Platform] = c.Release != "" && hasRelease(f.Runs, c.Release)
	}
	met := map[host.Platform]bool{}
	for _, r := range runs {
		if !met[r.platform] {
			met[r.platform] = true
			c.CPUs = append(c.CPUs, CPU{r.platform, has[r.platform]})
		}
	}
	slices.SortFunc(c.CPUs, func(a, b CPU) int { return comparePlatforms(a.Platform, b.Platform) })
	last := runs[max(0, len(runs)-maxRuns):]
	c.Runs = len(last)
	for _, r := range last {
		if has[r.platform] {
			c.Covered++
		}
	}
	return c
}
