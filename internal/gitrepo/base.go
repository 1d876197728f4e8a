package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

var objectName = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// ReadFile is a regular file of a commit, at most limit bytes. name is
// relative to dir, with slashes. A file that is not there is fs.ErrNotExist.
func ReadFile(ctx context.Context, dir, commit, name string, limit int64) ([]byte, error) {
	entries, err := list(ctx, dir, commit, name)
	if err != nil {
		return nil, err
	}
	if len(entries) != 1 || entries[0].name != name {
		if link, err := isLink(ctx, dir, commit, name); err != nil || link {
			return nil, linkError(err, commit, name)
		}
		return nil, fmt.Errorf("%s in %s: %w", name, commit, fs.ErrNotExist)
	}
	return entries[0].read(ctx, dir, limit)
}

// Export writes the regular files that a commit has under the folder name
// into the folder to, which must exist; symbolic links and submodules are
// left out. Their sizes together are at most limit bytes. It returns how many
// files that were.
func Export(ctx context.Context, dir, commit, name, to string, limit int64) (int, error) {
	entries, err := list(ctx, dir, commit, strings.TrimSuffix(name, "/")+"/")
	if err != nil {
		return 0, err
	}
	if len(entries) == 0 {
		if link, err := isLink(ctx, dir, commit, strings.TrimSuffix(name, "/")); err != nil || link {
			return 0, linkError(err, commit, name)
		}
	}
	n := 0
	for _, e := range entries {
		rel, err := filepath.Rel(name, e.name)
		if err != nil || !filepath.IsLocal(rel) {
			return n, fmt.Errorf("%s in %s does not lie under %s", e.name, commit, name)
		}
		data, err := e.read(ctx, dir, limit)
		if err != nil {
			return n, err
		}
		limit -= int64(len(data))
		path := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return n, err
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// isLink reports whether a path of a commit is a symbolic link: it is neither
// followed, which could lead anywhere, nor taken for absent.
func isLink(ctx context.Context, dir, commit, path string) (bool, error) {
	out, err := git(ctx, dir, "ls-tree", "-z", commit, "--", path)
	return strings.HasPrefix(out, "120000 "), err
}

func linkError(err error, commit, path string) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%s in %s is a symbolic link: commit the file or folder itself", path, commit)
}

// Changed lists which of the paths differ between two commits, files under
// a folder each; relative to dir, with slashes.
func Changed(ctx context.Context, dir, from, to string, paths ...string) ([]string, error) {
	out, err := git(ctx, dir, append([]string{"diff", "--no-ext-diff", "--no-textconv", "--name-only", "--relative", "-z", from, to, "--"}, paths...)...)
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), nil
}

// entry is one regular file of a tree.
type entry struct {
	object, name string
	size         int64
}

// list has the regular files at or under a path of a commit.
func list(ctx context.Context, dir, commit, path string) ([]entry, error) {
	if !objectName.MatchString(commit) {
		return nil, fmt.Errorf("%q is no commit", commit)
	}
	out, err := git(ctx, dir, "ls-tree", "-r", "-l", "-z", commit, "--", path)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for _, line := range strings.Split(out, "\x00") {
		meta, name, ok := strings.Cut(line, "\t")
		f := strings.Fields(meta) // mode, type, object, size
		if !ok || len(f) != 4 || f[0] != "100644" && f[0] != "100755" {
			continue
		}
		size, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git ls-tree printed %q", line)
		}
		entries = append(entries, entry{f[2], name, size})
	}
	return entries, nil
}

func (e entry) read(ctx context.Context, dir string, limit int64) ([]byte, error) {
	if e.size > limit {
		return nil, fmt.Errorf("%s has %d bytes, %d are the most", e.name, e.size, limit)
	}
	out, err := git(ctx, dir, "cat-file", "blob", e.object)
	if err != nil {
		return nil, err
	}
	return bytes.Clone([]byte(out)), nil
}
