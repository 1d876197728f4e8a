package workload

import "fmt"

// owasp has the iterations that OWASP's Password Storage Cheat Sheet gave in
// August 2026.
var owasp = map[PRF]int{SHA1: 1_400_000, SHA256: 600_000, SHA512: 220_000}

// Lengths and count from NIST SP 800-132.
const (
	minSalt       = 16
	minKey        = 14
	minIterations = 1000
)

// Advice has one line for each parameter that a published recommendation
// would change; none when all are met. It never decides anything.
func (w Params) Advice() []string {
	var a []string
	switch {
	case w.Iterations < minIterations:
		a = append(a, fmt.Sprintf("iterations: %s is below every floor (SP 800-132: at least %s; OWASP for %s: %s)",
			Group(w.Iterations), Group(minIterations), w.PRF, Group(owasp[w.PRF])))
	case w.Iterations < owasp[w.PRF]:
		a = append(a, fmt.Sprintf("iterations: %s is under OWASP's %s for %s", Group(w.Iterations), Group(owasp[w.PRF]), w.PRF))
	}
	if w.PRF == SHA1 {
		a = append(a, "prf: sha1 is for legacy hashes only; use sha256 or sha512 for new ones")
	}
	if w.SaltBytes < minSalt {
		a = append(a, fmt.Sprintf("salt-bytes: %d is under %d (SP 800-132)", w.SaltBytes, minSalt))
	}
	if w.KeyBytes < minKey {
		a = append(a, fmt.Sprintf("key-bytes: %d is under %d (SP 800-132)", w.KeyBytes, minKey))
	}
	if w.KeyBytes > w.PRF.Size() {
		a = append(a, fmt.Sprintf("key-bytes: %d is longer than the hash (%d): each further block costs you a whole chain and an attacker nothing", w.KeyBytes, w.PRF.Size()))
	}
	return a
}
