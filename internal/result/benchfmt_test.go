package result

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"
)

// benchResults is a file as benchmark tools read it.
func benchResults(t *testing.T, file string) []*benchfmt.Result {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var results []*benchfmt.Result
	r := benchfmt.NewReader(f, file)
	for r.Scan() {
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("%s: %v", file, r.Result())
		}
		results = append(results, res.Clone())
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return results
}

// Every round of every block arrives, with the keys of its own block and no
// key left over from the one before.
func TestBenchfmtReads(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		runs, err := ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		results := benchResults(t, file)
		for _, run := range runs {
			if len(results) < len(run.Rounds) {
				t.Fatalf("%s: %s %s: %d results left for %d rounds", file, run.Target, run.Side, len(results), len(run.Rounds))
			}
			for i, round := range run.Rounds {
				res := results[i]
				if got, want := res.Name.String(), "PBKDF2/target="+run.Target+"-1"; got != want || res.Iters != round.Clean {
					t.Errorf("%s: got %s %d, want %s %d", file, got, res.Iters, want, round.Clean)
				}
				for _, f := range fields {
					if got, want := res.GetConfig(f.key), f.get(&run); got != want {
						t.Errorf("%s: %s is %q, want %q", file, f.key, got, want)
					}
				}
				checkValues(t, res, round)
			}
			results = results[len(run.Rounds):]
		}
		if len(results) > 0 {
			t.Errorf("%s: %d results more than rounds", file, len(results))
		}
	}
}

// checkValues holds the values against the round. benchfmt makes seconds of
// ns and keeps the original beside them.
func checkValues(t *testing.T, res *benchfmt.Result, round Round) {
	t.Helper()
	tidied := map[string]string{"ns/op": "sec/op", "chain-ns": "chain-sec", "lanes-ns": "lanes-sec"}
	if len(res.Values) != len(figures) {
		t.Fatalf("%d values, want %d", len(res.Values), len(figures))
	}
	for i, f := range figures {
		v, want := res.Values[i], *f.of(&round)
		unit, tidy := tidied[f.unit]
		if tidy && (v.Unit != unit || v.OrigUnit != f.unit || v.OrigValue != want || math.Abs(v.Value/want-1e-9) > 1e-15) ||
			!tidy && (v.Unit != f.unit || v.Value != want) {
			t.Errorf("%s: got %+v, want %v", f.unit, v, want)
		}
	}
}

// What benchfmt.Writer writes is a file when every block has a writer of its
// own: one writer leaves out what has not changed since the block before, and
// a block of a file has all its keys.
func TestBenchfmtWrites(t *testing.T) {
	t.Parallel()
	const file = "testdata/base-and-head.txt"
	want, err := ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	results := benchResults(t, file)
	write := func(writerPerBlock bool) string {
		var b bytes.Buffer
		w := benchfmt.NewWriter(&b)
		left := results
		for _, run := range want {
			if writerPerBlock {
				w = benchfmt.NewWriter(&b)
			}
			for range run.Rounds {
				if err := w.Write(left[0]); err != nil {
					t.Fatal(err)
				}
				left = left[1:]
			}
		}
		return b.String()
	}
	if diff := cmp.Diff(want, read(t, write(true))); diff != "" {
		t.Error(diff)
	}
	if _, err := Read(strings.NewReader(write(false)), "x.txt"); err == nil || !strings.Contains(err.Error(), "a key after the rounds of a block") {
		t.Errorf("one writer for all blocks: %v", err)
	}
}

// The command is the documented one.
func TestBenchstatComparesReleases(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds benchstat")
	}
	const command = "golang.org/x/perf/cmd/benchstat -table goos,goarch,cpu,prf,iterations,salt-bytes,key-bytes -col release testdata/releases.txt"
	var stderr strings.Builder
	cmd := exec.Command("go", append([]string{"run"}, strings.Fields(command)...)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	for _, want := range []string{"cpu: AMD EPYC 7763", "v1.3.0", "v1.4.0", "PBKDF2/target=go-1", "154.4m", "163.4m", "+5.82% (p=0.000 n=24)", "relcost", "chain-sec"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(stderr.String(), "releases.txt") {
		t.Errorf("benchstat stumbles over the file: %s", &stderr)
	}
}
