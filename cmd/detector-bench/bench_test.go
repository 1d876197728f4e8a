package main

import (
	"os"
	"testing"
)

// BenchmarkHash is the benchmark that a Go team would write, with the drift of
// a side.
func BenchmarkHash(b *testing.B) {
	name := os.Getenv(extraVariable)
	if name == "" {
		name = "0"
	}
	d, err := newDeriver(name)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		d.reference()
	}
}
