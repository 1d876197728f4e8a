package workflows

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fakeGo says a version, and instead of building writes down what it was
// given.
const fakeGo = `#!/bin/sh
case $1 in
env) echo VERSION ;;
build)
	[ -z "$FAIL" ] || { echo "no such module" >&2; exit 1; }
	while [ "$1" != -o ]; do
		[ "$1" != -ldflags ] || flags=$2
		shift
	done
	{
		echo "#!/bin/sh"
		echo "cat <<'END'"
		echo "by $0"
		echo "flags $flags"
		env
		echo END
	} >"$2"
	chmod +x "$2"
	mkdir -p "$GOMODCACHE/m" && : >"$GOMODCACHE/m/file" && chmod a-w "$GOMODCACHE/m"
	;;
esac
`

// builder runs build.sh in a folder of its own with programs of the test.
type builder struct {
	t        *testing.T
	dir, out string
	env      []string
}

func newBuilder(t *testing.T) *builder {
	t.Helper()
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	// Go writes into these folders: no link may be in their names.
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &builder{t: t, dir: dir, out: filepath.Join(dir, "out dir")}
	b.file("source/.github/build.sh", read(t, ".github/build.sh", nil))
	for _, program := range []string{"uname", "grep", "chmod", "cat", "mkdir", "dirname", "env", "git", "sh"} {
		if path, err := exec.LookPath(program); err == nil {
			b.link(path, "path/"+program)
		}
	}
	b.link(bash, "path/bash")
	b.env = []string{"PATH=" + filepath.Join(dir, "path"), "RUNNER_TOOL_CACHE=" + filepath.Join(dir, "tools"), "GITHUB_ACTIONS=true", "HOME=/home/of/the/caller"}
	return b
}

func (b *builder) file(name, text string) {
	b.t.Helper()
	name = filepath.Join(b.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(text), 0o777)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *builder) link(to, name string) {
	b.t.Helper()
	name = filepath.Join(b.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.Symlink(to, name)); err != nil {
		b.t.Fatal(err)
	}
}

// goAt puts a fake Go there.
func (b *builder) goAt(name, version string) {
	b.t.Helper()
	b.file(name, strings.Replace(fakeGo, "VERSION", version, 1))
}

// run returns what build.sh printed last of all: what the fake was given.
func (b *builder) run() (output string, code int) {
	b.t.Helper()
	cmd := exec.Command(filepath.Join(b.dir, "path/bash"), filepath.Join(b.dir, "source/.github/build.sh"), b.out)
	cmd.Env = b.env
	cmd.Dir = b.dir
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestBuildFindsGo(t *testing.T) {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	other := map[string]string{"amd64": "arm64", "arm64": "x64"}[runtime.GOARCH]
	for _, c := range []struct {
		name  string
		goes  map[string]string // where, relative, to version
		roots map[string]string // GOROOT_... to folder
		want  string            // where, or a message
	}{
		{"on PATH", map[string]string{"path/go": "go1.26.8"}, nil, "path/go"},
		{"of equals, on PATH", map[string]string{"path/go": "go1.26.1", "tools/go/1.26.8/" + arch + "/bin/go": "go1.26.8"}, nil, "path/go"},
		{"a newer one in the tool cache", map[string]string{"path/go": "go1.24.1", "tools/go/1.26.8/" + arch + "/bin/go": "go1.26.8"}, nil, "tools/go/1.26.8/" + arch + "/bin/go"},
		{"announced by the runner", map[string]string{"a/bin/go": "go1.24.1", "b/bin/go": "go1.25.3"},
			map[string]string{"GOROOT_1_24_" + strings.ToUpper(arch): "a", "GOROOT_1_25_" + strings.ToUpper(arch): "b"}, "b/bin/go"},
		{"of another architecture", map[string]string{"a/bin/go": "go1.26.1", "tools/go/1.26.8/" + other + "/bin/go": "go1.26.8"},
			map[string]string{"GOROOT_1_26_" + strings.ToUpper(other): "a"}, "::error title=pbkdf2-gate::no Go found"},
		{"a development version", map[string]string{"path/go": "devel go1.27-abcdef"}, nil, "path/go"},
		{"none", nil, nil, "::error title=pbkdf2-gate::no Go found on PATH, in GOROOT_* or in the runner's tool cache: run actions/setup-go"},
		{"too old", map[string]string{"path/go": "go1.20.14"}, nil, "::error title=pbkdf2-gate::Go 1.20 is too old"},
		{"no version", map[string]string{"path/go": "what?"}, nil, "::error title=pbkdf2-gate::no Go found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBuilder(t)
			for where, version := range c.goes {
				b.goAt(where, version)
			}
			for name, folder := range c.roots {
				b.env = append(b.env, name+"="+filepath.Join(b.dir, folder))
			}
			out, code := b.run()
			if strings.HasPrefix(c.want, "::") {
				if code != 3 || !strings.HasPrefix(out, c.want) || strings.Count(out, "\n") != 1 {
					t.Errorf("exit %d:\n%s", code, out)
				}
			} else if code != 0 || !strings.HasPrefix(out, "by "+filepath.Join(b.dir, c.want)+"\n") {
				t.Errorf("exit %d:\n%s", code, out)
			}
		})
	}
}

