package result

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// A file is text in the Go benchmark format: blocks of `key: value` lines,
// each followed by a line for every round. Every block has every key, so that
// it stands for itself although benchmark tools carry keys from block to
// block; an empty value clears what an earlier block set.

// Limits of a file.
const (
	MaxFile   = 4 << 20 // bytes
	MaxBlocks = 4096
	MaxLine   = 4096 // bytes, without the line feed
	maxRounds = 1000
)

// A field is one key of a block. An optional one may be empty or, as
// golang.org/x/perf/benchfmt writes an empty one, left out.
type field struct {
	key      string
	optional bool
	get      func(*Run) string
	set      func(*Run, string) error
}

func text(key string, p func(*Run) *string) field {
	return field{key, false,
		func(r *Run) string { return *p(r) },
		func(r *Run, s string) error { *p(r) = s; return nil }}
}

func optional(f field) field {
	f.optional = true
	return f
}

func number[T ~int | ~int64](key string, p func(*Run) *T) field {
	return field{key, false,
		func(r *Run) string { return strconv.FormatInt(int64(*p(r)), 10) },
		func(r *Run, s string) error {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil || strconv.FormatInt(n, 10) != s {
				return fmt.Errorf("%s is not a whole number: write digits only", quote(s))
			}
			*p(r) = T(n)
			return nil
		}}
}

const roundsKey = "rounds" // the last of a block: one that is cut short lacks it

var fields = []field{
	text("goos", func(r *Run) *string { return &r.Host.GOOS }),
	text("goarch", func(r *Run) *string { return &r.Host.GOARCH }),
	optional(text("cpu", func(r *Run) *string { return &r.Host.CPU })),
	text("cpu-id", func(r *Run) *string { return &r.Host.CPUID }),
	optional(text("sha", func(r *Run) *string { return &r.Host.SHA })),
	optional(text("image", func(r *Run) *string { return &r.Host.Image })),
	optional(text("kernel", func(r *Run) *string { return &r.Host.Kernel })),
	optional(text("emulated", func(r *Run) *string { return &r.Host.Emulated })),
	text("host-id", func(r *Run) *string { return &r.Host.HostID }),
	text("yardstick", func(r *Run) *string { return &r.Yardstick }),
	text("prf", func(r *Run) *string { return (*string)(&r.Workload.PRF) }),
	number("iterations", func(r *Run) *int { return &r.Workload.Iterations }),
	number("salt-bytes", func(r *Run) *int { return &r.Workload.SaltBytes }),
	number("key-bytes", func(r *Run) *int { return &r.Workload.KeyBytes }),
	number("slice-iterations", func(r *Run) *int { return &r.Plan.SliceIterations }),
	number("slices", func(r *Run) *int { return &r.Plan.Slices }),
	number("warm-up", func(r *Run) *int { return &r.Plan.WarmUp }),
	number("yardstick-ns", func(r *Run) *time.Duration { return &r.Plan.Yardstick }),
	text("target", func(r *Run) *string { return &r.Target }),
	text("side", func(r *Run) *string { return &r.Side }),
	optional(text("leg", func(r *Run) *string { return &r.Leg })),
	text("run", func(r *Run) *string { return &r.ID }),
	optional(text("toolchain", func(r *Run) *string { return &r.Toolchain })),
	optional(text("target-version", func(r *Run) *string { return &r.TargetVersion })),
	optional(text("mode", func(r *Run) *string { return &r.Mode })),
	{"verified", false, getVerified, setVerified},
	optional(text("program", func(r *Run) *string { return &r.Program })),
	{"spent-ms", true, getSpent, setSpent},
	text("outcome", func(r *Run) *string { return (*string)(&r.Outcome) }),
	optional(text("message", func(r *Run) *string { return &r.Message })),
	{"notes", true,
		func(r *Run) string { return joinNotes(r.Notes) },
		func(r *Run, s string) (err error) { r.Notes, err = splitNotes(s); return err }},
	optional(text("commit", func(r *Run) *string { return &r.Commit })),
	optional(text("release", func(r *Run) *string { return &r.Release })),
	{"date", false, getDate, setDate},
	number("disturbed", func(r *Run) *int { return &r.Disturbed }),
	{"contended", true, getContended, setContended},
	counted("instructions", func(r *Run) *float64 { return &r.Instructions }),
	counted("cycles", func(r *Run) *float64 { return &r.Cycles }),
}

// counted is an optional figure, empty where it is 0.
func counted(key string, p func(*Run) *float64) field {
	return field{key, true,
		func(r *Run) string {
			if *p(r) == 0 {
				return ""
			}
			return strconv.FormatFloat(*p(r), 'f', -1, 64)
		},
		func(r *Run, s string) error {
			x, err := parseFigure(s)
			if err == nil && x == 0 {
				err = errors.New("0 is no count: leave it empty where none was made")
			}
			*p(r) = significant(x, digitsCounted)
			return err
		}}
}

