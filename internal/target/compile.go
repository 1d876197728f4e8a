package target

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/goprobe"
)

// errNoModule: there is nothing that the probe could be compiled in.
var errNoModule = errors.New("no Go module here")

// probeFolder is where the probe's source seems to be, in the side's folder. It
// exists in the build's overlay only. An underscore keeps it out of ./...
const probeFolder = "_pbkdf2-gate-probe"

// listLimit is for go commands that compile nothing; they may have to fetch a
// toolchain.
const listLimit = 5 * time.Minute

// compile builds the built-in probe inside the module of the side's folder:
// with its toolchain, go.mod, go.sum, vendor folder or workspace, and the
// environment's GOFLAGS, GOAMD64, GOFIPS140 and so on. Nothing is written but
// below temp, and what go keeps in its caches. note is for people. The error is
// errNoModule or says why it cannot be compiled there.
func (s Side) compile(ctx context.Context, x bool, temp string) (paths []string, note string, err error) {
	env, err := s.goEnv(ctx)
	if err != nil {
		return nil, "", err
	}
	mod := env["GOMOD"]
	if mod == "" || mod == os.DevNull {
		return nil, "", errNoModule
	}
	if _, err := os.Lstat(filepath.Join(s.Dir, probeFolder)); err == nil {
		return nil, "", fmt.Errorf("the tree has a folder %s, whose files would be part of the probe: remove it", probeFolder)
	}
	if err := os.MkdirAll(temp, 0o777); err != nil {
		return nil, "", err
	}
	note = s.toolchain(ctx, mod)
	goflags := strings.Fields(env["GOFLAGS"])
	flags := []string{"-trimpath", "-buildvcs=false"}
	inWorkspace := env["GOWORK"] != "" && env["GOWORK"] != "off"
	_, vendored := os.Stat(filepath.Join(filepath.Dir(mod), "vendor", "modules.txt"))
	if !inWorkspace && (vendored != nil || slices.Contains(goflags, "-mod=mod")) {
		// A copy, so that go, which may want to complete it, leaves theirs
		// alone. A workspace refuses a copy, and is not written to unasked; a
		// vendor folder has all there is.
		if other := flagValue(goflags, "-modfile"); other != "" {
			if mod = other; !filepath.IsAbs(mod) {
				mod = filepath.Join(s.Dir, mod)
			}
		}
		file, err := copyModule(mod, temp)
		if err != nil {
			return nil, "", err
		}
		flags = append(flags, "-modfile="+file)
	}
	if x {
		if err := s.requires(ctx, flags, "golang.org/x/crypto"); err != nil {
			return nil, "", err
		}
	}
	overlay, err := s.overlay(x, temp)
	if err != nil {
		return nil, "", err
	}
	ldflags := flagValue(goflags, "-ldflags")
	for i := range layouts {
		path := filepath.Join(temp, fmt.Sprintf("probe%d", i))
		args := append([]string{"go", "build", "-overlay=" + overlay, "-o", path, strings.TrimSpace(fmt.Sprintf("-ldflags=%s -randlayout=%d", ldflags, i+1))}, flags...)
		err = program{args: append(args, "./"+probeFolder), dir: s.Dir, env: s.Environ, limit: buildLimit, log: s.Log,
			explain: "run go build ./... in it to see"}.run(ctx)
		if err != nil {
			return nil, "", fmt.Errorf("the probe does not compile in the module of %s: %w", mod, err)
		}
		paths = append(paths, path)
	}
	return paths, note, nil
}

// flagValue is the value of the last such flag.
func flagValue(flags []string, name string) string {
	value := ""
	for _, f := range flags {
		// go takes one hyphen or two
		if v, ok := strings.CutPrefix(strings.TrimLeft(f, "-"), strings.TrimLeft(name, "-")+"="); ok {
			value = v
		}
	}
	return value
}

var toolchainLine = regexp.MustCompile(`(?m)^toolchain[ \t]+(go[0-9][0-9A-Za-z.+-]*)`)

