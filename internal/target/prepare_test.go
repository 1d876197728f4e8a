package target

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/goprobe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
)

// tree writes files into a new folder whose path has a blank.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a tree")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// listing has every file below dir, with its text.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			data, e := os.ReadFile(path)
			all[path], err = string(data), e
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func prepare(t *testing.T, s Side, specs ...string) []Built {
	t.Helper()
	// what whoever runs the tests has set for go is not the tree's
	s.Environ = append([]string{}, append(os.Environ(), append([]string{"GOFLAGS=", "GOWORK="}, s.Environ...)...)...)
	if s.Temp == "" {
		s.Temp = t.TempDir()
	}
	if s.Self == "" {
		s.Self, _ = os.Executable()
	}
	var parsed []Spec
	for _, text := range specs {
		spec, err := ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, spec)
	}
	built, err := s.Prepare(t.Context(), parsed)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// hello starts a target and returns what it says of itself.
func hello(t *testing.T, b Built) probe.Hello {
	t.Helper()
	if b.Err != nil {
		t.Fatal(b.Err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p, err := b.Commands[0].Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	return p.Hello()
}

func needGo(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not on PATH")
	}
}

// The probe is compiled in the module, which stays as it is.
func TestGoInModule(t *testing.T) {
	needGo(t)
	gomod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	gosum, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	const user = "package team\n\nimport _ \"golang.org/x/crypto/pbkdf2\"\n"
	for _, c := range []struct {
		name    string
		files   map[string]string
		sub     string
		env     []string
		x       string // what the fallback of go:x-crypto says; empty: none
		plain   string // likewise, of go
		gate    bool   // no module at all
		modeHas string
	}{
		{name: "plain", files: map[string]string{"go.mod": "module example.com/team\n\ngo 1.17\n"}, x: "does not use golang.org/x/crypto"},
		{name: "of the gate", files: map[string]string{"go.mod": string(gomod), "go.sum": string(gosum), "team.go": user}},
		{name: "a folder of it", files: map[string]string{"go.mod": string(gomod), "go.sum": string(gosum), "team.go": user, "deep/er/x.txt": ""}, sub: "deep/er"},
		{name: "workspace", files: map[string]string{"one/go.mod": string(gomod), "one/go.sum": string(gosum), "one/team.go": user, "go.work": "go 1.26.0\n\nuse ./one\n"}, sub: "one"},
		{name: "a workspace of others", files: map[string]string{"one/go.mod": "module example.com/one\n\ngo 1.24\n", "two/go.mod": "module example.com/two\n\ngo 1.24\n", "go.work": "go 1.24\n\nuse ./one\n"}, sub: "two",
			plain: "go.work", x: "does not use"},
		{name: "settings", files: map[string]string{"go.mod": "module example.com/team\n\ngo 1.24\n"}, env: []string{"GOFLAGS=-tags=ours", "GOAMD64=v2"}, modeHas: "-tags=ours", x: "does not use"},
		{name: "no module", files: map[string]string{"README": "x"}, gate: true},
		{name: "broken go.mod", files: map[string]string{"go.mod": "modul example.com/team\n"}, plain: "unknown directive", x: "unknown directive"},
		{name: "a toolchain that is not there", files: map[string]string{"go.mod": "module example.com/team\n\ngo 1.99\n"}, env: []string{"GOTOOLCHAIN=local"}, plain: "go.mod requires go >= 1.99", x: "go >= 1.99"},
		{name: "no go", files: map[string]string{"go.mod": "module example.com/team\n\ngo 1.24\n"}, env: []string{"PATH=/nowhere"}, plain: "no program go on PATH", x: "no program go on PATH"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := tree(t, c.files)
			before := listing(t, dir)
			built := prepare(t, Side{Dir: filepath.Join(dir, c.sub), Environ: c.env}, "go=go", "x=go:x-crypto")
			if d := cmp.Diff(before, listing(t, dir)); d != "" {
				t.Errorf("the tree changed: %s", d)
			}
			for i, want := range []string{c.plain, c.x} {
				b := built[i]
				if (want == "") != (b.Fallback == "") || !strings.Contains(b.Fallback, want) {
					t.Errorf("%s falls back: %q, want %q", b.Spec, b.Fallback, want)
				}
				h := hello(t, b)
				if gate := strings.Contains(h.Words["mode"], goprobe.GateBuild); gate != (want != "" || c.gate) {
					t.Errorf("%s is %v", b.Spec, h)
				}
				if want == "" && !strings.Contains(h.Words["mode"], c.modeHas) {
					t.Errorf("%s has mode %q", b.Spec, h.Words["mode"])
				}
				if b.Program == "" && !raceEnabled {
					t.Errorf("%s has no identity", b.Spec)
				}
			}
		})
	}
}

// A vendor folder is what is built from, with its version of x/crypto.
func TestGoVendored(t *testing.T) {
	needGo(t)
	const version = "v0.45.0"
	dir := tree(t, map[string]string{
		"go.mod":             "module example.com/team\n\ngo 1.24\n\nrequire golang.org/x/crypto " + version + "\n",
		"vendor/modules.txt": "# golang.org/x/crypto " + version + "\n## explicit\ngolang.org/x/crypto/pbkdf2\n",
		"team.go":            "package team\n\nimport _ \"golang.org/x/crypto/pbkdf2\"\n",
		"vendor/golang.org/x/crypto/pbkdf2/pbkdf2.go": `package pbkdf2

import "hash"

func Key(password, salt []byte, iter, keyLen int, h func() hash.Hash) []byte { return make([]byte, keyLen) }
`,
	})
	before := listing(t, dir)
	b := prepare(t, Side{Dir: dir}, "x=go:x-crypto")[0]
	if h := hello(t, b); b.Fallback != "" || h.Words["version"] != version {
		t.Errorf("%v, falls back: %q", h, b.Fallback)
	}
	if d := cmp.Diff(before, listing(t, dir)); d != "" {
		t.Errorf("the tree changed: %s", d)
	}
}

