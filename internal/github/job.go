package github

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sethvargo/go-githubactions"
)

// Job speaks to the runner of a GitHub workflow: inputs, outputs, the step's
// summary, annotations and groups. What go-githubactions panics at is an error
// here.
type Job struct {
	w      io.Writer
	action *githubactions.Action

	summary          int // bytes written to it
	summaryFull      bool
	warnings, errors int
}

const (
	maxSummary     = 1 << 20 // bytes a step
	maxAnnotations = 10      // of each kind a step; GitHub drops the rest
)

// NewJob returns a job whose commands go to w, the step's standard output.
func NewJob(w io.Writer, getenv func(string) string) *Job {
	return &Job{w: w, action: githubactions.New(githubactions.WithWriter(w), githubactions.WithGetenv(getenv))}
}

// Input returns the action's input of that name without outer white space, from
// INPUT_NAME in capitals with underscores for hyphens, as action.yml maps it.
func (j *Job) Input(name string) string {
	return j.action.GetInput(strings.ReplaceAll(name, "-", "_"))
}

var outputPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,99}$`)

// SetOutput sets an output of the step. The value is one line: a line break
// could begin another output.
func (j *Job) SetOutput(name, value string) error {
	if !outputPattern.MatchString(name) {
		return fmt.Errorf("%q is no name of an output", clean(name))
	}
	if strings.ContainsAny(value, "\r\n\x00") {
		return fmt.Errorf("the output %s has more than one line: %q", name, clean(value))
	}
	if j.action.Getenv("GITHUB_OUTPUT") == "" {
		return fmt.Errorf("the output %s cannot be set: GITHUB_OUTPUT is not set: this only works in a GitHub workflow", name)
	}
	if err := try(func() { j.action.SetOutput(name, value) }); err != nil {
		return fmt.Errorf("the output %s cannot be set: %w", name, err)
	}
	return nil
}

const summaryCut = "\n\nThe summary ends here: GitHub shows 1 MiB of it at most.\n"

// AddSummary appends Markdown to the step's summary. What exceeds GitHub's
// limit is left out, and a line says so.
func (j *Job) AddSummary(markdown string) error {
	if j.action.Getenv("GITHUB_STEP_SUMMARY") == "" {
		return errors.New("the summary cannot be written: GITHUB_STEP_SUMMARY is not set: this only works in a GitHub workflow")
	}
	if j.summaryFull {
		return nil
	}
	const lineBreak = 2 // that the library adds, on Windows
	room := maxSummary - j.summary - lineBreak
	// There must always be room left to say that something was cut.
	if room -= len(summaryCut); len(markdown) > room {
		markdown = cutLines(markdown, room) + summaryCut
		j.summaryFull = true
	}
	if err := try(func() { j.action.AddStepSummary(markdown) }); err != nil {
		return fmt.Errorf("the summary cannot be written: %w", err)
	}
	j.summary += len(markdown) + lineBreak
	return nil
}

// cutLines returns at most n bytes of s: whole lines, or whole characters
// where the first line is longer.
func cutLines(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	if i := strings.LastIndexByte(s[:n], '\n'); i > 0 {
		return s[:i]
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Warn annotates the run with a warning. After ten only their number is kept,
// for Close.
func (j *Job) Warn(title, message string) error {
	if j.warnings++; j.warnings > maxAnnotations {
		return nil
	}
	return j.annotate(title, func(a *githubactions.Action) { a.Warningf("%s", message) })
}

// Error annotates the run with an error, otherwise as Warn does.
func (j *Job) Error(title, message string) error {
	if j.errors++; j.errors > maxAnnotations {
		return nil
	}
	return j.annotate(title, func(a *githubactions.Action) { a.Errorf("%s", message) })
}

func (j *Job) annotate(title string, issue func(*githubactions.Action)) error {
	a := j.action
	if title != "" {
		a = a.WithFieldsMap(map[string]string{"title": title})
	}
	return try(func() { issue(a) })
}

// Group begins a group of the log that is folded under a title.
func (j *Job) Group(title string) error { return try(func() { j.action.Group(title) }) }

// EndGroup ends it.
func (j *Job) EndGroup() error { return try(func() { j.action.EndGroup() }) }

// Close prints one line that counts the annotations that were left out, if any.
func (j *Job) Close() error {
	warnings, errs := max(j.warnings-maxAnnotations, 0), max(j.errors-maxAnnotations, 0)
	if warnings+errs == 0 {
		return nil
	}
	j.warnings, j.errors = maxAnnotations, maxAnnotations
	return try(func() {
		j.action.Infof("not annotated, as GitHub shows %d of each: %d more errors, %d more warnings; the report has them all",
			maxAnnotations, errs, warnings)
	})
}

// The runner takes a line for a command when it begins with :: after any white
// space, or has ##[ anywhere.
var (
	commandStart = regexp.MustCompile(`((?:^|[\r\n])[\s\p{Z}\x{85}]*):(:)`)
	oldCommand   = regexp.MustCompile(`##\[`)
)

// Print writes text to the log so that no line of it, such as a target's error
// message, is taken for a command: an invisible space parts what begins one.
func (j *Job) Print(text string) error {
	_, err := io.WriteString(j.w, harmless(text))
	return err
}

func harmless(text string) string {
	text = commandStart.ReplaceAllString(text, "${1}:\u200b${2}")
	return oldCommand.ReplaceAllString(text, "##\u200b[")
}

// HarmlessWriter passes text on to w in whole lines, of which the runner takes
// none for a command. An unfinished line waits for its end; one that is long
// is cut up.
func HarmlessWriter(w io.Writer) io.Writer { return &harmlessWriter{w: w} }

type harmlessWriter struct {
	mu   sync.Mutex
	w    io.Writer
	line []byte
}

func (h *harmlessWriter) Write(b []byte) (int, error) {
	const longest = 8 << 10
	h.mu.Lock()
	defer h.mu.Unlock()
	h.line = append(h.line, b...)
	end := bytes.LastIndexByte(h.line, '\n') + 1
	if end == 0 && len(h.line) > longest {
		h.line = append(h.line, '\n')
		end = len(h.line)
	}
	if end == 0 {
		return len(b), nil
	}
	_, err := io.WriteString(h.w, harmless(string(h.line[:end])))
	h.line = append(h.line[:0], h.line[end:]...)
	return len(b), err
}

// try turns the panic of a command that could not be written into its error.
func try(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			panic(r)
		case error:
			err = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}
