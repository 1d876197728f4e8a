package target

import (
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

	"golang.org/x/crypto/pbkdf2"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// Serve is the built-in probe: it answers the requests from r on w until r
// ends. The collector is off meanwhile, but for a backstop that no measured
// process comes near.
func Serve(r io.Reader, w io.Writer, xcrypto bool) error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(512 << 20))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	hello, derive := Builtin(xcrypto)
	return probe.Serve(r, w, hello, derive)
}

// Builtin is the built-in probe's first line and its derivation: crypto/pbkdf2
// of the standard library, or golang.org/x/crypto/pbkdf2.
func Builtin(xcrypto bool) (probe.Hello, probe.Deriver) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	toolchain := word(runtime.Version())
	h := probe.Hello{Name: "go", Words: map[string]string{"toolchain": toolchain, "version": toolchain}}
	if m := mode(info.Settings, os.Getenv("GODEBUG")); m != "" {
		h.Words["mode"] = m
	}
	if !xcrypto {
		return h, workload.Key
	}
	h.Name, h.Words["version"] = "go-x-crypto", "unknown"
	for _, m := range info.Deps {
		if m.Path != "golang.org/x/crypto" {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version != "" {
			h.Words["version"] = word(m.Version)
		}
	}
	return h, xcryptoKey
}

// xcryptoKey panics where the standard library returns an error: probe.Serve
// makes an answer of it.
func xcryptoKey(prf workload.PRF, password string, salt []byte, iterations, keyBytes int) ([]byte, error) {
	var h func() hash.Hash
	switch prf {
	case workload.SHA1:
		h = sha1.New
	case workload.SHA256:
		h = sha256.New
	case workload.SHA512:
		h = sha512.New
	default:
		return nil, fmt.Errorf("unknown prf %q: use sha1, sha256 or sha512", prf)
	}
	return pbkdf2.Key([]byte(password), salt, iterations, keyBytes, h), nil
}

// mode is how the program was built and is run, as far as that changes its
// speed: "GOAMD64=v1,-race=true,GODEBUG=cpu.sha=off".
func mode(settings []debug.BuildSetting, godebug string) string {
	var m []string
	for _, s := range settings {
		switch s.Key {
		case "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFIPS140", "DefaultGODEBUG",
			"-tags", "-gcflags", "-asmflags", "-race", "-msan", "-asan", "-cover":
			if s.Value != "" {
				m = append(m, s.Key+"="+s.Value)
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
	const most = 200
	b := []byte(s)
	for i, c := range b {
		if c <= ' ' || c > '~' {
			b[i] = '_'
		}
	}
	return string(b[:min(len(b), most)])
}
