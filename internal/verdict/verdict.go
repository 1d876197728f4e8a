// Package verdict decides: results and a policy go in, verdicts come out.
// It is a pure function of its arguments.
package verdict

import (
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// Kind is the word of a verdict, as flags, outputs and JSON write it.
type Kind string

// The verdicts.
const (
	OK              Kind = "ok"
	Slower          Kind = "slower"
	Faster          Kind = "faster"
	Inconclusive    Kind = "inconclusive"
	NoBaseline      Kind = "no-baseline"
	NotComparable   Kind = "not-comparable"
	WorkloadChanged Kind = "workload-changed"
	WrongKey        Kind = "wrong-key"
	Implausible     Kind = "implausible"
	Failed          Kind = "failed"
	Missing         Kind = "missing"
)

// Interval is a relative change with its 95 % confidence interval: 0.03 is
// 3 % slower.
type Interval struct{ Est, Lo, Hi float64 }

// NoResult is the reason of Missing where nothing else is known.
const NoResult = "it is configured, and no result has it"

// Comparison is one target held against one reference.
type Comparison struct {
	Against   string // "base", "v1.4.0", "v1.0.0 (anchor)"
	Kind      Kind   // OK, Slower, Faster, Inconclusive, NotComparable, WorkloadChanged
	Threshold float64
	Raw       Interval // change of the time of one hash; zero where nothing was compared
	Relative  Interval // change of the cost relative to the chain yardstick
	// Expected is the factor by which a change of workload explains the time;
	// 1 where the workload is the same, 0 where none can be given (another
	// prf). Raw and Relative are what is left.
	Expected float64
	// Smallest is the smallest change that this comparison could have called
	// slower: the threshold plus the wider half of the interval; 0 where
	// nothing was compared.
	Smallest float64
	ThenNs   float64 // time of one hash on the reference side, ns (at its own workload)
	NowNs    float64 // time of one hash on the head side, ns
	// Same says that both sides are one program, as far as its file and its
	// arguments tell, so that what was read should be the machine's.
	Same bool
	// Halves is what the head's own rounds, split in two at random, differ by:
	// nothing, where the rounds are unbiased; zero where they are too few.
	Halves Interval
	// Instructions are told beside the time, see Meaning.
	Instructions Instructions
	Decides      bool              // the verdict is this comparison's
	Reason       string            // one sentence; what it is about, for people
	Differs      []host.Difference // of machine, toolchain, versions and workload
}

// Target is the verdict on one target of one leg.
type Target struct {
	Name        string
	Leg         string
	Host        host.Fingerprint
	Kind        Kind
	Fails       bool   // the policy makes this verdict fail the run
	Reason      string // one sentence
	Comparisons []Comparison
	Notes       []string
	Head        *result.Run // nil when missing
	Base        *result.Run // nil without a pair
	NsPerOp     float64     // median over the head's rounds, ns; 0 when not measured
	RelCost     float64     // likewise, times the chain yardstick
}

// Case is what is known of one target of one leg.
type Case struct {
	Name, Leg string
	Head      *result.Run // nil: missing
	Why       string      // why it is missing, where that is known
	Base      *result.Run // nil: no pair was measured
	Stored    Stored
}

// Stored is what the baselines say of a target on the head's platform, as
// chosen by package baseline.
type Stored struct {
	Latest, Anchor Reference // empty: none that is comparable
	// Replicas are, for every release that has at least two comparable runs,
	// these runs: what one release's cost varies by from host to host.
	Replicas [][]result.Run
	// Without Latest: what there is instead, at most one of these.
	OtherWorkload []result.Run // of the same target and platform
	OtherPlatform []result.Run // of the same target, the platform most alike
	Unusable      string       // why stored runs of target and platform do not apply
}

// Reference is a release and its runs; several are replicas.
type Reference struct {
	Release string
	Runs    []result.Run
}
