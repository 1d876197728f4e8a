package target

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func errorHas(err error, part string) bool {
	if part == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), part)
}

func TestParseSpec(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Spec
		err  string // part of it; empty: none
	}{
		{"go=go", Spec{"go", Go, ""}, ""},
		{"x=go:x-crypto", Spec{"x", Go, XCrypto}, ""},
		{"r=probe:./r --fast", Spec{"r", Probe, "./r --fast"}, ""},
		{"r=probe:./r a=b:c", Spec{"r", Probe, "./r a=b:c"}, ""},
		{"a.b_c+d-1x=probe:r", Spec{"a.b_c+d-1x", Probe, "r"}, ""},

		{"", Spec{}, "has no name"},
		{"go", Spec{}, "has no name: write NAME=KIND, where KIND is go, go:x-crypto, probe:COMMAND, go-bench:PACKAGE REGEXP or time:COMMAND"},
		{"=go", Spec{}, `target name ""`},
		{"Go=go", Spec{}, `target name "Go"`},
		{"aws-lc-4=go", Spec{}, "GOMAXPROCS: write aws-lc_4"},
		{"g=", Spec{}, `unknown kind ""`},
		{"g=rust", Spec{}, `unknown kind "rust": use go, go:x-crypto, probe:COMMAND, go-bench:PACKAGE REGEXP or time:COMMAND`},
		{"g=GO", Spec{}, "unknown kind"},
		{"g=go:", Spec{}, "write go or go:x-crypto"},
		{"g=go:boring", Spec{}, "unknown go:boring"},
		{"g=go-bench:./auth '^Hash$/sha'", Spec{"g", GoBench, "./auth '^Hash$/sha'"}, ""},
		{"g=go-bench:./auth 'Hash|Key'", Spec{"g", GoBench, "./auth 'Hash|Key'"}, ""},
		{"g=go-bench:./auth ^BenchmarkHash$/sha256", Spec{"g", GoBench, "./auth ^BenchmarkHash$/sha256"}, ""},
		{`g=go-bench:./auth (Hash|Key)\d*/[a/b]?`, Spec{"g", GoBench, `./auth (Hash|Key)\d*/[a/b]?`}, ""},
		{"g=go-bench:./auth 'Hash", Spec{}, "a ' quote is not closed: close it, or put the character into quotes of the other kind"},
		{"g=go-bench:./auth", Spec{}, "write a package and a regular expression"},
		{"g=go-bench:./auth A B", Spec{}, "write a package and a regular expression"},
		{"g=go-bench:-exec=x A", Spec{}, `"-exec=x" is no package`},
		{"g=go-bench:. [", Spec{}, "missing closing ]"},
		{"g=time:./x --fast", Spec{"g", Time, "./x --fast"}, ""},
		{"g=time:", Spec{}, "names no program"},
		{"g=probe", Spec{}, "names no program"},
		{"g=probe:", Spec{}, "names no program"},
		{"g=probe:./x | tee log", Spec{}, `"./x | tee log": | would need a shell`},
	} {
		got, err := ParseSpec(c.in)
		if !errorHas(err, c.err) || got != c.want {
			t.Errorf("%q: %+v, %v; want %+v, %q", c.in, got, err, c.want, c.err)
		}
		if err == nil && got.String() != c.in {
			t.Errorf("%q is written %q", c.in, got)
		}
	}
}

