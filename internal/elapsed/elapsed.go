// Package elapsed reads the time that a program printed of its own work, as in
//
//	Elapsed: 66.123ms
//	Time elapsed is: 98.324517ms
//	took 0.066 s
//
// A time is a number and one of the units s, ms, us, µs (with the micro sign or
// the Greek letter) and ns, blanks between them or not; or a duration as Go
// prints it, 1m2.5s. Of several lines with a time the last one counts. Numbers
// without a unit do not, nor do rates (5 ns/op), nor minutes alone.
//
// It does not guess: where the last line with a time could be read in two ways
// that is an error. What cannot be read is not passed over for a line before
// it.
package elapsed

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxQuoted bounds what an error quotes, in bytes.
const maxQuoted = 120

// maxLeft bounds, in characters, what is looked at before a number.
const maxLeft = 100

// escapes are what a terminal takes for colours and the like.
var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")

// Parse finds the elapsed time in what a program wrote, and quotes the line that
// it is from; that is empty where there is none. The error quotes the line that
// it is about, and says what to print instead.
func Parse(output []byte) (d time.Duration, quoted string, err error) {
	output = escapes.ReplaceAll(output, nil)
	for len(output) > 0 {
		// A carriage return ends a line too: what follows it overwrites that.
		var line []byte
		at := bytes.LastIndexAny(output, "\n\r")
		line, output = output[at+1:], output[:max(at, 0)]
		times, err := timesOf(string(line))
		for _, t := range times {
			if err == nil && t != times[0] {
				err = errors.New("it has two different times")
			}
		}
		if err != nil {
			return 0, "", fmt.Errorf("the elapsed time is not clear from %s: %w: print one as the last, such as Elapsed: 66.1ms", quote(line), err)
		}
		if len(times) > 0 {
			return times[0], quote(line), nil
		}
	}
	return 0, "", nil
}

// quote shows a line, cut where it is long.
func quote(line []byte) string {
	if len(line) <= maxQuoted {
		return strconv.QuoteToGraphic(string(line))
	}
	return strconv.QuoteToGraphic(string(bytes.ToValidUTF8(line[:maxQuoted], nil))) + "..."
}

// units of a time; both micro signs are in use.
var units = map[string]time.Duration{
	"s": time.Second, "ms": time.Millisecond, "us": time.Microsecond, "\u00b5s": time.Microsecond, "\u03bcs": time.Microsecond, "ns": 1,
}

// timesOf reads the times of one line: it looks for words that are units, and
// takes what stands before them.
func timesOf(line string) ([]time.Duration, error) {
	var times []time.Duration
	text := []rune(line)
	for i := 0; i < len(text); {
		if !unicode.IsLetter(text[i]) {
			i++
			continue
		}
		begin := i
		for i < len(text) && unicode.IsLetter(text[i]) {
			i++
		}
		unit, ok := units[string(text[begin:i])]
		if !ok || i < len(text) && (text[i] == '/' || text[i] == '_' || isDigit(text[i])) {
			continue
		}
		d, ok, err := before(text[:begin], unit)
		if err != nil {
			return nil, err
		}
		if ok {
			times = append(times, d)
		}
	}
	return times, nil
}

// number is a time's: some programs print large and small ones with an
// exponent.
var number = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// What may stand before a number.
var (
	// minutes of a duration as Go prints it
	minutes = regexp.MustCompile(`(?:^|[\s:=("'\[{|>,])((?:[0-9]+h)?[0-9]+m)$`)
	// another time, which the number runs on from
	runsOn = regexp.MustCompile(`[0-9][\s\x{a0}\x{202f}\x{2009}]*(?:d|h|hr|m|min|sec|s|ms|us|[\x{b5}\x{3bc}]s|ns)$`)
	// the larger part of a time in words
	largerPart = regexp.MustCompile(`[0-9][\s,\x{a0}\x{202f}\x{2009}]*(?:m|mins?|minutes?|h|hrs?|hours?|d|days?)\.?[\s,\x{a0}\x{202f}\x{2009}]+(?:and\s+)?$`)
	// a range, a deviation or a product
	sum = regexp.MustCompile(`[0-9](?:\s*[-+*/x\x{d7}\x{b1}\x{2013}\x{2212}]+|\s+(?:to|or))\s+$`)
)

// before reads the number at the end of text. ok is false where what stands
// there is none.
func before(text []rune, unit time.Duration) (d time.Duration, ok bool, err error) {
	end := len(text)
	for end > 0 && isBlank(text[end-1]) {
		end--
	}
	begin := end
	for begin > 0 && belongs(text[:end], begin-1) {
		begin--
	}
	word, left := text[begin:end], string(text[max(0, begin-maxLeft):begin])
	if !strings.ContainsFunc(string(word), isDigit) {
		return 0, false, nil
	}
	if !isDigit(word[len(word)-1]) {
		if word[len(word)-1] == '.' && end == len(text) {
			return 0, false, fmt.Errorf("%s is not a number", string(word))
		}
		return 0, false, nil
	}
	if m := minutes.FindStringSubmatch(left); m != nil && unit == time.Second && end == len(text) && number.MatchString(string(word)) {
		if d, err = time.ParseDuration(m[1] + string(word) + "s"); err != nil {
			return 0, false, fmt.Errorf("%s%ss is not a duration", m[1], string(word))
		}
		return d, true, nil
	}
	afterLetter := begin > 0 && unicode.IsLetter(text[begin-1])
	switch {
	case afterLetter && (isDigit(word[0]) || strings.ContainsRune("-\u2013\u2212", word[0])):
		if runsOn.MatchString(left) {
			return 0, false, errors.New("two numbers run into each other")
		}
		if strings.ContainsAny(string(word), ":,'/*+") {
			return 0, false, fmt.Errorf("%s is not one number", string(word))
		}
		return 0, false, nil // part of a word: sha256, sha-256, v1.5
	case word[0] == '_':
		return 0, false, nil
	case largerPart.MatchString(left):
		return 0, false, errors.New("it has parts of several units")
	case sum.MatchString(left):
		return 0, false, errors.New("it has more than one number")
	}
	// what separates it from what is before
	n := strings.TrimLeft(string(word), ":,'/*+\u00a0\u202f\u2009")
	if !number.MatchString(n) {
		return 0, false, fmt.Errorf("%s is not one number", string(word))
	}
	d, err = count(n, unit)
	return d, err == nil, err
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// isBlank: the usual ones, and those that typography puts before a unit.
func isBlank(r rune) bool {
	return r == ' ' || r == '\t' || r == '\u00a0' || r == '\u202f' || r == '\u2009'
}

// belongs: the rune at i is a digit, or what could be meant as part of the
// number that follows: decimal signs and separators of digits, signs, ranges.
func belongs(text []rune, i int) bool {
	r := text[i]
	switch {
	case isDigit(r):
		return true
	case r == 'e' || r == 'E':
		return i > 0 && isDigit(text[i-1]) && i+1 < len(text) && (isDigit(text[i+1]) || text[i+1] == '+' || text[i+1] == '-')
	case r == '\u00a0' || r == '\u202f' || r == '\u2009':
		return i > 0 && isDigit(text[i-1])
	}
	return strings.ContainsRune(".,:'_/*<+-\u00b1\u00d7\u2013\u2212", r)
}

// count is n units.
func count(n string, unit time.Duration) (time.Duration, error) {
	x, err := strconv.ParseFloat(n, 64)
	ns := math.Round(x * float64(unit))
	if err != nil || ns >= math.MaxInt64 {
		return 0, fmt.Errorf("%s is out of range", n)
	}
	return time.Duration(ns), nil
}
