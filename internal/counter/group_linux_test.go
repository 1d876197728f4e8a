package counter

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// software stands in for the processor's counters, which most virtual machines
// hide: the kernel's own events pass through the same calls. A page that is
// touched first is one fault.
var software = [2]event{
	{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK},
}

const (
	workVar    = "COUNTER_TEST_WORK"    // what the test's binary does as a child: "spin 100"
	threadsVar = "COUNTER_TEST_THREADS" // and in how many threads
)

var works = map[string]func(n int){"spin": spin, "touch": touch}

func TestMain(m *testing.M) {
	name, n, ok := strings.Cut(os.Getenv(workVar), " ")
	if !ok {
		os.Exit(m.Run())
	}
	amount, _ := strconv.Atoi(n)
	threads, _ := strconv.Atoi(os.Getenv(threadsVar))
	done := make(chan bool)
	for range threads {
		go func() {
			runtime.LockOSThread()
			works[name](amount)
			done <- true
		}()
	}
	for range threads {
		<-done
	}
}

var sink atomic.Uint64

// spin takes some instructions a round.
func spin(n int) {
	x := uint64(88172645463325252)
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink.Store(x)
}

// touch takes a fault a page.
func touch(pages int) {
	size := os.Getpagesize()
	b, err := unix.Mmap(-1, 0, pages*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		panic(err)
	}
	_ = unix.Madvise(b, unix.MADV_NOHUGEPAGE) // without huge pages there is nothing to forbid
	for i := 0; i < len(b); i += size {
		b[i] = 1
	}
}

// child does the work in so many threads while a group of the events is open.
func child(t *testing.T, events [2]event, work string, amount, threads int) Counts {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	g := open(events)
	defer g.Close()
	if why := g.Absent(); why != "" {
		t.Skip("no such events: " + why)
	}
	before, ok := g.Read()
	if !ok {
		t.Fatal("what was opened cannot be read")
	}
	works[work](amount) // ours, which is not to count
	if now, ok := g.Read(); !ok || now != before {
		t.Fatalf("counts what the thread does itself: %+v, %+v", before, now)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", workVar, work, amount), fmt.Sprintf("%s=%d", threadsVar, threads))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	after, ok := g.Read()
	if !ok {
		t.Fatal("cannot be read after the child's end")
	}
	c, ok := after.Since(before)
	if !ok {
		t.Fatalf("nothing was counted of a child: %+v", after)
	}
	return c
}

// A child is counted in all its threads, this thread is not.
func TestCountsChildren(t *testing.T) {
	const pages = 20_000
	one, three := child(t, software, "touch", pages, 1), child(t, software, "touch", pages, 3)
	if n := one.Instructions; n < pages || n > 1.5*pages { // and what its start takes
		t.Errorf("%.0f faults for %d pages", n, pages)
	}
	if n := three.Instructions - one.Instructions; math.Abs(n-2*pages) > pages/10 {
		t.Errorf("two threads more take %.0f faults more for %d pages each", n, pages)
	}
}

// A loop of known length takes as many instructions more as it is longer,
// where the processor has counters.
func TestCountsInstructions(t *testing.T) {
	short, long := child(t, hardware, "spin", 10_000_000, 1), child(t, hardware, "spin", 110_000_000, 1)
	if per := (long.Instructions - short.Instructions) / 100e6; per < 3 || per > 20 {
		t.Errorf("%.2f instructions for a round of three shifts and three exclusive ors", per)
	}
	if long.Cycles <= short.Cycles {
		t.Errorf("%.0f cycles, %.0f for ten times as much", short.Cycles, long.Cycles)
	}
}

func TestWhy(t *testing.T) {
	for err, want := range map[error]string{
		unix.ENOENT: "the processor shows none here, as most virtual ones do (no such file or directory)",
		unix.EACCES: "the kernel does not allow it (permission denied): kernel.perf_event_paranoid of 2 or less does, as far as no sandbox forbids it",
		unix.ENOSYS: "the kernel has no perf events (function not implemented)",
		unix.EBUSY:  "perf_event_open: device or resource busy",
	} {
		if got := why(err); got != want {
			t.Errorf("%v: %s", err, got)
		}
	}
}
