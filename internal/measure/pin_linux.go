package measure

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// PinThread binds the calling thread, which must be locked to its
// goroutine, to the last core that it may run on (the first one serves most
// interrupts). Processes started from it inherit that. undo gives the thread
// its cores back.
func PinThread() (undo func(), err error) {
	var old, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &old); err != nil {
		return nil, fmt.Errorf("read the thread's cores: %w", err)
	}
	last := -1
	for i, left := 0, old.Count(); left > 0; i++ {
		if old.IsSet(i) {
			last = i
			left--
		}
	}
	one.Set(last)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return nil, fmt.Errorf("bind the thread to core %d: %w", last, err)
	}
	return func() { _ = unix.SchedSetaffinity(0, &old) }, nil
}
