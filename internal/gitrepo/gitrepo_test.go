package gitrepo

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"
)

func TestHead(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for _, e := range []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"} {
		t.Setenv(e, "/dev/null")
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", "/")
	ctx, dir := context.Background(), t.TempDir()
	if _, _, err := Head(ctx, dir); !errors.Is(err, ErrNone) {
		t.Errorf("no repository: %v", err)
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := git(ctx, dir, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	run("init", "-q")
	if _, _, err := Head(ctx, dir); !errors.Is(err, ErrNone) {
		t.Errorf("nothing committed: %v", err)
	}
	t.Setenv("GIT_COMMITTER_DATE", "2026-03-04T05:06:07+02:00")
	run("-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-q", "--allow-empty", "-m", "first")
	commit, date, err := Head(ctx, dir)
	if err != nil || commit+"\n" != run("rev-parse", "HEAD") {
		t.Errorf("commit %q, %v", commit, err)
	}
	if want := time.Date(2026, 3, 4, 3, 6, 7, 0, time.UTC); !date.Equal(want) {
		t.Errorf("date %v, want %v", date, want)
	}
}