// toolchain has the module's toolchain line obeyed also where it names an older
// one than the go at hand, which go by itself never steps down to: a change of
// that line is what is to be measured. It says where that cannot be.
func (s *Side) toolchain(ctx context.Context, mod string) (note string) {
	switch value(s.Environ, "GOTOOLCHAIN") {
	case "", "auto", "local": // else somebody has chosen one for both sides
	default:
		return ""
	}
	data, err := os.ReadFile(mod)
	if err != nil {
		return ""
	}
	m := toolchainLine.FindSubmatch(data)
	if m == nil {
		return ""
	}
	want := string(m[1])
	env := append(slices.Clip(s.Environ), "GOTOOLCHAIN="+want)
	version := func(env []string) (string, error) {
		var out bytes.Buffer
		err := program{args: []string{"go", "env", "GOVERSION"}, dir: s.Dir, env: env, limit: listLimit, stdout: &out, explain: "run it to see"}.run(ctx)
		return strings.TrimSpace(out.String()), err
	}
	_, err = version(env)
	if err == nil {
		s.Environ = env
		return ""
	}
	got, e := version(s.Environ)
	if e != nil {
		return "" // compiling will say
	}
	return fmt.Sprintf("its go.mod asks for toolchain %s, which cannot be had (%v): built with %s", want, err, got)
}

// value is a variable's, the last one counting.
func value(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// layouts is how many builds, which differ in nothing but the order in which
// the linker laid their functions, the rounds are spread over: between two
// such builds the cost differs by 0.2 to 0.3 % (standard deviation), so between
// any two versions of a program too (docs/measuring.md). It divides the least
// number of rounds.
var layouts = 8 // tests need fewer

// goEnv asks go about the side's folder.
func (s Side) goEnv(ctx context.Context) (map[string]string, error) {
	if work := value(s.Environ, "GOWORK"); !hasModule(s.Dir) && (work == "" || work == "off") {
		return nil, errNoModule // whether or not there is a go
	}
	var out bytes.Buffer
	err := program{args: []string{"go", "env", "-json", "GOMOD", "GOWORK", "GOFLAGS"}, dir: s.Dir, env: s.Environ, limit: listLimit, stdout: &out,
		explain: "run it to see"}.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	env := map[string]string{}
	if err := json.Unmarshal(out.Bytes(), &env); err != nil {
		return nil, fmt.Errorf("go env printed %.100q: %w", out.Bytes(), err)
	}
	return env, nil
}

// hasModule reports whether dir or a folder above it has a go.mod.
func hasModule(dir string) bool {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// copyModule copies go.mod and go.sum, and returns the former's path.
func copyModule(mod, temp string) (string, error) {
	to := filepath.Join(temp, "go.mod")
	data, err := os.ReadFile(mod)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(to, data, 0o666); err != nil {
		return "", err
	}
	switch data, err := os.ReadFile(strings.TrimSuffix(mod, ".mod") + ".sum"); {
	case err == nil:
		return to, os.WriteFile(filepath.Join(temp, "go.sum"), data, 0o666)
	case !errors.Is(err, os.ErrNotExist):
		return "", err
	}
	return to, nil
}

// requires says where the module does not use another.
func (s Side) requires(ctx context.Context, flags []string, module string) error {
	args := []string{"go", "list", "-m"}
	for _, f := range flags {
		if strings.HasPrefix(f, "-modfile=") {
			args = append(args, f)
		}
	}
	err := program{args: append(args, module), dir: s.Dir, env: s.Environ, limit: listLimit, explain: "run it to see"}.run(ctx)
	if err != nil {
		if strings.Contains(err.Error(), "not a known dependency") {
			return fmt.Errorf("the module does not use %s", module)
		}
		return fmt.Errorf("go list -m %s: %w", module, err)
	}
	return nil
}

// overlay writes the probe's source, and what makes it seem to be in the
// side's folder.
func (s Side) overlay(x bool, temp string) (string, error) {
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return "", err
	}
	// go resolves links in its own idea of the folder
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range goprobe.Source(x) {
		file := filepath.Join(temp, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			return "", err
		}
		replace[filepath.Join(dir, probeFolder, name)] = file
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(temp, "overlay.json")
	return path, os.WriteFile(path, data, 0o666)
}
