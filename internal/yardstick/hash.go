package yardstick

import "encoding/binary"

const blockSize = 64

// initial is SHA-256's initial state.
var initial = [8]uint32{
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
	0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
}

// hasher is SHA-256 over messages of any length, for what happens once a key
// or once a lane. length counts the bytes so far, the key's pad included.
type hasher struct {
	state  [8]uint32
	block  [blockSize]byte
	length uint64
}

func (h *hasher) write(p []byte) {
	for len(p) > 0 {
		at := h.length % blockSize
		n := copy(h.block[at:], p)
		p = p[n:]
		h.length += uint64(n)
		if h.length%blockSize == 0 {
			compressBytes(&h.state, &h.block)
		}
	}
}

// sum pads and returns the final state; h is then used up.
func (h *hasher) sum() [8]uint32 {
	var pad [blockSize + 8]byte
	pad[0] = 0x80
	n := blockSize - (h.length+8)%blockSize // 1 to 64, then the length
	binary.BigEndian.PutUint64(pad[n:], h.length*8)
	h.write(pad[:n+8])
	return h.state
}

func compressBytes(state *[8]uint32, block *[blockSize]byte) {
	var w [16]uint32
	for i := range w {
		w[i] = binary.BigEndian.Uint32(block[4*i:])
	}
	compress(state, &w)
}

// putWords writes the words to b, most significant byte first.
func putWords(b []byte, words [8]uint32) {
	for i, w := range words {
		binary.BigEndian.PutUint32(b[4*i:], w)
	}
}
