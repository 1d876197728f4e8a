package baseline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// Options admit by name what Update leaves out otherwise.
type Options struct {
	Unverified bool // runs whose keys could not be checked
	Emulated   bool // runs on an emulated CPU
	Disturbed  bool // runs of fewer than result.MinRounds usable rounds
	// NewPlatforms records only on platforms that the release has nothing of:
	// a later measurement adds what the first one did not meet.
	NewPlatforms bool
	Threshold    float64 // Select's, for what stays in a file that is full
}

// Report says what Update or Prune did.
type Report struct {
	Files   []Change
	LeftOut []LeftOut
	Dropped []result.Run // by Update, of files that would have been too large
	Fresh   []result.Run // recorded by Update with a plan or a yardstick that no other release has
}

// A Change is what became of one file.
type Change struct {
	Platform host.Platform
	Path     string
	State    State
	Runs     []result.Run // recorded by Update or dropped by Prune, in the order of the file
}

// State is whether a file was written.
type State string

const (
	Written    State = "written"
	Unchanged  State = "unchanged"   // it held all this already, and was not touched
	NotWritten State = "not written" // an error came first
)

// LeftOut is a run that was not recorded.
type LeftOut struct {
	Run    result.Run
	Reason string
	Known  bool // Options.NewPlatforms: the release has this CPU, nothing is lost
}

// Update records runs as the baseline of the release in the folder, which is
// made where it does not exist.
//
// Runs of one platform, target and workload stand side by side as replicas;
// together they replace what the release had of that target and workload
// there, and nothing else. The same input again leaves the files untouched.
// Only sound measurements of the head side are recorded, each once, and none
// where the release holds runs of a newer commit already. Replicas that were
// sampled by different plans cannot be compared: those of one plan are
// recorded, the one recorded before where any has it, else the one that most
// of them share. The report says what was left out and why. What cannot belong
// to one release, as runs of several commits, is an *InputError. A file that
// would be larger than a result file may be loses its oldest releases, as by
// Prune.
//
// Releases stand from the oldest to the newest by date of the commit, of
// equal dates as they were recorded. Comments in a file do not survive a
// change of it.
//
// Everything is read, checked and encoded before the first file is written,
// and each is written wholly or not at all. Where an error comes in between,
// the report says which files were. Concurrent updates wait for each other.
func Update(dir, release string, runs []result.Run, opt Options) (Report, error) {
	var rep Report
	if err := result.ValidRelease(release); err != nil {
		return rep, inputError("%w", err)
	}
	store, err := Open(dir)
	if err != nil {
		return rep, err
	}
	incoming, err := admit(&rep, release, runs, opt)
	if err != nil || len(incoming) == 0 {
		return rep, err
	}
	platforms, err := checkIncoming(incoming)
	if err != nil {
		return rep, err
	}
	if err := checkWritable(dir); err != nil {
		return rep, err
	}
	unlock, err := lock(dir)
	if err != nil {
		return rep, err
	}
	defer unlock()
	removeAbandoned(dir)
	held, err := store.readable()
	if err != nil {
		return rep, err
	}
	newer := newerCommit(held, release, incoming)
	var edits []edit
	for _, p := range platforms {
		path, _ := path(dir, p)
		old, err := load(path, p)
		if err != nil {
			return rep, err
		}
		merged, recorded := merge(&rep, old, release, incoming[p], newer, opt)
		if len(recorded) > 0 {
			merged, dropped, err := fit(merged, opt.Threshold)
			if err != nil {
				return rep, fmt.Errorf("update baselines of %s: %w", p, err)
			}
			rep.Dropped = append(rep.Dropped, dropped...)
			edits = append(edits, edit{p, path, old, merged, recorded})
		}
	}
	rep.Files, err = apply(edits)
	return rep, err
}

// checkIncoming returns the platforms, ordered, of runs that can be written.
func checkIncoming(incoming map[host.Platform][]result.Run) ([]host.Platform, error) {
	platforms := slices.SortedFunc(maps.Keys(incoming), comparePlatforms)
	for _, p := range platforms {
		if _, err := path("", p); err != nil {
			return nil, fmt.Errorf("update baselines: %w", err)
		}
		if _, err := result.Encode(incoming[p]); err != nil {
			return nil, fmt.Errorf("update baselines of %s: %w", p, err)
		}
	}
	return platforms, nil
}

// newerCommit returns a run of the release whose commit is newer than that of
// the incoming ones, which is one; nil where there is none. Held is everything
// that is stored: a release is one commit, whatever CPU and target.
func newerCommit(held []result.Run, name string, incoming map[host.Platform][]result.Run) *result.Run {
	for _, runs := range incoming {
		n := newest(runs)
		for i, r := range held {
			if r.Release == name && r.Commit != n.Commit && r.Date.After(n.Date) {
				return &held[i]
			}
		}
	}
	return nil
}

// merge returns the runs of a file with the incoming ones of the release in
// it, and those of them that it took: none where the release holds a newer
// commit.
func merge(rep *Report, old []result.Run, name string, incoming []result.Run, newer *result.Run, opt Options) (merged, taken []result.Run) {
	known := opt.NewPlatforms && hasRelease(old, name)
	leaveOut := func(runs []result.Run, format string, args ...any) {
		for _, r := range runs {
			rep.LeftOut = append(rep.LeftOut, LeftOut{r, fmt.Sprintf(format, args...), known})
		}
	}
	if known {
		leaveOut(incoming, "release %s has a baseline of this CPU already", name)
		return old, nil
	}
	if newer != nil {
		leaveOut(incoming, "release %s holds commit %s of %s, which is newer", name, commitName(newer), newer.Date.Format(time.DateOnly))
		return old, nil
	}
	all := releases(old)
	at := slices.IndexFunc(all, func(r release) bool { return r.name == name })
	if at < 0 {
		at = len(all)
		all = append(all, release{name: name})
	}
	runs := all[at].runs
	for _, s := range seriesOf(incoming) {
		these := filter(incoming, s.matches)
		these, others, why := onePlan(filter(old, s.matches), these)
		leaveOut(others, "%s", why)
		before := filter(old, func(r *result.Run) bool { return s.matches(r) && r.Release != name })
		if len(before) > 0 && !slices.ContainsFunc(before, func(r result.Run) bool { return sampledAlike(&r, &these[0]) }) {
			rep.Fresh = append(rep.Fresh, these...)
		}
		runs = append(filter(runs, func(r *result.Run) bool { return !s.matches(r) }), these...)
		taken = append(taken, these...)
	}
	if len(taken) == 0 {
		return old, nil
	}
	// By id too, so that the order in which results are given is no change.
	slices.SortStableFunc(runs, func(a, b result.Run) int {
		return cmp.Or(seriesOfRun(&a).compare(seriesOfRun(&b)), cmp.Compare(a.ID, b.ID))
	})
	all[at].runs = runs
	all[at].date = newest(runs).Date
	sortByDate(all)
	for _, r := range all {
		merged = append(merged, r.runs...)
	}
	return merged, taken
}

func comparePlatforms(a, b host.Platform) int {
	return cmp.Or(cmp.Compare(a.GOOS, b.GOOS), cmp.Compare(a.GOARCH, b.GOARCH), cmp.Compare(a.CPUID, b.CPUID))
}
