package report

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxText and maxName are how much of one text or name from outside a report
// shows, in characters.
const (
	maxText = 300
	maxName = 64
)

// clean makes one line of printable text from any string: a terminal obeys
// nothing in it, and it is no longer than maxText. brief is for names.
func clean(s string) string { return clip(s, maxText) }
func brief(s string) string { return clip(s, maxName) }

func clip(s string, most int) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if space && n < most {
			b.WriteByte(' ')
			n++
		}
		space = false
		if n >= most {
			b.WriteRune('…')
			break
		}
		if !unicode.IsPrint(r) {
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// apart is put between characters that GitHub would join: it looks for
// mentions, references and emoji in the rendered text, where an entity is a
// plain character again.
const apart = "\u200b"

// escape makes any string inert in a GitHub comment, in a cell, a list item
// or a heading: no markup, mention, reference, link or emoji survives.
func escape(s string) string     { return inert(clean(s)) }
func escapeName(s string) string { return inert(brief(s)) }

func inert(s string) string {
	var b strings.Builder
	rs := []rune(s)
	for i, r := range rs {
		switch {
		case strings.ContainsRune("\\`*_{}[]<>|~$&\"'#@!^", r),
			i == 0 && r < 0x80 && !unicode.IsLetter(r): // -, 1. and = start a block
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		default:
			b.WriteRune(r)
		}
		if joins(rs, i) {
			b.WriteString(apart)
		}
	}
	return b.String()
}

// joins reports whether GitHub may make a link or a picture of the character
// at i and what follows it.
func joins(rs []rune, i int) bool {
	next := func(r ...rune) bool { return i+1 < len(rs) && slices.Contains(r, rs[i+1]) }
	switch rs[i] {
	case '@', '#', ':':
		return !next(' ')
	case 'w', 'W':
		return next('.') // www.
	case '-':
		return i > 0 && unicode.ToLower(rs[i-1]) == 'h' && i+1 < len(rs) && unicode.IsDigit(rs[i+1]) // GH-1
	}
	return false
}

// commitWord is s where it is a commit's hash, else a placeholder: a command
// in a report is there to be copied into a shell.
func commitWord(s string) string {
	if len(s) < 7 || len(s) > 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return "COMMIT"
	}
	return s
}
