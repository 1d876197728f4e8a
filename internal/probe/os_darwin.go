package probe

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pipe returns both ends, neither of which a child inherits: the lock keeps
// others from forking in between.
func pipe() (r, w int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var p [2]int
	if err := unix.Pipe(p[:]); err != nil {
		return -1, -1, err
	}
	unix.CloseOnExec(p[0])
	unix.CloseOnExec(p[1])
	return p[0], p[1], nil
}

func procAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

func processorTime(pid int) (time.Duration, bool) { return 0, false }

// sweep finds nothing here, for want of /proc. The process group is killed
// all the same.
func sweep(marker string) int { return 0 }

// evict does nothing: macOS has no such call.
func evict(path string) {}
