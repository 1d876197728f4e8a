// Package result is the record of a measurement and its file format. The
// report decides from these records alone: what a file cannot carry cannot
// be judged.
package result

import (
	"math"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// Format is the first word of every block and the version of the format.
const Format = "pbkdf2-gate/1"

// Outcome says how the measurement of one target ended.
type Outcome string

// Measured has rounds (perhaps too few to judge); the others have a message.
const (
	Measured    Outcome = "measured"
	Failed      Outcome = "failed"      // did not start, died, broke the protocol, never settled
	WrongKey    Outcome = "wrong-key"   // derived another key than asked
	Implausible Outcome = "implausible" // its own time cannot be true
)

// Sides of a measurement.
const (
	Head = "head"
	Base = "base"
)

// Plan is how a target was sampled: made in one place, carried in every
// file; measurements whose plans are not alike are never compared.
type Plan struct {
	SliceIterations int           // iterations of one slice
	Slices          int           // kept slices of a round
	WarmUp          int           // slices at the start of a round that are dropped
	Yardstick       time.Duration // nominal length of one yardstick
}

// Alike reports whether what was sampled by the two can be compared: rounds of
// as many slices, of one length, between yardsticks of one length. How many
// slices were dropped before them does not matter, once the target is warm.
func (p Plan) Alike(o Plan) bool {
	p.WarmUp = o.WarmUp
	return p == o
}

// What a round needs to be evidence, and how many of them a verdict needs.
const (
	MinCleanSlices = 8
	MinCleanShare  = 0.25
	MinRounds      = 6
)

// Round is one fresh process of a target.
type Round struct {
	Clean      int     // clean slices, at least 1
	NsPerOp    float64 // ns of a whole hash at the workload's iterations: a low percentile of the clean slices, scaled, at the run's clock
	RelCost    float64 // ns per nominal compression over ChainNs
	ChainNs    float64 // ns per compression of the chain yardstick, undisturbed: the run's clock
	LanesNs    float64 // ns per compression of the lanes yardstick, over all its lanes
	CleanShare float64 // clean slices over all kept slices, (0, 1]
}

// Usable reports whether the round is evidence: it has enough clean slices,
// or, where a round is a few whole runs, all of them clean.
func (r Round) Usable() bool {
	kept := math.Round(float64(r.Clean) / r.CleanShare)
	return float64(r.Clean) >= min(MinCleanSlices, kept) && r.CleanShare >= MinCleanShare
}

// Run is one measurement of one target on one side: a block of a file.
type Run struct {
	Host      host.Fingerprint
	Yardstick string // version and kind, such as "1 sha-ni"
	Workload  workload.Params
	Plan      Plan // zero where the target failed before it had one

	Target        string
	Side          string // Head or Base
	Leg           string // the matrix job's label; opaque, may be empty
	ID            string // of the run: equal for all that one command measured; opaque, never empty
	Toolchain     string // what built the target, such as "go1.26.8"; may be empty
	TargetVersion string // of the library or runtime; may be empty
	Mode          string // build mode and settings, such as "GOAMD64=v1"; may be empty
	Unverified    bool   // its keys could not be checked
	Program       string // equal where the sides are one program, with all that it reads; opaque, empty where that cannot be told

	Outcome Outcome
	Message string // why it is not Measured
	Notes   []string

	Commit  string    // of the measured tree; empty outside git
	Release string    // in a baseline file: the release that this records
	Date    time.Time // of the commit, else of the measurement; whole seconds, UTC

	// Instructions and Cycles are those of a nominal compression in user space,
	// with the work around the slices; 0 where they were not counted.
	Instructions, Cycles float64

	Spent     Spent   // zero where it is not known, as in baselines
	Disturbed int     // rounds that were measured and dropped: too few clean slices
	Contended bool    // so many whole runs were disturbed that the calmer ones are the rounds, for the other side of the job alone
	Rounds    []Round // usable rounds, in the order in which they were measured
}

// Spent is where the time of a run went; whole milliseconds in a file.
type Spent struct {
	Build      time.Duration // building the target, and the side where it is its first
	Open       time.Duration // checking its keys, finding how to sample it
	Slices     time.Duration // by the target's clock
	Yardsticks time.Duration
	Around     time.Duration // starting processes, warm-up, waiting for answers
}

// Measuring is the time without building.
func (s Spent) Measuring() time.Duration { return s.Open + s.Slices + s.Yardsticks + s.Around }