func TestSameProgram(t *testing.T) {
	needGo(t)
	files := map[string]string{"go.mod": "module example.com/team\n\ngo 1.24\n"}
	one, two := prepare(t, Side{Dir: tree(t, files)}, "go=go")[0], prepare(t, Side{Dir: tree(t, files)}, "go=go")[0]
	if one.Program == "" || one.Program != two.Program {
		t.Errorf("two builds of one module: %q, %q", one.Program, two.Program)
	}
	files["go.mod"] = "module example.com/team\n\ngo 1.25\n"
	if three := prepare(t, Side{Dir: tree(t, files)}, "go=go")[0]; three.Program == "" || three.Program == one.Program {
		t.Errorf("another go line is the same program %q", three.Program)
	}
	script := map[string]string{"p": "#!/bin/sh\n"}
	if b := prepare(t, Side{Dir: tree(t, script)}, "p=probe:./p")[0]; b.Program != "" {
		t.Error("a script is taken for all of a program")
	}
}

// What the program is given counts as part of it.
func TestIdentity(t *testing.T) {
	needGo(t)
	built := prepare(t, Side{Dir: tree(t, map[string]string{"go.mod": "module example.com/team\n\ngo 1.24\n"})}, "go=go")[0].Commands[0].Args[0]
	id := func(files map[string]string, args ...string) string {
		dir := tree(t, files)
		return identity([]probe.Command{{Args: append([]string{built}, args...), Dir: dir}})
	}
	same := id(map[string]string{"a": "1"}, "a")
	if same == "" || same != id(map[string]string{"a": "1", "b": "2"}, "a") {
		t.Errorf("equal files: %q", same)
	}
	for name, other := range map[string]string{
		"another file":     id(map[string]string{"a": "2"}, "a"),
		"another argument": id(map[string]string{"a": "1"}, "-a"),
		"no argument":      id(map[string]string{"b": ""}),
	} {
		if other == "" || other == same {
			t.Errorf("%s: %q", name, other)
		}
	}
	if got := id(map[string]string{"d/a": "1"}, "d"); got != "" {
		t.Errorf("a folder: %q", got)
	}
}

func TestBuild(t *testing.T) {
	for _, c := range []struct {
		name, build, script, err string
	}{
		{"works", "./build 'a b'", "echo \"$1\" > \"out $1\"; pwd; echo done >&2", ""},
		{"fails", "./build", "for i in 1 2 3; do echo line $i; done; exit 3", "exit status 3: line 1 | line 2 | line 3"},
		{"says much", "./build", "for i in $(seq 1000); do echo line $i; done; exit 1", ": line 996 | line 997 |"},
		{"has no token", "./build", "test -z \"$GITHUB_TOKEN\" || exit 1", ""},
		{"is not there", "./nothing", "", "no program"},
		{"is no program", "./README", "", "permission denied"},
		{"leaves a child", "./build", "sleep 60 & exit 0", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			// not beside others: what a build leaves running is looked for in all
			// that this process started
			dir := tree(t, map[string]string{"build": "#!/bin/sh\n" + c.script + "\n"})
			if err := os.WriteFile(filepath.Join(dir, "README"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			start := time.Now()
			built := prepare(t, Side{Dir: dir, Build: c.build, Log: &log, Environ: []string{"GITHUB_TOKEN=x"}}, "p=probe:./p", "go=go")
			if time.Since(start) > 50*time.Second {
				t.Error("waited for a child that the build left")
			}
			if !errorHas(built[0].Err, c.err) {
				t.Errorf("%v, want %q", built[0].Err, c.err)
			}
			if !errorHas(built[1].Err, c.err) { // which is built in that tree too
				t.Errorf("the built-in probe: %v, want %q", built[1].Err, c.err)
			}
			if c.name == "works" {
				if _, err := os.Stat(filepath.Join(dir, "out a b")); err != nil || !strings.Contains(log.String(), "/a tree\ndone\n") {
					t.Errorf("%v, log %q", err, log.String())
				}
			}
		})
	}
}

func TestBuildHangs(t *testing.T) {
	dir := tree(t, map[string]string{"hang": "#!/bin/sh\necho waiting\nsleep 600 & sleep 600\n"})
	err := program{args: []string{"./hang"}, dir: dir, env: os.Environ(), limit: 300 * time.Millisecond, explain: "it must end"}.run(t.Context())
	if !errorHas(err, "still running after 300ms and was stopped: it must end: waiting") {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = Side{Dir: dir, Build: "./hang", Environ: os.Environ()}.Prepare(ctx, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if n := probe.Sweep(); n != 0 {
		t.Errorf("%d processes were left", n)
	}
}

func TestFallbackNeedsSelf(t *testing.T) {
	if b := prepare(t, Side{Self: "gate", Dir: t.TempDir()}, "go=go")[0]; !errorHas(b.Err, "absolute path") {
		t.Error(b.Err)
	}
}
