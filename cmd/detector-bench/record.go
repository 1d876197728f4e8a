package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/measure"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// trial is one job: every side measured beside the others by every method,
// in the same minutes. A file of a folder.
type trial struct {
	Number int
	Seed   uint64
	Load   string // none, bursts or late
	Began  time.Time
	Host   host.Fingerprint
	Budget time.Duration // of each side and method
	Sides  []string      // names of truths; the first is the base
	Gate   []gateSide    // ours, a side each
	Others []otherSide   // what others recorded, a side each; nil where they were left out
	Took   map[string]time.Duration
}

// gateSide is what the gate recorded of one side.
type gateSide struct {
	Run result.Run
	Raw samples
}

// samples are measure.Raw as whole numbers: tenths of ns of slices,
// thousandths of ns a compression of the yardsticks.
type samples struct {
	Apart  bool
	Call   float64
	Tick   float64 `json:",omitempty"`
	Rounds []roundSamples
}

type roundSamples struct {
	Calls        []int32 `json:",omitempty"` // as slices
	Early        []int32 `json:",omitempty"` // chain and lanes before them
	Slices, CPU  []int32
	Chain, Lanes []int32
}

func scaled(v []float64, by float64) []int32 {
	s := make([]int32, len(v))
	for i, x := range v {
		s[i] = int32(math.Round(min(x*by, math.MaxInt32)))
	}
	return s
}

func samplesOf(raw measure.Raw) samples {
	s := samples{Apart: raw.Apart, Call: raw.Call, Tick: raw.Tick}
	for _, r := range raw.Rounds {
		s.Rounds = append(s.Rounds, roundSamples{Calls: scaled(r.Calls, 10), Early: scaled(r.Early[:], 1000), Slices: scaled(r.Slices, 10), CPU: scaled(r.CPU, 10), Chain: scaled(r.Chain, 1000), Lanes: scaled(r.Lanes, 1000)})
	}
	return s
}

// raw is what measure gave, but for times that are not kept.
func (g gateSide) raw() measure.Raw {
	raw := measure.Raw{Name: g.Run.Target, Workload: g.Run.Workload, Plan: g.Run.Plan, Apart: g.Raw.Apart, Call: g.Raw.Call, Tick: g.Raw.Tick}
	for _, r := range g.Raw.Rounds {
		x := measure.RawRound{Calls: floats(r.Calls, 10), Slices: floats(r.Slices, 10), Chain: floats(r.Chain, 1000), Lanes: floats(r.Lanes, 1000)}
		copy(x.Early[:], floats(r.Early, 1000)) // earlier recordings have no calls
		raw.Rounds = append(raw.Rounds, x)
	}
	return raw
}

// price makes the records' rounds of their samples again, as the gate of today
// does: what is judged is not what it was when they were taken.
func (t *trial) price() {
	var run []measure.Raw
	for _, g := range t.Gate {
		run = append(run, g.raw())
	}
	for i, rounds := range measure.Rounds(run) {
		t.Gate[i].Run.Rounds, t.Gate[i].Run.Disturbed = rounds, len(run[i].Rounds)-len(rounds)
	}
}

func floats(v []int32, by float64) []float64 {
	f := make([]float64, len(v))
	for i, x := range v {
		f[i] = float64(x) / by
	}
	return f
}

