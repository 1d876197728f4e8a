// Package yardstick holds the two frozen kernels that price everything else:
// the inner loop of PBKDF2-HMAC-SHA256, one chain at a time (Chain: bound by
// latency, so the core's clock) and two interleaved (Lanes: close to what the
// core's SHA units can take, so what an attacker's core can do, and a canary
// for a busy sibling thread).
//
// Kernels owe nothing to the standard library: its cost is what is measured,
// and GODEBUG settings must not move the ruler. Every iteration does its two
// full compressions; only the padding of the 32-byte messages is folded in.
package yardstick

import (
	"encoding/binary"
	"strconv"
)

// Version numbers the code of the kernels. It changes whenever the code of
// any of them does: costs in units of two versions are not comparable.
const Version = 1

// NumLanes is the number of lanes that Lanes interleaves.
const NumLanes = 2

// maxRun bounds the iterations of one call of a kernel, about a millisecond:
// the scheduler cannot preempt assembly.
const maxRun = 1 << 14

// hardware says whether this CPU runs the kernels of its architecture. It is
// the CPU's own word: no environment variable changes it.
var hardware = detect()

// Kind names the kernels chosen on this CPU: "sha-ni" (amd64), "arm64-sha2",
// or "portable" where there are no SHA-256 instructions.
func Kind() string {
	if hardware {
		return hardwareKind
	}
	return "portable"
}

// Hardware says whether the kernels use the CPU's SHA-256 instructions.
func Hardware() bool { return hardware }

// ID is the version and kind as files record them, such as "1 sha-ni".
func ID() string { return strconv.Itoa(Version) + " " + Kind() }

// Lane is the running state of one output block. Its words are in ordinary
// order, a to h. The zero Lane runs, but belongs to no key.
type Lane struct {
	inner, outer [8]uint32 // SHA-256 after the key's inner and outer pad
	last         [8]uint32 // output of the last iteration
	sum          [8]uint32 // exclusive or of all outputs
}

// Key is what HMAC-SHA256 makes of a password, computed once for any number
// of lanes.
type Key struct {
	inner, outer [8]uint32
}

// NewKey returns the key of a password of any length.
func NewKey(password []byte) Key {
	var block [blockSize]byte
	if len(password) > blockSize {
		h := hasher{state: initial}
		h.write(password)
		putWords(block[:], h.sum())
	} else {
		copy(block[:], password)
	}
	k := Key{inner: initial, outer: initial}
	xor(block[:], 0x36)
	compressBytes(&k.inner, &block)
	xor(block[:], 0x36^0x5c)
	compressBytes(&k.outer, &block)
	return k
}

// Start returns the lane of an output block, counted from 1, after its first
// iteration.
func (k *Key) Start(salt []byte, block uint32) Lane {
	h := hasher{state: k.inner, length: blockSize}
	h.write(salt)
	var index [4]byte
	binary.BigEndian.PutUint32(index[:], block)
	h.write(index[:])
	u := h.sum()
	u = digest(&k.outer, &u)
	return Lane{inner: k.inner, outer: k.outer, last: u, sum: u}
}

// Chain runs n more iterations of one lane, two compressions each. It does
// nothing where n is not positive.
func Chain(l *Lane, n int) {
	for ; n > 0; n -= maxRun {
		if hardware {
			chainHardware(l, min(n, maxRun))
		} else {
			chainPortable(l, min(n, maxRun))
		}
	}
}

// Lanes runs n more iterations of each lane, two compressions each. It does
// nothing where n is not positive.
func Lanes(l *[NumLanes]Lane, n int) {
	for ; n > 0; n -= maxRun {
		if hardware {
			lanesHardware(l, min(n, maxRun))
		} else {
			lanesPortable(l, min(n, maxRun))
		}
	}
}

// Sum is the block's output after the iterations so far.
func (l *Lane) Sum() [32]byte {
	var b [32]byte
	putWords(b[:], l.sum)
	return b
}

// Derive derives a whole key, as many lanes at a time as there are.
// Iterations below 1 count as 1; keyBytes below 1 give an empty key. It knows
// no upper limits: validate what comes from outside first.
func Derive(password, salt []byte, iterations, keyBytes int) []byte {
	const size = 32
	k := NewKey(password)
	key := make([]byte, 0, max(keyBytes, 0)+NumLanes*size)
	for block := uint32(1); len(key) < keyBytes; {
		if keyBytes-len(key) <= size {
			l := k.Start(salt, block)
			Chain(&l, iterations-1)
			b := l.Sum()
			key = append(key, b[:]...)
			break
		}
		var lanes [NumLanes]Lane
		for i := range lanes {
			lanes[i] = k.Start(salt, block)
			block++
		}
		Lanes(&lanes, iterations-1)
		for i := range lanes {
			b := lanes[i].Sum()
			key = append(key, b[:]...)
		}
	}
	return key[:max(keyBytes, 0)]
}

func xor(b []byte, v byte) {
	for i := range b {
		b[i] ^= v
	}
}
