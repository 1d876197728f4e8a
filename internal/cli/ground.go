package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/gitrepo"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
)

// maxBaselines bounds what is read of a commit's baselines, bytes.
const maxBaselines = 64 << 20

// ground is where the policy file and the baselines come from: the working
// directory, or on a pull request the base commit, so that no pull request
// sets the bar that it is held to.
type ground struct {
	c        *Command
	here     bool   // the pull request's head is checked out
	commit   string // empty: the working directory
	folder   string // of the baselines in the repository, where commit is set
	headless bool   // a pull request whose base cannot be had: defaults and no baselines
	notices  []string
	temp     []string // folders to remove
}

// ground finds it. pull is the pull request that is judged, nil for none.
func (c *Command) ground(ctx context.Context, pull *pullRequest) *ground {
	g := &ground{c: c}
	if pull == nil {
		return g
	}
	g.here = pull.here
	commit, err := gitrepo.Base(ctx, c.Dir, pull.head, pull.base)
	if err != nil {
		g.headless = true
		g.notices = append(g.notices, fmt.Sprintf("judged by the defaults, without baselines, and not beside its base, all of which come from the pull request's base commit: %v", err))
		return g
	}
	g.commit = commit
	return g
}

// pullRequest is the pull request that a run is for.
type pullRequest struct {
	head, base string // commits
	here       bool   // the head, or its test merge, is what is checked out
}

func (g *ground) close() {
	for _, d := range g.temp {
		_ = os.RemoveAll(d)
	}
}

// policyOf reads the policy file of a commit, or of the working directory
// where commit is empty. found is false where there is none.
func (c *Command) policyOf(ctx context.Context, commit string) (values []policy.Value, found bool, err error) {
	var data []byte
	name := policyFile
	if commit != "" {
		name = commit[:12] + ":" + policyFile
		data, err = gitrepo.ReadFile(ctx, c.Dir, commit, policyFile, policy.MaxFile)
	} else {
		data, err = readAtMost(filepath.Join(c.Dir, policyFile), policy.MaxFile+1)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("%s: %w", name, err)
	}
	values, err = policy.Load(data, name)
	return values, true, err
}

// baselines turns the policy's folder into one that can be read.
func (g *ground) baselines(ctx context.Context, p *policy.Policy) error {
	if g.commit == "" && !g.headless {
		return nil
	}
	dir, err := os.MkdirTemp("", "pbkdf2-gate-baselines-")
	if err != nil {
		return err
	}
	g.temp = append(g.temp, dir)
	folder := filepath.ToSlash(filepath.Clean(p.Baselines))
	if !g.headless {
		g.folder = folder
		if !filepath.IsLocal(p.Baselines) {
			return usageError("%s: on a pull request the baselines are read from its base commit: name a folder inside the repository", p.Where("baselines"))
		}
		if _, err := gitrepo.Export(ctx, g.c.Dir, g.commit, folder, dir, maxBaselines); err != nil {
			return fmt.Errorf("read the base commit's baselines: %w", err)
		}
		if !g.here {
			p.Baselines = dir
			return nil
		}
		changed, err := gitrepo.Changed(ctx, g.c.Dir, g.commit, "HEAD", policyFile, folder)
		if err != nil {
			return err
		}
		if len(changed) > 0 {
			g.notices = append(g.notices, fmt.Sprintf("this pull request changes %s: what was there before judges it", strings.Join(changed[:min(5, len(changed))], ", ")))
			g.notices = append(g.notices, g.shifts(ctx, p, folder, dir)...)
		}
	}
	p.Baselines = dir
	return nil
}
