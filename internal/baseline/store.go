// Package baseline keeps what releases cost: one result file for every
// platform, GOOS-GOARCH/CPUID.txt under a folder, and the rule by which one
// applies.
package baseline

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

const extension = ".txt"

// A Store reads a folder of baselines. Symbolic links are followed.
type Store struct{ dir string }

// A File is the baseline file of one platform.
type File struct {
	Platform host.Platform
	Path     string
	Runs     []result.Run // in the order of the file
}

// Open returns the store in dir. A folder that does not exist holds nothing;
// what is no folder, or cannot be read, is an error.
func Open(dir string) (*Store, error) {
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	return &Store{dir}, nil
}

func checkDir(dir string) error {
	_, err := os.ReadDir(dir)
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(dir); err == nil {
			return fmt.Errorf("baselines %s is a symbolic link to nothing: make the folder that it points to, or remove the link", dir)
		}
		return nil
	}
	if info, e := os.Stat(dir); e == nil && !info.IsDir() {
		return fmt.Errorf("baselines %s is not a folder: name the folder that holds them", dir)
	}
	return fmt.Errorf("read baselines: %w: make the folder readable, or name another", err)
}

// path returns where the platform's file lies in dir. The system's names have
// no hyphen, so that two platforms never share one.
func path(dir string, p host.Platform) (string, error) {
	system := p.GOOS + "-" + p.GOARCH
	if got, ok := platformOf(system, p.CPUID); !ok || got != p {
		return "", fmt.Errorf("platform %q names no baseline file: goos and goarch are lower-case letters and digits, the cpu-id is 1 to 128 letters, digits and . _ + - and does not start with a dot", p.String())
	}
	return filepath.Join(dir, system, p.CPUID+extension), nil
}

// platformOf is the reverse of path.
func platformOf(system, cpuid string) (host.Platform, bool) {
	goos, goarch, ok := strings.Cut(system, "-")
	isWord := func(s string) bool {
		return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
	}
	ok = ok && isWord(goos) && isWord(goarch) && result.ValidID(cpuid) == nil && cpuid[0] != '.'
	return host.Platform{GOOS: goos, GOARCH: goarch, CPUID: cpuid}, ok
}

// Load returns the runs that are kept for the platform, in the order of its
// file; none where it has no file. A file that is not wholly a baseline of
// the platform is an error that names file and line.
func (s *Store) Load(p host.Platform) ([]result.Run, error) {
	path, err := path(s.dir, p)
	if err != nil {
		return nil, err
	}
	return load(path, p)
}

func load(path string, p host.Platform) ([]result.Run, error) {
	// Opening a pipe would wait for who writes it.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, fmt.Errorf("baseline file %s is not a regular file: remove it", path)
	}
	runs, err := result.ReadFileChecked(path, func(r *result.Run) error { return check(r, p) })
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := os.Lstat(path); e == nil {
			return nil, fmt.Errorf("baseline file %s is a symbolic link to nothing: restore what it points to, or remove the link", path)
		}
		return nil, nil
	}
	return runs, err
}

// check says why r has no place in the file of p.
func check(r *result.Run, p host.Platform) error {
	for _, f := range []struct{ key, got, want string }{
		{"goos", r.Host.GOOS, p.GOOS},
		{"goarch", r.Host.GOARCH, p.GOARCH},
		{"cpu-id", r.Host.CPUID, p.CPUID},
	} {
		if f.got != f.want {
			return &result.FieldError{Key: f.key, Msg: fmt.Sprintf("%q is not the file's platform (%q): move the block to its own file, or record it again with `baseline update`", f.got, f.want)}
		}
	}
	const hint = ": remove the block, or record it again with `baseline update`"
	switch {
	case r.Release == "":
		return &result.FieldError{Key: "release", Msg: "is empty in a baseline file" + hint}
	case r.Side != result.Head:
		return &result.FieldError{Key: "side", Msg: fmt.Sprintf("%q is no baseline's: only head is%s", r.Side, hint)}
	case r.Outcome != result.Measured:
		return &result.FieldError{Key: "outcome", Msg: fmt.Sprintf("%q is no baseline's: only measured is%s", r.Outcome, hint)}
	case len(r.Rounds) == 0:
		return &result.FieldError{Key: "rounds", Msg: "is 0: a baseline has at least one" + hint}
	}
	return nil
}

