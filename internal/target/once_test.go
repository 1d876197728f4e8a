package target

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTime(t *testing.T) {
	for _, c := range []struct {
		name, script string
		want         time.Duration // 0: no time of its own
		err          string
	}{
		{"prints", "echo 'Elapsed: 66.1ms'", 66100 * time.Microsecond, ""},
		{"prints on standard error", "echo 'key 1234'; echo 'Time elapsed is: 98.3ms' >&2", 98300 * time.Microsecond, ""},
		{"the last one", "echo 'Elapsed: 66.1ms'; echo 'Elapsed: 67.2ms'", 67200 * time.Microsecond, ""},
		{"prints nothing", "exit 0", 0, ""},
		{"prints much", "yes | head -c 1000000; echo; echo 12ms", 12 * time.Millisecond, ""},
		{"prints zero", "echo 'Elapsed: 0ms'", 0, ""},
		{"is not clear", "echo 'took 66,1ms'", 0, "66,1ms"},
		{"fails", "echo no key >&2; exit 2", 0, "exit status 2: no key"},
		{"is killed", "kill -9 $$", 0, "signal: killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t, map[string]string{"a program": "#!/bin/sh\ntest \"$1\" = 'a b' || exit 9\n" + c.script + "\n"})
			b := prepare(t, Side{Dir: dir}, `t=time:"./a program" 'a b'`)[0]
			if b.Err != nil || b.Once == nil || len(b.Commands) > 0 {
				t.Fatalf("%+v", b)
			}
			got, err := b.Once(t.Context())
			if !errorHas(err, c.err) || got.Elapsed != c.want {
				t.Errorf("%v, %v; want %v, %q", got.Elapsed, err, c.want, c.err)
			}
			if says := c.want > 0 || c.name == "prints zero"; says != (got.Line != "") {
				t.Errorf("it is from %s", got.Line)
			}
		})
	}
	b := prepare(t, Side{Dir: t.TempDir()}, "t=time:./nothing")[0]
	if _, err := b.Once(t.Context()); !errorHas(err, "no program") {
		t.Error(err)
	}
}

const benchmarks = `package auth

import (
	"os"
	"runtime"
	"testing"
	"time"
)

func BenchmarkHash(b *testing.B) {
	for _, name := range []string{"SHA 256", "sha-512"} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				time.Sleep(time.Millisecond)
			}
		})
	}
}

func BenchmarkRounds(b *testing.B) {
	for _, n := range []string{"n-10000", "n-20000"} {
		b.Run(n, func(b *testing.B) {
			runtime.GOMAXPROCS(2)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
				}
			})
		})
	}
}

func BenchmarkHashed(b *testing.B) {
	if _, err := os.Stat("here"); err != nil {
		b.Fatal(err)
	}
	for range b.N {
	}
}

func BenchmarkSkips(b *testing.B) { b.Skip("not here") }
func BenchmarkNoTime(b *testing.B) { b.ReportMetric(0, "ns/op"); b.ReportMetric(1, "x/op") }
func BenchmarkNoFigure(b *testing.B) { b.ReportMetric(0, "ns/op") }
func BenchmarkFails(b *testing.B) { b.Fatal("no entropy") }
`

