package baseline

import (
	"math"
	"slices"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// A Selection is what the runs of one platform say of one target.
type Selection struct {
	Latest        []result.Run // replicas of the latest release; none: no baseline
	LatestRelease string
	Anchor        []result.Run // replicas of the anchor, which may be the latest release
	AnchorRelease string
	// Replicas has the runs of every release that has two or more, oldest
	// first: what varies within them is noise.
	Replicas [][]result.Run
	// OtherWorkload has the latest release's replicas among the runs of
	// another workload, the newest one's.
	OtherWorkload []result.Run
	// OtherYardstick has the latest release's replicas among the runs of the
	// same workload with yardsticks of another version, the newest one's.
	OtherYardstick []result.Run
}

// Select is the rule by which a baseline applies. Runs are a platform's, as
// Load returns them.
//
// Only runs of the target, the workload and the yardstick version count. A
// release is as old as its newest run among them (by date of the commit; of
// equal dates, what is recorded further down in the file is newer). The
// latest release is the newest one; where its runs have several plans, the
// newest run's plan counts, here and in older releases, since measurements
// whose plans differ are never compared.
//
// The anchor is the oldest release that is left, re-set at each release whose
// relative cost, the median over all rounds, differs from that of the release
// before by more than threshold (0.05 is 5 %), up or down: such a change was
// seen and accepted, while smaller ones add up against the anchor. Times would
// not do: releases meet hosts whose clocks differ.
func Select(runs []result.Run, target string, w workload.Params, yardstickVersion string, threshold float64) Selection {
	var same, otherWorkload, otherYardstick []result.Run
	for _, r := range runs {
		sameYardstick := r.YardstickVersion() == yardstickVersion
		switch {
		case r.Target != target:
		case r.Workload == w && sameYardstick:
			same = append(same, r)
		case r.Workload == w:
			otherYardstick = append(otherYardstick, r)
		case sameYardstick:
			otherWorkload = append(otherWorkload, r)
		}
	}
	s := Selection{
		OtherWorkload:  latest(alike(otherWorkload)).runs,
		OtherYardstick: latest(alike(otherYardstick)).runs,
	}
	kept := alike(same)
	if len(kept) == 0 {
		return s
	}
	last, anchor := latest(kept), kept[anchorOf(kept, threshold)]
	s.Latest, s.LatestRelease = last.runs, last.name
	s.Anchor, s.AnchorRelease = anchor.runs, anchor.name
	for _, r := range kept {
		if len(r.runs) > 1 {
			s.Replicas = append(s.Replicas, r.runs)
		}
	}
	return s
}

// A release is the runs that stand under one name.
type release struct {
	name string
	date time.Time // of its newest run
	runs []result.Run
}

// releases gathers the runs by release, oldest release first. Runs keep their
// order, as do releases of one date.
func releases(runs []result.Run) []release {
	var all []release
	at := map[string]int{}
	for _, r := range runs {
		i, ok := at[r.Release]
		if !ok {
			i = len(all)
			at[r.Release] = i
			all = append(all, release{name: r.Release})
		}
		all[i].runs = append(all[i].runs, r)
		if r.Date.After(all[i].date) {
			all[i].date = r.Date
		}
	}
	sortByDate(all)
	return all
}

func sortByDate(all []release) {
	slices.SortStableFunc(all, func(a, b release) int { return a.date.Compare(b.date) })
}

// latest returns the newest of releases, the zero release of none.
func latest(all []release) release {
	if len(all) == 0 {
		return release{}
	}
	return all[len(all)-1]
}

// newest returns the run of the latest date, the last of several.
func newest(runs []result.Run) result.Run {
	n := runs[0]
	for _, r := range runs[1:] {
		if !r.Date.Before(n.Date) {
			n = r
		}
	}
	return n
}

// alike returns the releases of those runs that can be compared with the
// newest run of the latest release: its workload, yardstick version and plan.
func alike(runs []result.Run) []release {
	if len(runs) == 0 {
		return nil
	}
	n := newest(latest(releases(runs)).runs)
	return releases(filter(runs, func(r *result.Run) bool {
		return r.Workload == n.Workload && sampledAlike(r, &n)
	}))
}

// sampledAlike reports whether figures of one workload can be compared.
func sampledAlike(a, b *result.Run) bool {
	return a.YardstickVersion() == b.YardstickVersion() && a.Plan.Alike(b.Plan)
}

func filter(runs []result.Run, keep func(*result.Run) bool) []result.Run {
	var kept []result.Run
	for i := range runs {
		if keep(&runs[i]) {
			kept = append(kept, runs[i])
		}
	}
	return kept
}

// anchorOf returns the index of the anchor in releases that are alike.
func anchorOf(all []release, threshold float64) int {
	anchor := 0
	for i := 1; i < len(all); i++ {
		if passes(all[i-1], all[i], threshold) {
			anchor = i
		}
	}
	return anchor
}

// passes reports whether the change between two releases is over the
// threshold.
func passes(then, now release, threshold float64) bool {
	return math.Abs(now.relCost()/then.relCost()-1) > threshold
}

// nsPerOp is the median over all rounds of the release, NaN without any.
func (r release) nsPerOp() float64 {
	return r.median(func(x result.Round) float64 { return x.NsPerOp })
}

// relCost is the same of the cost relative to the chain.
func (r release) relCost() float64 {
	return r.median(func(x result.Round) float64 { return x.RelCost })
}

func (r release) median(figure func(result.Round) float64) float64 {
	var v []float64
	for _, run := range r.runs {
		for _, round := range run.Rounds {
			v = append(v, figure(round))
		}
	}
	return stats.Median(v)
}
