package target

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// BenchmarkExchange is the cost of asking: what the caller's clock says of a
// slice less what the probe's does, both on one core as in a measurement, and
// work of ours between slices.
func BenchmarkExchange(b *testing.B) {
	runtime.LockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		b.Skip(err)
	}
	for cpu := range 1024 {
		if all.IsSet(cpu) {
			one.Zero()
			one.Set(cpu) // the last is the quietest
		}
	}
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		b.Skip(err)
	}
	defer unix.SchedSetaffinity(0, &all)
	p := open(b, "a=go")
	r := probe.Request{PRF: workload.SHA256, Iterations: 3000, KeyBytes: 32, Salt: make([]byte, 16), Password: []byte(workload.Password)}
	var over []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		r.Salt[0]++
		for begin := time.Now(); time.Since(begin) < 300*time.Microsecond; {
		}
		start := time.Now()
		a, err := p.Derive(b.Context(), r, 0)
		if err != nil {
			b.Fatal(err)
		}
		over = append(over, time.Since(start)-a.Elapsed)
	}
	slices.Sort(over)
	b.ReportMetric(float64(over[len(over)/4].Nanoseconds())/1000, "p25-overhead-us")
	b.ReportMetric(float64(over[len(over)/2].Nanoseconds())/1000, "p50-overhead-us")
}
