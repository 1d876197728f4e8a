package counter

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Group counts two events together, both or neither.
type Group struct {
	fds    [2]int // the leader, its sibling; -1: none
	absent string
}

// event is one of the kernel's.
type event struct {
	kind   uint32
	config uint64
}

// hardware events are the processor's own.
var hardware = [2]event{
	{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
	{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
}

// Open makes a Group for the process that the calling thread, to which the
// goroutine must be locked, starts next: with all its threads and what it
// starts in turn, from its exec on. It costs this thread nothing and counts
// nothing of it.
//
// Opened by its number, a running process would be counted in one thread
// only, while runtimes compute in others (Java always does, Go may). So the
// events are this thread's, off until an exec, and inherited by what it starts.
// Hence as long as a Group is open, all that the thread starts adds to it.
func Open() *Group { return open(hardware) }

func open(events [2]event) *Group {
	g := &Group{fds: [2]int{-1, -1}}
	for i, e := range events {
		fd, err := openEvent(e, g.fds[0])
		if err != nil {
			g.Close()
			g.absent = why(err)
			break
		}
		g.fds[i] = fd
	}
	return g
}

func openEvent(e event, leader int) (int, error) {
	return unix.PerfEventOpen(&unix.PerfEventAttr{
		Type:        e.kind,
		Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Config:      e.config,
		Read_format: unix.PERF_FORMAT_GROUP | unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits: unix.PerfBitDisabled | unix.PerfBitEnableOnExec | unix.PerfBitInherit |
			unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}, 0, -1, leader, unix.PERF_FLAG_FD_CLOEXEC)
}

func why(err error) string {
	switch err {
	case unix.ENOENT, unix.ENODEV, unix.EOPNOTSUPP, unix.ENXIO:
		return fmt.Sprintf("the processor shows none here, as most virtual ones do (%v)", err)
	case unix.EACCES, unix.EPERM:
		return fmt.Sprintf("the kernel does not allow it (%v): kernel.perf_event_paranoid of 2 or less does, as far as no sandbox forbids it", err)
	case unix.ENOSYS:
		return fmt.Sprintf("the kernel has no perf events (%v)", err)
	}
	return fmt.Sprintf("perf_event_open: %v", err)
}

// Absent says why nothing is counted; empty where it is.
func (g *Group) Absent() string { return g.absent }

// Read is false where nothing is counted.
func (g *Group) Read() (Reading, bool) {
	if g.fds[0] < 0 {
		return Reading{}, false
	}
	var b [readingSize]byte
	n, err := unix.Read(g.fds[0], b[:])
	if err != nil {
		return Reading{}, false
	}
	return parse(b[:n])
}

// Close ends the counting. It may be called again.
func (g *Group) Close() {
	for i, fd := range g.fds {
		if fd >= 0 {
			unix.Close(fd)
			g.fds[i] = -1
		}
	}
	g.absent = "closed"
}
