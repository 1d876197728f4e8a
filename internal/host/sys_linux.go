package host

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Linux answers through files.
func sysctl(string) string            { return "" }
func sysctlInt(string) (uint64, bool) { return 0, false }

// affinity asks for the set that the thread has already: a sandbox that
// forbids choosing forbids that too.
func affinity() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return err
	}
	return unix.SchedSetaffinity(0, &set)
}
