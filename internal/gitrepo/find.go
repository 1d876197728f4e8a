package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrNoBase says that the base commit is not in this clone.
var ErrNoBase = errors.New("the base commit is not in this clone: check out with fetch-depth: 2 or more")

// Base is the commit that a pull request is held against, where dir has
// checked out its head or the test merge of it: the merge's first parent,
// else the merge base with the pull request's base. head and base are the
// commits that the event names; either may be empty. What is missing is
// fetched, where the remote allows it. The error is ErrNoBase or ErrNone, with
// what git said.
func Base(ctx context.Context, dir, head, base string) (string, error) {
	parents, err := parents(ctx, dir)
	if err != nil {
		return "", err
	}
	if len(parents) == 2 && (parents[1] == head || head == "") {
		return parents[0], obtain(ctx, dir, parents[0])
	}
	if !objectName.MatchString(base) {
		return "", ErrNoBase
	}
	return mergeBase(ctx, dir, base)
}

// BaseOf is the commit that HEAD is held against where somebody names one:
// their merge base, so that what came to the named branch meanwhile is not
// charged. ref is a commit, a tag, or a branch of this clone or its remote.
func BaseOf(ctx context.Context, dir, ref string) (string, error) {
	if _, err := git(ctx, dir, "rev-parse", "--verify", "-q", "HEAD^{commit}"); err != nil {
		return "", ErrNone
	}
	commit, err := resolve(ctx, dir, ref)
	if err != nil {
		return "", err
	}
	return mergeBase(ctx, dir, commit)
}

// resolve finds the commit that ref names, here or at the remote.
func resolve(ctx context.Context, dir, ref string) (string, error) {
	tries := []string{ref}
	remote, noRemote := remote(ctx, dir)
	if noRemote == nil {
		tries = append(tries, "refs/remotes/"+remote+"/"+ref)
	}
	for _, r := range tries {
		if out, err := git(ctx, dir, "rev-parse", "--verify", "-q", "--end-of-options", r+"^{commit}"); err == nil {
			return strings.TrimSpace(out), nil
		}
	}
	unknown := func(err error) error {
		return fmt.Errorf("%s is no commit, branch or tag here, nor could it be fetched (%w)", ref, err)
	}
	if noRemote != nil {
		return "", unknown(noRemote)
	}
	commit := ref
	if !objectName.MatchString(ref) {
		out, err := command{dir: dir, limit: slow}.run(ctx, "ls-remote", "-q", "--exit-code", "--", remote, "refs/heads/"+ref, "refs/tags/"+ref+"^{}", "refs/tags/"+ref)
		if err != nil {
			return "", unknown(err)
		}
		commit, _, _ = strings.Cut(out, "\t") // of an annotated tag, what it points to sorts last: see below
		for line := range strings.Lines(out) {
			if c, name, _ := strings.Cut(strings.TrimSpace(line), "\t"); strings.HasSuffix(name, "^{}") {
				commit = c
			}
		}
		if !objectName.MatchString(commit) {
			return "", unknown(errors.New("git ls-remote printed no commit"))
		}
	}
	if err := obtain(ctx, dir, commit); err != nil {
		return "", unknown(err)
	}
	return commit, nil
}

