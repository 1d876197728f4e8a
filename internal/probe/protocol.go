// Package probe is the probe protocol, version 1, from the side that asks:
// Client runs a program that answers. Package goprobe is the other end.
//
// The protocol is lines of text, each ended by one LF; one space separates
// words, hex is in lower case, numbers are decimal without sign or leading
// zeros. The probe speaks first, unasked, then answers each request with one
// line until its standard input ends, when it exits 0:
//
//	<- pbkdf2-probe/1 NAME KEY=VALUE...
//	-> derive PRF ITERATIONS KEY_BYTES SALT_HEX PASSWORD_HEX
//	<- key KEY_HEX ns N
//	<- error MESSAGE
//
// An empty salt or password is written "-". N is whole nanoseconds of the
// derivation alone. "error" is about this request only. Words after those
// shown are ignored, in both directions, so that later versions can add some.
package probe

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// MaxLine is the length of the longest line, its LF included.
const MaxLine = 64 << 10

// maxKeyBytes is the longest key whose answer surely fits a line.
const maxKeyBytes = (MaxLine - len("key  ns 9223372036854775807\n")) / 2

// maxWord bounds a word of the first line: these end up in files and reports.
const maxWord = 256

const (
	helloPrefix = "pbkdf2-probe/"
	wantHello   = `"pbkdf2-probe/1 NAME", perhaps with KEY=VALUE words after it`
	wantAnswer  = `"key KEY_HEX ns N" or "error MESSAGE"`
)

// Hello is a probe's first line: what it is called, and what it says of
// itself (version, toolchain, mode; others are welcome).
type Hello struct {
	Name  string            // [a-z0-9][a-z0-9._+-]{0,63}
	Words map[string]string // printable ASCII without spaces; nil where there are none
}

// Request asks for one key.
type Request struct {
	PRF        workload.PRF
	Iterations int // 1 to 2^32-1
	KeyBytes   int // 1 to 2^32-1; what fits an answer is less
	Salt       []byte
	Password   []byte
}

// Answer is a derived key and the time that its derivation took by the
// probe's own clock. A coarse clock may say 0 for a short one.
type Answer struct {
	Key     []byte
	Elapsed time.Duration
}

// Refusal is a probe's "error MESSAGE": it would not do this request, and
// goes on.
type Refusal struct {
	Message string // printable ASCII, at most 200 bytes
}

func (r *Refusal) Error() string { return "the probe refused: " + r.Message }

// ParseHello reads a probe's first line, without its LF. Words that are not
// KEY=VALUE in printable ASCII are ignored; of two with one key the first
// counts.
func ParseHello(line []byte) (Hello, error) {
	version, rest, _ := bytes.Cut(line, space)
	digits, ok := bytes.CutPrefix(version, []byte(helloPrefix))
	if !ok {
		return Hello{}, errors.New("not a probe's first line")
	}
	if v, ok := parseUint(digits, math.MaxUint32); !ok {
		return Hello{}, errors.New("not a version of the probe protocol")
	} else if v != 1 {
		return Hello{}, fmt.Errorf("version %d of the probe protocol, and this program speaks version 1 only: use a release of pbkdf2-gate that knows it, or a probe of version 1", v)
	}
	if err := checkBytes(line); err != nil {
		return Hello{}, err
	}
	name, rest, _ := bytes.Cut(rest, space)
	if !validName(name) {
		return Hello{}, errors.New("not a probe's name: use 1 to 64 of a-z 0-9 . _ + -, a letter or digit first")
	}
	h := Hello{Name: string(name)}
	for len(rest) > 0 {
		var word []byte
		word, rest, _ = bytes.Cut(rest, space)
		key, value, ok := bytes.Cut(word, []byte("="))
		if !ok || len(key) == 0 || len(word) > maxWord || !isPrintable(word) {
			continue
		}
		if h.Words == nil {
			h.Words = make(map[string]string)
		}
		if _, has := h.Words[string(key)]; !has {
			h.Words[string(key)] = string(value)
		}
	}
	return h, nil
}

// Append writes the line, LF included, its words in the order of their keys.
func (h Hello) Append(b []byte) []byte {
	b = append(b, helloPrefix+"1 "...)
	b = append(b, h.Name...)
	for _, k := range slices.Sorted(maps.Keys(h.Words)) {
		b = append(b, ' ')
		b = append(b, k...)
		b = append(b, '=')
		b = append(b, h.Words[k]...)
	}
	return append(b, '\n')
}

// Append writes the line, LF included.
func (r Request) Append(b []byte) []byte {
	b = append(b, "derive "...)
	b = append(b, r.PRF...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(r.Iterations), 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(r.KeyBytes), 10)
	for _, v := range [...][]byte{r.Salt, r.Password} {
		b = append(b, ' ')
		if len(v) == 0 {
			b = append(b, '-')
		}
		b = appendHex(b, v)
	}
	return append(b, '\n')
}

// ParseAnswer reads an answer, without its LF. The key is written over key,
// which may be nil. The error is a *Refusal for the "error" form; any other
// says how the line breaks the protocol.
func ParseAnswer(line, key []byte) (Answer, error) {
	word, rest, _ := bytes.Cut(line, space)
	if string(word) == "error" && !bytes.HasSuffix(line, []byte("\r")) {
		return Answer{}, &Refusal{Message: printable(rest, maxMessage)}
	}
	if err := checkBytes(line); err != nil {
		return Answer{}, err
	}
	if string(word) != "key" {
		return Answer{}, errors.New("not an answer")
	}
	word, rest, _ = bytes.Cut(rest, space)
	key, ok := appendUnhex(key[:0], word)
	if !ok {
		return Answer{}, errors.New("the key is not two lower-case hex digits a byte")
	}
	word, rest, _ = bytes.Cut(rest, space)
	if string(word) != "ns" {
		return Answer{}, errors.New(`no "ns" after the key`)
	}
	word, _, _ = bytes.Cut(rest, space)
	ns, ok := parseUint(word, math.MaxInt64)
	if !ok {
		return Answer{}, errors.New("the time is not a count of nanoseconds")
	}
	return Answer{Key: key, Elapsed: time.Duration(ns)}, nil
}

// Append writes the line, LF included.
func (a Answer) Append(b []byte) []byte {
	b = append(b, "key "...)
	b = appendHex(b, a.Key)
	b = append(b, " ns "...)
	b = strconv.AppendInt(b, a.Elapsed.Nanoseconds(), 10)
	return append(b, '\n')
}

// Append writes the line, LF included.
func (r *Refusal) Append(b []byte) []byte {
	b = append(b, "error "...)
	b = append(b, printable(r.Message, maxMessage)...)
	return append(b, '\n')
}
