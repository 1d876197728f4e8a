package baseline

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// TestMain lets the test binary play a process that updates until it is
// killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("BASELINE_TEST_UPDATE"); dir != "" {
		for i := 0; ; i++ {
			if _, err := Update(dir, "v1", []result.Run{run("go", fmt.Sprint("r", i), "c1", day(1), 154)}, Options{}); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			fmt.Println("updated")
		}
	}
	os.Exit(m.Run())
}

func TestConcurrentUpdates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const n = 20
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if _, err := Update(dir, fmt.Sprintf("v%d", i), []result.Run{run("go", "r", fmt.Sprint("c", i), day(i+1), 154)}, Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	runs := stored(t, dir)
	if len(runs) != n {
		t.Fatalf("%d of %d updates survived: %s", len(runs), n, names(runs))
	}
	for i, r := range runs {
		if want := fmt.Sprintf("v%d", i); r.Release != want {
			t.Errorf("release %d is %s, want %s", i, r.Release, want)
		}
	}
}

func TestKilledUpdate(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	update(t, dir, "v0", run("go", "old", "c0", day(0), 154))
	for kill := range 10 {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), "BASELINE_TEST_UPDATE="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 1 + kill {
			if !lines.Scan() || lines.Text() != "updated" {
				t.Errorf("the process says %q", lines.Text())
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait() // killed
		if runs := stored(t, dir); len(runs) != 2 || runs[0].Release != "v0" || runs[1].Release != "v1" {
			t.Fatalf("after a kill: %s", names(runs))
		}
	}
	// A temporary file may be left, but no lock, and nobody takes it for a
	// baseline.
	update(t, dir, "v2", run("go", "new", "c2", day(2), 154))
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	files, err := s.All()
	if err != nil || len(files) != 1 || len(files[0].Runs) != 3 {
		t.Errorf("%v, %v", files, err)
	}
	if baselines, err := filepath.Glob(filepath.Join(dir, "*", "[^.]*")); err != nil || len(baselines) != 1 {
		t.Errorf("%v, %v", baselines, err)
	}
}