func TestGoBench(t *testing.T) {
	needGo(t)
	dir := tree(t, map[string]string{
		"go.mod": "module example.com/team\n\ngo 1.24\n", "auth/auth_test.go": benchmarks, "auth/here": "", "none/none.go": "package none\n",
		"broken/broken_test.go": "package broken\n\nvar x int = \"\"\n",
	})
	before := listing(t, dir)
	built := prepare(t, Side{Dir: dir}, "b=go-bench:./auth Hash", `c=go-bench:./auth ^BenchmarkHash$/(5)\d2`, "d=go-bench:./auth Rounds")
	var names []string
	for _, b := range built {
		names = append(names, b.Spec.Name+" of "+b.Parent)
		if b.Err != nil {
			t.Fatal(b.Err)
		}
		got, err := b.Once(t.Context())
		if err != nil || got.Elapsed <= 0 || !strings.HasPrefix(got.Words["toolchain"], "go1.") {
			t.Errorf("%s: %+v, %v", b.Spec.Name, got, err)
		}
		if strings.Contains(b.Spec.Name, "sha") && got.Elapsed < time.Millisecond {
			t.Errorf("%s takes %v", b.Spec.Name, got.Elapsed)
		}
	}
	want := []string{"b.hash_sha_256 of b", "b.hash_sha_512 of b", "b.hashed of b", "c.hash_sha_512 of c", "d.rounds_n_10000 of d", "d.rounds_n_20000 of d"}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(before, listing(t, dir)); d != "" {
		t.Errorf("the tree changed: %s", d)
	}
	for spec, want := range map[string]string{
		"b=go-bench:./auth Skips":   `no benchmark of ./auth ran for "Skips": none matches, or they skip`,
		"b=go-bench:./auth Nothing": "none matches",
		"b=go-bench:./auth Hash/*":  "invalid regexp for element 1",
		"b=go-bench:./none X":       "is not one package with tests",
		"b=go-bench:./absent X":     "the tests of ./absent do not compile",
		"b=go-bench:./broken X":     "the tests of ./broken do not compile",
		"b=go-bench:./... Hash":     "",
	} {
		b := prepare(t, Side{Dir: dir}, spec)[0]
		if b.Err == nil || !strings.Contains(b.Err.Error(), want) || b.Spec.Name != "b" {
			t.Errorf("%s: %s, %v; want %q", spec, b.Spec.Name, b.Err, want)
		}
	}
	for spec, want := range map[string]struct{ name, err string }{
		"b=go-bench:./auth NoTime":   {"b.notime", "benchmark NoTime reports no ns/op"},
		"b=go-bench:./auth NoFigure": {"b.nofigure", "benchmark NoFigure reports no ns/op"},
		"b=go-bench:./auth Fails":    {"b.fails", "no entropy"},
	} {
		b := prepare(t, Side{Dir: dir}, spec)[0]
		if !errorHas(b.Err, want.err) || b.Spec.Name != want.name || b.Parent != "b" {
			t.Errorf("%s: %s of %q, %v; want %q", spec, b.Spec.Name, b.Parent, b.Err, want)
		}
	}
	if err := os.Remove(filepath.Join(dir, "auth", "here")); err != nil {
		t.Fatal(err)
	}
	if _, err := built[2].Once(t.Context()); !errorHas(err, "here: no such file") {
		t.Errorf("a benchmark that fails later: %v", err)
	}
}

