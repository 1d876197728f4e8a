package target

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// split cuts a command into words by the rules of the POSIX shell: blanks,
// single and double quotes, backslashes. What a shell would do beyond that is
// an error, never taken literally: operators, comments, substitutions; only
// patterns (* ? [) and ~ stay as they are.
//
// go-shellwords was tried first: it ends at an operator without an error,
// reads \n as a line feed, and drops backslashes that double quotes keep.
func split(command string) ([]string, error) {
	words, err := splitWords(command, true)
	switch {
	case err != nil:
		return nil, err
	case len(words) == 0 || words[0] == "":
		return nil, errors.New("it names no program: write probe:PROGRAM ARGUMENTS")
	case assignment.MatchString(words[0]):
		return nil, fmt.Errorf("it begins by setting a variable: write env %s PROGRAM", words[0])
	}
	return words, nil
}

// splitWords is split for what need not be a command. Where it is none, blanks
// and quotes alone are special: a regular expression has the rest for itself.
func splitWords(command string, shell bool) ([]string, error) {
	if !utf8.ValidString(command) || strings.ContainsFunc(command, unicode.IsControl) {
		return nil, errors.New("it has a control character or is not UTF-8: write one line of text")
	}
	var words []string
	var word []byte
	var quote byte // the one that is open, or 0
	in := false    // a word has begun, perhaps an empty one
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote == '\'':
			if c == quote {
				quote = 0
				continue
			}
		case shell && (c == '`' || c == '$'):
			return nil, shellError(c)
		case shell && c == '\\':
			if i++; i == len(command) {
				return nil, errors.New(`it ends in a backslash: write \\ for one, or remove it`)
			}
			if quote == '"' && !strings.ContainsRune("\"\\$`", rune(command[i])) {
				word = append(word, '\\')
			}
			c = command[i]
		case quote == '"':
			if c == quote {
				quote = 0
				continue
			}
		case c == '"' || c == '\'':
			quote, in = c, true
			continue
		case c == ' ':
			if in {
				words = append(words, string(word))
				word, in = word[:0], false
			}
			continue
		case shell && (strings.ContainsRune(";|&<>()", rune(c)) || c == '#' && !in):
			return nil, shellError(c)
		}
		word, in = append(word, c), true
	}
	if quote != 0 {
		mend := fmt.Sprintf(`write \%c for the character`, quote)
		if !shell {
			mend = "put the character into quotes of the other kind"
		}
		return nil, fmt.Errorf("a %c quote is not closed: close it, or %s", quote, mend)
	}
	if in {
		words = append(words, string(word))
	}
	return words, nil
}

func shellError(c byte) error {
	return fmt.Errorf("%c would need a shell, and there is none: put the command into a script and name that, or quote the character ('%c')", c, c)
}
