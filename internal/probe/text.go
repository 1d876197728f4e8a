package probe

import (
	"errors"
	"strconv"
)

// maxMessage bounds the message of a refusal, in bytes.
const maxMessage = 200

var space = []byte(" ")

// checkBytes refuses control characters, the usual one being the CR of a
// program that writes text for Windows.
func checkBytes(line []byte) error {
	for i, c := range line {
		switch {
		case c == '\r' && i == len(line)-1:
			return errors.New("the line ends in CR LF: end it with LF alone")
		case c < ' ' || c == 0x7f:
			return errors.New("the line has a control character")
		}
	}
	return nil
}

func isPrintable(b []byte) bool {
	for _, c := range b {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

func validName(b []byte) bool {
	if len(b) == 0 || len(b) > 64 {
		return false
	}
	for i, c := range b {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '+' || c == '-'):
		default:
			return false
		}
	}
	return true
}

// parseUint reads a decimal of at most max, without sign or leading zeros.
// strconv would take signs and want a string.
func parseUint(b []byte, max uint64) (n uint64, ok bool) {
	if len(b) == 0 || len(b) > 19 || len(b) > 1 && b[0] == '0' {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0') // 19 digits fit
	}
	return n, n <= max
}

const hexDigits = "0123456789abcdef"

func appendHex(b, v []byte) []byte {
	for _, c := range v {
		b = append(b, hexDigits[c>>4], hexDigits[c&15])
	}
	return b
}

// appendUnhex decodes one byte or more; encoding/hex would take upper case.
func appendUnhex(b, hex []byte) ([]byte, bool) {
	if len(hex) == 0 || len(hex)%2 != 0 {
		return b, false
	}
	for i := 0; i < len(hex); i += 2 {
		hi, lo := unhex(hex[i]), unhex(hex[i+1])
		if hi > 15 || lo > 15 {
			return b, false
		}
		b = append(b, hi<<4|lo)
	}
	return b, true
}

func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 0xff
}

// printable is s as one line of printable ASCII of at most max bytes: line
// breaks and tabs become spaces, all else question marks.
func printable[S string | []byte](s S, max int) string {
	cut := len(s) > max
	if cut {
		s = s[:max-len("...")]
	}
	b := []byte(s)
	for i, c := range b {
		switch {
		case c == '\n' || c == '\t' || c == '\r':
			b[i] = ' '
		case c < ' ' || c > '~':
			b[i] = '?'
		}
	}
	if cut {
		b = append(b, "..."...)
	}
	return string(b)
}

// maxQuoted bounds what a message quotes, in bytes.
const maxQuoted = 80

// quoted is the beginning of what a probe wrote, for a message.
func quoted(b []byte) string {
	if len(b) > maxQuoted {
		return strconv.QuoteToASCII(string(b[:maxQuoted])) + "..."
	}
	return strconv.QuoteToASCII(string(b))
}
