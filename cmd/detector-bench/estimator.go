package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/measure"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/target"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// estimator prints the standard deviation, over windows of one process
// each, of estimators over the same slices.
func estimator(ctx context.Context, fs *flag.FlagSet, args []string) error {
	windows := fs.Int("windows", 15, "how many, 8 to 40")
	length := fs.Duration("window", 4*time.Second, "length of one")
	seed := fs.Uint64("seed", 1, "of the load")
	busy := fs.Bool("load", true, "keep every core busy in bursts meanwhile")
	iterations := fs.Int("slice", 1000, "iterations of one slice")
	yard := fs.Duration("yardstick", 250*time.Microsecond, "length of one yardstick")
	dump := fs.String("dump", "", "file for the raw slices, as JSON")
	fs.Parse(args)

	self, err := os.Executable()
	if err != nil {
		return err
	}
	if *busy {
		stop, err := startLoad(ctx, "-seed", fmt.Sprint(*seed), "-for", (time.Duration(*windows+5) * 2 * *length).String())
		if err != nil {
			return err
		}
		defer stop()
	}
	spec := target.Spec{Name: "go", Kind: "probe", Rest: "'" + self + "' probe"}
	built, err := target.Side{Environ: os.Environ()}.Prepare(ctx, []target.Spec{spec})
	if err != nil {
		return err
	}
	if built[0].Err != nil {
		return built[0].Err
	}
	subject := measure.Subject{Name: "go", Side: result.Head, Workload: workload.Reference(), Start: measure.Starter(built[0].Commands...)}
	// as many slices as fill a window, at what Go's library takes here
	cycle := time.Duration(*iterations)*400*time.Nanosecond + *yard + 50*time.Microsecond
	subject.Plan = result.Plan{SliceIterations: *iterations, Slices: int(*length / cycle), WarmUp: 10, Yardstick: *yard}

	var raw measure.Raw
	start := time.Now()
	_, err = measure.Run(ctx, measure.Config{
		Subjects: []measure.Subject{subject},
		Budget:   time.Duration(*windows) * *length,
		Enough:   func([]result.Round) bool { return false },
		Clock:    func() time.Duration { return time.Since(start) },
		Kernels:  measure.RealKernels(), Rand: rand.New(rand.NewPCG(*seed, 2)), Pin: measure.PinThread,
		Raw: func(r measure.Raw) { raw = r },
	})
	if err != nil {
		return err
	}
	if *dump != "" {
		data, err := json.Marshal(raw)
		if err != nil {
			return err
		}
		if err := os.WriteFile(*dump, data, 0o666); err != nil {
			return err
		}
	}

	var median, plain, clean25, clean10, gate, share []float64
	for _, r := range raw.Rounds {
		median = append(median, stats.Median(r.Slices))
		plain = append(plain, stats.Quantile(r.Slices, 0.25))
		share = append(share, float64(len(r.Clean))/float64(len(r.Slices)))
		var c []float64
		for _, i := range r.Clean {
			c = append(c, r.Slices[i])
		}
		if len(c) >= result.MinCleanSlices && share[len(share)-1] >= result.MinCleanShare {
			clean25 = append(clean25, stats.Quantile(c, 0.25))
			clean10 = append(clean10, stats.Quantile(c, 0.10))
		}
	}
	for _, r := range measure.Rounds([]measure.Raw{raw})[0] {
		gate = append(gate, r.NsPerOp)
	}
	fmt.Printf("%d windows of %d slices, %.1f s in all, clean share %.2f (median), %.1f %% of the measuring time in slices and yardsticks\n",
		len(raw.Rounds), raw.Plan.Slices, time.Since(start).Seconds(), stats.Median(share), 100*raw.Inside.Seconds()/raw.Spent.Seconds())
	fmt.Println("estimator                        windows  sd between windows")
	for _, e := range []struct {
		name string
		v    []float64
	}{
		{"median of all slices", median}, {"25th percentile of all slices", plain},
		{"25th percentile of clean slices", clean25},
		{"10th percentile of clean slices", clean10},
		{"the gate's, at the run's clock", gate},
	} {
		fmt.Printf("%-32s %7d  %.2f %%\n", e.name, len(e.v), 100*deviation(e.v))
	}
	return nil
}

// deviation is the standard deviation over the mean.
func deviation(v []float64) float64 { return spread(v) / mean(v) }
