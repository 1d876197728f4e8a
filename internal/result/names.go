package result

import (
	"errors"
	"fmt"
	"strings"
)

// Limits of the words of a file, in bytes.
const (
	maxWord    = 128 // opaque ids and commits
	maxName    = 64  // a target's name
	maxRelease = 100
	// MaxText bounds one free text: a brand, a version, a message, a note.
	MaxText = 300
)

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

// only reports whether every byte of s is one of set.
func only(s, set string) bool {
	for i := range len(s) {
		if strings.IndexByte(set, s[i]) < 0 {
			return false
		}
	}
	return true
}

// ValidID says why s is not an opaque id: cpu-id, host-id, run, leg or commit.
func ValidID(s string) error {
	if s == "" || len(s) > maxWord || !only(s, lower+upper+digits+"._+-") {
		return fmt.Errorf("%s is not an id: use 1 to %d letters, digits and . _ + -", quote(s), maxWord)
	}
	return nil
}

// ValidTarget says why s is not the name of a target.
func ValidTarget(s string) error {
	if s == "" || len(s) > maxName || !only(s[:1], lower+digits) || !only(s, lower+digits+"._+-") {
		return fmt.Errorf("%s is not a target's name: use 1 to %d lower-case letters, digits and . _ + -, with a letter or digit first", quote(s), maxName)
	}
	if t := strings.TrimRight(s, digits); t != s && strings.HasSuffix(t, "-") {
		return fmt.Errorf("%s ends in a hyphen and digits, which benchmark tools read as GOMAXPROCS: name the target otherwise", quote(s))
	}
	return nil
}

// ValidRelease says why s is not the name of a release. A valid one can be a
// git tag and is safe in a ref.
func ValidRelease(s string) error {
	if s == "" || len(s) > maxRelease || !only(s[:1], lower+upper+digits) || !only(s, lower+upper+digits+"._+/-") {
		return fmt.Errorf("%s is not a release's name: use 1 to %d letters, digits and . _ + / -, with a letter or digit first", quote(s), maxRelease)
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part[0] == '.' || strings.Contains(part, "..") || strings.HasSuffix(part, ".") || strings.HasSuffix(part, ".lock") {
			return fmt.Errorf("%s is not a release's name: no part between slashes may be empty, start or end with a dot, have two dots in a row, or end in .lock", quote(s))
		}
	}
	return nil
}

// validText says why s is not free text that a file can carry: printable
// ASCII without space at its ends.
func validText(s string) error {
	switch {
	case len(s) > MaxText:
		return fmt.Errorf("is %d bytes long: shorten it to %d", len(s), MaxText)
	case !printable(s):
		return errors.New("has a character that is not printable ASCII: replace it")
	case strings.TrimSpace(s) != s:
		return errors.New("starts or ends with a space: remove it")
	}
	return nil
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// quote shows text from outside, cut where it is long.
func quote(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%q...", s[:60])
	}
	return fmt.Sprintf("%q", s)
}

// inASCII is how signs are written that programs print of times, or in prose.
var inASCII = strings.NewReplacer("\u00b5", "u", "\u03bc", "u", "±", "+-", "×", "x", "\u2212", "-", "–", "-", "—", "-",
	"‘", "'", "’", "'", "“", `"`, "”", `"`, "…", "...")

// Text turns s into free text that a file can carry: one line, at most MaxText
// bytes, whatever is not printable ASCII written in it or as a question mark. Brand
// strings, versions, messages and notes from outside go through it.
func Text(s string) string {
	s = inASCII.Replace(strings.Join(strings.Fields(s), " "))
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	if len(s) > MaxText {
		s = strings.TrimSpace(s[:MaxText-3]) + "..."
	}
	return s
}

// YardstickVersion is the version of the yardsticks without their kind.
func (r Run) YardstickVersion() string {
	version, _, _ := strings.Cut(r.Yardstick, " ")
	return version
}

// InHardware reports whether the yardsticks used the CPU's SHA instructions.
func (r Run) InHardware() bool {
	_, kind, _ := strings.Cut(r.Yardstick, " ")
	return kind != "portable"
}

// The notes of a run are one line: joined by " | ", with a backslash before
// each backslash and bar that is a note's own.
const noteSep = " | "

var noteEscaper = strings.NewReplacer(`\`, `\\`, `|`, `\|`)

func joinNotes(notes []string) string {
	escaped := make([]string, len(notes))
	for i, n := range notes {
		escaped[i] = noteEscaper.Replace(n)
	}
	return strings.Join(escaped, noteSep)
}

func splitNotes(s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	var notes []string
	var note strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '\\' || s[i+1] == '|'):
			i++
			note.WriteByte(s[i])
		case s[i] == '\\':
			return nil, errors.New(`has a lone backslash: write \\ for a backslash and \| for a bar`)
		case strings.HasPrefix(s[i:], noteSep):
			notes = append(notes, note.String())
			note.Reset()
			i += len(noteSep) - 1
		case s[i] == '|':
			return nil, errors.New(`has a bar without a space on both sides: write \| for one within a note`)
		default:
			note.WriteByte(s[i])
		}
	}
	return append(notes, note.String()), nil
}
