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
	commit, err := gitrepo.Base(ctx, c.Dir, pull.head, pull.base)
	if err != nil {
		g.headless = true
		g.notices = append(g.notices, fmt.Sprintf("judged by the defaults and without baselines, which come from the pull request's base: %v", err))
		return g
	}
	g.commit, g.here = commit, pull.here
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

// values reads the policy file.
func (g *ground) values(ctx context.Context) ([]policy.Value, error) {
	var data []byte
	var err error
	name := policyFile
	switch {
	case g.headless:
		return nil, nil
	case g.commit != "":
		name = g.commit[:12] + ":" + policyFile
		data, err = gitrepo.ReadFile(ctx, g.c.Dir, g.commit, policyFile, policy.MaxFile)
	default:
		data, err = readAtMost(filepath.Join(g.c.Dir, policyFile), policy.MaxFile+1)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return policy.Load(data, name)
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
