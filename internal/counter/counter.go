// Package counter counts the instructions and the cycles that a process spends
// in user space, where the processor and the kernel show them. That they do not
// is no error: a Group that counts nothing says why.
package counter

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Reading is the state of a Group at one moment.
type Reading struct {
	Enabled, Running     uint64 // ns: meant to count, and on the processor's counters
	Instructions, Cycles uint64
}

// readingSize is what the kernel writes for a group of two: how many events
// there are, the two times, and the events' values.
const readingSize = 5 * 8

// parse reads what the kernel wrote; false where that is no group of two.
func parse(b []byte) (Reading, bool) {
	if len(b) != readingSize || binary.NativeEndian.Uint64(b) != 2 {
		return Reading{}, false
	}
	at := func(i int) uint64 { return binary.NativeEndian.Uint64(b[8*i:]) }
	return Reading{at(1), at(2), at(3), at(4)}, true
}

// Counts are those of a process, its threads and what it started, in user
// space; fractions come of scaling.
type Counts struct{ Instructions, Cycles float64 }

// Since is what was counted after an earlier reading. Where the events had to
// share the processor's counters with others, it is scaled to the whole time.
// It is false where nothing was counted, or nothing can have been.
func (r Reading) Since(earlier Reading) (Counts, bool) {
	sub := func(a, b uint64) (uint64, bool) {
		d, borrow := bits.Sub64(a, b, 0)
		return d, borrow == 0
	}
	enabled, ok := sub(r.Enabled, earlier.Enabled)
	running, ok2 := sub(r.Running, earlier.Running)
	instructions, ok3 := sub(r.Instructions, earlier.Instructions)
	cycles, ok4 := sub(r.Cycles, earlier.Cycles)
	if !(ok && ok2 && ok3 && ok4) || running == 0 || instructions == 0 || cycles == 0 {
		return Counts{}, false
	}
	scale := math.Max(1, float64(enabled)/float64(running))
	return Counts{scale * float64(instructions), scale * float64(cycles)}, true
}
