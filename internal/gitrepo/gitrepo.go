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
	"syscall"
	"time"
)

// ErrNone says that there is no commit to speak of: no git, no repository,
// or nothing committed.
var ErrNone = errors.New("no git commit here")

// Head is the commit that dir has checked out, and when it was committed
// (whole seconds, UTC). The error is ErrNone or says what git said.
func Head(ctx context.Context, dir string) (commit string, date time.Time, err error) {
	return dated(ctx, dir) // without a word of HEAD, git says where nothing is committed
}

// CommitDate is when a commit was made (whole seconds, UTC).
func CommitDate(ctx context.Context, dir, commit string) (time.Time, error) {
	_, date, err := dated(ctx, dir, commit)
	return date, err
}

func dated(ctx context.Context, dir string, of ...string) (commit string, date time.Time, err error) {
	out, err := git(ctx, dir, append([]string{"log", "-1", "--no-show-signature", "--format=%H %ct"}, of...)...)
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
}

func (c command) run(ctx context.Context, args ...string) (string, error) {
	name := args[0]
	path, err := exec.LookPath("git")
	if err != nil {
		return "", fmt.Errorf("%w: git is not installed", ErrNone)
	}
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	// Nothing that the repository configures is run; large files are put in
	// place without Git LFS.
	args = append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
		"-c", "filter.lfs.process=", "-c", "filter.lfs.smudge=", "-c", "filter.lfs.required=false", "--no-pager"}, args...)
	cmd := exec.CommandContext(limited, path, args...)
	cmd.Dir = c.dir
	env := slices.DeleteFunc(cmd.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(localVariables, name) || strings.HasPrefix(name, "GIT_TRACE")
	})
	cmd.Env = append(append(env, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"), c.env...)
	// What it starts, such as a transport, ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
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

// localVariables tell git which repository and index it works in. A hook has
// them set, and with them git takes its folder for the top of the tree; without
// them it finds the repository by the folder.
var localVariables = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"}

// withPassword is what a URL may carry between its scheme and its host.
var withPassword = regexp.MustCompile(`://\S*@`)

// clean is what git said without what nobody should read.
func clean(said string) string { return withPassword.ReplaceAllString(said, "://") }