func TestValidName(t *testing.T) {
	for name, ok := range map[string]bool{
		"go": true, "0": true, "a-1.2": true, "a-": true, "sha256": true, "x-crypto": true, "a1-b": true,
		strings.Repeat("a", 64): true, strings.Repeat("a", 65): false,
		"": false, "-a": false, ".a": false, "A": false, "a b": false, "a/b": false, "a=b": false, "a\n": false, "é": false,
		"node-16": false, "a-1-2": false,
	} {
		if err := ValidName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
		err  string
	}{
		{"./r", []string{"./r"}, ""},
		{"  ./r   --fast  ", []string{"./r", "--fast"}, ""},
		{`r "a b" 'c d' e\ f`, []string{"r", "a b", "c d", "e f"}, ""},
		{`r "" ''`, []string{"r", "", ""}, ""},
		{`r a"b"'c'd`, []string{"r", "abcd"}, ""},
		{`r "it's" 'say "x"'`, []string{"r", "it's", `say "x"`}, ""},
		{`r \n\t "\n" '\n'`, []string{"r", "nt", `\n`, `\n`}, ""},
		{`r "a\"b\\c\$d\` + "`" + `"`, []string{"r", `a"b\c$d` + "`"}, ""},
		{`r \; ';' "|" '$(x)' \$HOME`, []string{"r", ";", ";", "|", "$(x)", "$HOME"}, ""},
		{`r a#b '#' \#`, []string{"r", "a#b", "#", "#"}, ""},
		{`r *.go ~/x [a] {a,b} ! %`, []string{"r", "*.go", "~/x", "[a]", "{a,b}", "!", "%"}, ""},
		{"r é", []string{"r", "é"}, ""},
		{"env A=1 r", []string{"env", "A=1", "r"}, ""},

		{"r; rm x", nil, "; would need a shell"},
		{"r | x", nil, "| would need"},
		{"r&", nil, "& would need"},
		{"r 2>log", nil, "> would need"},
		{"r <in", nil, "< would need"},
		{"(r)", nil, "( would need"},
		{"r $(x)", nil, "$ would need"},
		{"r $HOME", nil, "put the command into a script"},
		{`r "$HOME"`, nil, "$ would need"},
		{"r `x`", nil, "` would need"},
		{"r \"`x`\"", nil, "` would need"},
		{"r # note", nil, "# would need"},
		{"A=1 r", nil, "write env A=1 PROGRAM"},
		{`r "a`, nil, `a " quote is not closed`},
		{`r 'a`, nil, "a ' quote is not closed"},
		{`r a\`, nil, "ends in a backslash"},
		{"r\nx", nil, "control character"},
		{"r\x00", nil, "control character"},
		{"r \xff", nil, "not UTF-8"},
		{"", nil, "names no program"},
		{"  ", nil, "names no program"},
		{"'' x", nil, "names no program"},
	} {
		got, err := split(c.in)
		if d := cmp.Diff(c.want, got); d != "" || !errorHas(err, c.err) {
			t.Errorf("%q: %v, want %q %s", c.in, err, c.err, d)
		}
	}
}

// What split accepts, a shell reads the same way.
func TestSplitAsTheShellDoes(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh")
	}
	const alphabet = `ab ab 1=-./"'\\\"' *#;$|` + "`"
	rnd := rand.New(rand.NewPCG(1, 2))
	tried := 0
	for tried < 200 {
		b := []byte("r ")
		for range 1 + rnd.IntN(14) {
			b = append(b, alphabet[rnd.IntN(len(alphabet))])
		}
		got, err := split(string(b))
		if err != nil {
			continue
		}
		tried++
		out, err := exec.Command(sh, "-c", `set -f; printf '%s\0' `+string(b)).Output()
		want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%q: %v %s", b, err, d)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	for _, s := range []string{"go=go", "x=go:x-crypto", `r=probe:./r "a b" 'c' \d`, "r=probe:x;y", "a-1=go", "t=time:x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		spec, err := ParseSpec(in)
		if err != nil {
			return
		}
		if spec.String() != in {
			t.Errorf("%q is written %q", in, spec)
		}
	})
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{`r "a b" 'c d' e\ f ""`, `r "\n\"" \\`, "r $x", "r `x`", "r 'a", "r \xff", "é é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		words, err := split(in)
		if err != nil {
			return
		}
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		again, err := split(strings.Join(quoted, " "))
		if d := cmp.Diff(words, again); err != nil || d != "" {
			t.Errorf("%q: %v %s", in, err, d)
		}
	})
}

func TestEnviron(t *testing.T) {
	kept := []string{
		"PATH=/bin", "HOME=/root", "GITHUB_ACTIONS=true", "GITHUB_WORKSPACE=/w", "RUNNER_OS=Linux", "GODEBUG=cpu.sha=off",
		"KEYBOARD=us", "HTTPS_PROXY=http://u:p@proxy:1", "GOPROXY=https://u:p@proxy", "GIT_CONFIG_GLOBAL=/g", "AUTHOR=a", "SITE=https://example.com/a:b", "KEY_BYTES=64", "MONKEY=1", "PATCH=1", "EMPTY=", "A=b=c", "PATH=/usr/bin",
	}
	gone := []string{
		"GITHUB_TOKEN=1", "GH_TOKEN=1", "npm_token=1", "TOKEN=1", "GH_TOKEN_OLD=1", "ACTIONS_RUNTIME_URL=1", "ACTIONS_ID_TOKEN_REQUEST_URL=1",
		"INPUT_BUDGET=1", "GITHUB_ENV=1", "GITHUB_OUTPUT=1", "GITHUB_PATH=1", "GITHUB_STATE=1", "GITHUB_STEP_SUMMARY=1",
		"CLIENT_SECRET=1", "DB_PASSWORD=1", "AWS_SECRET_ACCESS_KEY=1", "AWS_ACCESS_KEY_ID=1", "DEPLOY_KEY=1", "GITHUB_PAT=1",
		"TOKENS=1", "GITHUBTOKEN=1", "PGPASSWORD=1", "MYSQL_PWD=1", "SSHPASS=1", "DATABASE_URL=postgres://u:p@h/d", "SECRETS={}", "SSH_PRIVATE_KEY_B64=1", "SIGNING_KEY_PEM=1",
		"DOCKER_AUTH_CONFIG=1", "NPM_AUTH=1", "CI_JOB_JWT=1", "COOKIE=1", "BEARER=1", "SSH_AUTH_SOCK=/s", "GIT_ASKPASS=x", "GIT_CONFIG_VALUE_0=1", "GIT_CONFIG_PARAMETERS=1",
		"GOOGLE_APPLICATION_CREDENTIALS=1", "PWD=/a", "OLDPWD=/b", "GIT_DIR=/g", "GIT_INDEX_FILE=/i", "malformed", "=x", "",
	}
	var env []string
	for i := range max(len(kept), len(gone)) {
		if i < len(kept) {
			env = append(env, kept[i])
		}
		if i < len(gone) {
			env = append(env, gone[i])
		}
	}
	if d := cmp.Diff(kept, Environ(env)); d != "" {
		t.Error(d)
	}
}
