// Package goprobe is the built-in Go probe. All but this file is also compiled
// inside other modules, as they build their own programs (see Source), and so
// keeps to the standard library and, but for xcrypto.go, to no module.
package goprobe

import (
	"embed"
	"io"
	"strings"
)

const xcryptoModule = "golang.org/x/crypto"

// GateBuild is in the mode of the probe that is part of the gate itself.
const GateBuild = "gate-build"

// Run is the probe that is part of the gate, until r ends: of crypto/pbkdf2, or
// of golang.org/x/crypto/pbkdf2.
func Run(r io.Reader, w io.Writer, x bool) error {
	if x {
		return serve(r, w, "go-x-crypto", xcryptoModule, GateBuild, xcrypto)
	}
	return serve(r, w, "go", "", GateBuild, library)
}

//go:embed serve.go library.go xcrypto.go
var source embed.FS

// Source has the files, by name, of package main that is the same probe: to
// be compiled inside another module.
func Source(x bool) map[string]string {
	names, call := []string{"serve.go", "library.go"}, `serve(os.Stdin, os.Stdout, "go", "", "", library)`
	if x {
		names, call = append(names, "xcrypto.go"), `serve(os.Stdin, os.Stdout, "go-x-crypto", "`+xcryptoModule+`", "", xcrypto)`
	}
	files := map[string]string{"main.go": `package main

import (
	"fmt"
	"os"
)

func main() {
	if err := ` + call + `; err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`}
	for _, n := range names {
		data, err := source.ReadFile(n)
		if err != nil {
			panic(err) // it is embedded
		}
		files[n] = strings.Replace(string(data), "\npackage goprobe\n", "\npackage main\n", 1)
	}
	return files
}