func getContended(r *Run) string {
	if r.Contended {
		return "yes"
	}
	return ""
}

func setContended(r *Run, s string) error {
	r.Contended = s == "yes"
	if s != "yes" && s != "" {
		return errors.New("must be yes, or empty")
	}
	return nil
}

func getVerified(r *Run) string {
	if r.Unverified {
		return "no"
	}
	return "yes"
}

func setVerified(r *Run, s string) error {
	if s != "yes" && s != "no" {
		return fmt.Errorf("%s is neither yes nor no: write one of them", quote(s))
	}
	r.Unverified = s == "no"
	return nil
}

// spent are the parts of Spent by their names, in their order.
func (s *Spent) parts() []struct {
	name string
	d    *time.Duration
} {
	return []struct {
		name string
		d    *time.Duration
	}{{"build", &s.Build}, {"open", &s.Open}, {"slices", &s.Slices}, {"yardsticks", &s.Yardsticks}, {"around", &s.Around}}
}

func getSpent(r *Run) string {
	if r.Spent == (Spent{}) {
		return ""
	}
	var words []string
	for _, p := range r.Spent.parts() {
		words = append(words, fmt.Sprintf("%s=%d", p.name, p.d.Milliseconds()))
	}
	return strings.Join(words, " ")
}

func setSpent(r *Run, s string) error {
	words := strings.Split(s, " ")
	parts := r.Spent.parts()
	for i, p := range parts {
		if i >= len(words) {
			break
		}
		name, ms, _ := strings.Cut(words[i], "=")
		n, err := strconv.ParseInt(ms, 10, 64)
		if name != p.name || err != nil || n < 0 || n > maxSpent.Milliseconds() {
			break
		}
		*p.d = time.Duration(n) * time.Millisecond
	}
	if getSpent(r) != s {
		return fmt.Errorf("%s is not where time went: write it as build=1 open=2 slices=3 yardsticks=4 around=5, in milliseconds", quote(s))
	}
	return nil
}

// maxSpent bounds each part of a run's time.
const maxSpent = 1000 * time.Hour

func getDate(r *Run) string { return r.Date.UTC().Format(time.RFC3339) }

func setDate(r *Run, s string) (err error) {
	r.Date, err = time.Parse(time.RFC3339, s)
	if err != nil || getDate(r) != s {
		return fmt.Errorf("%s is not a date: write it as 2026-08-31T12:00:00Z (UTC, whole seconds)", quote(s))
	}
	r.Date = r.Date.UTC()
	return nil
}

// ErrFull is the error of Encode for more than a file may hold.
var ErrFull = errors.New("too much for a result file")

