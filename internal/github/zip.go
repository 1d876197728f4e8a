package github

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// readZip unpacks an untrusted archive in memory. left bounds the bytes of all
// its files. Headers are taken as claims: each file is read to its end, and no
// further than the limit.
func readZip(data []byte, limits Limits, left int64) ([]File, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("it is no zip archive: %s", clean(err.Error()))
	}
	if len(r.File) > limits.Files {
		return nil, fmt.Errorf("it has %d files, more than %d", len(r.File), limits.Files)
	}
	var files []File
	seen := map[string]bool{}
	for _, f := range r.File {
		if err := checkEntry(f); err != nil {
			return nil, err
		}
		// Two files that one folder of macOS could not hold are no result of
		// ours either.
		folded := strings.ToLower(f.Name)
		if seen[folded] {
			return nil, fmt.Errorf("it has the file %q twice", f.Name)
		}
		seen[folded] = true
		content, err := readEntry(f, min(limits.FileBytes, left))
		if err != nil {
			return nil, fmt.Errorf("its file %q: %w", f.Name, err)
		}
		left -= int64(len(content))
		files = append(files, File{Name: f.Name, Data: content})
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return files, nil
}

const encrypted = 1 // bit of a zip header's flags

func checkEntry(f *zip.File) error {
	if len(f.Name) > 255 || !fs.ValidPath(f.Name) || f.Name == "." {
		return fmt.Errorf("it has a file of the name %q: that is no plain relative path", clean(f.Name))
	}
	for _, r := range f.Name {
		if r < ' ' || r > '~' || r == '\\' || r == ':' {
			return fmt.Errorf("it has a file of the name %q: only printable ASCII without \\ and : is read", clean(f.Name))
		}
	}
	if !f.Mode().IsRegular() {
		return fmt.Errorf("%q in it is no regular file", f.Name)
	}
	if f.Flags&encrypted != 0 {
		return fmt.Errorf("its file %q is encrypted", f.Name)
	}
	return nil
}

func readEntry(f *zip.File, limit int64) ([]byte, error) {
	tooLarge := fmt.Errorf("it is larger than the %d bytes that may be read", limit)
	if f.UncompressedSize64 > uint64(limit) {
		return nil, tooLarge
	}
	r, err := f.Open()
	if err != nil {
		return nil, errors.New(clean(err.Error()))
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(data)) > limit {
		return nil, tooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("it cannot be unpacked: %s", clean(err.Error()))
	}
	return data, nil
}
