package result

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// ReadFile is Read on the file at path.
func ReadFile(path string) ([]Run, error) {
	return ReadFileChecked(path, func(*Run) error { return nil })
}

// ReadFileChecked is ReadChecked on the file at path.
func ReadFileChecked(path string, check func(*Run) error) ([]Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read result file: %w", err)
	}
	defer f.Close()
	return ReadChecked(f, path, check)
}

// WriteFile writes the runs to path: all of them or, on any error, none, with
// what was there before left intact. An existing file keeps its permissions.
// A symbolic link is followed: the file that it leads to is replaced, the
// link stays.
func WriteFile(path string, runs []Run) error {
	data, err := Encode(runs)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	real, err := resolve(path)
	if err != nil {
		return err
	}
	// The temporary file lies beside the target: elsewhere it could be on
	// another disk, and a rename would not replace.
	if err := renameio.WriteFile(real, data, 0o644, renameio.WithTempDir(filepath.Dir(real))); err != nil {
		return fmt.Errorf("write %s: %w; nothing was changed: check the folder, its permissions and the free space", path, err)
	}
	return nil
}

// resolve returns the path of the regular file to create or replace.
func resolve(path string) (string, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("write %s: it is a symbolic link to nothing: remove it, or make what it points to", path)
	}
	if err != nil {
		return "", fmt.Errorf("write result file: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("write result file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("write %s: it is not a regular file: name another path", path)
	}
	return real, nil
}
