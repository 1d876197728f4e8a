package baseline

import "github.com/pbkdf2-gate/pbkdf2-gate/internal/result"

// maxRunBytes is how many bytes a run may take in a baseline file, and minKept how
// many rounds it keeps whatever they take.
const (
	maxRunBytes = 4 << 10
	minKept     = 8
)

// thin leaves rounds out of a run whose text is longer than maxRunBytes: evenly over
// the order in which they were measured, never by what they read. The median
// of 30 rounds is nearly as sure as that of 40, and a repository keeps every
// file for ever.
func thin(r result.Run) result.Run {
	size := func(rounds []result.Round) int {
		x := r
		x.Rounds = rounds
		data, err := result.Encode([]result.Run{x})
		if err != nil {
			return 0 // whoever writes it will say what is wrong
		}
		return len(data)
	}
	all := r.Rounds
	if size(all) <= maxRunBytes {
		return r
	}
	if usable := usableOf(all); len(usable) >= minKept {
		all = usable
	}
	for n := min(len(r.Rounds), len(all)); n >= minKept; n-- {
		kept := make([]result.Round, n)
		for i := range kept {
			kept[i] = all[i*len(all)/n]
		}
		r.Rounds = kept
		if size(kept) <= maxRunBytes {
			break
		}
	}
	return r
}

func usableOf(rounds []result.Round) []result.Round {
	var usable []result.Round
	for _, round := range rounds {
		if round.Usable() {
			usable = append(usable, round)
		}
	}
	return usable
}
