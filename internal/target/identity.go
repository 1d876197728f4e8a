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
		paths, folders := filesOf(c)
		if len(paths) == 0 || folders || !static(paths[0]) {
			return ""
		}
		fmt.Fprintf(h, "%q\n", c.Args[1:])
		if hashFiles(h, paths) != nil {
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
	paths, _ = filesOf(b.command)
	h := sha256.New()
	if len(paths) == 0 || hashFiles(h, paths) != nil {
		return paths, ""
	}
	return paths, hex.EncodeToString(h.Sum(nil))
}

// filesOf has the program, first, and the files among its arguments; nothing
// where the program is not there. folders says that an argument is one.
func filesOf(c probe.Command) (paths []string, folders bool) {
	path, err := c.Find()
	if err != nil {
		return nil, false
	}
	paths = []string{path}
	for _, a := range c.Args[1:] {
		if !filepath.IsAbs(a) {
			a = filepath.Join(c.Dir, a)
		}
		switch info, err := os.Stat(a); {
		case err != nil: // it names no file
		case info.Mode().IsRegular():
			paths = append(paths, a)
		default:
			folders = true
		}
	}
	return paths, folders
}

// hashFiles adds the files' bytes, each with its length.
func hashFiles(h io.Writer, paths []string) error {
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		n, err := io.Copy(h, f)
		f.Close()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "\n%d\n", n)
	}
	return nil
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
