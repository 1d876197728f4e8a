package report

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// links is what GitHub looks for in rendered text.
var links = regexp.MustCompile(`(?i)@[a-z0-9]|[^\s]@[^\s\x{200b}]|#[0-9]|\bgh-[0-9]|https?://|ftp://|mailto:[a-z]|xmpp:[a-z]|www\.\S|:[a-z0-9_+-]+:`)

// joined is the first text that GitHub would make more of than text.
func joined(markdown string) string {
	return links.FindString(html.UnescapeString(markdown))
}

var entity = regexp.MustCompile(`&#[0-9]+;`)

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "go", "@octocat", "a@b.example", "#1", "gh-12 GH-3", "owner/repo#4", ":tada:", "a::b:", "https://evil.example", "www.evil.example",
		"mailto:a@b", "<script>alert(1)</script>", "&lt;", "&amp;#64;x", "| a | b |", "`x`", "**b** _i_ ~~s~~", "[l](u) ![i](u)", "- item", "1. item", "+ item", "# head",
		"===", "---", "    code", "a\n\nb", "a\r\nb", "\x00\x1b[31m\u202e\u200b", "\xff\xfe", "$x^2$", "\\<b>", "@\u200boctocat", strings.Repeat("@", 400), strings.Repeat("a ", 200)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e := escape(s)
		if !utf8.ValidString(e) || strings.ContainsAny(e, "<>|`*_[]{}~$\\\"'@\n\r\t\x00\x1b") {
			t.Errorf("%q: live characters in %q", s, e)
		}
		if rest := entity.ReplaceAllString(e, ""); strings.ContainsAny(rest, "&#") {
			t.Errorf("%q: a stray & or # in %q", s, e)
		}
		if m := joined(e); m != "" {
			t.Errorf("%q: GitHub would link %q in %q", s, m, e)
		}
		if e != "" && (strings.ContainsAny(e[:1], "-+=0123456789 ")) {
			t.Errorf("%q: starts a block: %q", s, e)
		}
		if got, want := strings.ReplaceAll(html.UnescapeString(e), apart, ""), clean(s); got != want {
			t.Errorf("%q: reads %q, not %q", s, got, want)
		}
		if n := utf8.RuneCountInString(clean(s)); n > maxText+1 {
			t.Errorf("%d characters", n)
		}
	})
}

func TestCommitWord(t *testing.T) {
	hash := strings.Repeat("9d8c", 10)
	for in, want := range map[string]string{
		hash: hash, "9d8c7b6": "9d8c7b6", "": "COMMIT", "9d8c": "COMMIT", "-9d8c7b6": "COMMIT", "$(id) 9d8c7b6": "COMMIT", "main": "COMMIT",
		"9d8c7b6\nrm": "COMMIT", "9d8c`7b6": "COMMIT", "9d8c;7b6": "COMMIT", strings.Repeat("a", 65): "COMMIT",
	} {
		if got := commitWord(in); got != want {
			t.Errorf("commitWord(%q) = %q, want %q", in, got, want)
		}
	}
}
