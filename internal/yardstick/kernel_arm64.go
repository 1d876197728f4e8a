//go:build linux || darwin

package yardstick

import (
	"runtime"

	"golang.org/x/sys/unix"
)

const hardwareKind = "arm64-sha2"

// chainHardware runs n iterations, n > 0.
//
//go:noescape
func chainHardware(l *Lane, n int)

// lanesHardware runs n iterations of each lane, n > 0.
//
//go:noescape
func lanesHardware(l *[NumLanes]Lane, n int)

// detect asks the kernel's auxiliary vector: golang.org/x/sys/cpu follows
// GODEBUG. Every Apple CPU has the instructions.
func detect() bool {
	const (
		atHWCAP = 16
		sha2    = 1 << 6
	)
	if runtime.GOOS == "darwin" {
		return true
	}
	auxv, err := unix.Auxv()
	if err != nil {
		return false
	}
	for _, entry := range auxv {
		if entry[0] == atHWCAP {
			return entry[1]&sha2 != 0
		}
	}
	return false
}
