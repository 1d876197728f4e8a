// Package target is the kinds of target: what a specification such as
// "r=probe:./r --fast" means, how it is built in a tree, and the command that
// runs it.
package target

import (
	"fmt"
	"regexp"
	"strings"
)

// The kinds of target.
const (
	Go      = "go"       // the built-in probe; Rest is "" or XCrypto
	Probe   = "probe"    // any program that speaks the probe protocol; Rest is its command
	GoBench = "go-bench" // benchmarks of a Go package; Rest is PACKAGE REGEXP
	Time    = "time"     // any program, timed as a whole; Rest is its command
)

// XCrypto is the Rest of a Go target for golang.org/x/crypto instead of the
// standard library.
const XCrypto = "x-crypto"

const kinds = "go, go:x-crypto, probe:COMMAND, go-bench:PACKAGE REGEXP or time:COMMAND"

// Spec says what is measured: "NAME=KIND" or "NAME=KIND:REST".
type Spec struct {
	Name string // see ValidName
	Kind string // Go, Probe, GoBench or Time
	Rest string // what follows the kind's colon; empty where there is none
}

// ParseSpec reads a specification. The error says what to write instead.
func ParseSpec(s string) (Spec, error) {
	name, kind, ok := strings.Cut(s, "=")
	if !ok {
		return Spec{}, fmt.Errorf("target %q has no name: write NAME=KIND, where KIND is %s", s, kinds)
	}
	if err := ValidName(name); err != nil {
		return Spec{}, err
	}
	kind, rest, colon := strings.Cut(kind, ":")
	spec := Spec{name, kind, rest}
	switch kind {
	case Go:
		if rest != XCrypto && (rest != "" || colon) {
			return Spec{}, fmt.Errorf("target %s: unknown go:%s: write go or go:%s", name, rest, XCrypto)
		}
	case Probe, Time:
		if _, err := split(rest); err != nil {
			return Spec{}, fmt.Errorf("target %s: command %q: %w", name, rest, err)
		}
	case GoBench:
		if _, _, err := spec.benchmarks(); err != nil {
			return Spec{}, fmt.Errorf("target %s: %w", name, err)
		}
	default:
		return Spec{}, fmt.Errorf("target %s: unknown kind %q: use %s", name, kind, kinds)
	}
	return spec, nil
}

// Unverified reports whether the target's keys cannot be checked, since it does
// not speak the protocol.
func (s Spec) Unverified() bool { return s.Kind == GoBench || s.Kind == Time }

// String is the specification as ParseSpec reads it.
func (s Spec) String() string {
	if s.Rest == "" {
		return s.Name + "=" + s.Kind
	}
	return s.Name + "=" + s.Kind + ":" + s.Rest
}

var (
	nameForm  = regexp.MustCompile(`^[a-z0-9][a-z0-9._+-]{0,63}$`)
	procsForm = regexp.MustCompile(`-[0-9]+$`)
)

// ValidName says what is wrong with the name of a target.
func ValidName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("target name %q: use 1 to 64 of a-z 0-9 . _ + -, a letter or digit first", name)
	}
	if procs := procsForm.FindString(name); procs != "" {
		return fmt.Errorf("target name %q: benchmark tools would read its end as GOMAXPROCS: write %s_%s", name, strings.TrimSuffix(name, procs), procs[1:])
	}
	return nil
}
