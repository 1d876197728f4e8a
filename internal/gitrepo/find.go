package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrNoBase says that the base commit cannot be had.
var ErrNoBase = errors.New("the base commit is not in this clone")

// ErrNoRef says that what was named is nowhere.
var ErrNoRef = errors.New("no such commit, branch or tag")

// deeper is what helps against a base that is missing.
const deeper = "check out with fetch-depth: 2 or more"

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
		return "", fmt.Errorf("%w: %s", ErrNoBase, deeper)
	}
	return mergeBase(ctx, dir, base)
}

// BaseOf is the commit that HEAD is held against where somebody names one:
// their merge base, so that what came to the named branch meanwhile is not
// charged. ref is a commit, a tag, or a branch of this clone or its remote.
func BaseOf(ctx context.Context, dir, ref string) (string, error) {
	if _, _, err := Head(ctx, dir); err != nil {
		return "", err
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
	if noRemote != nil {
		return "", fmt.Errorf("%w here named %s, and it cannot be fetched: %w", ErrNoRef, ref, noRemote)
	}
	commit := ref
	if !objectName.MatchString(ref) {
		c := command{dir: dir, limit: slow, env: ssh(ctx, dir)}
		out, err := c.run(ctx, "ls-remote", "-q", "--", remote, "refs/heads/"+ref, "refs/tags/"+ref+"^{}", "refs/tags/"+ref)
		if err != nil {
			return "", fmt.Errorf("nothing here is named %s, and the remote cannot be asked: %w", ref, err)
		}
		if out == "" {
			return "", fmt.Errorf("%w named %s, neither here nor at %s", ErrNoRef, ref, remote)
		}
		commit, _, _ = strings.Cut(out, "\t")
		for line := range strings.Lines(out) {
			// an annotated tag stands for what it points to
			if c, name, _ := strings.Cut(strings.TrimSpace(line), "\t"); strings.HasSuffix(name, "^{}") {
				commit = c
			}
		}
		if !objectName.MatchString(commit) {
			return "", errors.New("git ls-remote printed no commit")
		}
	}
	return commit, obtain(ctx, dir, commit)
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
		return "", &noBase{"HEAD and " + commit[:12] + " have no commit in common: name one of this history"}
	}
	head, err := git(ctx, dir, "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	for _, more := range []string{"50", "1000"} {
		// never less than there is, as --depth might
		if e := fetch(ctx, dir, "--deepen="+more, strings.TrimSpace(head), commit); e != nil {
			return "", missing(e)
		}
		if base, err = find(); err == nil {
			return base, nil
		}
	}
	return "", &noBase{"HEAD and " + commit[:12] + " have no commit in common within 1,000 more: check out with fetch-depth: 0"}
}

// noBase is an ErrNoBase in words of its own.
type noBase struct{ msg string }

func (e *noBase) Error() string        { return e.msg }
func (e *noBase) Is(target error) bool { return target == ErrNoBase }

// missing is an ErrNoBase with the reason why it could not be fetched.
func missing(err error) error {
	said, _, _ := strings.Cut(err.Error(), "\n")
	return &noBase{fmt.Sprintf("%v: %s (%s)", ErrNoBase, deeper, said)}
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
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return missing(err)
	}
	if !has(ctx, dir, commit) {
		return fmt.Errorf("%w: %s", ErrNoBase, deeper)
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
	c := command{dir: dir, limit: slow, env: ssh(ctx, dir)}
	_, err = c.run(ctx, append(append(args, "--", from), commits...)...)
	return err
}

// ssh keeps it from asking, unless the caller has chosen how it is called.
func ssh(ctx context.Context, dir string) []string {
	if os.Getenv("GIT_SSH_COMMAND") != "" || os.Getenv("GIT_SSH") != "" {
		return nil
	}
	if out, err := git(ctx, dir, "config", "core.sshCommand"); err == nil && strings.TrimSpace(out) != "" {
		return nil
	}
	return []string{"GIT_SSH_COMMAND=ssh -oBatchMode=yes"}
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
		return "", errors.New("the repository has no remote: fetch the commit first")
	default:
		return "", fmt.Errorf("none of the %d remotes is named origin: fetch the commit first", len(names))
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
