package target

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// benchmark is what a run printed of one.
type benchmark struct {
	name string
	time time.Duration // of one operation
	err  error         // why there is none
}

var (
	// noFigures is the line of a benchmark that reports nothing at all.
	noFigures = regexp.MustCompile(`^Benchmark(\S+)\s+[0-9]+\s*$`)
	// failedLine is that of one that fails; what it logged follows, indented.
	failedLine = regexp.MustCompile(`^--- FAIL: Benchmark(\S+)`)
	// benchFrame is a benchmark's function in a stack.
	benchFrame = regexp.MustCompile(`(?m)^(?:created by )?\S*\.Benchmark([\pL\pN_]+)[.( ]`)
)

// readBenchmarks has the benchmarks in their order.
func readBenchmarks(out []byte) []benchmark {
	var all []benchmark
	var failed []string
	lines := slices.Collect(bytes.Lines(out))
	for i, line := range lines {
		b, ok := readBenchmark(line)
		if m := failedLine.FindSubmatch(line); m != nil {
			b, ok = benchmark{name: string(m[1])}, true
			b.err = fmt.Errorf("benchmark %s fails%s", b.name, logged(lines[i+1:]))
			failed = append(failed, b.name)
		}
		if !ok {
			continue
		}
		if i := slices.IndexFunc(all, func(o benchmark) bool { return o.name == b.name }); i >= 0 {
			all[i].err = fmt.Errorf("benchmark %s is reported twice: give each a name of its own", b.name)
			continue
		}
		all = append(all, b)
	}
	// what fails by one of its parts is none itself
	return slices.DeleteFunc(all, func(b benchmark) bool {
		return slices.ContainsFunc(failed, func(part string) bool { return strings.HasPrefix(part, b.name+"/") })
	})
}

// readBenchmark reads the line of one that ran.
func readBenchmark(line []byte) (b benchmark, ok bool) {
	r := benchfmt.NewReader(bytes.NewReader(line), "benchmark output")
	if !r.Scan() {
		return b, false
	}
	if res, is := r.Result().(*benchfmt.Result); is {
		b.name = res.Name.String() // a -N at its end is its own
		if b.time, ok = nsPerOp(res); !ok && slices.Contains(res.Values, benchfmt.Value{Unit: "ns/op"}) {
			b.err = fmt.Errorf("benchmark %s reports 0 ns/op: it must do its work b.N times", b.name)
			return b, true
		}
	} else if m := noFigures.FindSubmatch(line); m != nil {
		b.name = string(m[1])
	} else {
		return b, false
	}
	if !ok {
		b.err = fmt.Errorf("benchmark %s reports no ns/op: it must measure time (b.ReportMetric(0, \"ns/op\") hides it)", b.name)
	}
	return b, true
}

// logged is what a benchmark that failed logged, after a colon: the indented
// lines that follow.
func logged(lines [][]byte) string {
	var out tailWriter
	for _, line := range lines[:min(len(lines), shownLines)] {
		if !bytes.HasPrefix(line, []byte("    ")) {
			break
		}
		out.buf = append(out.buf, line...)
	}
	return out.lines(nil)
}

// allRan reports whether a run that failed did so by benchmarks that are found,
// after the last of them.
func allRan(out []byte, found []benchmark) bool {
	last := bytes.TrimSpace(out)
	return bytes.HasSuffix(last, []byte("\nFAIL")) && slices.ContainsFunc(found, func(b benchmark) bool { return b.err != nil })
}

// notWhy are lines of a test program that say nothing of why it ended.
var notWhy = regexp.MustCompile(`^(?:(?:goos|goarch|pkg|cpu): .*|PASS|FAIL|exit status [0-9]+|Benchmark.*)$`)

// whyEnded picks those that do: what a panic says, without its stack, or what a
// benchmark logged that fails.
func whyEnded(lines []string) []string {
	for _, begin := range []string{"panic: ", "fatal error: ", "--- FAIL: "} {
		i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, begin) })
		if i < 0 {
			continue
		}
		why := lines[i:]
		if end := slices.IndexFunc(why, func(line string) bool {
			return strings.HasPrefix(line, "goroutine ") || strings.HasPrefix(line, "runtime stack:") || notWhy.MatchString(line)
		}); end >= 0 {
			why = why[:end]
		}
		return why
	}
	lines = slices.DeleteFunc(slices.Clone(lines), notWhy.MatchString)
	return lines[max(0, len(lines)-shownLines):]
}

// endedBy is the benchmark whose function stands in the stack of a panic;
// empty where none does.
func endedBy(stack []byte) string {
	if m := benchFrame.FindSubmatch(stack); m != nil {
		return string(m[1])
	}
	return ""
}

// endedError is a run that ended before its last benchmark.
type endedError struct {
	name string // of the one that ended it; empty where that cannot be told
	err  error
}

func (e *endedError) Error() string {
	if e.name == "" {
		return e.err.Error()
	}
	return fmt.Sprintf("benchmark %s ends the run, so that none after it runs: %v", e.name, e.err)
}

func (e *endedError) Unwrap() error { return e.err }

// nsPerOp is the time of one operation, which benchfmt has tidied to seconds.
func nsPerOp(res *benchfmt.Result) (time.Duration, bool) {
	for _, v := range res.Values {
		if v.OrigUnit == "ns/op" && v.OrigValue > 0 && v.OrigValue < float64(time.Hour) {
			return max(1, time.Duration(v.OrigValue+0.5)), true
		}
	}
	return 0, false
}
