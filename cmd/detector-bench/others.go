package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// otherSide is what programs in common use recorded of one side.
type otherSide struct {
	GoBench   []float64 // ns/op of each run of one Go benchmark
	Hyperfine []float64 // s of each run of a program that hashes once
}

// extraVariable has the truth for the benchmark of this package.
const extraVariable = "DETECTOR_BENCH_EXTRA"

// hashOnce is a program that hashes once, for hyperfine.
func hashOnce(_ context.Context, fs *flag.FlagSet, args []string) error {
	d, err := deriverByFlag(fs, args)
	if err != nil {
		return err
	}
	fmt.Printf("%x\n", d.reference())
	return nil
}

// reference derives the reference workload's key.
func (d *deriver) reference() []byte {
	w := workload.Reference()
	return d.derive(w.PRF, workload.Password, []byte("sixteen bytes of")[:w.SaltBytes], w.Iterations, w.KeyBytes)
}

// buildOthers compiles this package's benchmark, and looks for hyperfine.
func (b *workbench) buildOthers(ctx context.Context) error {
	if _, err := exec.LookPath("hyperfine"); err != nil {
		return fmt.Errorf("%w: install it (cargo install hyperfine), or leave the others out with -others 0", err)
	}
	const pkg = "github.com/pbkdf2-gate/pbkdf2-gate/cmd/detector-bench"
	file := filepath.Join(b.dir, "bench")
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", file, pkg).CombinedOutput(); err != nil {
		return fmt.Errorf("go test -c %s: %w: run within the repository, or leave the others out with -others 0\n%s", pkg, err, out)
	}
	var err error
	b.benches, err = copies(file, file, len(b.names))
	return err
}

// goBench runs the benchmark of each side, one side after the other.
func (b *workbench) goBench(ctx context.Context, r *rand.Rand, t *trial) error {
	count := max(1, int(b.budget/time.Second))
	for _, i := range r.Perm(len(b.names)) {
		cmd := exec.CommandContext(ctx, b.benches[i], "-test.run", "^$", "-test.bench", "^BenchmarkHash$", "-test.benchtime", "0.9s", "-test.count", fmt.Sprint(count))
		cmd.Env = append(os.Environ(), extraVariable+"="+b.names[i])
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", b.names[i], err, out)
		}
		if t.Others[i].GoBench, err = nsPerOp(out); err != nil {
			return fmt.Errorf("%s: %w\n%s", b.names[i], err, out)
		}
	}
	return nil
}

// nsPerOp reads the output of a benchmark, in ns.
func nsPerOp(out []byte) (ns []float64, err error) {
	r := benchfmt.NewReader(bytes.NewReader(out), "")
	for r.Scan() {
		if x, ok := r.Result().(*benchfmt.Result); ok {
			if s, ok := x.Value("sec/op"); ok {
				ns = append(ns, s*1e9)
			}
		}
	}
	if len(ns) == 0 && r.Err() == nil {
		return nil, errors.New("no ns/op")
	}
	return ns, r.Err()
}

// hyperfine times whole programs, one side after the other.
func (b *workbench) hyperfine(ctx context.Context, r *rand.Rand, t *trial) error {
	once := func(i int) []string { return []string{b.programs[i], "hash", "-extra", b.names[i]} }
	args := once(0)
	start := time.Now()
	if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	runs := max(10, int(b.budget/time.Since(start)))
	order := r.Perm(len(b.names))
	file := filepath.Join(b.dir, "hyperfine.json")
	args = []string{"--shell", "none", "--warmup", "1", "--runs", fmt.Sprint(runs), "--style", "none", "--export-json", file}
	for _, i := range order {
		args = append(args, strings.Join(once(i), " "))
	}
	if out, err := exec.CommandContext(ctx, "hyperfine", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	var got struct{ Results []struct{ Times []float64 } }
	if err := json.NewDecoder(bufio.NewReader(f)).Decode(&got); err != nil {
		return err
	}
	if len(got.Results) != len(order) {
		return fmt.Errorf("%d results of %d", len(got.Results), len(order))
	}
	for j, i := range order {
		t.Others[i].Hyperfine = got.Results[j].Times
	}
	return nil
}
