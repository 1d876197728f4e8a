package main

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
)

// comparison is one side of a trial held against another, and what is true of
// it.
type comparison struct {
	base, head int
	truth      string
}

// identical is the truth of two sides that run the same code.
const identical = "0"

// comparisons of a trial. Those of one truth have no side in common, so they
// share minutes, but no sample: the k-th head of a truth has the k-th base. Two
// heads of one truth are identical code too.
func (t trial) comparisons() (all []comparison) {
	sides := map[string][]int{}
	var names []string
	for i, name := range t.Sides {
		if sides[name] == nil {
			names = append(names, name)
		}
		sides[name] = append(sides[name], i)
	}
	bases := sides[t.Sides[0]]
	for _, name := range names {
		heads := sides[name]
		for k := 0; k+1 < len(heads); k += 2 {
			all = append(all, comparison{heads[k], heads[k+1], identical})
		}
		if name == t.Sides[0] {
			continue
		}
		for k := range min(len(heads), len(bases)) {
			all = append(all, comparison{bases[k], heads[k], name})
		}
	}
	return all
}

// comparisons of one truth under one load, with their trials.
func comparisons(trials []trial, load, truth string) iter.Seq2[trial, comparison] {
	return func(yield func(trial, comparison) bool) {
		for _, t := range trials {
			if t.Load != load {
				continue
			}
			for _, c := range t.comparisons() {
				if c.truth == truth && !yield(t, c) {
					return
				}
			}
		}
	}
}

// loadsOf are the loads of the trials, and how many each has.
func loadsOf(trials []trial) (loads []string, n map[string]int) {
	n = map[string]int{}
	for _, t := range trials {
		if n[t.Load]++; n[t.Load] == 1 {
			loads = append(loads, t.Load)
		}
	}
	slices.Sort(loads)
	return loads, n
}

// truthsOf are the truths of a load's comparisons, the least first.
func truthsOf(trials []trial, load string) (truths []string) {
	for _, t := range trials {
		if t.Load != load {
			continue
		}
		for _, c := range t.comparisons() {
			if !slices.Contains(truths, c.truth) {
				truths = append(truths, c.truth)
			}
		}
	}
	slices.SortStableFunc(truths, func(a, b string) int { return cmp.Compare(order(a), order(b)) })
	return truths
}

// order sorts truths: numbers, then words.
func order(truth string) float64 {
	if x, err := strconv.ParseFloat(truth, 64); err == nil {
		return x
	}
	return 1e6
}

func truthLabel(truth string) string {
	if order(truth) < 1e6 {
		return "+" + truth + " %"
	}
	return truth
}