// All returns every file, ordered by path. What is not named like
// GOOS-GOARCH/CPUID.txt is passed over.
func (s *Store) All() ([]File, error) {
	files, err := s.named()
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		if files[i].Runs, err = load(f.Path, f.Platform); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// named are the files that are named like baselines, not read yet.
func (s *Store) named() ([]File, error) {
	if err := checkDir(s.dir); err != nil {
		return nil, err
	}
	var files []File
	systems, _ := os.ReadDir(s.dir) // none where there is no folder
	for _, system := range systems {
		if _, ok := platformOf(system.Name(), "any"); !ok {
			continue
		}
		dir := filepath.Join(s.dir, system.Name())
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("read baselines: %w: make it a readable folder, or remove it", err)
		}
		for _, e := range entries {
			cpuid, ok := strings.CutSuffix(e.Name(), extension)
			p, named := platformOf(system.Name(), cpuid)
			if !ok || !named {
				continue
			}
			files = append(files, File{Platform: p, Path: filepath.Join(dir, e.Name())})
		}
	}
	return files, nil
}

// readable returns what can be read of the folder. A file of another platform
// that cannot be is not in the way of an update.
func (s *Store) readable() (runs []result.Run, err error) {
	files, err := s.named()
	for _, f := range files {
		if r, err := load(f.Path, f.Platform); err == nil {
			runs = append(runs, r...)
		}
	}
	return runs, err
}

// An Entry sums up what is kept of one target and workload on one platform.
type Entry struct {
	Platform host.Platform
	CPU      string // brand, of the latest run
	Target   string
	Workload workload.Params
	Releases int // how many are kept
	// The rest is of the latest release, over those of its runs that Select
	// would return.
	Latest   string
	Date     time.Time
	NsPerOp  float64 // median over all rounds
	Replicas int
}

// List sums up the store, ordered by platform, target and workload.
func (s *Store) List() ([]Entry, error) {
	files, err := s.All()
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, f := range files {
		for _, s := range seriesOf(f.Runs) {
			runs := filter(f.Runs, s.matches)
			last := latest(alike(runs))
			entries = append(entries, Entry{
				Platform: f.Platform, CPU: newest(last.runs).Host.CPU, Target: s.target, Workload: s.workload,
				Releases: len(releases(runs)),
				Latest:   last.name, Date: last.date, NsPerOp: last.nsPerOp(), Replicas: len(last.runs),
			})
		}
	}
	return entries, nil
}

// A series is what figures are kept of over releases.
type series struct {
	target   string
	workload workload.Params
}

func (s series) matches(r *result.Run) bool { return r.Target == s.target && r.Workload == s.workload }

// compare orders series by target, then workload.
func (s series) compare(t series) int {
	return cmp.Or(
		cmp.Compare(s.target, t.target),
		cmp.Compare(s.workload.PRF, t.workload.PRF),
		cmp.Compare(s.workload.Iterations, t.workload.Iterations),
		cmp.Compare(s.workload.SaltBytes, t.workload.SaltBytes),
		cmp.Compare(s.workload.KeyBytes, t.workload.KeyBytes),
	)
}

func seriesOfRun(r *result.Run) series { return series{r.Target, r.Workload} }

// seriesOf returns the series of the runs, ordered.
func seriesOf(runs []result.Run) []series {
	var all []series
	for i := range runs {
		all = append(all, seriesOfRun(&runs[i]))
	}
	slices.SortFunc(all, series.compare)
	return slices.Compact(all)
}
