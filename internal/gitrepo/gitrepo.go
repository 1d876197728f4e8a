// Package gitrepo reads the git repository that the gate runs in, and lays out
// the base's tree in a folder of its own. It never changes the caller's work
// tree, index, configuration or branches.
package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ErrNone says that there is no commit to speak of: no git, no repository,
// or nothing committed.
var ErrNone = errors.New("no git commit here")

// Head is the commit that dir has checked out, and when it was committed
// (whole seconds, UTC). The error is ErrNone or says what git said.
func Head(ctx context.Context, dir string) (commit string, date time.Time, err error) {
	out, err := git(ctx, dir, "log", "-1", "--no-show-signature", "--format=%H %ct")
	if err != nil {
		return "", time.Time{}, err
	}
	var sec int64
	if _, err := fmt.Sscanf(strings.TrimSpace(out), "%s %d", &commit, &sec); err != nil {
		return "", time.Time{}, fmt.Errorf("git log printed %q: %w", out, err)
	}
	return commit, time.Unix(sec, 0).UTC(), nil
}

// Limits of one git command.
const (
	quick = 30 * time.Second
	slow  = 3 * time.Minute // one that fetches, or writes a tree
)

// git runs one quick command, without prompts.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	return command{dir: dir, limit: quick}.run(ctx, args...)
}

// A command is one call of git.
type command struct {
	dir   string
	limit time.Duration
	env   []string // more of it
	own   bool     // dir is a tree of ours: what names the caller's is dropped
}

func (c command) run(ctx context.Context, args ...string) (string, error) {
	name := args[0]
	path, err := exec.LookPath("git")
	if err != nil {
		return "", ErrNone
	}
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	// Nothing that the repository configures is run.
	args = append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-pager"}, args...)
	cmd := exec.CommandContext(limited, path, args...)
	cmd.Dir = c.dir
	env := cmd.Environ()
	env = slices.DeleteFunc(env, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		// a checkout of ours would be written to the index that a hook names
		return name == "GIT_INDEX_FILE" || c.own && slices.Contains(localVariables, name)
	})
	cmd.Env = append(append(env, "GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"), c.env...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return "", fmt.Errorf("git %s was still running after %v and was stopped", name, c.limit)
	case errors.As(err, &exit):
		said := strings.TrimSpace(string(exit.Stderr))
		if strings.Contains(said, "not a git repository") || strings.Contains(said, "does not have any commits yet") {
			return "", ErrNone
		}
		return "", fmt.Errorf("git %s: %s", name, clean(said))
	case err != nil:
		return "", fmt.Errorf("git %s: %w", name, err)
	}
	return string(out), nil
}

// localVariables tell git which repository it works in; a hook has them set.
var localVariables = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"}

// withPassword is what a URL may carry between its scheme and its host.
var withPassword = regexp.MustCompile(`://[^/@\s]+@`)

// clean is what git said without what nobody should read.
func clean(said string) string { return withPassword.ReplaceAllString(said, "://") }
