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

// Comparison is one target held against one reference.
type Comparison struct {
	Against   string // "base", "v1.4.0", "v1.0.0 (anchor)"
	Kind      Kind   // OK, Slower, Faster, Inconclusive, NotComparable, WorkloadChanged
	Threshold float64
	Raw       Interval // change of the time of one hash; zero where nothing was compared
	Relative  Interval // change of the cost relative to the chain yardstick
	// Expected is the factor by which a change of workload explains the time;
	// 1 where the workload is the same. Raw and Relative are what is left.
	Expected float64
	// Smallest is the smallest change that this comparison could have called
	// slower: the threshold plus the wider half of the interval.
	Smallest float64
	ThenNs   float64 // time of one hash on the reference side, ns (at its own workload)
	NowNs    float64 // time of one hash on the head side, ns
	Decides  bool    // the verdict is this comparison's
	Reason   string  // one sentence; what it is about, for people
	Differs  []host.Difference // of fingerprint, toolchain, versions, commit's build
}

// Target is the verdict on one target of one leg.
type Target struct {
	Name        string
	Leg         string
	Host        host.Fingerprint
	Kind        Kind
	Fails       bool     // the policy makes this verdict fail the run
	Reason      string   // one sentence
	Comparisons []Comparison
	Notes       []string
	Head        *result.Run // nil when missing
	Base        *result.Run // nil without a pair
	NsPerOp     float64 // median over the head's rounds, ns; 0 when not measured
	RelCost     float64
}
