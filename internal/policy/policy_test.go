package policy

import (
	"flag"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

func flagValue(name, text string) Value {
	var values []Value
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	Flags(fs, &values, name)
	if err := fs.Parse([]string{"--" + name, text}); err != nil {
		panic(err)
	}
	return values[0]
}

func TestDefault(t *testing.T) {
	want := Policy{
		Workload:          workload.Reference(),
		Targets:           []string{"go=go"},
		Threshold:         0.03,
		BaselineThreshold: 0.05,
		Budget:            10 * time.Second,
		Baselines:         "baselines",
		FailOn:            []string{"slower", "wrong-key", "implausible", "missing", "failed"},
		Key:               "pbkdf2-gate",
		Comment:           "never",
		Format:            "text",
		given:             map[string]Value{},
	}
	got, err := Resolve()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
	}
	if !got.Fails("slower") || got.Fails("ok") || got.Fails("") {
		t.Error("wrong verdicts fail")
	}
}

func TestSettings(t *testing.T) {
	names := strings.Fields(`prf iterations salt-bytes key-bytes target threshold baseline-threshold budget
		baselines base-ref build fail-on expect key leg comment format out release`)
	var got []string
	for _, s := range Settings {
		got = append(got, s.Name)
		if s.Arg == "" || s.Usage == "" || strings.ContainsAny(s.Usage, "\n`") || strings.HasSuffix(s.Usage, ".") {
			t.Errorf("%s: arg %q, usage %q", s.Name, s.Arg, s.Usage)
		}
		if !strings.Contains(s.Help(), s.Default) {
			t.Errorf("%s: %q does not give the default", s.Name, s.Help())
		}
	}
	if !slices.Equal(got, names) {
		t.Errorf("settings %q", got)
	}
}

