package policy

import (
	"fmt"
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", ""},
		{"comments", "# nothing\n\n# yet\n", ""},
		{"a document without settings", "---\n", ""},
		{"scalars as they are written", "threshold: 3%\niterations: 500_000\nleg: no\nkey: '01'\nrelease: 1.20\n",
			"1:threshold=3% 2:iterations=500_000 3:leg=no 4:key=01 5:release=1.20"},
		{"a list", "# policy\ntarget:\n  - go=go\n  # the other\n  - \"r=probe:./r -x\"\n", "3:target=go=go 5:target=r=probe:./r -x"},
		{"a list in one line", "fail-on: [slower, faster]\nexpect: [a]\n", "1:fail-on=slower 1:fail-on=faster 2:expect=a"},
		{"one text for a list", "target: go=go\nfail-on: slower,faster\n", "1:target=go=go 2:fail-on=slower,faster"},
		{"a block", "target: |\n  a=go\n  b=go\n", "1:target=a=go\nb=go\n"},
		{"line ends of another system", "threshold: 1%\r\nbudget: 2m\r\n", "1:threshold=1% 2:budget=2m"},
		{"byte order mark", "\ufeffthreshold: 1%\n", "1:threshold=1%"},
		{"braces", "{threshold: 1%, budget: 2m}", "1:threshold=1% 1:budget=2m"},
		{"a quoted empty text is the parser's", "leg: ''\n", "1:leg="},
	} {
		values, err := Load([]byte(c.file), "p.yaml")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, v := range values {
			line, ok := strings.CutPrefix(v.Where, "p.yaml:")
			line, ok2 := strings.CutSuffix(line, ": "+v.Name)
			if !ok || !ok2 || v.Source != FromFile {
				t.Errorf("%s: %+v", c.name, v)
			}
			got = append(got, fmt.Sprintf("%s:%s=%s", line, v.Name, v.Text))
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%s: %q, want %q", c.name, g, c.want)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	deep := strings.Repeat("[", 20000)
	for _, c := range []struct{ name, file, want string }{
		{"unknown, near", "budget: 1s\ntreshold: 3%\n", "p.yaml:2: unknown setting treshold: did you mean threshold?"},
		{"with an underscore", "fail_on: none\n", "p.yaml:1: unknown setting fail_on: did you mean fail-on?"},
		{"in capitals", "Budget: 1s\n", "p.yaml:1: unknown setting Budget: did you mean budget?"},
		{"unknown, far", "runner: x\n", "p.yaml:1: unknown setting runner: use one of prf, iterations,"},
		{"an empty name", "\"\": x\n", "p.yaml:1: unknown setting \"\": use one of"},
		{"twice", "leg: a\nkey: b\nleg: c\n", "p.yaml:3: leg: set in line 1 already: keep one"},
		{"a list for one value", "threshold: [1%]\n", "p.yaml:1: threshold: takes one value"},
		{"a mapping", "threshold:\n  pair: 1%\n", "p.yaml:1: threshold: takes one value"},
		{"a mapping for a list", "target:\n  a: go\n", "p.yaml:1: target: a mapping: write a list of texts"},
		{"a list in a list", "target:\n- a=go\n- [b=go]\n", "p.yaml:3: target: an entry of the list must be a text"},
		{"an empty list", "target: []\n", "p.yaml:1: target: an empty list"},
		{"no value", "key: a\nthreshold:\nleg: b\n", "p.yaml:2: threshold: empty: give a value or leave the setting out"},
		{"no entry", "target:\n- a=go\n-\n", "p.yaml:3: target: empty"},
		{"null", "threshold: ~\n", "p.yaml:1: threshold: empty"},
		{"an anchor", "leg: &x a\n", "p.yaml:1: anchors are not supported: write the value out"},
		{"an alias", "target: [&x a=go, *x]\n", "p.yaml:1: anchors are not supported"},
		{"an alias for nothing", "leg: *x\n", "p.yaml: not YAML: unknown anchor"},
		{"merged", "<<: {leg: a}\n", "p.yaml:1: unknown setting <<"},
		{"a tag", "leg: !!str a\n", "p.yaml:1: the tag !!str is not supported"},
		{"a tag of their own", "leg: !x a\n", "p.yaml:1: the tag !x is not supported"},
		{"a key that is a list", "? [a]\n: b\n", "p.yaml:1: a setting's name must be a word"},
		{"two documents", "leg: a\n---\nleg: b\n", "p.yaml:2: a second document: keep all settings in one"},
		{"a list of settings", "- leg\n", "p.yaml:1: not a mapping: write lines such as `threshold: 3%`"},
		{"a word", "\nthreshold 3%\n", "p.yaml:2: not a mapping"},
		{"null alone", "null\n", "p.yaml:1: not a mapping"},
		{"bad syntax", "leg: a\nkey: [b\n", "p.yaml:2: not YAML: did not find expected ',' or ']'"},
		{"bad syntax in the first line", "leg: a: b\n", "p.yaml:1: not YAML: mapping values are not allowed"},
		{"tab", "leg: a\n\tkey: b\n", "p.yaml:2: not YAML: found a tab character"},
		{"not text", "leg: \xff\n", "p.yaml:1: not text in UTF-8"},
		{"control characters", "leg: a\nkey: \x1b\n", "p.yaml:2: not text in UTF-8"},
		{"UTF-16", "\xff\xfel\x00e\x00", "p.yaml:1: not text in UTF-8"},
		{"deep", "target: " + deep, "p.yaml: not YAML: exceeded max depth"},
		{"large", "#" + strings.Repeat("x", MaxFile), "p.yaml: 65537 bytes are too many for a policy file: use at most 65536"},
		{"escape codes", "\"\\e[31m\": x\n", "p.yaml:1: unknown setting \"\\x1b[31m\""},
	} {
		values, err := Load([]byte(c.file), "p.yaml")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || values != nil {
			t.Errorf("%s: %v, %v\nwant %s", c.name, values, err, c.want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, file := range []string{
		"", "threshold: 3%\ntarget:\n- a=go\n- b=probe:./b\n", "leg: &x a\nkey: *x\n", "a: [b, {c: d}]\n---\n", "fail-on: [none]\n",
		"? |\n : !!binary x\n", "\ufeffbudget: 0x10", "{iterations: 1_000, prf: sha1}", "target: >-\n  x=time:y\n\n  z\n", "%YAML 1.2\n---\nkey: v",
	} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		values, err := Load(file, "p.yaml")
		if err != nil {
			if values != nil || !strings.HasPrefix(err.Error(), "p.yaml:") || strings.ContainsAny(err.Error(), "\n\r\x00\x1b") || len(err.Error()) > 800 {
				t.Errorf("%v with the error %q", values, err)
			}
			return
		}
		checkResolved(t, values)
	})
}
