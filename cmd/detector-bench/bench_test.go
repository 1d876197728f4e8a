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
	t, err := parseTruth(name)
	if err != nil {
		b.Fatal(err)
	}
	d := deriver{truth: t}
	for b.Loop() {
		d.reference()
	}
}
