//go:build go1.24

package goprobe

import (
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// library is the standard library's PBKDF2.
func library(prf, password string, salt []byte, iterations, keyBytes int) ([]byte, error) {
	h, err := hashOf(prf)
	if err != nil {
		return nil, err
	}
	return pbkdf2.Key(h, password, salt, iterations, keyBytes)
}

func hashOf(prf string) (func() hash.Hash, error) {
	switch prf {
	case "sha1":
		return sha1.New, nil
	case "sha256":
		return sha256.New, nil
	case "sha512":
		return sha512.New, nil
	}
	return nil, fmt.Errorf("unknown prf %.40q: use sha1, sha256 or sha512", prf)
}

// serve is the whole probe. The collector is off meanwhile, but for a backstop that no measured process comes near.
// dependency is the module whose version is the probe's, empty for Go's own;
// built goes into the mode.
func serve(r io.Reader, w io.Writer, name, dependency, built string, derive Derive) error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(512 << 20))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	return Serve(r, w, hello(name, dependency, built), derive)
}

// hello is the first line.
func hello(name, dependency, built string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	line := "pbkdf2-probe/1 " + name
	if m := mode(built, info.Settings, os.Getenv("GODEBUG")); m != "" {
		line += " mode=" + m
	}
	version := word(runtime.Version())
	line += " toolchain=" + version
	if dependency != "" {
		version = "unknown"
		for _, m := range info.Deps {
			if m.Path != dependency {
				continue
			}
			if m.Replace != nil {
				m = m.Replace
			}
			if m.Version != "" {
				version = word(m.Version)
			}
		}
	}
	return line + " version=" + version
}

// mode is how the program was built and is run, as far as that changes its
// speed: "GOAMD64=v1,-race=true,GODEBUG=cpu.sha=off".
func mode(built string, settings []debug.BuildSetting, godebug string) string {
	var m []string
	if built != "" {
		m = append(m, built)
	}
	for _, s := range settings {
		switch s.Key {
		case "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFIPS140",
			"-tags", "-gcflags", "-asmflags", "-race", "-msan", "-asan", "-cover":
			if s.Value != "" {
				m = append(m, s.Key+"="+s.Value)
			}
		case "DefaultGODEBUG": // by the go line of go.mod; most of it is about other things
			for _, d := range strings.Split(s.Value, ",") {
				if strings.HasPrefix(d, "fips140=") || strings.HasPrefix(d, "cpu.") {
					m = append(m, d)
				}
			}
		}
	}
	if godebug != "" {
		m = append(m, "GODEBUG="+godebug)
	}
	return word(strings.Join(m, ","))
}

// word is s as a value of the first line: printable, without spaces, and
// short enough that it is not ignored.
func word(s string) string {
	b := []byte(s)
	if len(b) > 200 {
		b = b[:200]
	}
	for i, c := range b {
		if c <= ' ' || c > '~' {
			b[i] = '_'
		}
	}
	return string(b)
}
