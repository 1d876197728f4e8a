package target

import (
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
)

// identity stands for programs with their arguments: a hash of their bytes,
// of the arguments, and of the files among them. It is empty where a program
// has parts elsewhere (libraries, an interpreter) or an argument is a folder.
func identity(commands []probe.Command) string {
	h := sha256.New()
	for _, c := range commands {
		if !addProgram(h, c) {
			return ""
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Files are what a target runs: its program and the files among its
// arguments, absolute, and a hash of them all. They are empty for what the gate
// has built itself, and for a program that is not there.
func (b Built) Files() (paths []string, hash string) {
	if b.Spec.Kind != Probe && b.Spec.Kind != Time || b.Err != nil {
		return nil, ""
	}
	c := b.command
	path, err := c.Find()
	if err != nil {
		return nil, ""
	}
	paths = []string{path}
	for _, a := range c.Args[1:] {
		if !filepath.IsAbs(a) {
			a = filepath.Join(c.Dir, a)
		}
		if info, err := os.Stat(a); err == nil && info.Mode().IsRegular() {
			paths = append(paths, a)
		}
	}
	h := sha256.New()
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			return paths, ""
		}
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return paths, ""
		}
	}
	return paths, hex.EncodeToString(h.Sum(nil))
}

// addProgram reports false where it is not all there.
func addProgram(h io.Writer, c probe.Command) bool {
	path, err := c.Find()
	if err != nil || !static(path) {
		return false
	}
	for i, a := range c.Args {
		file := path
		if i > 0 {
			fmt.Fprintf(h, "%q\n", a)
			if file = a; !filepath.IsAbs(file) {
				file = filepath.Join(c.Dir, file)
			}
		}
		info, err := os.Stat(file)
		switch {
		case err != nil && i > 0:
			continue // an argument that names no file
		case err != nil || !info.Mode().IsRegular():
			return false
		}
		f, err := os.Open(file)
		if err != nil {
			return false
		}
		n, err := io.Copy(h, f)
		f.Close()
		if err != nil {
			return false
		}
		fmt.Fprintf(h, "\n%d\n", n)
	}
	return true
}

// static reports whether a program needs no other file: on Linux one that
// names no loader; on macOS, where none is without the system's library, one
// that Go built.
func static(path string) bool {
	if runtime.GOOS == "darwin" {
		return builtByGo(path)
	}
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			return false
		}
	}
	return true
}

func builtByGo(path string) bool {
	_, err := buildinfo.ReadFile(path)
	return err == nil
}
