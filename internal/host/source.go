package host

import (
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

// source is the machine as this package sees it, so that tests can show it
// another.
type source struct {
	goos, goarch string
	cpus         int   // that the program may use
	root         fs.FS // the file system from /: proc, sys, etc
	getenv       func(string) string
	hostname     func() (string, error)
	sysctl       func(name string) string         // text; empty where unknown
	sysctlInt    func(name string) (uint64, bool) // 4 or 8 bytes
	affinity     func() error                     // why a thread cannot choose its CPU; nil where it can
}

func machine() source {
	return source{
		goos:      runtime.GOOS,
		goarch:    runtime.GOARCH,
		cpus:      runtime.NumCPU(),
		root:      os.DirFS("/"),
		getenv:    os.Getenv,
		hostname:  os.Hostname,
		sysctl:    sysctl,
		sysctlInt: sysctlInt,
		affinity:  affinity,
	}
}

// maxFile bounds what is read of one file: /proc/cpuinfo of a thousand CPUs.
const maxFile = 2 << 20

// raw reads a file of the machine; empty where it cannot be read.
func (s source) raw(name string) []byte {
	f, err := s.root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil
	}
	return b
}

// file is raw as text, without white space around it.
func (s source) file(name string) string {
	return strings.TrimSpace(string(s.raw(name)))
}

// maxText bounds a value of a fingerprint.
const maxText = 120

// clean makes a value one line of printable ASCII: files and reports carry
// it as it is.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r > ' ' && r <= '~':
			return r
		case r < 0x80:
			return ' '
		}
		return '?'
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	return strings.TrimSpace(s[:min(len(s), maxText)])
}