// record measures trials into a folder; those that it has already are not
// measured again.
func record(ctx context.Context, flags *flag.FlagSet, args []string) error {
	out := flags.String("out", "", "folder for the trials (needed)")
	trials := flags.Int("trials", 1000, "how many trials the folder shall have at most")
	length := flags.Duration("for", 50*time.Minute, "start no trial after this time")
	sides := flags.String("sides", "0,0,0.3,0.5,1,2,5,call,path", "the base and its heads: per cent of more iterations, or what probe -h has for -extra")
	budget := flags.Duration("budget", 10*time.Second, "of each side and method")
	seed := flags.Uint64("seed", 1, "of the load and of every order")
	loads := flags.String("load", "bursts,none,bursts,late", "none, bursts, late (from the middle of each method), or several, which take turns")
	others := flags.Int("others", 3, "every how many trials the others measure too; 0: never")
	into := flags.String("into", "", "folder that judge writes into at the end; empty: none")
	quick := flags.Bool("quick", false, "two minutes: -for 90s -budget 3s -sides 0,0,1 -load bursts -others 2")
	long := flags.Bool("long", false, "hours, until 300 identical pairs: -for 8h -trials 100 -sides 0,0,0.3,0.3,0.5,0.5 -load bursts -others 0")
	flags.Parse(args)
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	preset := map[string]string{}
	switch {
	case *quick && *long:
		return errors.New("-quick or -long, not both")
	case *quick:
		preset = map[string]string{"for": "90s", "budget": "3s", "sides": "0,0,1", "load": "bursts", "others": "2"}
	case *long:
		preset = map[string]string{"for": "8h", "trials": "100", "sides": "0,0,0.3,0.3,0.5,0.5", "load": "bursts", "others": "0"}
	}
	for name, value := range preset {
		if !given[name] {
			if err := flags.Set(name, value); err != nil {
				return err
			}
		}
	}
	if *out == "" {
		return errors.New("no folder for the trials: give one with -out")
	}
	names := strings.Split(*sides, ",")
	for _, n := range names {
		if _, err := parseTruth(n); err != nil {
			return fmt.Errorf("-sides: %w", err)
		}
	}
	if names[0] != identical {
		return fmt.Errorf("-sides: %q: the first is the base: 0", *sides)
	}
	kinds := strings.Split(*loads, ",")
	for _, k := range kinds {
		if !slices.Contains([]string{"none", "bursts", "late"}, k) {
			return fmt.Errorf("-load: %q is none of none, bursts, late", k)
		}
	}
	if err := os.MkdirAll(*out, 0o777); err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "detector-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	b, err := newWorkbench(temp, names, *budget)
	if err != nil {
		return err
	}
	if *others > 0 {
		if err := b.buildOthers(ctx); err != nil {
			return err
		}
	}
	start := time.Now()
	for n := range *trials {
		file := filepath.Join(*out, fmt.Sprintf("%04d.json.gz", n))
		if data, err := os.ReadFile(file); err == nil {
			t, err := readTrial(data)
			if err != nil {
				return fmt.Errorf("%s: %w: remove it to measure that trial again", file, err)
			}
			b.plan = t.Gate[0].Run.Plan
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if time.Since(start) > *length {
			break
		}
		t := trial{Number: n, Seed: *seed, Load: kinds[n%len(kinds)], Began: time.Now().UTC(), Host: b.host, Budget: *budget, Sides: names}
		if err := b.trial(ctx, &t, *others > 0 && n%*others == 0); err != nil {
			return fmt.Errorf("trial %d: %w", n, err)
		}
		if err := writeTrial(file, t); err != nil {
			return err
		}
		b.plan = t.Gate[0].Run.Plan
		fmt.Printf("%s  %-6s %s\n", file, t.Load, summary(t))
	}
	if *into != "" {
		return writeFigures(*into, []string{*out})
	}
	return nil
}

// summary is a line for who waits.
func summary(t trial) string {
	var s []string
	for _, g := range t.Gate {
		clean := 0.0
		for _, r := range g.Run.Rounds {
			clean += r.CleanShare / float64(len(g.Run.Rounds))
		}
		s = append(s, fmt.Sprintf("%d/%.0f%%", len(g.Run.Rounds), 100*clean))
	}
	return fmt.Sprintf("rounds/clean %s  %.0f s", strings.Join(s, " "), time.Since(t.Began).Seconds())
}

// workbench has what every trial needs.
type workbench struct {
	dir      string
	host     host.Fingerprint
	names    []string
	budget   time.Duration
	plan     result.Plan // of the trial before, as a baseline's; zero at first
	programs []string    // a copy of this program for each side, as the builds of two trees are
	benches  []string    // likewise of its compiled benchmark; empty without the others
}

func newWorkbench(dir string, names []string, budget time.Duration) (*workbench, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &workbench{dir: dir, names: names, budget: budget, host: host.Read()}
	b.programs, err = copies(self, filepath.Join(dir, "side"), len(names))
	return b, err
}

// copies makes n copies of a program.
func copies(program, prefix string, n int) (files []string, err error) {
	data, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	for i := range n {
		file := fmt.Sprintf("%s-%d", prefix, i)
		if err := os.WriteFile(file, data, 0o777); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// trial measures by every method, one after the other, in an order of its
// own.
func (b *workbench) trial(ctx context.Context, t *trial, others bool) error {
	r := rand.New(rand.NewPCG(t.Seed, uint64(t.Number)))
	type method struct {
		name string
		run  func(context.Context, *rand.Rand, *trial) error
	}
	methods := []method{{"gate", b.gate}}
	if others {
		t.Others = make([]otherSide, len(t.Sides))
		methods = append(methods, method{"go test -bench", b.goBench}, method{"hyperfine", b.hyperfine})
	}
	r.Shuffle(len(methods), func(i, j int) { methods[i], methods[j] = methods[j], methods[i] })
	t.Took = map[string]time.Duration{}
	for i, m := range methods {
		stop, err := b.busy(ctx, *t, i)
		if err != nil {
			return err
		}
		start := time.Now()
		err = m.run(ctx, r, t)
		stop()
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		t.Took[m.name] = time.Since(start)
	}
	return nil
}

// busy starts the trial's load for its i-th method.
func (b *workbench) busy(ctx context.Context, t trial, i int) (stop func(), err error) {
	if t.Load == "none" {
		return func() {}, nil
	}
	flags := []string{"-for", (4 * b.budget * time.Duration(len(b.names))).String(), "-seed", fmt.Sprint(t.Seed*1_000_000 + uint64(t.Number*10+i))}
	if t.Load == "late" {
		flags = append(flags, "-after", (b.budget * time.Duration(len(b.names)) / 2).String())
	}
	return startLoad(ctx, flags...)
}

// gate measures the sides as one job's.
func (b *workbench) gate(ctx context.Context, r *rand.Rand, t *trial) error {
	var subjects []measure.Subject
	for i, n := range b.names {
		command := probe.Command{Args: []string{b.programs[i], "probe", "-extra", n}, Dir: b.dir, Env: os.Environ(), Evict: true}
		side := result.Head
		if i == 0 {
			side = result.Base
		}
		subjects = append(subjects, measure.Subject{Name: "p", Side: side, Workload: workload.Reference(), Plan: b.plan, Start: measure.Starter(command)})
	}
	var raw []measure.Raw
	start := time.Now()
	runs, err := measure.Run(ctx, measure.Config{
		Subjects: subjects, Budget: b.budget, Enough: func([]result.Round) bool { return false },
		Clock:   func() time.Duration { return time.Since(start) },
		Kernels: measure.RealKernels(), Rand: r, Pin: measure.PinThread,
		Raw: func(x measure.Raw) { raw = append(raw, x) },
	})
	if err != nil {
		return err
	}
	for i, run := range runs {
		if run.Outcome != result.Measured {
			return fmt.Errorf("%s: %s: %s", b.names[i], run.Outcome, run.Message)
		}
		run.Host, run.ID, run.Date = b.host, fmt.Sprint(t.Number), t.Began.Truncate(time.Second)
		t.Gate = append(t.Gate, gateSide{run, samplesOf(raw[i])})
	}
	return nil
}

// writeTrial writes a whole file or none.
func writeTrial(file string, t trial) (err error) {
	f, err := os.Create(file + ".part")
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	err = json.NewEncoder(z).Encode(t)
	err = errors.Join(err, z.Close(), f.Close())
	if err == nil {
		err = os.Rename(file+".part", file)
	}
	return err
}

// recording is a folder of trials.
type recording struct {
	trials []trial
	digest string // SHA-256 of its files, in order
}

// readRecordings reads folders of trials, in order.
func readRecordings(folders []string) (all []recording, err error) {
	for _, dir := range folders {
		files, err := filepath.Glob(filepath.Join(dir, "*.json.gz"))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s has no trials: see detector-bench record -h", dir)
		}
		var r recording
		sum := sha256.New()
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			sum.Write(data)
			t, err := readTrial(data)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			t.price()
			r.trials = append(r.trials, t)
		}
		r.digest = hex.EncodeToString(sum.Sum(nil))
		all = append(all, r)
	}
	return all, nil
}

func readTrial(data []byte) (t trial, err error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return t, err
	}
	return t, json.NewDecoder(z).Decode(&t)
}