func TestTexts(t *testing.T) {
	long := strings.Repeat("x", 65)
	for _, c := range []struct {
		name, text string
		field      func(Policy) any
		want       any // an error is a part of the message
	}{
		{"prf", "sha1", func(p Policy) any { return p.Workload.PRF }, workload.SHA1},
		{"prf", "sha512", func(p Policy) any { return p.Workload.PRF }, workload.SHA512},
		{"prf", "SHA256", nil, bad("--prf SHA256: unknown prf SHA256: use sha1, sha256 or sha512")},
		{"prf", "", nil, bad(`--prf "": unknown prf "": `)},
		{"prf", strings.Repeat("\x1a", 2000), nil, bad("...\": use sha1")},
		{"iterations", "1", func(p Policy) any { return p.Workload.Iterations }, 1},
		{"iterations", "500_000", func(p Policy) any { return p.Workload.Iterations }, 500000},
		{"iterations", "100000000", func(p Policy) any { return p.Workload.Iterations }, workload.MaxIterations},
		{"iterations", "0", nil, bad("--iterations 0: iterations 0 is out of range: use 1 to 100,000,000")},
		{"iterations", "1000000000000", nil, bad("out of range: use 1 to 100,000,000")},
		{"iterations", "99999999999999999999", nil, bad("out of range: use a smaller number")},
		{"iterations", "-5", nil, bad("-5 is no whole number: use digits, such as 500000 or 500_000")},
		{"iterations", "500,000", nil, bad("500,000 is no whole number")},
		{"iterations", "5_00", nil, bad("no whole number")},
		{"iterations", "1e6", nil, bad("no whole number")},
		{"iterations", "0x10", nil, bad("no whole number")},
		{"iterations", " 5", nil, bad(`--iterations " 5": `)},
		{"salt-bytes", "0", func(p Policy) any { return p.Workload.SaltBytes }, 0},
		{"salt-bytes", "1_024", func(p Policy) any { return p.Workload.SaltBytes }, 1024},
		{"salt-bytes", "1025", nil, bad("salt-bytes 1025 is out of range: use 0 to 1,024")},
		{"salt-bytes", "x", nil, bad("no whole number")},
		{"key-bytes", "32", func(p Policy) any { return p.Workload.KeyBytes }, 32},
		{"key-bytes", "0", nil, bad("key-bytes 0 is out of range: use 1 to 1,024")},
		{"key-bytes", "16.5", nil, bad("no whole number")},
		{"target", "a=probe:./a b", func(p Policy) any { return p.Targets }, []string{"a=probe:./a b"}},
		{"target", "\n a=go \n\n b=go:x-crypto", func(p Policy) any { return p.Targets }, []string{"a=go", "b=go:x-crypto"}},
		{"target", " \n ", nil, bad(`empty: give a target such as go=go`)},
		{"target", "a=probe:\x1b[31m", nil, bad("control characters")},
		{"threshold", "3%", func(p Policy) any { return p.Threshold }, 0.03},
		{"threshold", "0.5%", func(p Policy) any { return p.Threshold }, 0.005},
		{"threshold", "100%", func(p Policy) any { return p.Threshold }, 1.0},
		{"threshold", "0%", nil, bad("--threshold 0%: 0% is out of range: use more than 0%, up to 100%")},
		{"threshold", "0.000%", nil, bad("out of range")},
		{"threshold", "100.1%", nil, bad("out of range")},
		{"threshold", "3", nil, bad("3 has no %: write 3%")},
		{"threshold", "0.03", nil, bad("0.03 has no %: write 3% if it is a fraction, 0.03% if it is a percentage")},
		{"threshold", "0", nil, bad("0 has no %")},
		{"threshold", "-3%", nil, bad("-3% is no percentage: write one such as 3% or 0.5%")},
		{"threshold", "3 %", nil, bad(`"3 %" is no percentage`)},
		{"threshold", "NaN%", nil, bad("no percentage")},
		{"threshold", "1e1%", nil, bad("no percentage")},
		{"threshold", "%", nil, bad("no percentage")},
		{"threshold", "3%%", nil, bad("no percentage")},
		{"baseline-threshold", "7%", func(p Policy) any { return p.BaselineThreshold }, 0.07},
		{"baseline-threshold", "7", nil, bad("--baseline-threshold 7: 7 has no %: write 7%")},
		{"budget", "2m", func(p Policy) any { return p.Budget }, 2 * time.Minute},
		{"budget", "1s", func(p Policy) any { return p.Budget }, time.Second},
		{"budget", "10m", func(p Policy) any { return p.Budget }, 10 * time.Minute},
		{"budget", "999ms", nil, bad("999ms is out of range: use 1s to 10m")},
		{"budget", "10m1s", nil, bad("out of range")},
		{"budget", "0s", nil, bad("out of range")},
		{"budget", "-10s", nil, bad("out of range")},
		{"budget", "10", nil, bad("10 is no duration: write one such as 10s or 2m")},
		{"baselines", "a b/c", func(p Policy) any { return p.Baselines }, "a b/c"},
		{"baselines", "", nil, bad("empty: give a value or leave the setting out")},
		{"baselines", "a\nb", nil, bad("control characters: use one line")},
		{"baselines", "\xff", nil, bad("control characters")},
		{"baselines", strings.Repeat("x", 5000), nil, bad("5000 bytes are too long")},
		{"base-ref", "origin/main", func(p Policy) any { return p.BaseRef }, "origin/main"},
		{"base-ref", "--output=x", nil, bad("is no commit: use a hash, branch or tag")},
		{"base-ref", "a b", nil, bad("is no commit")},
		{"build", "make -C x 'y z'", func(p Policy) any { return p.Build }, "make -C x 'y z'"},
		{"build", "a\r\nb", nil, bad("control characters")},
		{"fail-on", "slower, faster", func(p Policy) any { return p.FailOn }, []string{"slower", "faster"}},
		{"fail-on", "slower,slower", func(p Policy) any { return p.FailOn }, []string{"slower"}},
		{"fail-on", "none", func(p Policy) any { return p.FailOn }, []string{}},
		{"fail-on", "none,slower", nil, bad("none stands alone")},
		{"fail-on", "slower,ok", nil, bad("ok cannot fail a run")},
		{"fail-on", "slow", nil, bad("unknown verdict slow: use slower, faster, inconclusive, no-baseline, not-comparable, workload-changed, wrong-key, implausible, failed, missing, or none")},
		{"fail-on", "slower,", nil, bad("empty entry")},
		{"fail-on", "", nil, bad("empty entry")},
		{"expect", "ubuntu-24.04,macos-15", func(p Policy) any { return p.Expect }, []string{"ubuntu-24.04", "macos-15"}},
		{"expect", "a b", nil, bad(`"a b" is no name: use 1 to 64 letters, digits and . _ + -`)},
		{"expect", ",", nil, bad("empty entry")},
		{"key", "a.B_9+-", func(p Policy) any { return p.Key }, "a.B_9+-"},
		{"key", "", nil, bad("is no name")},
		{"key", long, nil, bad("... is no name")},
		{"leg", long[:64], func(p Policy) any { return p.Leg }, long[:64]},
		{"leg", "a/b", nil, bad("is no name")},
		{"comment", "on-drift", func(p Policy) any { return p.Comment }, "on-drift"},
		{"comment", "sometimes", nil, bad("unknown word sometimes: use always, on-drift or never")},
		{"format", "bench", func(p Policy) any { return p.Format }, "bench"},
		{"format", "html", nil, bad("use text, markdown, json or bench")},
		{"out", "r.txt", func(p Policy) any { return p.Out }, "r.txt"},
		{"out", "", nil, bad("empty")},
		{"release", "v1.2.0", func(p Policy) any { return p.Release }, "v1.2.0"},
		{"release", "v1\nv2", nil, bad("control characters")},
	} {
		p, err := Resolve([]Value{flagValue(c.name, c.text)})
		if want, ok := c.want.(bad); ok {
			if err == nil || !strings.Contains(err.Error(), string(want)) || !strings.HasPrefix(err.Error(), "--"+c.name+" ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("--%s %q: %v, want %q", c.name, c.text, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("--%s %q: %v", c.name, c.text, err)
		} else if got := c.field(p); !reflect.DeepEqual(got, c.want) {
			t.Errorf("--%s %q: %v, want %v", c.name, c.text, got, c.want)
		}
	}
}

type bad string

func TestLayers(t *testing.T) {
	file, err := Load([]byte("threshold: 1%\nbudget: 20s\nfail-on: faster\ntarget: [a=go, b=go]\n"), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	inputs := Inputs(func(name string) string {
		return map[string]string{"threshold": " 2% ", "target": "c=go\nd=go\n", "budget": " \n", "leg": ""}[name]
	})
	flags := []Value{flagValue("target", "e=go"), flagValue("threshold", "4%"), flagValue("target", "f=go"), flagValue("threshold", "5%"),
		flagValue("expect", "a"), flagValue("expect", "b,a")}

	for _, c := range []struct {
		name      string
		layers    [][]Value
		threshold float64
		targets   string
		source    Source
		where     string
	}{
		{"none", nil, 0.03, "go=go", FromDefault, "default target"},
		{"file", [][]Value{file}, 0.01, "a=go b=go", FromFile, "p.yaml:4: target"},
		{"file and inputs", [][]Value{file, inputs}, 0.02, "c=go d=go", FromInput, "input target"},
		{"all", [][]Value{file, inputs, flags}, 0.05, "e=go f=go", FromFlag, "--target e=go"},
		{"without inputs", [][]Value{file, nil, flags}, 0.05, "e=go f=go", FromFlag, "--target e=go"},
	} {
		p, err := Resolve(c.layers...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := strings.Join(p.Targets, " "); p.Threshold != c.threshold || got != c.targets || p.Source("target") != c.source || p.Where("target") != c.where {
			t.Errorf("%s: threshold %v, targets %s from %v %q", c.name, p.Threshold, got, p.Source("target"), p.Where("target"))
		}
	}

	p, err := Resolve(file, inputs, flags, []Value{{"target", "a=go\nb=go", FromFlag, "p.yaml:1: target"}, flagValue("target", "c=go")})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"p.yaml:1: target", "p.yaml:1: target", "--target c=go"} {
		if got := p.WhereItem("target", i); got != want {
			t.Errorf("target %d is from %q, want %q", i, got, want)
		}
	}
	if got := Default().WhereItem("target", 0); got != "default target" {
		t.Error(got)
	}
	p, err = Resolve(file, inputs, flags)
	if err != nil || p.Budget != 20*time.Second || !slices.Equal(p.FailOn, []string{"faster"}) || !slices.Equal(p.Expect, []string{"a", "b"}) {
		t.Errorf("%+v, %v", p, err)
	}
	if Default().Targets[0] != "go=go" || len(Default().FailOn) != 5 {
		t.Error("the defaults changed")
	}
}

func TestResolveErrors(t *testing.T) {
	for _, c := range []struct {
		layers [][]Value
		want   string
	}{
		{[][]Value{{{"threshold", "0%", FromFile, "p.yaml:3: threshold"}}, {flagValue("threshold", "3%")}}, "p.yaml:3: threshold: 0% is out of range"},
		{[][]Value{Inputs(func(name string) string { return map[string]string{"budget": "forever"}[name] })}, "input budget: forever is no duration"},
		{[][]Value{{flagValue("fail-on", "none"), flagValue("fail-on", "slower")}}, "--fail-on slower: none stands alone"},
		{[][]Value{{flagValue("fail-on", "slower"), flagValue("fail-on", "none")}}, "--fail-on none: none stands alone"},
		{[][]Value{{{"treshold", "1%", FromFlag, "--treshold"}}}, "--treshold: unknown setting treshold: did you mean threshold?"},
		{[][]Value{{flagValue("iterations", "100000000"), flagValue("key-bytes", "96")}}, "--iterations 100000000: 100,000,000 iterations for a 96-byte key are too much work"},
		{[][]Value{{flagValue("key-bytes", "1024"), flagValue("iterations", "90000000")}}, "--iterations 90000000: "},
		{[][]Value{{{"key-bytes", "1024", FromFile, "p.yaml:1: key-bytes"}}, {flagValue("iterations", "50_000_000")}}, "--iterations 50_000_000: "},
	} {
		if _, err := Resolve(c.layers...); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v\nwant %q", err, c.want)
		}
	}
	// Replaced values may be one too many together.
	if _, err := Resolve([]Value{flagValue("fail-on", "none")}, []Value{flagValue("fail-on", "slower")}); err != nil {
		t.Error(err)
	}
}

func TestFlags(t *testing.T) {
	var values []Value
	fs := flag.NewFlagSet("x", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	Flags(fs, &values, "threshold", "target")
	if err := fs.Parse([]string{"--threshold=1%", "-target", "a b", "rest"}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(values, fs.Args()); got != `[{threshold 1% 3 --threshold 1%} {target a b 3 --target "a b"}] [rest]` {
		t.Error(got)
	}
	if err := fs.Parse([]string{"--budget", "1s"}); err == nil {
		t.Error("a flag that was not named is defined")
	}
	all, n := flag.NewFlagSet("x", flag.ContinueOnError), 0
	Flags(all, &values)
	all.VisitAll(func(*flag.Flag) { n++ })
	if n != len(Settings) {
		t.Errorf("%d flags, want %d", n, len(Settings))
	}
}

func FuzzFlags(f *testing.F) {
	for _, text := range []string{"3%", "0.03", "500_000", "10s", "none,slower", "a=go\nb=go", "\x00", "9999999999999999999%", strings.Repeat("9", 400)} {
		f.Add(uint8(0), text, uint8(11), text)
	}
	f.Fuzz(func(t *testing.T, i uint8, a string, j uint8, b string) {
		layer := []Value{
			flagValue(Settings[int(i)%len(Settings)].Name, a),
			flagValue(Settings[int(j)%len(Settings)].Name, b),
		}
		checkResolved(t, layer)
	})
}

// checkResolved holds what layers resolve to, or the error, to its promises.
func checkResolved(t *testing.T, layers ...[]Value) {
	t.Helper()
	p, err := Resolve(layers...)
	if err != nil {
		if strings.ContainsAny(err.Error(), "\n\r\x00\x1b") || len(err.Error()) > 800 {
			t.Errorf("bad message %q", err)
		}
		return
	}
	if err := p.Workload.Validate(); err != nil {
		t.Error(err)
	}
	if !(p.Threshold > 0 && p.Threshold <= 1 && p.BaselineThreshold > 0 && p.BaselineThreshold <= 1) || p.Budget < minBudget || p.Budget > maxBudget ||
		len(p.Targets) == 0 || p.Baselines == "" || p.Key == "" {
		t.Errorf("%+v", p)
	}
	for _, line := range append([]string{p.Baselines, p.BaseRef, p.Build, p.Key, p.Leg, p.Out, p.Release}, p.Targets...) {
		if strings.ContainsAny(line, "\n\r\x00\x1b") {
			t.Errorf("%q is no line", line)
		}
	}
}
