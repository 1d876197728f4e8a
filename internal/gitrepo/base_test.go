package gitrepo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// repository is a clone with a base, a head and the test merge of both.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for k, v := range map[string]string{
		"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_CEILING_DIRECTORIES": "/",
		"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e@example.com", "GIT_COMMITTER_NAME": "n", "GIT_COMMITTER_EMAIL": "e@example.com",
	} {
		t.Setenv(k, v)
	}
	r := repository{t, filepath.Join(t.TempDir(), "a folder")}
	if err := os.Mkdir(r.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	r.git("init", "-q", "-b", "main")
	return r
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	out, err := git(context.Background(), r.dir, args...)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// theirs is what must not change: all of the repository but objects and the
// edge of a shallow clone, and the work tree.
func (r repository) theirs() map[string]string {
	r.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(r.dir, path)
		switch {
		case err != nil:
			return err
		case rel == ".git/objects":
			return fs.SkipDir
		case d.IsDir():
			all[rel] = "a folder"
		case d.Type().IsRegular() && rel != ".git/shallow":
			data, e := os.ReadFile(path)
			all[rel], err = string(data), e
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

func (r repository) commit(files map[string]string) string {
	r.t.Helper()
	for name, text := range files {
		path := filepath.Join(r.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			r.t.Fatal(err)
		}
	}
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "change")
	return r.git("rev-parse", "HEAD")
}

func TestBase(t *testing.T) {
	ctx := context.Background()
	r := newRepository(t)
	r.commit(map[string]string{"f": "1"})
	fork := r.commit(map[string]string{"f": "2"})
	r.git("checkout", "-q", "-b", "topic")
	head := r.commit(map[string]string{"g": "1"})
	r.git("checkout", "-q", "main")
	base := r.commit(map[string]string{"f": "3"})

	r.git("checkout", "-q", "topic")
	if got, err := Base(ctx, r.dir, head, base); err != nil || got != fork {
		t.Errorf("on the head: %s, %v; want the merge base %s", got, err, fork)
	}
	if _, err := Base(ctx, r.dir, head, strings.Repeat("0", 40)); !errors.Is(err, ErrNoBase) {
		t.Errorf("a base that is not there: %v", err)
	}
	if _, err := Base(ctx, r.dir, head, "--help"); !errors.Is(err, ErrNoBase) {
		t.Errorf("a base that is none: %v", err)
	}
	r.git("checkout", "-q", "--detach", base)
	r.git("merge", "-q", "--no-ff", "-m", "test merge", head)
	if got, err := Base(ctx, r.dir, head, base); err != nil || got != base {
		t.Errorf("on the test merge: %s, %v; want its first parent %s", got, err, base)
	}

	merge := r.git("rev-parse", "HEAD")
	r.git("branch", "merged", merge)
	for _, c := range []struct {
		depth, branch, want string
		gone                bool // the remote cannot be reached
	}{
		{"2", "merged", base, true},
		{"1", "merged", base, false},
		{"1", "merged", "", true},
		{"1", "topic", fork, false},
		{"1", "topic", "", true},
	} {
		clone := filepath.Join(t.TempDir(), "shallow")
		if _, err := git(ctx, ".", "clone", "-q", "--depth", c.depth, "-b", c.branch, "file://"+r.dir, clone); err != nil {
			t.Fatal(err)
		}
		s := repository{t, clone}
		if c.gone {
			s.git("remote", "set-url", "origin", "https://user:s3cret@localhost:1/x.git")
		}
		before := s.theirs()
		got, err := Base(ctx, clone, head, base)
		if got != c.want && err == nil || (c.want == "") != errors.Is(err, ErrNoBase) {
			t.Errorf("%s, depth %s: %s, %v; want %q", c.branch, c.depth, got, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("a password in %v", err)
		}
		if d := cmp.Diff(before, s.theirs()); d != "" {
			t.Errorf("%s, depth %s: the clone changed: %s", c.branch, c.depth, d)
		}
	}
	if _, err := Base(ctx, t.TempDir(), head, base); !errors.Is(err, ErrNone) {
		t.Errorf("no repository: %v", err)
	}
}

// A commit that is fetched into a clone whose history is whole leaves it whole.
func TestFetchKeepsHistory(t *testing.T) {
	ctx := context.Background()
	r := newRepository(t)
	first := r.commit(map[string]string{"f": "1"})
	clone := filepath.Join(t.TempDir(), "clone")
	r.git("clone", "-q", "file://"+r.dir, clone)
	r.commit(map[string]string{"f": "2"})
	third := r.commit(map[string]string{"f": "3"})
	s := repository{t, clone}
	if got, err := BaseOf(ctx, clone, third); err != nil || got != first {
		t.Errorf("%s, %v; want %s", got, err, first)
	}
	if n := s.git("rev-list", "--count", third); n != "3" || s.git("rev-parse", "--is-shallow-repository") != "false" {
		t.Errorf("%s commits", n)
	}
}

// A shallow clone is deepened, never cut.
func TestDeepened(t *testing.T) {
	ctx := context.Background()
	r := newRepository(t)
	fork := r.commit(nil)
	r.git("branch", "topic")
	other := r.commit(nil)
	r.git("checkout", "-q", "topic")
	for range 120 {
		r.git("commit", "-q", "--allow-empty", "-m", "x")
	}
	clone := filepath.Join(t.TempDir(), "clone")
	r.git("clone", "-q", "--depth", "100", "-b", "topic", "file://"+r.dir, clone)
	s := repository{t, clone}
	if got, err := BaseOf(ctx, clone, other); err != nil || got != fork {
		t.Errorf("%s, %v; want %s", got, err, fork)
	}
	if n := s.git("rev-list", "--count", "HEAD"); n != "121" {
		t.Errorf("%s commits are left", n)
	}
}

func TestBaseOf(t *testing.T) {
	ctx := context.Background()
	r := newRepository(t)
	if _, err := BaseOf(ctx, r.dir, "main"); !errors.Is(err, ErrNone) {
		t.Errorf("nothing committed: %v", err)
	}
	fork := r.commit(map[string]string{"f": "1"})
	r.git("tag", "-a", "-m", "tag", "v1")
	r.git("branch", "topic")
	r.commit(map[string]string{"f": "2"})
	r.git("branch", "a/b")
	clone := filepath.Join(t.TempDir(), "clone")
	r.git("clone", "-q", "-b", "topic", "--single-branch", "file://"+r.dir, clone)
	s := repository{t, clone}
	head := s.commit(map[string]string{"g": "1"})
	s.git("remote", "rename", "origin", "upstream")
	before := s.theirs()
	for ref, want := range map[string]string{"main": fork, "a/b": fork, "v1": fork, "topic": head, "HEAD": head, "HEAD~1": fork, fork[:9]: fork, "upstream/topic": fork} {
		if got, err := BaseOf(ctx, clone, ref); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", ref, got, err, want)
		}
	}
	if d := cmp.Diff(before, s.theirs()); d != "" {
		t.Errorf("the clone changed: %s", d)
	}
	if _, err := BaseOf(ctx, clone, "nothing"); !errors.Is(err, ErrNoRef) || !strings.Contains(err.Error(), "named nothing, neither here nor at upstream") {
		t.Errorf("no such branch: %v", err)
	}
	s.git("checkout", "-q", "--orphan", "other")
	s.commit(nil)
	if _, err := BaseOf(ctx, clone, "topic"); !errors.Is(err, ErrNoBase) || !strings.Contains(err.Error(), "in common") {
		t.Errorf("nothing in common: %v", err)
	}
}

func TestFilesOfACommit(t *testing.T) {
	ctx := context.Background()
	r := newRepository(t)
	if err := os.Mkdir(filepath.Join(r.dir, "baselines"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(r.dir, "baselines", "link.txt")); err != nil {
		t.Fatal(err)
	}
	commit := r.commit(map[string]string{"p.yaml": "threshold: 3%\n", "baselines/linux-amd64/x.txt": "x\n", "baselines/y.txt": "yy\n", "baselines2/z.txt": "z\n"})
	next := r.commit(map[string]string{"p.yaml": "threshold: 99%\n", "baselines/new.txt": "n\n", "other": ""})

	if data, err := ReadFile(ctx, r.dir, commit, "p.yaml", 100); err != nil || string(data) != "threshold: 3%\n" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := ReadFile(ctx, r.dir, commit, "p.yaml", 5); err == nil || !strings.Contains(err.Error(), "5 are the most") {
		t.Errorf("over the limit: %v", err)
	}
	for _, name := range []string{"none.yaml", "baselines"} {
		if _, err := ReadFile(ctx, r.dir, commit, name, 100); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadFile(ctx, r.dir, commit, "baselines/link.txt", 100); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a symbolic link: %v", err)
	}
	if _, err := Export(ctx, r.dir, commit, "baselines/link.txt", t.TempDir(), 100); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a symbolic link for a folder: %v", err)
	}
	to := t.TempDir()
	if n, err := Export(ctx, r.dir, commit, "baselines", to, 100); n != 2 || err != nil {
		t.Errorf("%d files, %v", n, err)
	}
	if data, err := os.ReadFile(filepath.Join(to, "linux-amd64/x.txt")); err != nil || string(data) != "x\n" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := os.Lstat(filepath.Join(to, "link.txt")); err == nil {
		t.Error("a symbolic link was exported")
	}
	if _, err := Export(ctx, r.dir, commit, "baselines", t.TempDir(), 4); err == nil {
		t.Error("the limit does not hold for all files together")
	}
	if n, err := Export(ctx, r.dir, commit, "nothing", t.TempDir(), 4); n != 0 || err != nil {
		t.Errorf("a folder that is not there: %d files, %v", n, err)
	}
	got, err := Changed(ctx, r.dir, commit, next, "p.yaml", "baselines")
	if want := []string{"baselines/new.txt", "p.yaml"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("changed %q, %v; want %q", got, err, want)
	}
	if _, err := ReadFile(ctx, r.dir, "HEAD", "p.yaml", 100); err == nil {
		t.Error("a name is taken for a commit")
	}
}
