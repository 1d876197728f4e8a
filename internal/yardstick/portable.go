package yardstick

import "math/bits"

// chainPortable runs n iterations in plain Go.
func chainPortable(l *Lane, n int) {
	for range n {
		u := digest(&l.inner, &l.last)
		l.last = digest(&l.outer, &u)
		for i, w := range l.last {
			l.sum[i] ^= w
		}
	}
}

// lanesPortable takes turns: two sets of eight words and two schedules do not
// fit the general registers, so interleaving within a round would only spill.
func lanesPortable(l *[NumLanes]Lane, n int) {
	for range n {
		for i := range l {
			chainPortable(&l[i], 1)
		}
	}
}

// digest is SHA-256's output for a message of 32 bytes that follows the one
// block which led to the state.
func digest(state, message *[8]uint32) [8]uint32 {
	w := [16]uint32{8: 1 << 31, 15: (64 + 32) * 8}
	copy(w[:], message[:])
	out := *state
	compress(&out, &w)
	return out
}

// compress is SHA-256's compression function. It uses up the message block w.
func compress(state *[8]uint32, w *[16]uint32) {
	a, b, c, d := state[0], state[1], state[2], state[3]
	e, f, g, h := state[4], state[5], state[6], state[7]
	for i := 0; ; i += 16 {
		// The names turn instead of the values.
		for j := 0; j < 16; j += 8 {
			k, v := (*[8]uint32)(constants[i+j:]), (*[8]uint32)(w[j:])
			d, h = round(a, b, c, d, e, f, g, h, k[0]+v[0])
			c, g = round(h, a, b, c, d, e, f, g, k[1]+v[1])
			b, f = round(g, h, a, b, c, d, e, f, k[2]+v[2])
			a, e = round(f, g, h, a, b, c, d, e, k[3]+v[3])
			h, d = round(e, f, g, h, a, b, c, d, k[4]+v[4])
			g, c = round(d, e, f, g, h, a, b, c, k[5]+v[5])
			f, b = round(c, d, e, f, g, h, a, b, k[6]+v[6])
			e, a = round(b, c, d, e, f, g, h, a, k[7]+v[7])
		}
		if i == 48 {
			break
		}
		for j := range w {
			x, y := w[(j+1)&15], w[(j+14)&15]
			w[j] += w[(j+9)&15] +
				(bits.RotateLeft32(x, -7) ^ bits.RotateLeft32(x, -18) ^ x>>3) +
				(bits.RotateLeft32(y, -17) ^ bits.RotateLeft32(y, -19) ^ y>>10)
		}
	}
	state[0] += a
	state[1] += b
	state[2] += c
	state[3] += d
	state[4] += e
	state[5] += f
	state[6] += g
	state[7] += h
}

// round returns the two words that one round changes: the new d and h.
func round(a, b, c, d, e, f, g, h, kw uint32) (uint32, uint32) {
	t := h + kw + (g ^ e&(f^g)) +
		(bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25))
	return d + t, t + (a&b ^ c&(a^b)) +
		(bits.RotateLeft32(a, -2) ^ bits.RotateLeft32(a, -13) ^ bits.RotateLeft32(a, -22))
}

// constants are SHA-256's round constants.
var constants = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}
