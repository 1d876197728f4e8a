package gitrepo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func read(t *testing.T, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

func TestCheckout(t *testing.T) {
	ctx := context.Background()
	r := newRepository(t)
	base := r.commit(map[string]string{"deep/er/f": "base", "link": "x"})
	r.commit(map[string]string{"deep/er/f": "head", "new/f": "head"})
	if err := os.WriteFile(filepath.Join(r.dir, "deep/er/f"), []byte("not committed"), 0o666); err != nil {
		t.Fatal(err)
	}
	hook := filepath.Join(r.dir, ".git", "hooks", "post-checkout")
	if err := os.MkdirAll(filepath.Dir(hook), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch "+"\"$(git rev-parse --show-toplevel)/hooked\"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	before := r.theirs()
	to := filepath.Join(t.TempDir(), "a tree")
	w, err := Checkout(ctx, filepath.Join(r.dir, "deep"), base, to)
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(to, "deep"); w.Dir != want || read(t, w.Dir, "er", "f") != "base" || len(w.Notes) > 0 {
		t.Errorf("%+v", w)
	}
	if _, err := os.Stat(filepath.Join(to, "hooked")); err == nil {
		t.Error("a hook ran")
	}
	// what a build may leave
	locked := filepath.Join(w.Dir, "cache", "mod")
	if err := os.MkdirAll(locked, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(locked, "f"), nil, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(locked, 0o555); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("the tree is still there")
	}
	if d := cmp.Diff(before, r.theirs()); d != "" {
		t.Errorf("the repository changed: %s", d)
	}

	if _, err := Checkout(ctx, filepath.Join(r.dir, "new"), base, to); err == nil || !strings.Contains(err.Error(), "it has no folder new/") {
		t.Errorf("a folder that the base lacks: %v", err)
	}
	if _, err := Checkout(ctx, r.dir, strings.Repeat("1", 40), to); err == nil {
		t.Error("a commit that is not there")
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Checkout(ended, r.dir, base, to); err == nil {
		t.Error("checked out although it was stopped")
	}
	if d := cmp.Diff(before, r.theirs()); d != "" {
		t.Errorf("the repository changed: %s", d)
	}
	bare := filepath.Join(t.TempDir(), "bare.git")
	r.git("clone", "-q", "--bare", r.dir, bare)
	if _, err := Checkout(ctx, bare, base, to); err == nil || !strings.Contains(err.Error(), "bare") {
		t.Errorf("bare: %v", err)
	}
}

// A hook has set where git works.
func TestCheckoutInHook(t *testing.T) {
	r := newRepository(t)
	base := r.commit(map[string]string{"sub/f": "base"})
	r.commit(map[string]string{"sub/f": "head"})
	before := r.theirs()
	t.Setenv("GIT_DIR", filepath.Join(r.dir, ".git"))
	t.Setenv("GIT_WORK_TREE", r.dir)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(r.dir, ".git", "index"))
	w, err := Checkout(context.Background(), filepath.Join(r.dir, "sub"), base, filepath.Join(t.TempDir(), "w"))
	if err != nil {
		t.Fatal(err)
	}
	if read(t, w.Dir, "f") != "base" || filepath.Base(w.Dir) != "sub" {
		t.Error("not the base")
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(before, r.theirs()); d != "" {
		t.Errorf("the repository changed: %s", d)
	}
}

func TestSubmodules(t *testing.T) {
	ctx := context.Background()
	r := newRepository(t)
	lib := repository{t, filepath.Join(t.TempDir(), "lib")}
	if err := os.Mkdir(lib.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	lib.git("init", "-q", "-b", "main")
	old := lib.commit(map[string]string{"f": "old"})
	lib.commit(map[string]string{"f": "new"})
	r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.dir, "a lib")
	r.git("-C", "a lib", "checkout", "-q", old)
	base := r.commit(nil)
	r.git("-C", "a lib", "checkout", "-q", "main")
	r.commit(nil)
	before := r.theirs()
	w, err := Checkout(ctx, r.dir, base, filepath.Join(t.TempDir(), "w"))
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, w.Dir, "a lib", "f"); got != "old" || len(w.Notes) > 0 {
		t.Errorf("the base's submodule has %q, notes %q", got, w.Notes)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(before, r.theirs()); d != "" {
		t.Errorf("the repository changed: %s", d)
	}

	// one that is not checked out stays empty; so does a commit that is gone
	r.git("update-index", "--cacheinfo", "160000,"+strings.Repeat("a", 40)+",a lib")
	r.git("commit", "-q", "-m", "gone")
	gone := r.git("rev-parse", "HEAD")
	w, err = Checkout(ctx, r.dir, gone, filepath.Join(t.TempDir(), "w"))
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Notes) != 1 || !strings.Contains(w.Notes[0], "submodule a lib is empty: its commit aaaaaaaaaaaa is not here") {
		t.Errorf("notes %q", w.Notes)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestLargeFiles(t *testing.T) {
	ctx := context.Background()
	r := newRepository(t)
	content := "large\n"
	oid := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
	text := func(oid string) string {
		return "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize 6\n"
	}
	base := r.commit(map[string]string{".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "a.bin": text(oid), "b.bin": text(strings.Repeat("0", 64)), "c.txt": text(oid), "d.bin": "small"})
	store := filepath.Join(r.dir, ".git", "lfs", "objects", oid[:2], oid[2:4])
	if err := os.MkdirAll(store, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(store, oid), []byte(content), 0o444); err != nil {
		t.Fatal(err)
	}
	w, err := Checkout(ctx, r.dir, base, filepath.Join(t.TempDir(), "w"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for name, want := range map[string]string{"a.bin": content, "b.bin": text(strings.Repeat("0", 64)), "c.txt": text(oid), "d.bin": "small"} {
		if got := read(t, w.Dir, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if !slices.ContainsFunc(w.Notes, func(n string) bool { return strings.HasPrefix(n, "1 files of the base are Git LFS pointers") }) {
		t.Errorf("notes %q", w.Notes)
	}
}

func TestManyAtOnce(t *testing.T) {
	r := newRepository(t)
	base := r.commit(map[string]string{"f": "base"})
	before := r.theirs()
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			w, err := Checkout(context.Background(), r.dir, base, filepath.Join(t.TempDir(), "base"))
			if err != nil {
				t.Error(err)
				return
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if d := cmp.Diff(before, r.theirs()); d != "" {
		t.Errorf("the repository changed: %s", d)
	}
}

func TestOldGit(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho git version 2.29.3\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	if _, err := Checkout(context.Background(), t.TempDir(), strings.Repeat("1", 40), "x"); err == nil || !strings.Contains(err.Error(), "git is 2.29: install 2.30 or newer") {
		t.Error(err)
	}
}