// What fails takes nothing else with it.
func TestGoBenchFails(t *testing.T) {
	needGo(t)
	const header = "package auth\n\nimport \"testing\"\n\n"
	dir := tree(t, map[string]string{
		"go.mod": "module example.com/team\n\ngo 1.24\n",
		"fails/auth_test.go": header + `func BenchmarkOne(b *testing.B) {
	b.Run("good", func(b *testing.B) { for range b.N { testing.AllocsPerRun(10, func() {}) } })
	b.Run("bad", func(b *testing.B) { b.Log("deriving"); b.Fatal("wrong hash") })
	b.Run("fine", func(b *testing.B) {})
}
func BenchmarkOwn(b *testing.B) {
	b.Run("part", func(b *testing.B) { for range b.N { testing.AllocsPerRun(10, func() {}) } })
	b.Fatal("afterwards")
}
`,
		"panics/auth_test.go": header + `func BenchmarkOne(b *testing.B) {
	b.Run("good", func(b *testing.B) { for range b.N { testing.AllocsPerRun(10, func() {}) } })
	b.Run("bad", func(b *testing.B) { panic("oops") })
}
func BenchmarkTwo(b *testing.B) {}
`,
		"first/auth_test.go": header + "func BenchmarkOne(b *testing.B) { panic(\"oops\") }\n",
		"exits/auth_test.go": header + "import \"os\"\n\nfunc BenchmarkOne(b *testing.B) {}\nfunc BenchmarkTwo(b *testing.B) { os.Exit(3) }\n",
	})
	for pkg, want := range map[string][]string{
		"fails": {"b.one_good", "b.one_bad: benchmark One/bad fails: auth_test.go:7: deriving | auth_test.go:7: wrong hash", "b.one_fine",
			"b.own_part", "b.own: benchmark Own fails: auth_test.go:12: afterwards"},
		"panics": {"b.one_good", "b.one (unlisted): benchmark One ends the run, so that none after it runs: exit status 2: panic: oops"},
		"first":  {"b.one (unlisted): benchmark One ends the run, so that none after it runs: exit status 2: panic: oops"},
		"exits":  {"b.one", "b (unlisted): exit status 3"},
	} {
		var got []string
		for i, b := range prepare(t, Side{Dir: dir}, "b=go-bench:./"+pkg+" .") {
			line := b.Spec.Name
			if b.Unlisted {
				line += " (unlisted)"
			}
			if b.Err != nil {
				line += ": " + b.Err.Error()
			}
			if i < len(want) && strings.HasPrefix(line, want[i]) {
				line = want[i]
			}
			got = append(got, line)
			var err error
			if b.Once != nil {
				_, err = b.Once(t.Context())
			}
			switch b.Spec.Name {
			case "b.own_part":
				if !errorHas(err, "benchmark Own fails: auth_test.go:12: afterwards") {
					t.Errorf("a part of what fails: %v", err)
				}
			case "b.one_good":
				if err != nil {
					t.Errorf("%s: %v", b.Spec.Name, err)
				}
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", pkg, d)
		}
	}
}

func TestBenchName(t *testing.T) {
	for bench, want := range map[string]string{
		"Hash": "t.hash", "Hash/SHA 256": "t.hash_sha_256", "Hash/a-12": "t.hash_a_12", "Ä/é": "t.___",
	} {
		if got, err := benchName("t", bench); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", bench, got, err, want)
		}
	}
	if _, err := benchName("t", strings.Repeat("x", 80)); !errorHas(err, "shorten") {
		t.Error(err)
	}
}

// Digits at the end of a name are its own: it is run with one processor.
func TestReadBenchmarks(t *testing.T) {
	got := readBenchmarks([]byte("goos: linux\nBenchmarkHash/sha256-10000 \t       1\t       900.0 ns/op\nBenchmarked\nPASS\n"))
	if len(got) != 1 || got[0] != (benchmark{"Hash/sha256-10000", 900, nil}) {
		t.Errorf("%+v", got)
	}
	for out, want := range map[string]string{
		"BenchmarkA 1 5 ns/op\nBenchmarkA 1 5 ns/op\n": "A is reported twice",
		"BenchmarkA   \t      10\n":                    "A reports no ns/op",
		"BenchmarkA   1000000000 0.0000000 ns/op\n":    "A reports 0 ns/op",
	} {
		if got := readBenchmarks([]byte(out)); len(got) != 1 || !errorHas(got[0].err, want) {
			t.Errorf("%q: %+v; want %q", out, got, want)
		}
	}
}

func TestWhyEnded(t *testing.T) {
	for out, want := range map[string]string{
		"":                                    "",
		"panic: " + strings.Repeat("x", 1000): "panic: " + strings.Repeat("x", shownBytes-7) + "...",
		"goos: linux\ncpu: x\nBenchmarkA 1 5 ns/op\nFAIL\n":                                        "",
		"goos: linux\nBenchmarkA 1 5 ns/op\nno entropy\nexit status 1\n":                           "no entropy",
		"BenchmarkA 1 5 ns/op\npanic: oops [recovered]\n\tpanic: oops\n\ngoroutine 7 [running]:\n": "panic: oops [recovered] | panic: oops",
		"fatal error: all goroutines are asleep\n\ngoroutine 1 [running]:\n":                       "fatal error: all goroutines are asleep",
		"--- FAIL: BenchmarkA\n    a_test.go:1: wrong hash\nFAIL\n":                                "--- FAIL: BenchmarkA | a_test.go:1: wrong hash",
	} {
		tail := tailWriter{[]byte(out)}
		if got := strings.TrimPrefix(tail.lines(whyEnded), ": "); got != want {
			t.Errorf("%q: %q, want %q", out, got, want)
		}
	}
}
