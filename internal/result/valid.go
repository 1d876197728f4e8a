package result

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

func inRange(n, lo, hi int) error {
	if n < lo || n > hi {
		return fmt.Errorf("%d is out of range: use %d to %d", n, lo, hi)
	}
	return nil
}

func oneOf(s string, words ...string) error {
	for _, w := range words {
		if s == w {
			return nil
		}
	}
	return fmt.Errorf("%s is unknown: use %s", quote(s), strings.Join(words, ", "))
}

// ifSet applies valid to what may be empty.
func ifSet(s string, valid func(string) error) error {
	if s == "" {
		return nil
	}
	return valid(s)
}

// validSystem holds goos and goarch to what is safe in a folder's name and
// has no hyphen, which stands between the two there.
func validSystem(s string) error {
	if s == "" || len(s) > 32 || !only(s, lower+digits) {
		return fmt.Errorf("%s is not a system's name: use 1 to 32 lower-case letters and digits", quote(s))
	}
	return nil
}

func validYardstick(s string) error {
	version, kind, _ := strings.Cut(s, " ")
	if version == "" || len(version) > 9 || version[0] == '0' || !only(version, digits) ||
		kind == "" || len(kind) > maxName || !only(kind, lower+digits+"._+-") {
		return fmt.Errorf("%s is not a version and a kind: write them as in 1 sha-ni", quote(s))
	}
	return nil
}

func validNotes(notes []string) error {
	for _, n := range notes {
		if n == "" {
			return errors.New("has an empty note: remove it")
		}
		if err := validText(n); err != nil {
			return fmt.Errorf("has a note that %w", err)
		}
	}
	return nil
}

func validSpent(s Spent) error {
	for _, p := range s.parts() {
		if *p.d < 0 || *p.d > maxSpent {
			return fmt.Errorf("has %v of %s: use 0 to %v", *p.d, p.name, maxSpent)
		}
	}
	return nil
}

// ValidCount says why a file cannot carry a count of instructions or cycles a
// compression; 0 is none.
func ValidCount(x float64) error {
	if x != 0 && !(x >= minCounted && x <= maxCounted) { // catches NaN
		return fmt.Errorf("%v is out of range: use %v to %v", x, minCounted, maxCounted)
	}
	return nil
}

const minCounted, maxCounted = 1e-3, 1e9

func validDate(t time.Time) error {
	if y := t.UTC().Year(); y < 1970 || y > 9999 {
		return fmt.Errorf("has the year %d: use 1970 to 9999", y)
	}
	return nil
}

// validWorkload names the key that workload.Params.Validate objects to.
func validWorkload(w workload.Params) error {
	if err := oneOf(string(w.PRF), string(workload.SHA1), string(workload.SHA256), string(workload.SHA512)); err != nil {
		return &FieldError{"prf", err.Error()}
	}
	err := w.Validate()
	if err == nil {
		return nil
	}
	for _, key := range []string{"salt-bytes", "key-bytes", "iterations"} {
		if msg, ok := strings.CutPrefix(err.Error(), key+" "); ok {
			return &FieldError{key, msg}
		}
	}
	return &FieldError{"iterations", "of this workload are refused: " + err.Error()}
}
