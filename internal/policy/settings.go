package policy

import (
	"flag"
	"fmt"
	"slices"
	"strings"
)

// Setting defines one setting for flags, inputs and the file.
type Setting struct {
	Name    string
	Arg     string // stands for the value in a synopsis: PERCENT
	Usage   string // one line: what it is, and its unit
	Default string // as text; empty: none
	Tree    bool   // it belongs to the measured tree: of two sides, each has its own
	set     func(*Policy, string) error
	list    func(*Policy) *[]string // not nil: may be given several times
}

// List reports whether the setting may be given several times, and in the
// file as a list.
func (s Setting) List() bool { return s.list != nil }

// Help is the line of a help text: the usage with the default.
func (s Setting) Help() string {
	if s.Default == "" {
		return s.Usage
	}
	return fmt.Sprintf("%s (default %s)", s.Usage, s.Default)
}

// Settings are all the settings, in the order in which help texts list them.
var Settings = []Setting{
	{Name: "prf", Arg: "NAME", Default: "sha256", Tree: true,
		Usage: "hash of the HMAC: sha1, sha256 or sha512", set: setPRF},
	{Name: "iterations", Arg: "N", Default: "500000", Tree: true,
		Usage: "iterations of one hash", set: setIterations},
	{Name: "salt-bytes", Arg: "N", Default: "16", Tree: true,
		Usage: "length of the salt in bytes", set: setSaltBytes},
	{Name: "key-bytes", Arg: "N", Default: "64", Tree: true,
		Usage: "length of the derived key in bytes", set: setKeyBytes},
	{Name: "target", Arg: "NAME=KIND:REST", Default: "go=go", Tree: true,
		Usage: "what to time, one a line or flag; kinds: go, go:x-crypto, probe:COMMAND, go-bench:PACKAGE REGEXP, time:COMMAND",
		set:   addTargets, list: func(p *Policy) *[]string { return &p.Targets }},
	{Name: "threshold", Arg: "PERCENT", Default: "3%",
		Usage: "change against the base, measured beside it, that is drift",
		set:   fraction(func(p *Policy) *float64 { return &p.Threshold })},
	{Name: "baseline-threshold", Arg: "PERCENT", Default: "5%",
		Usage: "change against a stored baseline that is drift",
		set:   fraction(func(p *Policy) *float64 { return &p.BaselineThreshold })},
	{Name: "budget", Arg: "DURATION", Default: "10s",
		Usage: "time to measure each target on each side, 1s to 10m", set: setBudget},
	{Name: "baselines", Arg: "DIR", Default: "baselines",
		Usage: "folder of the stored baselines",
		set:   oneLine(func(p *Policy) *string { return &p.Baselines })},
	{Name: "base-ref", Arg: "COMMIT",
		Usage: "commit, tag or branch to measure beside this tree, or off (default: a pull request's base)", set: setBaseRef},
	{Name: "build", Arg: "COMMAND", Tree: true,
		Usage: "command that builds a side's tree before its targets are started, split as a shell would",
		set:   oneLine(func(p *Policy) *string { return &p.Build })},
	{Name: "fail-on", Arg: "VERDICT,...", Default: "slower,wrong-key,implausible,missing,failed",
		Usage: "verdicts that fail the run; none for no verdict",
		set:   addFailOn, list: func(p *Policy) *[]string { return &p.FailOn }},
	{Name: "expect", Arg: "LEG,...",
		Usage: "legs that must have a result",
		set:   addExpect, list: func(p *Policy) *[]string { return &p.Expect }},
	{Name: "key", Arg: "NAME", Default: "pbkdf2-gate",
		Usage: "name of this gate: keeps comments and artifacts of several apart",
		set:   name(func(p *Policy) *string { return &p.Key })},
	{Name: "leg", Arg: "NAME",
		Usage: "name of this job of the matrix, as expect lists it",
		set:   name(func(p *Policy) *string { return &p.Leg })},
	{Name: "comment", Arg: "WHEN", Default: "never",
		Usage: "when to comment on the pull request: always, on-drift or never",
		set:   oneOf(func(p *Policy) *string { return &p.Comment }, "always", "on-drift", "never")},
	{Name: "format", Arg: "FORMAT", Default: "text",
		Usage: "form of the report: text, markdown, json or bench",
		set:   oneOf(func(p *Policy) *string { return &p.Format }, "text", "markdown", "json", "bench")},
	{Name: "out", Arg: "FILE",
		Usage: "file to write the result to",
		set:   oneLine(func(p *Policy) *string { return &p.Out })},
	{Name: "release", Arg: "VERSION",
		Usage: "release that a baseline records, such as v1.2.0",
		set:   oneLine(func(p *Policy) *string { return &p.Release })},
}

// OfTree parts the values of a file in those that belong to the tree that the
// file is of, and the rest.
func OfTree(file []Value) (tree, rest []Value) {
	for _, v := range file {
		if s, err := lookup(v.Name); err == nil && s.Tree {
			tree = append(tree, v)
		} else {
			rest = append(rest, v)
		}
	}
	return tree, rest
}

func lookup(name string) (Setting, error) {
	for _, s := range Settings {
		if s.Name == name {
			return s, nil
		}
	}
	return Setting{}, unknown(name)
}

// unknown suggests the setting that was meant, or lists them all.
func unknown(name string) error {
	best, least := "", 3 // more edits than this are another word
	plain := strings.ReplaceAll(strings.ToLower(name), "_", "-")
	var all []string
	for _, s := range Settings {
		all = append(all, s.Name)
		if d := distance(plain, s.Name); d < least && d < len(s.Name)/2+1 {
			best, least = s.Name, d
		}
	}
	if best != "" {
		return fmt.Errorf("unknown setting %s: did you mean %s?", show(name), best)
	}
	return fmt.Errorf("unknown setting %s: use one of %s", show(name), strings.Join(all, ", "))
}

// distance is the number of letters to add, drop or replace that turn a into
// b; long names are far from everything.
func distance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0]++
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

// Flags defines the named settings as flags; all of them without names. Each
// use appends to values, which Resolve then checks.
func Flags(fs *flag.FlagSet, values *[]Value, names ...string) {
	for _, s := range Settings {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		fs.Func(s.Name, s.Help(), func(text string) error {
			*values = append(*values, Value{s.Name, text, FromFlag, "--" + s.Name + " " + show(text)})
			return nil
		})
	}
}

// Inputs reads the settings that a workflow gave: get has the text of a
// setting by name. A blank one was not given.
func Inputs(get func(name string) string) []Value {
	var values []Value
	for _, s := range Settings {
		if text := strings.TrimSpace(get(s.Name)); text != "" {
			values = append(values, Value{s.Name, text, FromInput, "input " + s.Name})
		}
	}
	return values
}