// mergeBase is the best common ancestor of HEAD and a commit that may be
// missing; a shallow clone is deepened where that helps.
func mergeBase(ctx context.Context, dir, commit string) (string, error) {
	if err := obtain(ctx, dir, commit); err != nil {
		return "", err
	}
	find := func() (string, error) {
		out, err := git(ctx, dir, "merge-base", "HEAD", commit)
		return strings.TrimSpace(out), err
	}
	base, err := find()
	if err == nil {
		return base, nil
	}
	if !shallow(ctx, dir) {
		return "", fmt.Errorf("HEAD and %.12s have no commit in common: %w", commit, ErrNoBase)
	}
	head, err := git(ctx, dir, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	for _, depth := range []string{"50", "1000"} {
		if e := fetch(ctx, dir, "--depth="+depth, strings.TrimSpace(head), commit); e != nil {
			return "", fmt.Errorf("%w (%w)", ErrNoBase, e)
		}
		if base, err = find(); err == nil {
			return base, nil
		}
	}
	return "", ErrNoBase
}

// parents are those of HEAD, also of one at the edge of a shallow clone.
func parents(ctx context.Context, dir string) ([]string, error) {
	out, err := git(ctx, dir, "cat-file", "commit", "HEAD")
	if err != nil {
		if _, _, e := Head(ctx, dir); e != nil {
			return nil, e
		}
		return nil, err
	}
	var all []string
	for line := range strings.Lines(out) {
		p, ok := strings.CutPrefix(line, "parent ")
		if !ok && !strings.HasPrefix(line, "tree ") {
			break
		}
		if ok {
			all = append(all, strings.TrimSpace(p))
		}
	}
	return all, nil
}

// obtain fetches a commit unless it is here.
func obtain(ctx context.Context, dir, commit string) error {
	if has(ctx, dir, commit) {
		return nil
	}
	depth := ""
	if shallow(ctx, dir) {
		depth = "--depth=1"
	}
	if err := fetch(ctx, dir, depth, commit); err != nil {
		return fmt.Errorf("%w (%w)", ErrNoBase, err)
	}
	if !has(ctx, dir, commit) {
		return ErrNoBase
	}
	return nil
}

// fetch gets commits into the clone's objects: no branch, tag or file of
// the caller's is touched. depth is an option or empty: one would cut the
// history of a clone that is whole.
func fetch(ctx context.Context, dir, depth string, commits ...string) error {
	if err := recent(ctx, dir); err != nil {
		return err
	}
	from, err := remote(ctx, dir)
	if err != nil {
		return err
	}
	args := []string{"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance", "--refmap="}
	if depth != "" {
		args = append(args, depth)
	}
	c := command{dir: dir, limit: slow, env: []string{"GIT_SSH_COMMAND=ssh -oBatchMode=yes"}}
	_, err = c.run(ctx, append(append(args, "--", from), commits...)...)
	return err
}

// remote is origin, or the only other one.
func remote(ctx context.Context, dir string) (string, error) {
	out, err := git(ctx, dir, "remote")
	if err != nil {
		return "", err
	}
	names := strings.Fields(out)
	for _, n := range names {
		if n == "origin" {
			return n, nil
		}
	}
	switch len(names) {
	case 1:
	case 0:
		return "", errors.New("the repository has no remote")
	default:
		return "", fmt.Errorf("no remote named origin among %d", len(names))
	}
	return names[0], nil
}

func shallow(ctx context.Context, dir string) bool {
	out, err := git(ctx, dir, "rev-parse", "--is-shallow-repository")
	return err == nil && strings.TrimSpace(out) == "true"
}

func has(ctx context.Context, dir, commit string) bool {
	_, err := git(ctx, dir, "cat-file", "-e", commit+"^{commit}")
	return err == nil
}

// oldest is the oldest git that works here: its fetch can leave FETCH_HEAD
// alone, its worktrees stay out of each other's way.
var oldest = [2]int{2, 30}

// recent says where git is too old.
func recent(ctx context.Context, dir string) error {
	out, err := git(ctx, dir, "version")
	if err != nil {
		return err
	}
	var got [2]int
	if _, err := fmt.Sscanf(out, "git version %d.%d", &got[0], &got[1]); err != nil {
		return nil // an unusual build: what it cannot do, it says itself
	}
	if got[0] < oldest[0] || got[0] == oldest[0] && got[1] < oldest[1] {
		return fmt.Errorf("git is %d.%d: install %d.%d or newer", got[0], got[1], oldest[0], oldest[1])
	}
	return nil
}
