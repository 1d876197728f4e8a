// Package gitrepo reads the git repository that the gate runs in. It never
// changes the caller's work tree, index, configuration or branches.
package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
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

// git runs one command, at most 30 s, without prompts.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	name := args[0]
	path, err := exec.LookPath("git")
	if err != nil {
		return "", ErrNone
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	// Nothing that the repository configures is run.
	args = append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-pager"}, args...)
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		said := strings.TrimSpace(string(exit.Stderr))
		if strings.Contains(said, "not a git repository") || strings.Contains(said, "does not have any commits yet") {
			return "", ErrNone
		}
		return "", fmt.Errorf("git %s: %s", name, said)
	case err != nil:
		return "", fmt.Errorf("git %s: %w", name, err)
	}
	return string(out), nil
}
