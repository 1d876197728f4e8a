// Package workload describes what is hashed: the PBKDF2 parameters, their
// limits, known answers, and what recommendations say of them.
package workload

import (
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"strconv"
)

// Password is the one that every measurement hashes.
const Password = "SuperSecretPassword"

// PRF names the pseudo-random function: HMAC with one of three hashes.
type PRF string

// The functions that a workload may name.
const (
	SHA1   PRF = "sha1"
	SHA256 PRF = "sha256"
	SHA512 PRF = "sha512"
)

// Params are the parameters of one password hash.
type Params struct {
	PRF        PRF
	Iterations int // 1 to MaxIterations
	SaltBytes  int // 0 to MaxSaltBytes
	KeyBytes   int // 1 to MaxKeyBytes
}

// Limits of Params: generous for any use, small enough that one hash ends.
const (
	MaxIterations = 100_000_000
	MaxSaltBytes  = 1024
	MaxKeyBytes   = 1024
	// maxWork bounds iterations times blocks: about half a minute of Go's
	// library on a present-day core.
	maxWork = 200_000_000
)

// Reference is the published workload that the gate measures unless told
// otherwise.
func Reference() Params {
	return Params{PRF: SHA256, Iterations: 500_000, SaltBytes: 16, KeyBytes: 64}
}

// Size is the length of the function's output in bytes, 0 for an unknown one.
func (p PRF) Size() int {
	switch p {
	case SHA1:
		return sha1.Size
	case SHA256:
		return sha256.Size
	case SHA512:
		return sha512.Size
	}
	return 0
}

// ParsePRF reads the name of a function.
func ParsePRF(s string) (PRF, error) {
	if p := PRF(s); p.Size() > 0 {
		return p, nil
	}
	return "", fmt.Errorf("unknown prf %q: use sha1, sha256 or sha512", s)
}

// Validate says which parameter is out of range and what the range is.
func (w Params) Validate() error {
	if _, err := ParsePRF(string(w.PRF)); err != nil {
		return err
	}
	for _, f := range []struct {
		name      string
		n, lo, hi int
	}{
		{"iterations", w.Iterations, 1, MaxIterations},
		{"salt-bytes", w.SaltBytes, 0, MaxSaltBytes},
		{"key-bytes", w.KeyBytes, 1, MaxKeyBytes},
	} {
		if f.n < f.lo || f.n > f.hi {
			return fmt.Errorf("%s %d is out of range: use %d to %s", f.name, f.n, f.lo, Group(f.hi))
		}
	}
	if w.Iterations*w.Blocks() > maxWork {
		return fmt.Errorf("%s iterations for a %d-byte key are too much work for one hash: use fewer iterations or a shorter key (iterations times %d-byte blocks up to %s)",
			Group(w.Iterations), w.KeyBytes, w.PRF.Size(), Group(maxWork))
	}
	return nil
}

// Blocks is the number of chains that the key needs, one per output of the
// hash.
func (w Params) Blocks() int {
	n := w.PRF.Size()
	return (w.KeyBytes + n - 1) / n
}

// Compressions is the nominal work of one hash: two compressions for each
// iteration and block.
func (w Params) Compressions() float64 {
	return 2 * float64(w.Iterations) * float64(w.Blocks())
}

// Key derives a key of KeyBytes with the standard library.
func (w Params) Key(password string, salt []byte) ([]byte, error) {
	return Key(w.PRF, password, salt, w.Iterations, w.KeyBytes)
}

// New makes the function's hash; nil for an unknown one.
func (p PRF) New() func() hash.Hash {
	switch p {
	case SHA1:
		return sha1.New
	case SHA256:
		return sha256.New
	case SHA512:
		return sha512.New
	}
	return nil
}

// Key derives keyBytes of key with the standard library.
func Key(prf PRF, password string, salt []byte, iterations, keyBytes int) ([]byte, error) {
	h := prf.New()
	if h == nil {
		return nil, fmt.Errorf("unknown prf %q: use sha1, sha256 or sha512", prf)
	}
	return pbkdf2.Key(h, password, salt, iterations, keyBytes)
}

func (w Params) String() string {
	return fmt.Sprintf("PBKDF2-HMAC-%s, %s iterations, %d-byte salt, %d-byte key",
		map[PRF]string{SHA1: "SHA1", SHA256: "SHA256", SHA512: "SHA512"}[w.PRF], Group(w.Iterations), w.SaltBytes, w.KeyBytes)
}

// Group writes n with a comma between groups of three digits.
func Group(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
