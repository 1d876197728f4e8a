package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/gitrepo"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/target"
)

// noBase is the word for a base-ref that asks for none.
const noBase = "off"

// base is what is measured beside the working directory.
type base struct {
	commit string        // empty: nothing is
	policy policy.Policy // as in.policy, but for what belongs to the tree
}

// settle applies the flags over the inputs over the policy file over the
// defaults. What belongs to the measured tree (targets, workload, build) comes
// from each side's own file; all else from the file that judges. A side
// without a file is older or younger than the configuration, which then is
// the other's.
func (c *Command) settle(ctx context.Context, s subcommand, in *invocation, inputs, flags []policy.Value) error {
	g := in.ground
	resolve := func(rest, tree []policy.Value) (policy.Policy, error) {
		p, err := policy.Resolve(rest, tree, inputs, flags)
		if err != nil {
			return p, &exitError{exitUsage, err}
		}
		return p, nil
	}
	var file []policy.Value
	var found bool
	var err error
	if !g.headless {
		file, found, err = c.policyOf(ctx, g.commit)
		if err == nil && g.commit != "" {
			_, err = policy.Resolve(file)
		}
		if err != nil && g.commit != "" && g.here && c.mended(ctx) {
			g.notices = append(g.notices, fmt.Sprintf("judged by the defaults: the base's configuration cannot be read, this pull request's can (%v)", err))
			file, found, err = nil, false, nil
		}
		if err != nil {
			return &exitError{exitUsage, err}
		}
	}
	judging, rest := policy.OfTree(file)
	head, headFound := judging, false
	if g.here { // a pull request's own file says what its tree has
		own, ok, err := c.policyOf(ctx, "")
		if err != nil {
			return &exitError{exitUsage, err}
		}
		if headFound = ok; ok {
			head, _ = policy.OfTree(own)
		}
	}
	if in.policy, err = resolve(rest, head); err != nil {
		return err
	}
	if found && headFound {
		before, err := resolve(rest, judging)
		if err != nil {
			return err
		}
		in.gone = without(before, in.policy)
	}
	if !slices.Contains(s.settings, "base-ref") {
		return nil
	}
	return c.findBase(ctx, in, func(tree []policy.Value, found bool) (policy.Policy, error) {
		if !found {
			tree = head
		}
		return resolve(rest, tree)
	}, judging, found)
}

// mended: the working directory's policy file is sound.
func (c *Command) mended(ctx context.Context) bool {
	file, _, err := c.policyOf(ctx, "")
	if err == nil {
		_, err = policy.Resolve(file)
	}
	return err == nil
}

// findBase says what is measured beside the working directory. That there is
// no base never fails a run.
func (c *Command) findBase(ctx context.Context, in *invocation, resolve func([]policy.Value, bool) (policy.Policy, error), judging []policy.Value, found bool) error {
	g := in.ground
	ref := in.policy.BaseRef
	switch {
	case ref == noBase:
		return nil
	case ref == "" && (!g.here || g.commit == ""):
		return nil // no pull request, or one whose base cannot be had, which is said
	case ref == "":
		in.base.commit = g.commit
	default:
		commit, err := gitrepo.BaseOf(ctx, c.Dir, ref)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, gitrepo.ErrNoRef) && in.policy.Source("base-ref") == policy.FromFlag {
			return usageError("%s: %w", in.policy.Where("base-ref"), err)
		}
		if err != nil {
			g.notices = append(g.notices, fmt.Sprintf("%s: not measured beside its base: %v", in.policy.Where("base-ref"), err))
			return nil
		}
		in.base.commit = commit
	}
	tree, ok := judging, found
	if in.base.commit != g.commit {
		file, theirs, err := c.policyOf(ctx, in.base.commit)
		if err == nil {
			_, err = policy.Resolve(file)
		}
		if err != nil {
			file = nil
			g.notices = append(g.notices, fmt.Sprintf("the base is measured by this tree's configuration, its own cannot be read: %v", err))
			theirs = false
		}
		tree, _ = policy.OfTree(file)
		ok = theirs
	}
	var err error
	in.base.policy, err = resolve(tree, ok)
	return err
}

// without lists the targets of one policy that another lacks; what cannot be
// parsed is said elsewhere.
func without(has, lacks policy.Policy) (names []string) {
	other, err := targets(lacks)
	if err != nil {
		return nil
	}
	mine, err := targets(has)
	if err != nil || has.Source("target") == policy.FromDefault {
		return nil
	}
	for _, s := range mine {
		if !slices.ContainsFunc(other, func(o target.Spec) bool { return o.Name == s.Name }) {
			names = append(names, s.Name)
		}
	}
	return names
}
