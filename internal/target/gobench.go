package target

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// benchTime is for how long a benchmark repeats its operation in one round.
const benchTime = "200ms"

// benchmarks are the package and the regular expression of a GoBench.
func (s Spec) benchmarks() (pkg, expr string, err error) {
	words, err := split(s.Rest)
	if err != nil {
		return "", "", fmt.Errorf("go-bench %q: %w", s.Rest, err)
	}
	if len(words) != 2 {
		return "", "", fmt.Errorf("go-bench %q: write a package and a regular expression, such as ./internal/auth Hash", s.Rest)
	}
	if strings.HasPrefix(words[0], "-") {
		return "", "", fmt.Errorf("go-bench %q: %q is no package: write one such as ./internal/auth", s.Rest, words[0])
	}
	for part := range strings.SplitSeq(words[1], "/") {
		if _, err := regexp.Compile(part); err != nil {
			return "", "", fmt.Errorf("go-bench %q: %w", s.Rest, err)
		}
	}
	return words[0], words[1], nil
}

// benchTargets compiles a package's tests and finds its benchmarks, each of
// which is a target NAME.BENCHMARK.
func (s Side) benchTargets(ctx context.Context, spec Spec, temp string) ([]Built, error) {
	pkg, expr, err := spec.benchmarks()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(temp, 0o777); err != nil {
		return nil, err
	}
	path := filepath.Join(temp, "bench.test")
	err = program{args: []string{"go", "test", "-c", "-o", path, pkg}, dir: s.Dir, env: s.Environ, limit: buildLimit, log: s.Log,
		explain: "run go test -c " + pkg + " to see"}.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("the tests of %s do not compile: %w", pkg, err)
	}
	var out bytes.Buffer
	err = program{args: []string{"go", "list", "-f", "{{.Dir}}", pkg}, dir: s.Dir, env: s.Environ, limit: listLimit, stdout: &out,
		explain: "run it to see"}.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", pkg, err)
	}
	dir := strings.TrimSpace(out.String())
	if info, err := os.Stat(path); err != nil || info.Size() == 0 || dir == "" || strings.Contains(dir, "\n") {
		return nil, fmt.Errorf("%s is not one package with tests: name one that has benchmarks", pkg)
	}
	words := map[string]string{}
	if info, err := buildinfo.ReadFile(path); err == nil {
		words["toolchain"] = info.GoVersion
	}
	run := func(ctx context.Context, expr, length string) ([]benchmark, error) {
		var stdout, stderr tailWriter
		// One processor, as when it is measured: names then have no -N at their end.
		args := []string{path, "-test.run=^$", "-test.bench=" + expr, "-test.benchtime=" + length, "-test.count=1", "-test.cpu=1"}
		if err := s.once(ctx, args, dir, &stdout, &stderr); err != nil {
			return nil, err
		}
		return readBenchmarks(stdout.buf), nil
	}
	found, err := run(ctx, expr, "1x")
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no benchmark of %s ran for %q: none matches, or they skip", pkg, expr)
	}
	var all []Built
	for _, bench := range found {
		b := Built{Spec: spec, Parent: spec.Name, Err: bench.err}
		if b.Spec.Name, err = benchName(spec.Name, bench.name); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(o Built) bool { return o.Spec.Name == b.Spec.Name }) {
			return nil, fmt.Errorf("two benchmarks would be called %s: match fewer", b.Spec.Name)
		}
		b.Once = func(ctx context.Context) (Once, error) {
			again, err := run(ctx, exactly(bench.name), benchTime)
			if err != nil {
				return Once{}, err
			}
			for _, x := range again {
				if x.name == bench.name {
					return Once{Elapsed: x.time, Words: words}, x.err
				}
			}
			return Once{}, fmt.Errorf("benchmark %s did not run again: it skips, or its name changes from run to run", bench.name)
		}
		all = append(all, b)
	}
	return all, nil
}

// benchmark is what a run printed of one.
type benchmark struct {
	name string
	time time.Duration // of one operation
	err  error         // why there is none
}

// noFigures is the line of a benchmark that reports nothing at all.
var noFigures = regexp.MustCompile(`^Benchmark(\S+)\s+[0-9]+\s*$`)

// readBenchmarks has the benchmarks in their order.
func readBenchmarks(out []byte) []benchmark {
	var all []benchmark
	for line := range bytes.Lines(out) {
		var b benchmark
		r := benchfmt.NewReader(bytes.NewReader(line), "benchmark output")
		if !r.Scan() {
			continue
		}
		ok := false
		if res, is := r.Result().(*benchfmt.Result); is {
			b.name = res.Name.String() // a -N at its end is its own
			b.time, ok = nsPerOp(res)
		} else if m := noFigures.FindSubmatch(line); m != nil {
			b.name = string(m[1])
		} else {
			continue
		}
		if !ok {
			b.err = fmt.Errorf("benchmark %s reports no ns/op: it must measure time (b.ReportMetric(0, \"ns/op\") hides it)", b.name)
		}
		if i := slices.IndexFunc(all, func(o benchmark) bool { return o.name == b.name }); i >= 0 {
			all[i].err = fmt.Errorf("benchmark %s is reported twice: give each a name of its own", b.name)
			continue
		}
		all = append(all, b)
	}
	return all
}

// nsPerOp is the time of one operation, which benchfmt has tidied to seconds.
func nsPerOp(res *benchfmt.Result) (time.Duration, bool) {
	for _, v := range res.Values {
		if v.OrigUnit == "ns/op" && v.OrigValue > 0 && v.OrigValue < float64(time.Hour) {
			return max(1, time.Duration(v.OrigValue+0.5)), true
		}
	}
	return 0, false
}

// exactly matches one benchmark.
func exactly(name string) string {
	parts := strings.Split("Benchmark"+name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

var notInName = regexp.MustCompile(`[^a-z0-9._+-]`)

// benchName is the name of a benchmark's target.
func benchName(target, benchmark string) (string, error) {
	sub := notInName.ReplaceAllString(strings.ToLower(benchmark), "_")
	name := target + "." + sub
	if m := procsForm.FindStringIndex(name); m != nil {
		name = name[:m[0]] + "_" + name[m[0]+1:]
	}
	if err := ValidName(name); err != nil {
		return "", errors.New(err.Error() + ": shorten the target's name, or match other benchmarks")
	}
	return name, nil
}
