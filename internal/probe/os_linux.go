package probe

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pipe returns both ends, neither of which a child inherits.
func pipe() (r, w int, err error) {
	var p [2]int
	err = unix.Pipe2(p[:], unix.O_CLOEXEC)
	return p[0], p[1], err
}

// procAttr gives the child a process group, and has the kernel kill it when
// the thread that started it ends, be it by the death of the program.
func procAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// processorTime reads the process's own clock, which counts all its threads.
func processorTime(pid int) (time.Duration, bool) {
	const cpuclockSched = 2
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|cpuclockSched), &ts); err != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}

// evict drops a file's pages from the cache, as far as no process has them
// mapped. That it cannot is no error.
func evict(path string) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	_ = unix.Fdatasync(fd) // what is not written yet stays
	_ = unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED)
}
