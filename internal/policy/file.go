package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxFile is the size of the largest policy file in bytes.
const MaxFile = 64 << 10

// Load reads a policy file: one YAML mapping from the names of settings to
// their texts. A list may be written as a sequence or as one text. Values keep
// the file's order; their texts are not checked yet. An error starts with
// "filename:line: ", or "filename: " where no line is to blame.
func Load(data []byte, filename string) ([]Value, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%s: %d bytes are too many for a policy file: use at most %d", filename, len(data), MaxFile)
	}
	if err := checkText(data, filename); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, yamlError(filename, err)
	}
	l := loader{filename: filename, lines: map[string]int{}}
	for _, n := range doc.Content {
		if err := l.settings(n); err != nil {
			return nil, err
		}
	}
	var more yaml.Node
	if err := dec.Decode(&more); err == nil {
		return nil, l.errorf(&more, "a second document: keep all settings in one")
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlError(filename, err)
	}
	return l.values, nil
}

// checkText finds the line of what no YAML text may have: the YAML package
// says only that there is such a thing.
func checkText(data []byte, filename string) error {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		bad := func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f }
		if !utf8.Valid(line) || bytes.ContainsFunc(line, bad) {
			return fmt.Errorf("%s:%d: not text in UTF-8: remove what is no printable character", filename, n)
		}
	}
	return nil
}

var (
	yamlForm = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)`)
	// The YAML package counts lines from 0 in these messages, from 1 in the
	// others, and leaves line 0 out.
	fromZero = regexp.MustCompile(`^(did not find expected (<|node|key|'-'|',')|found (duplicate %|incompatible|undefined))`)
	lineless = regexp.MustCompile(`^(unknown anchor|exceeded)`)
)

// yamlError gives a syntax error the form of the others.
func yamlError(filename string, err error) error {
	m := yamlForm.FindStringSubmatch(err.Error())
	if m == nil {
		return fmt.Errorf("%s: not YAML: %w", filename, err)
	}
	problem := "not YAML: " + strings.ToValidUTF8(m[2][:min(len(m[2]), maxShown)], "")
	if lineless.MatchString(m[2]) {
		return fmt.Errorf("%s: %s", filename, problem)
	}
	line, _ := strconv.Atoi(m[1])
	if fromZero.MatchString(m[2]) {
		line++
	}
	return fmt.Errorf("%s:%d: %s", filename, max(line, 1), problem)
}

type loader struct {
	filename string
	lines    map[string]int // of the settings so far
	values   []Value
}

func (l *loader) errorf(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", l.filename, max(n.Line, 1), fmt.Sprintf(format, args...))
}

func (l *loader) settings(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" && n.Value == "" {
		return nil // only comments
	}
	if err := l.plain(n); err != nil {
		return err
	}
	if n.Kind != yaml.MappingNode {
		return l.errorf(n, "not a mapping: write lines such as `threshold: 3%%`")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if err := l.setting(n.Content[i], n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) setting(key, value *yaml.Node) error {
	if err := l.plain(key); err != nil {
		return err
	}
	if key.Kind != yaml.ScalarNode {
		return l.errorf(key, "a setting's name must be a word")
	}
	s, err := lookup(key.Value)
	if err != nil {
		return l.errorf(key, "%v", err)
	}
	if first, ok := l.lines[s.Name]; ok {
		return l.errorf(key, "%s: set in line %d already: keep one", s.Name, first)
	}
	l.lines[s.Name] = key.Line

	if err := l.plain(value); err != nil {
		return err
	}
	switch {
	case value.Kind == yaml.ScalarNode:
		return l.add(s, value)
	case value.Kind == yaml.SequenceNode && s.List() && len(value.Content) > 0:
		for _, item := range value.Content {
			if err := l.add(s, item); err != nil {
				return err
			}
		}
		return nil
	case value.Kind == yaml.SequenceNode && s.List():
		return l.errorf(key, "%s: an empty list: give a value or leave the setting out", s.Name)
	case s.List():
		return l.errorf(key, "%s: a mapping: write a list of texts", s.Name)
	}
	return l.errorf(key, "%s: takes one value, neither a list nor a mapping", s.Name)
}

// add takes a scalar as it is written, so that 3%, 500_000 and no are texts.
func (l *loader) add(s Setting, n *yaml.Node) error {
	if err := l.plain(n); err != nil {
		return err
	}
	if n.Kind != yaml.ScalarNode {
		return l.errorf(n, "%s: an entry of the list must be a text", s.Name)
	}
	if n.ShortTag() == "!!null" {
		return l.errorf(n, "%s: empty: give a value or leave the setting out", s.Name)
	}
	l.values = append(l.values, Value{s.Name, n.Value, FromFile, fmt.Sprintf("%s:%d: %s", l.filename, max(n.Line, 1), s.Name)})
	return nil
}

// plain refuses what settings have no use for and what can make a small file
// large.
func (l *loader) plain(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return l.errorf(n, "aliases are not supported: write the value out")
	case n.Anchor != "":
		return l.errorf(n, "anchors are not supported: write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		return l.errorf(n, "the tag %s is not supported: write the value alone", show(n.Tag))
	}
	return nil
}
