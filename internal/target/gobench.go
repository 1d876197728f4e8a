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
	run := func(ctx context.Context, expr, length string) (map[string]time.Duration, []string, error) {
		var stdout, stderr tailWriter
		// One processor, as when it is measured: names then have no -N at their end.
		args := []string{path, "-test.run=^$", "-test.bench=" + expr, "-test.benchtime=" + length, "-test.count=1", "-test.cpu=1"}
		if err := s.once(ctx, args, dir, &stdout, &stderr); err != nil {
			return nil, nil, err
		}
		return readBenchmarks(stdout.buf)
	}
	_, names, err := run(ctx, expr, "1x")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no benchmark of %s ran for %q: none matches, or they skip", pkg, expr)
	}
	var all []Built
	for _, name := range names {
		b := Built{Spec: spec, Parent: spec.Name}
		if b.Spec.Name, err = benchName(spec.Name, name); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(o Built) bool { return o.Spec.Name == b.Spec.Name }) {
			return nil, fmt.Errorf("two benchmarks would be called %s: match fewer", b.Spec.Name)
		}
		exact := exactly(name)
		b.Once = func(ctx context.Context) (Once, error) {
			times, _, err := run(ctx, exact, benchTime)
			if err != nil {
				return Once{}, err
			}
			d, ok := times[name]
			if !ok {
				return Once{}, fmt.Errorf("benchmark %s did not run again: it skips, or its name changes from run to run", name)
			}
			return Once{Elapsed: d, Words: words}, nil
		}
		all = append(all, b)
	}
	return all, nil
}

// readBenchmarks has the time of one operation by a benchmark's name, and the
// names in their order.
func readBenchmarks(out []byte) (times map[string]time.Duration, names []string, err error) {
	times = map[string]time.Duration{}
	r := benchfmt.NewReader(bytes.NewReader(out), "benchmark output")
	for r.Scan() {
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		name := res.Name.String() // a -N at its end is its own
		ns, ok := nsPerOp(res)
		if !ok {
			return nil, nil, fmt.Errorf("benchmark %s reports no ns/op: it must measure time (b.ReportMetric(0, \"ns/op\") hides it)", name)
		}
		if _, again := times[name]; again {
			return nil, nil, fmt.Errorf("benchmark %s is reported twice: give each a name of its own", name)
		}
		times[name] = ns
		names = append(names, name)
	}
	return times, names, r.Err()
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
