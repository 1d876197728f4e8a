package baseline

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// Files are a folder of baselines that is not on this disk. Their names are
// as below a Store's folder, with slashes.
type Files struct {
	Names []string
	Read  func(name string) ([]byte, error) // fs.ErrNotExist where there is none
	Where func(name string) string          // the file's name in errors
}

// Amended is a file as Amend left it.
type Amended struct {
	File
	Data []byte // the runs, encoded
}

// Amend is Update on files that are not on this disk: it returns those that
// the runs change, or that pending does, and writes nothing.
//
// Pending, which may be nil, are the same files where an earlier update of the
// release waits to be merged: what they hold of the release, and files do not,
// is kept. Nothing else of them counts.
func Amend(files Files, pending *Files, release string, runs []result.Run, opt Options) ([]Amended, Report, error) {
	var rep Report
	if err := result.ValidRelease(release); err != nil {
		return nil, rep, inputError("%w", err)
	}
	incoming, err := admit(&rep, release, runs, opt)
	if err != nil {
		return nil, rep, err
	}
	platforms, err := checkIncoming(incoming)
	if err != nil {
		return nil, rep, err
	}
	before, after := map[host.Platform][]result.Run{}, map[host.Platform][]result.Run{}
	load := func(p host.Platform) error {
		if _, ok := before[p]; ok {
			return nil
		}
		runs, err := files.load(p)
		before[p], after[p] = runs, runs
		return err
	}
	if pending != nil {
		for _, name := range pending.Names {
			p, ok := platformOfFile(name)
			if !ok {
				continue
			}
			theirs, err := pending.load(p)
			if err != nil {
				return nil, rep, err
			}
			if err := load(p); err != nil {
				return nil, rep, err
			}
			after[p] = carry(before[p], release, theirs)
		}
	}
	held := slices.Concat(slices.Collect(maps.Values(after))...)
	for _, name := range files.Names {
		p, ok := platformOfFile(name)
		if _, has := before[p]; !ok || has {
			continue
		}
		data, err := files.Read(name)
		if err != nil {
			return nil, rep, err
		}
		// A damaged file of another platform is not in the way.
		if runs, err := files.parse(name, data, p); err == nil {
			held = append(held, runs...)
		}
	}
	newer := newerCommit(held, release, incoming)
	for _, p := range platforms {
		if err := load(p); err != nil {
			return nil, rep, err
		}
		merged, taken := merge(&rep, after[p], release, incoming[p], newer, opt)
		if len(taken) == 0 {
			continue
		}
		merged, dropped, err := fit(merged, opt.Threshold)
		if err != nil {
			return nil, rep, fmt.Errorf("update baselines of %s: %w", p, err)
		}
		rep.Dropped = append(rep.Dropped, dropped...)
		same, err := equal(after[p], merged)
		if err != nil {
			return nil, rep, err
		}
		state := Written
		if same {
			state = Unchanged
		}
		rep.Files = append(rep.Files, Change{p, fileName(p), state, taken})
		after[p] = merged
	}

	var amended []Amended
	for p, runs := range after {
		if len(runs) == 0 {
			continue
		}
		same, err := equal(before[p], runs)
		if err != nil {
			return nil, rep, err
		}
		if same {
			continue
		}
		data, err := result.Encode(runs)
		if err != nil {
			return nil, rep, err
		}
		amended = append(amended, Amended{File{p, fileName(p), runs}, data})
	}
	slices.SortFunc(amended, func(a, b Amended) int { return comparePlatforms(a.Platform, b.Platform) })
	return amended, rep, nil
}

// carry returns the runs with what theirs have of the release and they have
// not: other targets and workloads.
func carry(runs []result.Run, release string, theirs []result.Run) []result.Run {
	has := map[series]bool{}
	for i := range runs {
		if runs[i].Release == release {
			has[seriesOfRun(&runs[i])] = true
		}
	}
	missing := filter(theirs, func(r *result.Run) bool { return r.Release == release && !has[seriesOfRun(r)] })
	runs, _ = merge(&Report{}, runs, release, missing, nil, Options{})
	return runs
}

func (f Files) load(p host.Platform) ([]result.Run, error) {
	name := fileName(p)
	data, err := f.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return f.parse(name, data, p)
}

func (f Files) parse(name string, data []byte, p host.Platform) ([]result.Run, error) {
	return result.ReadChecked(bytes.NewReader(data), f.Where(name), func(r *result.Run) error { return check(r, p) })
}

// fileName is where the file of a platform, one that path accepts, lies below
// the folder.
func fileName(p host.Platform) string {
	name, _ := path("", p)
	return filepath.ToSlash(name)
}

// platformOfFile is the reverse of fileName.
func platformOfFile(name string) (host.Platform, bool) {
	system, file, _ := strings.Cut(name, "/")
	cpuid, ok := strings.CutSuffix(file, extension)
	p, named := platformOf(system, cpuid)
	return p, ok && named
}
