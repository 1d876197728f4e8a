package baseline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// rounds gives a run n of them, which can be told apart by their clean slices.
func rounds(n int) func(*result.Run) {
	return func(r *result.Run) {
		one := r.Rounds[0]
		r.Rounds = nil
		for i := range n {
			one.Clean, one.CleanShare = 61+i, float64(61+i)/120
			r.Rounds = append(r.Rounds, one)
		}
	}
}

// No run takes more than 4 KB, whatever was measured.
func TestRunSize(t *testing.T) {
	t.Parallel()
	long := func(r *result.Run) { r.Target = "a-target-whose-name-is-as-long-as-names-may-be-which-is-64.chars" }
	notes := func(r *result.Run) {
		for i := range 4 {
			r.Notes = append(r.Notes, strings.Repeat("n", result.MaxText-i))
		}
	}
	for name, c := range map[string]struct {
		run  result.Run
		kept []int // at least, at most
	}{
		"8 rounds":       {with(run("go", "a", "c1", day(1), 154), rounds(8)), []int{8, 8}},
		"24 rounds":      {with(run("go", "a", "c1", day(1), 154), rounds(24)), []int{24, 24}},
		"40 rounds":      {with(run("go", "a", "c1", day(1), 154), rounds(40)), []int{28, 39}},
		"a long name":    {with(run("go", "a", "c1", day(1), 154), rounds(40), long), []int{18, 30}},
		"and long notes": {with(run("go", "a", "c1", day(1), 154), rounds(40), long, notes), []int{8, 20}},
	} {
		dir := t.TempDir()
		rep := update(t, dir, "v1", c.run)
		info, err := os.Stat(rep.Files[0].Path)
		if err != nil {
			t.Fatal(err)
		}
		kept := stored(t, dir)[0].Rounds
		if info.Size() > maxRunBytes || len(kept) < c.kept[0] || len(kept) > c.kept[1] {
			t.Errorf("%s: %d rounds, %d bytes", name, len(kept), info.Size())
		}
		// In their order, from the first to nearly the last, without a gap.
		for i, round := range kept {
			if first := round.Clean == kept[0].Clean; i == 0 && round.Clean != 61 || i > 0 && (first || round.Clean-kept[i-1].Clean > 61) || i > 0 && round.Clean <= kept[i-1].Clean {
				t.Errorf("%s: round %d is %d", name, i, round.Clean)
			}
		}
		// The same run again is the same text.
		if again := update(t, dir, "v1", c.run); again.Files[0].State != Unchanged {
			t.Errorf("%s: changed by the same run", name)
		}
	}
	// What is no evidence goes first.
	mixed := with(run("go", "a", "c1", day(1), 154), rounds(40), func(r *result.Run) {
		for i := range 30 {
			r.Rounds[i].Clean, r.Rounds[i].CleanShare = 24, 0.2
		}
	})
	dir := t.TempDir()
	update(t, dir, "v1", mixed)
	if kept := stored(t, dir)[0].Rounds; len(kept) != 10 || len(usableOf(kept)) != 10 {
		t.Errorf("%d rounds kept, %d of 10 usable", len(kept), len(usableOf(kept)))
	}
}

// big is a folder of 20 releases with 3 replicas on 6 platforms with 5
// targets, of as many rounds as are kept.
func big(tb testing.TB) (dir string, bytes int64) {
	tb.Helper()
	dir = tb.TempDir()
	for p := range 6 {
		platform := host.Platform{GOOS: "linux", GOARCH: "amd64", CPUID: fmt.Sprintf("some-cpu-f6m%ds1-sha", p)}
		var runs []result.Run
		for release := range 20 {
			for target := range 5 {
				for replica := range 3 {
					r := run(fmt.Sprintf("target%c", 'a'+target), fmt.Sprint("20260901T120000Z-46b491f", replica), "947717ad33bc56cc7df0ca9dd4011e10e253b79c", day(release+1), 154+float64(replica))
					r.Host.CPUID, r.Release, r.Toolchain, r.Host.Image = platform.CPUID, fmt.Sprintf("v1.%d.0", release), "go1.26.8", "ubuntu-24.04 20261102.1"
					runs = append(runs, thin(with(r, rounds(40))))
				}
			}
		}
		write(tb, dir, platform, runs...)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			tb.Fatal(err)
		}
		bytes += info.Size()
	}
	return dir, bytes
}

func TestBigFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("writes megabytes")
	}
	t.Parallel()
	dir, size := big(t)
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.All()
	if err != nil || len(files) != 6 || len(files[0].Runs) != 300 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if most := int64(6*300) * maxRunBytes; size > most {
		t.Errorf("%d bytes, more than %d", size, most)
	}
	if !slices.IsSortedFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) }) {
		t.Error("the files have no order")
	}
}

// BenchmarkLoad reads all of a big folder, as every check does.
func BenchmarkLoad(b *testing.B) {
	dir, size := big(b)
	b.SetBytes(size)
	for b.Loop() {
		s, err := Open(dir)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.All(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size)/(1<<20), "MB")
}