func TestBuildEnvironment(t *testing.T) {
	b := newBuilder(t)
	b.goAt("path/go", "go1.26.0")
	b.env = append(b.env, "GOFLAGS=-mod=vendor", "GOENV=/etc/goenv", "GOWORK=/w/go.work", "GOTOOLCHAIN=local", "GOOS=plan9", "GOARCH=mips", "GOEXPERIMENT=x",
		"GODEBUG=cpu.sha=off", "CGO_CFLAGS=-O0", "GOCACHE=/caller/cache", "GOBIN=/caller/bin", "GOPROXY=https://modules.example", "GITHUB_ACTION_REF=v1.2.3")
	out, code := b.run()
	got := map[string]bool{}
	for line := range strings.SplitSeq(out, "\n") {
		if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "CGO") || name == "HOME" {
			got[line] = true
		}
	}
	cache := b.out + "/cache"
	for _, want := range []string{"GOENV=off", "GOFLAGS=", "GOWORK=off", "GOTOOLCHAIN=auto", "CGO_ENABLED=0", "GOPROXY=https://modules.example",
		"GOCACHE=" + cache + "/build", "GOPATH=" + cache + "/go", "GOMODCACHE=" + cache + "/mod", "HOME=" + cache + "/home"} {
		if !got[want] {
			t.Errorf("no %s", want)
		}
		delete(got, want)
	}
	if len(got) > 0 || code != 0 {
		t.Errorf("exit %d, also set: %v", code, got)
	}
	if !strings.Contains(out, "flags -s -w -X github.com/pbkdf2-gate/pbkdf2-gate/internal/cli.stamped=v1.2.3\n") {
		t.Errorf("not stamped with the ref:\n%s", out)
	}
	// The runner must be able to remove it.
	if info, err := os.Stat(cache + "/mod/m"); err != nil || info.Mode()&0o200 == 0 {
		t.Errorf("the module cache cannot be removed: %v, %v", info, err)
	}
	// A Go that came later builds nothing.
	b.goAt("later/go", "go1.30.0")
	b.env = append(b.env, "PATH="+filepath.Join(b.dir, "later")+":"+filepath.Join(b.dir, "path"))
	if out, code := b.run(); code != 0 || !strings.HasPrefix(out, "by "+filepath.Join(b.dir, "path/go")+"\n") {
		t.Errorf("second call: exit %d:\n%s", code, out)
	}
	files, err := os.ReadDir(filepath.Join(b.dir, "source"))
	if err != nil || len(files) != 1 {
		t.Errorf("the source was written to: %v, %v", files, err)
	}
}

func TestBuildStamp(t *testing.T) {
	b := newBuilder(t)
	b.goAt("path/go", "go1.26.0")
	b.env = append(b.env, "GITHUB_ACTION_REF=v1 -X main.x=y")
	if out, code := b.run(); code != 0 || !strings.Contains(out, "internal/cli.stamped=\n") {
		t.Errorf("a ref with flags: exit %d:\n%s", code, out)
	}
}

func TestBuildFailures(t *testing.T) {
	b := newBuilder(t)
	b.goAt("path/go", "go1.26.0")
	b.env = append(b.env, "FAIL=yes")
	if out, code := b.run(); code != 3 || !strings.Contains(out, "no such module\n::error title=pbkdf2-gate::the build failed, see above: it needs to reach the Go module proxy for modules") {
		t.Errorf("build: exit %d:\n%s", code, out)
	}
	for option, says := range map[string][2]string{
		"-s": {"MINGW64_NT-10.0", "::error title=pbkdf2-gate::MINGW64_NT-10.0 is not supported: use a runner with Linux or macOS\n"},
		"-m": {"riscv64", "::error title=pbkdf2-gate::riscv64 is not supported: use a runner with x86-64 or arm64\n"},
	} {
		_ = os.Remove(filepath.Join(b.dir, "path/uname"))
		b.file("path/uname", "#!/bin/sh\nif [ $1 = "+option+" ]; then echo "+says[0]+"; elif [ $1 = -s ]; then echo Linux; else echo x86_64; fi\n")
		if out, code := b.run(); code != 3 || out != says[1] {
			t.Errorf("uname %s: exit %d:\n%s", option, code, out)
		}
	}
}
