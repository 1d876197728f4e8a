package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/baseline"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/yardstick"
)

// library is the whole baselines folder.
type library struct {
	policy  policy.Policy
	files   []baseline.File
	missing bool   // a folder that was asked for does not exist
	unread  string // why none of the baselines that there may be were read
}

// readBaselines reads the folder. All of it: a damaged file is an error wherever
// it is, never an empty one; but a pull request that mends the base's must be
// able to pass.
func (c *Command) readBaselines(in *invocation) (library, error) {
	p, g := in.policy, in.ground
	dir := c.path(p.Baselines)
	files, err := readFolder(dir)
	if err != nil && g.commit != "" {
		err = &exitError{exitUsage, errors.New(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), g.commit[:12]+":"+g.folder+"/"))}
		if g.here {
			if _, e := readFolder(c.path(g.folder)); e == nil {
				g.notices = append(g.notices, fmt.Sprintf("judged without baselines: the base's cannot be read, this pull request's can (%v)", err))
				return library{policy: p, unread: "the base's baselines cannot be read; this pull request mends them"}, nil
			}
		}
	}
	l := library{policy: p, files: files}
	if g.headless {
		l.unread = "the baselines are those of the pull request's base commit, which cannot be had here"
	}
	_, e := os.Stat(dir)
	l.missing = e != nil && p.Source("baselines") != policy.FromDefault
	return l, err
}

// stored is what the library holds, seen from one machine.
type stored struct {
	policy policy.Policy
	unread string
	runs   []result.Run    // of this platform
	others []baseline.File // of other platforms, the most alike last
}

func (l library) seenFrom(h host.Fingerprint) stored {
	s := stored{policy: l.policy, unread: l.unread}
	like := func(f baseline.File) int {
		switch {
		case f.Platform.GOOS == h.GOOS && f.Platform.GOARCH == h.GOARCH:
			return 2
		case f.Platform.GOARCH == h.GOARCH:
			return 1
		}
		return 0
	}
	for alike := range 3 {
		for _, f := range l.files {
			switch {
			case f.Platform == h.Platform():
				s.runs = f.Runs
			case like(f) == alike:
				s.others = append(s.others, f)
			}
		}
	}
	return s
}

func (s stored) sel(name string, r *result.Run) baseline.Selection {
	version := yardstick.ID()
	w := s.policy.Workload
	if r != nil {
		version, w = r.Yardstick, r.Workload
	}
	return baseline.Select(s.runs, name, w, result.Run{Yardstick: version}.YardstickVersion(), s.policy.BaselineThreshold)
}

// plan is how a target's baseline was sampled; zero where there is none. A
// baseline of other iterations is sampled alike: a slice does not know how
// many there are.
func (s stored) plan(name string) result.Plan {
	sel := s.sel(name, nil)
	if n := len(sel.Latest); n > 0 {
		return sel.Latest[n-1].Plan
	}
	if n := len(sel.OtherWorkload); n > 0 {
		r := sel.OtherWorkload[n-1]
		w := r.Workload
		w.Iterations = s.policy.Workload.Iterations
		if w == s.policy.Workload {
			return r.Plan
		}
	}
	return result.Plan{}
}

// of is what applies to a run.
func (s stored) of(r *result.Run) verdict.Stored {
	sel := s.sel(r.Target, r)
	out := verdict.Stored{
		Latest:        verdict.Reference{Release: sel.LatestRelease, Runs: sel.Latest},
		Anchor:        verdict.Reference{Release: sel.AnchorRelease, Runs: sel.Anchor},
		Replicas:      sel.Replicas,
		OtherWorkload: sel.OtherWorkload,
	}
	if s.unread != "" {
		out.Unusable = s.unread
	}
	if n := len(sel.OtherYardstick); n > 0 && len(sel.Latest) == 0 {
		out.Unusable = fmt.Sprintf("%s was recorded with yardstick %q, this run has %q: record a baseline anew", sel.OtherYardstick[n-1].Release, sel.OtherYardstick[n-1].Yardstick, r.Yardstick)
	}
	if len(sel.Latest) > 0 || len(sel.OtherWorkload) > 0 {
		return out
	}
	for _, f := range slices.Backward(s.others) {
		o := baseline.Select(f.Runs, r.Target, r.Workload, r.YardstickVersion(), s.policy.BaselineThreshold)
		if len(o.Latest) > 0 {
			out.OtherPlatform = o.Latest
			break
		}
	}
	return out
}