// Encode validates the runs and returns them as a file. Equal runs give equal
// bytes. Figures are rounded to what a measurement resolves, dates to the
// second; encoding what Read returned changes nothing more.
func Encode(runs []Run) ([]byte, error) {
	if len(runs) == 0 {
		return nil, errors.New("no runs to write: a result file has at least one")
	}
	if len(runs) > MaxBlocks {
		return nil, fmt.Errorf("%w: %d runs are too many: write at most %d", ErrFull, len(runs), MaxBlocks)
	}
	var b bytes.Buffer
	for i, r := range runs {
		r = r.rounded()
		if err := r.validate(); err != nil {
			return nil, fmt.Errorf("run %d of %d (target %s, side %s): %w", i+1, len(runs), quote(r.Target), quote(r.Side), err)
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := encodeBlock(&b, &r); err != nil {
			return nil, fmt.Errorf("run %d of %d (target %s, side %s): %w", i+1, len(runs), quote(r.Target), quote(r.Side), err)
		}
	}
	if b.Len() > MaxFile {
		return nil, fmt.Errorf("%w: %d runs take %d bytes, more than %d: write fewer (`baseline prune` drops old releases)", ErrFull, len(runs), b.Len(), MaxFile)
	}
	return b.Bytes(), nil
}

func encodeBlock(b *bytes.Buffer, r *Run) error {
	line := func(key, value string) {
		b.WriteString(key)
		b.WriteByte(':')
		if value != "" {
			b.WriteByte(' ')
			b.WriteString(value)
		}
		b.WriteByte('\n')
	}
	line("format", Format)
	for _, f := range fields {
		value := f.get(r)
		if len(f.key)+2+len(value) > MaxLine {
			return &FieldError{f.key, fmt.Sprintf("is %d bytes long, too long for one line: shorten it", len(value))}
		}
		line(f.key, value)
	}
	line(roundsKey, strconv.Itoa(len(r.Rounds)))
	for _, round := range r.Rounds {
		b.Write(appendRound(b.AvailableBuffer(), r.Target, round))
	}
	return nil
}

// Write writes the runs to w as Encode returns them.
func Write(w io.Writer, runs []Run) error {
	data, err := Encode(runs)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// validate checks everything of a rounded run that reading it back would.
func (r *Run) validate() error {
	if err := r.validateFields(len(r.Rounds)); err != nil {
		return err
	}
	return r.validateRounds()
}

func (r *Run) validateRounds() error {
	for i, round := range r.Rounds {
		if err := round.validate(r.Plan); err != nil {
			return fmt.Errorf("round %d: %w", i+1, err)
		}
	}
	return nil
}

// ValidRounds says why a file cannot carry the run's rounds.
func (r Run) ValidRounds() error {
	r = r.rounded()
	return r.validateRounds()
}

// A FieldError says what is wrong with the value of one key of a block.
type FieldError struct{ Key, Msg string }

func (e *FieldError) Error() string { return e.Key + " " + e.Msg }

// validateFields checks all of a run that has so many rounds but the rounds
// themselves; its error is a *FieldError.
func (r *Run) validateFields(rounds int) error {
	for _, f := range []struct {
		key string
		err error
	}{
		{"goos", validSystem(r.Host.GOOS)},
		{"goarch", validSystem(r.Host.GOARCH)},
		{"cpu", validText(r.Host.CPU)},
		{"cpu-id", ValidID(r.Host.CPUID)},
		{"sha", validText(r.Host.SHA)},
		{"image", validText(r.Host.Image)},
		{"kernel", validText(r.Host.Kernel)},
		{"emulated", validText(r.Host.Emulated)},
		{"host-id", ValidID(r.Host.HostID)},
		{"yardstick", validYardstick(r.Yardstick)},
		{"target", ValidTarget(r.Target)},
		{"side", oneOf(r.Side, Head, Base)},
		{"leg", ifSet(r.Leg, ValidID)},
		{"run", ValidID(r.ID)},
		{"toolchain", validText(r.Toolchain)},
		{"target-version", validText(r.TargetVersion)},
		{"mode", validText(r.Mode)},
		{"program", ifSet(r.Program, ValidID)},
		{"spent-ms", validSpent(r.Spent)},
		{"outcome", oneOf(string(r.Outcome), string(Measured), string(Failed), string(WrongKey), string(Implausible))},
		{"message", validText(r.Message)},
		{"notes", validNotes(r.Notes)},
		{"commit", ifSet(r.Commit, ValidID)},
		{"release", ifSet(r.Release, ValidRelease)},
		{"date", validDate(r.Date)},
		{"disturbed", inRange(r.Disturbed, 0, maxDisturbed)},
		{"instructions", ValidCount(r.Instructions)},
		{"cycles", ValidCount(r.Cycles)},
	} {
		if f.err != nil {
			return &FieldError{f.key, f.err.Error()}
		}
	}
	if err := validWorkload(r.Workload); err != nil {
		return err
	}
	if r.Outcome != Measured {
		if r.Message == "" {
			return &FieldError{"message", fmt.Sprintf("is empty: a run that is %s says why", r.Outcome)}
		}
		if rounds > 0 {
			return &FieldError{roundsKey, fmt.Sprintf("%d is wrong: a run that is %s has none", rounds, r.Outcome)}
		}
		if r.Plan == (Plan{}) {
			return nil
		}
	}
	if r.Contended && r.Plan.Slices > 1 {
		return &FieldError{"contended", "yes is wrong: only whole runs are, and this plan has slices"}
	}
	if err := inRange(rounds, 0, maxRounds); err != nil {
		return &FieldError{roundsKey, err.Error()}
	}
	return r.Plan.validate()
}

// Limits of a plan: a slice is at most a whole hash that takes long, a round
// at most some hours.
const (
	maxSlices    = 100_000
	maxYardstick = time.Second
	maxDisturbed = 100_000
)

func (p Plan) validate() error {
	for _, f := range []struct {
		key       string
		n, lo, hi int
	}{
		{"slice-iterations", p.SliceIterations, 1, workload.MaxIterations},
		{"slices", p.Slices, 1, maxSlices},
		{"warm-up", p.WarmUp, 0, maxSlices},
		{"yardstick-ns", int(p.Yardstick), 1, int(maxYardstick)},
	} {
		if err := inRange(f.n, f.lo, f.hi); err != nil {
			return &FieldError{f.key, err.Error()}
		}
	}
	return nil
}
