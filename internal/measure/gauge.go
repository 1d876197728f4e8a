package measure

import (
	"slices"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/yardstick"
)

// chunks of each kind in a reading, after one that lets the core settle: a
// probe still runs its epilogue (its read loop, a collection) on the shared
// core when its answer is here. The reading is their median.
const chunks = 5

// reading is one use of the yardsticks: ns per compression.
type reading struct{ chain, lanes float64 }

// gauge reads the yardsticks.
type gauge struct {
	clock   func() time.Duration
	kernels Kernels
	// ns of one iteration: two compressions of one lane, or of every lane.
	chainIter, lanesIter float64
	filler               yardstick.Lane
	fillers              [yardstick.NumLanes]yardstick.Lane
	chainN, lanesN       int // iterations of a chunk
}

// newGauge finds the kernels' speed; the least of many is good enough for
// choosing lengths.
func newGauge(clock func() time.Duration, k Kernels) *gauge {
	g := &gauge{clock: clock, kernels: k}
	key := yardstick.NewKey([]byte(workload.Password))
	g.filler = key.Start(nil, 1)
	for i := range g.fillers {
		g.fillers[i] = key.Start(nil, uint32(i+1))
	}
	const n, tries = 100, 40
	least := func(f func()) float64 {
		best := time.Duration(1<<63 - 1)
		for range tries {
			t := clock()
			f()
			best = min(best, clock()-t)
		}
		return float64(max(best, 1)) / n
	}
	g.chainIter = least(func() { k.Chain(&g.filler, n) })
	g.lanesIter = least(func() { k.Lanes(&g.fillers, n) })
	return g
}

// share of a yardstick's length that the chain gets: the lanes also check
// the key.
const chainShare = 1.0 / 3

// set chooses the chunks for a plan: its length, and long enough for the
// lanes to check a slice's key.
func (g *gauge) set(p result.Plan, w workload.Params) {
	const all = chunks + 1
	ns := float64(p.Yardstick)
	g.chainN = max(1, int(ns*chainShare/all/g.chainIter))
	g.lanesN = max(1, int(ns*(1-chainShare)/all/g.lanesIter))
	if g.checks(w) {
		g.lanesN = max(g.lanesN, (checkIterations(w, p.SliceIterations)+all-1)/all)
	}
}

func (g *gauge) checks(w workload.Params) bool {
	return g.kernels.Hardware && w.PRF == workload.SHA256
}

// checkIterations is how many lanes' iterations derive a slice's key again.
func checkIterations(w workload.Params, iterations int) int {
	return (w.Blocks() + yardstick.NumLanes - 1) / yardstick.NumLanes * (iterations - 1)
}

// read takes one reading and does the work of c on the way, all of it; c
// may be nil.
func (g *gauge) read(c *check) reading {
	var chain, lanes [chunks]float64
	g.kernels.Chain(&g.filler, g.chainN)
	t := g.clock()
	for i := range chain {
		g.kernels.Chain(&g.filler, g.chainN)
		now := g.clock()
		chain[i] = float64(now - t)
		t = now
	}
	g.lanes(c, g.lanesN)
	t = g.clock()
	for i := range lanes {
		g.lanes(c, g.lanesN)
		now := g.clock()
		lanes[i] = float64(now - t)
		t = now
	}
	for c != nil && !c.done() {
		g.lanes(c, g.lanesN)
	}
	slices.Sort(chain[:])
	slices.Sort(lanes[:])
	return reading{
		chain: chain[chunks/2] / float64(2*g.chainN),
		lanes: lanes[chunks/2] / float64(2*yardstick.NumLanes*g.lanesN),
	}
}

// lanes runs n iterations, of c's work while there is any.
func (g *gauge) lanes(c *check, n int) {
	for c != nil && n > 0 && !c.done() {
		k := min(n, c.left)
		g.kernels.Lanes(&c.sets[c.at], k)
		n -= k
		if c.left -= k; c.left == 0 && c.at+1 < len(c.sets) {
			c.at, c.left = c.at+1, c.iterations
		}
	}
	if n > 0 {
		g.kernels.Lanes(&g.fillers, n)
	}
}

// check is the derivation of one request by the lanes. It is made before
// the slice and done within the reading after it.
type check struct {
	sets       [][yardstick.NumLanes]yardstick.Lane
	blocks     int
	iterations int // that each set needs
	at, left   int // the set at work and what it still needs
	sum        []byte
}

// reset makes c the derivation of one salt.
func (c *check) reset(key *yardstick.Key, salt []byte, w workload.Params, iterations int) {
	c.sets, c.blocks, c.iterations = c.sets[:0], w.Blocks(), iterations-1
	for b := 0; b < c.blocks; b += yardstick.NumLanes {
		var set [yardstick.NumLanes]yardstick.Lane
		for i := range set {
			set[i] = key.Start(salt, uint32(b+i+1))
		}
		c.sets = append(c.sets, set)
	}
	c.at, c.left = 0, c.iterations
}

func (c *check) done() bool { return c.left == 0 }

// key is the derived key, valid until the next call.
func (c *check) key(n int) []byte {
	c.sum = c.sum[:0]
	for i := range c.blocks {
		s := c.sets[i/yardstick.NumLanes][i%yardstick.NumLanes].Sum()
		c.sum = append(c.sum, s[:]...)
	}
	return c.sum[:n]
}
