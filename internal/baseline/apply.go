package baseline

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// An edit is what is to become of one file.
type edit struct {
	platform host.Platform
	path     string
	old, new []result.Run
	runs     []result.Run // for the report
}

// apply writes the files that differ, in order, after it has seen that all of
// them can be.
func apply(edits []edit) ([]Change, error) {
	changes := make([]Change, len(edits))
	for i, e := range edits {
		changes[i] = Change{e.platform, e.path, NotWritten, e.runs}
	}
	for i, e := range edits {
		same, err := equal(e.old, e.new)
		if err != nil {
			return changes, fmt.Errorf("baseline file %s: %w", e.path, err)
		}
		if same {
			changes[i].State = Unchanged
		}
	}
	for i, e := range edits {
		if changes[i].State == Unchanged {
			continue
		}
		dir := filepath.Dir(e.path)
		if err := checkWritable(dir); err != nil {
			return changes, err
		}
		// Behind a link the file lies, and is replaced, in another folder.
		if real, err := filepath.EvalSymlinks(e.path); err == nil {
			if err := checkWritable(filepath.Dir(real)); err != nil {
				return changes, err
			}
		}
	}
	for i, e := range edits {
		if changes[i].State == Unchanged {
			continue
		}
		if err := result.WriteFile(e.path, e.new); err != nil {
			return changes, err
		}
		changes[i].State = Written
	}
	return changes, nil
}

// removeAbandoned removes what processes that were killed were writing. Only who
// holds the lock may: nobody else is writing.
func removeAbandoned(dir string) {
	files, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "*", ".*"+extension+"[0-9]*"))
	for _, f := range files {
		_ = os.Remove(f) // one that stays does no harm
	}
}

var escapeGlob = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace

// equal reports whether both would be the same file; its error is about the
// new runs.
func equal(old, new []result.Run) (bool, error) {
	b, err := result.Encode(new)
	if err != nil || len(old) == 0 {
		return false, err
	}
	a, err := result.Encode(old)
	return err == nil && bytes.Equal(a, b), nil
}
