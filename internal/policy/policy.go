// Package policy has the settings of the gate: what is measured and what is
// held against it. One table defines them for flags, action inputs and the
// file .pbkdf2-gate.yaml.
package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// Policy is what the settings come to. Settings has what each of them means.
type Policy struct {
	Workload          workload.Params
	Targets           []string // NAME=KIND:REST, not parsed yet; never empty
	Threshold         float64  // of a pair: 0.03 is 3 %
	BaselineThreshold float64  // of stored baselines
	Budget            time.Duration
	Baselines         string   // folder
	BaseRef           string   // empty: to be found
	Build             string   // command; empty: none
	FailOn            []string // verdicts, as words; may be empty
	Expect            []string // legs; may be empty
	Key               string
	Leg               string // empty: unnamed
	Comment           string // always, on-drift or never
	Format            string // text, markdown, json or bench
	Out               string // file; empty: none
	Release           string // empty: none

	given map[string]Value    // by name: the first of the values in force
	items map[string][]string // by a list's name: where each of its entries came from
}

// Source is where a value came from, weakest first.
type Source int

// The sources.
const (
	FromDefault Source = iota
	FromFile
	FromInput
	FromFlag
)

// Value is one setting as somebody wrote it. A list may have several values
// of one name.
type Value struct {
	Name, Text string
	Source     Source
	Where      string // starts an error about it: "--threshold 3", ".pbkdf2-gate.yaml:3: threshold"
}

// Default returns the policy without any settings.
func Default() Policy {
	p := Policy{given: map[string]Value{}}
	for _, s := range Settings {
		if s.Default == "" {
			continue
		}
		if err := s.set(&p, s.Default); err != nil {
			panic(fmt.Sprintf("default of %s: %v", s.Name, err))
		}
	}
	return p
}

// Resolve applies layers of values, weakest first, to the defaults. A later
// value replaces an earlier one; of a list, all values of a layer together
// replace the earlier layers'. Every value is checked, replaced or not. An
// error starts with where the bad value came from.
func Resolve(layers ...[]Value) (Policy, error) {
	p := Default()
	for _, layer := range layers {
		in := map[string]bool{} // names that this layer had already
		for _, v := range layer {
			s, err := lookup(v.Name)
			if err != nil {
				return Policy{}, fmt.Errorf("%s: %w", v.Where, err)
			}
			if s.list != nil && !in[v.Name] {
				*s.list(&p) = nil
				delete(p.items, v.Name)
			}
			if err := s.set(&p, v.Text); err != nil {
				return Policy{}, fmt.Errorf("%s: %w", v.Where, err)
			}
			if s.list != nil {
				if p.items == nil {
					p.items = map[string][]string{}
				}
				for len(p.items[v.Name]) < len(*s.list(&p)) {
					p.items[v.Name] = append(p.items[v.Name], v.Where)
				}
			}
			if s.list == nil || !in[v.Name] {
				p.given[v.Name] = v
			}
			in[v.Name] = true
		}
	}
	if err := p.Workload.Validate(); err != nil {
		// Each value alone is in range: name one that was given.
		for _, name := range []string{"iterations", "key-bytes", "prf"} {
			if v, ok := p.given[name]; ok {
				return Policy{}, fmt.Errorf("%s: %w", v.Where, err)
			}
		}
		return Policy{}, err
	}
	return p, nil
}

// Source says which layer gave the setting.
func (p Policy) Source(name string) Source { return p.given[name].Source }

// Where starts an error about the setting's value, such as a target that
// cannot be parsed: where it came from; "default NAME" where nobody gave it.
func (p Policy) Where(name string) string {
	if v, ok := p.given[name]; ok {
		return v.Where
	}
	return "default " + name
}

// WhereItem is Where for entry i of a list.
func (p Policy) WhereItem(name string, i int) string {
	if items := p.items[name]; i < len(items) {
		return items[i]
	}
	return p.Where(name)
}

// Fails reports whether a verdict, as a word, makes the run fail.
func (p Policy) Fails(verdict string) bool { return slices.Contains(p.FailOn, verdict) }
