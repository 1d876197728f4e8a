package verdict

import (
	"math"
	"slices"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// Cost is where the time of a run goes, seen from the yardsticks around it.
type Cost struct {
	// Compressions are what an iteration of one block takes, in compressions
	// at the speed of the chain: PBKDF2-HMAC-SHA256 needs 2, what is above them
	// is keying anew, copying, allocating, calling, or a slower compression.
	Compressions float64
	Chain, Lanes float64 // ns of one nominal compression over the yardsticks'
	// AsWithoutSHA says that it is as slow as code that does not use the
	// SHA instructions that the CPU has. It is a guess, and fails nothing.
	AsWithoutSHA bool
}

// Relative costs from which a target looks as if it did without the CPU's SHA
// instructions: half way, on a logarithmic scale, between what was measured
// on x86-64 with them and without, in multiples of the chain.
//
//	        with                                         without
//	sha256  Node 1.7 to 2.7, Go 2.1 to 2.5,              Go 5.0 to 5.2, Node 5.2, Python and C 5.6,
//	        Python, C and Zig 3.0 to 3.1                 portable Go 8.4, Zig 13
//	sha1    Go 2.7, Node 2.7, Python 3.0                 Node 3.6, Python 3.9, Go 5.8
//
// Java's sha256 read 3.2, 6.8 and 21 with them, as it was compiled: code that
// does much around the compressions looks the same from here. No such
// instructions are common for sha512.
var withoutSHA = map[workload.PRF]float64{
	workload.SHA256: 4,
	workload.SHA1:   3.3,
}

// shaWords are the SHA instructions that compute a function, as a fingerprint
// lists them.
var shaWords = map[workload.PRF][]string{
	workload.SHA1:   {"sha_ni", "sha1"},
	workload.SHA256: {"sha_ni", "sha2"},
}

// Hashes of fewer iterations are mostly the call around them.
const minCostIterations = 1000

// CostOf is false for a run without usable rounds.
func CostOf(r result.Run) (Cost, bool) {
	at := func(f figure) float64 { return math.Exp(stats.Median(evidence([]result.Run{r}, f))) }
	if len(evidence([]result.Run{r}, relative)) == 0 || r.Outcome != result.Measured {
		return Cost{}, false
	}
	c := Cost{Chain: at(relative), Lanes: at(func(x result.Round) float64 { return x.NsPerOp / r.Workload.Compressions() / x.LanesNs })}
	c.Compressions = 2 * c.Chain
	c.AsWithoutSHA = asWithoutSHA(r)
	return c, true
}

// asWithoutSHA: the CPU has the instructions (its own word, and the yardstick
// runs on them), and the whole interval of the cost lies where code lies that
// does without.
func asWithoutSHA(r result.Run) bool {
	limit, ok := withoutSHA[r.Workload.PRF]
	has := strings.Split(r.Host.SHA, "+")
	if !ok || r.Unverified || r.Host.Emulated != "" || r.Workload.Iterations < minCostIterations ||
		strings.HasSuffix(r.Yardstick, " portable") ||
		!slices.ContainsFunc(shaWords[r.Workload.PRF], func(w string) bool { return slices.Contains(has, w) }) {
		return false
	}
	c, ok := centreOf([]result.Run{r}, relative)
	return ok && c.at-c.below > math.Log(limit)
}
