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
)

// benchTime is for how long a benchmark repeats its operation in one round.
const benchTime = "200ms"

// benchmarks are the package and the regular expression of a GoBench.
func (s Spec) benchmarks() (pkg, expr string, err error) {
	words, err := splitWords(s.Rest, false)
	if err != nil {
		return "", "", fmt.Errorf("go-bench %q: %w", s.Rest, err)
	}
	if len(words) != 2 {
		return "", "", fmt.Errorf("go-bench %q: write a package and a regular expression, such as ./internal/auth Hash", s.Rest)
	}
	if strings.HasPrefix(words[0], "-") {
		return "", "", fmt.Errorf("go-bench %q: %q is no package: write one such as ./internal/auth", s.Rest, words[0])
	}
	// As a whole: its slashes part it only outside of brackets. What is wrong
	// with a part alone the test program says.
	if _, err := regexp.Compile(words[1]); err != nil {
		return "", "", fmt.Errorf("go-bench %q: %w", s.Rest, err)
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
		err := s.once(ctx, args, dir, &stdout, &stderr, whyEnded)
		found := readBenchmarks(stdout.buf)
		if err != nil && !allRan(stdout.buf, found) {
			return found, &endedError{endedBy(stderr.buf), err}
		}
		return found, nil
	}
	found, err := run(ctx, expr, "1x")
	if err == nil && len(found) == 0 {
		return nil, fmt.Errorf("no benchmark of %s ran for %q: none matches, or they skip", pkg, expr)
	}
	var all []Built
	add := func(b Built, benchmark string) error {
		b.Spec, b.Parent = spec, spec.Name
		var err error
		if b.Spec.Name, err = benchName(spec.Name, benchmark); err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(o Built) bool { return o.Spec.Name == b.Spec.Name }) {
			return fmt.Errorf("two benchmarks would be called %s: match fewer", b.Spec.Name)
		}
		all = append(all, b)
		return nil
	}
	for _, bench := range found {
		once := func(ctx context.Context) (Once, error) {
			again, err := run(ctx, exactly(bench.name), benchTime)
			if err != nil {
				return Once{}, err
			}
			once := Once{Words: words}
			for _, x := range again {
				if x.err != nil { // perhaps of one that this one is a part of
					return Once{}, x.err
				}
				if x.name == bench.name {
					once.Elapsed = x.time
				}
			}
			if once.Elapsed > 0 {
				return once, nil
			}
			return Once{}, fmt.Errorf("benchmark %s did not run again: it skips, or its name changes from run to run", bench.name)
		}
		if err := add(Built{Once: once, Err: bench.err}, bench.name); err != nil {
			return nil, err
		}
	}
	var ended *endedError
	if errors.As(err, &ended) && (ended.name == "" || add(Built{Err: err, Unlisted: true}, ended.name) != nil) {
		all = append(all, Built{Spec: spec, Err: err, Unlisted: true})
	}
	return all, nil
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
