package yardstick

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"testing"
)

// benchIterations make one operation of a benchmark: so many that set-up does
// not show.
const benchIterations = 10_000

// perCompression reports the elapsed time in the one unit that compares,
// instead of the time of an operation.
func perCompression(b *testing.B, compressions int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(compressions), "ns/compression")
	b.ReportMetric(0, "ns/op")
}

func benchChain(b *testing.B, chain func(*Lane, int)) {
	key := NewKey([]byte("password"))
	l := key.Start([]byte("salt"), 1)
	for b.Loop() {
		chain(&l, benchIterations)
	}
	perCompression(b, 2*benchIterations)
}

func benchLanes(b *testing.B, lanes func(*[NumLanes]Lane, int)) {
	key := NewKey([]byte("password"))
	var set [NumLanes]Lane
	for i := range set {
		set[i] = key.Start([]byte("salt"), uint32(i+1))
	}
	for b.Loop() {
		lanes(&set, benchIterations)
	}
	perCompression(b, 2*benchIterations*NumLanes)
}

func BenchmarkChain(b *testing.B)         { benchChain(b, Chain) }
func BenchmarkLanes(b *testing.B)         { benchLanes(b, Lanes) }
func BenchmarkPortableChain(b *testing.B) { benchChain(b, chainPortable) }
func BenchmarkPortableLanes(b *testing.B) { benchLanes(b, lanesPortable) }

func BenchmarkStdlibPBKDF2(b *testing.B) {
	for b.Loop() {
		if _, err := pbkdf2.Key(sha256.New, "password", []byte("salt"), benchIterations, sha256.Size); err != nil {
			b.Fatal(err)
		}
	}
	perCompression(b, 2*benchIterations)
}
