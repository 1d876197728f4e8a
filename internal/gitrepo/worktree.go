package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Worktree is the tree of a commit in a temporary folder, which shares the
// objects of the caller's repository.
type Worktree struct {
	// Dir is the folder that stands for the caller's: the same folder of the
	// repository.
	Dir   string
	Notes []string // what the tree lacks; for people

	root   string // of the tree
	admin  string // what git keeps about it
	within []*Worktree
}

// Checkout lays out the tree of a commit in the new folder to. Submodules that
// the caller has checked out are laid out too, at the commits of this tree.
// Neither hooks nor Git LFS run; large files come from where LFS keeps them.
// Nothing is left where it fails.
func Checkout(ctx context.Context, dir, commit, to string) (*Worktree, error) {
	if err := recent(ctx, dir); err != nil {
		return nil, err
	}
	if out, err := git(ctx, dir, "rev-parse", "--is-inside-work-tree"); err != nil || strings.TrimSpace(out) != "true" {
		if err == nil {
			err = errors.New("the repository is bare: run in a clone with a work tree")
		}
		return nil, err
	}
	prefix, err := git(ctx, dir, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	w := &Worktree{root: to}
	_, err = command{dir: dir, limit: slow}.run(ctx, "worktree", "add", "--detach", "--force", to, commit)
	if w.find(); err != nil {
		w.forget(ctx, dir)
	}
	if err == nil {
		err = w.submodules(ctx, strings.TrimSuffix(top, "\n"), commit)
	}
	if err == nil {
		err = w.large(ctx)
	}
	if err == nil {
		w.Dir = filepath.Join(to, strings.TrimSuffix(prefix, "\n"))
		if info, e := os.Stat(w.Dir); e != nil || !info.IsDir() {
			err = fmt.Errorf("it has no folder %s: only a later commit can be compared with here", strings.TrimSpace(prefix))
		}
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// find reads where git keeps what it knows of the worktree.
func (w *Worktree) find() {
	data, err := os.ReadFile(filepath.Join(w.root, ".git"))
	if err != nil {
		return
	}
	admin, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if ok && !filepath.IsAbs(admin) {
		admin = filepath.Join(w.root, admin)
	}
	if ok && filepath.Base(filepath.Dir(admin)) == "worktrees" {
		w.admin = admin
	}
}

// forget removes what a checkout that failed may have left beside the tree.
func (w *Worktree) forget(ctx context.Context, dir string) {
	common, err := git(context.WithoutCancel(ctx), dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err == nil {
		_ = os.Remove(filepath.Join(strings.TrimSpace(common), "worktrees")) // stays where it holds another
	}
}

// Close removes the tree and what git kept about it. It works after ctx has
// ended, and may be called again.
func (w *Worktree) Close() error {
	var errs []error
	for _, x := range w.within {
		errs = append(errs, x.Close())
	}
	w.within = nil
	errs = append(errs, RemoveAll(w.root))
	if w.admin != "" {
		errs = append(errs, os.RemoveAll(w.admin))
		_ = os.Remove(filepath.Dir(w.admin)) // as git does with an empty one
	}
	return errors.Join(errs...)
}

// RemoveAll is os.RemoveAll that also removes folders that their owner may
// not write to, such as those of a module cache.
func RemoveAll(path string) error {
	err := os.RemoveAll(path)
	// a program that was killed a moment ago may still have written
	for range 5 {
		if err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
		err = os.RemoveAll(path)
	}
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}

// submodules lays out those that the caller has.
func (w *Worktree) submodules(ctx context.Context, top, commit string) error {
	out, err := git(ctx, w.root, "ls-tree", "-r", "-z", commit)
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(out, "\x00") {
		meta, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta) // mode, type, object
		if len(f) != 3 || f[0] != "160000" || !filepath.IsLocal(path) {
			continue
		}
		theirs := filepath.Join(top, path)
		if _, err := os.Stat(filepath.Join(theirs, ".git")); err != nil {
			if link, err := git(ctx, top, "ls-tree", "HEAD", "--", path); err == nil && !strings.HasPrefix(link, "160000 ") {
				w.Notes = append(w.Notes, fmt.Sprintf("submodule %s is empty: only the base has it", path))
			}
			continue // nor has the caller
		}
		if err := obtain(ctx, theirs, f[2]); err != nil {
			w.Notes = append(w.Notes, fmt.Sprintf("submodule %s is empty: its commit %.12s is not here (%v)", path, f[2], err))
			continue
		}
		x, err := Checkout(ctx, theirs, f[2], filepath.Join(w.root, path))
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			w.Notes = append(w.Notes, fmt.Sprintf("submodule %s is empty: %v", path, err))
			continue
		}
		w.within = append(w.within, x)
		w.Notes = append(w.Notes, x.Notes...)
	}
	return nil
}

var pointer = regexp.MustCompile(`^version https://git-lfs\.github\.com/spec/v1\n(?:ext-.*\n)*oid sha256:([0-9a-f]{64})\nsize [0-9]+\n$`)

// large puts the files in place that Git LFS keeps outside of git, as far as
// they have been fetched.
func (w *Worktree) large(ctx context.Context) error {
	out, err := git(ctx, w.root, "ls-files", "-z", "--", ":(attr:filter=lfs)")
	if err != nil || out == "" {
		return err
	}
	common, err := git(ctx, w.root, "rev-parse", "--git-common-dir")
	if err != nil {
		return err
	}
	store := filepath.Join(strings.TrimSpace(common), "lfs")
	if elsewhere, err := git(ctx, w.root, "config", "lfs.storage"); err == nil && strings.TrimSpace(elsewhere) != "" {
		if store = strings.TrimSpace(elsewhere); !filepath.IsAbs(store) {
			store = filepath.Join(strings.TrimSpace(common), store)
		}
	}
	if !filepath.IsAbs(store) {
		store = filepath.Join(w.root, store)
	}
	missing := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		path := filepath.Join(w.root, name)
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > 1024 {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		m := pointer.FindSubmatch(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
		if m == nil {
			continue
		}
		oid := string(m[1])
		switch err := copyFile(path, filepath.Join(store, "objects", oid[:2], oid[2:4], oid)); {
		case errors.Is(err, fs.ErrNotExist):
			missing++
		case err != nil:
			return err
		}
	}
	if missing > 0 {
		w.Notes = append(w.Notes, fmt.Sprintf("%d files of the base are Git LFS pointers, their contents are not here: fetch them first (git lfs fetch)", missing))
	}
	return nil
}

// copyFile puts what is in the file from into the file to, which is there.
func copyFile(to, from string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// Tracked lists the tracked files that differ from HEAD, in dir's repository.
func Tracked(ctx context.Context, dir string) (string, error) {
	return git(ctx, dir, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
}
