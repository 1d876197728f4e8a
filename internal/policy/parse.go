package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// maxText is the longest value in bytes.
const maxText = 4096

// maxShown is how much of a bad text an error repeats, in bytes.
const maxShown = 60

// show is a text for an error message: quoted where it is not plain, and not
// all of a long one.
func show(text string) string {
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "..."
	}
	plain := func(r rune) bool { return r > ' ' && r <= '~' && r != '"' }
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// checkLine refuses what is no single line of text.
func checkLine(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("empty: give a value or leave the setting out")
	case len(text) > maxText:
		return fmt.Errorf("%d bytes are too long: use at most %d", len(text), maxText)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return fmt.Errorf("%s has control characters: use one line of text", show(text))
	}
	return nil
}

func oneLine(field func(*Policy) *string) func(*Policy, string) error {
	return func(p *Policy, text string) error {
		if err := checkLine(text); err != nil {
			return err
		}
		*field(p) = text
		return nil
	}
}

// setBaseRef refuses what git would take for an option.
func setBaseRef(p *Policy, text string) error {
	if err := checkLine(text); err != nil {
		return err
	}
	if strings.HasPrefix(text, "-") || strings.ContainsAny(text, " *?[\\") {
		return fmt.Errorf("%s is no commit: use a hash, branch or tag", show(text))
	}
	p.BaseRef = text
	return nil
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9._+-]{1,64}$`)

func checkName(text string) error {
	if !nameForm.MatchString(text) {
		return fmt.Errorf("%s is no name: use 1 to 64 letters, digits and . _ + -", show(text))
	}
	return nil
}

func name(field func(*Policy) *string) func(*Policy, string) error {
	return func(p *Policy, text string) error {
		if err := checkName(text); err != nil {
			return err
		}
		*field(p) = text
		return nil
	}
}

func oneOf(field func(*Policy) *string, words ...string) func(*Policy, string) error {
	return func(p *Policy, text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("unknown word %s: use %s", show(text), orList(words))
		}
		*field(p) = text
		return nil
	}
}

func orList(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func setPRF(p *Policy, text string) error {
	prf, err := workload.ParsePRF(text)
	if err != nil {
		return fmt.Errorf("unknown prf %s: use sha1, sha256 or sha512", show(text))
	}
	p.Workload.PRF = prf
	return nil
}

var wholeForm = regexp.MustCompile(`^([0-9]+|[0-9]{1,3}(_[0-9]{3})+)$`)

// whole reads a whole number of 0 or more; groups of three digits may be
// separated by an underscore.
func whole(text string) (int, error) {
	if !wholeForm.MatchString(text) {
		return 0, fmt.Errorf("%s is no whole number: use digits, such as 500000 or 500_000", show(text))
	}
	n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
	if err != nil { // only its size can be wrong
		return 0, fmt.Errorf("%s is out of range: use a smaller number", show(text))
	}
	return n, nil
}

func setIterations(p *Policy, text string) error {
	n, err := whole(text)
	if err != nil {
		return err
	}
	p.Workload.Iterations = n
	return workload.Params{PRF: workload.SHA256, Iterations: n, KeyBytes: 1}.Validate()
}

func setSaltBytes(p *Policy, text string) error {
	n, err := whole(text)
	if err != nil {
		return err
	}
	p.Workload.SaltBytes = n
	return workload.Params{PRF: workload.SHA256, Iterations: 1, SaltBytes: n, KeyBytes: 1}.Validate()
}

func setKeyBytes(p *Policy, text string) error {
	n, err := whole(text)
	if err != nil {
		return err
	}
	p.Workload.KeyBytes = n
	return workload.Params{PRF: workload.SHA256, Iterations: 1, KeyBytes: n}.Validate()
}

var decimalForm = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,9})?$`)

// fraction reads a percentage. The sign is asked for: 0.03 without it has
// been meant both as 3 % and as 0.03 %.
func fraction(field func(*Policy) *float64) func(*Policy, string) error {
	return func(p *Policy, text string) error {
		number, signed := strings.CutSuffix(text, "%")
		if !decimalForm.MatchString(number) {
			return fmt.Errorf("%s is no percentage: write one such as 3%% or 0.5%%", show(text))
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return err
		}
		if !signed && v > 0 && v < 1 {
			return fmt.Errorf("%s has no %%: write %s%% if it is a fraction, %s%% if it is a percentage",
				number, strconv.FormatFloat(v*100, 'g', 6, 64), number)
		}
		if !signed {
			return fmt.Errorf("%s has no %%: write %s%%", number, number)
		}
		if v <= 0 || v > 100 {
			return fmt.Errorf("%s is out of range: use more than 0%%, up to 100%%", text)
		}
		*field(p) = v / 100
		return nil
	}
}

// Limits of the budget.
const (
	minBudget = time.Second
	maxBudget = 10 * time.Minute
)

func setBudget(p *Policy, text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%s is no duration: write one such as 10s or 2m", show(text))
	}
	if d < minBudget || d > maxBudget {
		return fmt.Errorf("%s is out of range: use 1s to 10m", show(text))
	}
	p.Budget = d
	return nil
}

// addTargets adds one target a line. What a line means is for the package
// target to say.
func addTargets(p *Policy, text string) error {
	var targets []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if err := checkLine(line); err != nil {
			return err
		}
		targets = append(targets, line)
	}
	if len(targets) == 0 {
		return errors.New("empty: give a target such as go=go or leave the setting out")
	}
	p.Targets = append(p.Targets, targets...)
	return nil
}

// verdicts are the words that fail-on takes. A run that is ok cannot fail.
var verdicts = []string{"slower", "faster", "inconclusive", "no-baseline", "not-comparable",
	"workload-changed", "wrong-key", "implausible", "failed", "missing"}

// addFailOn adds verdicts; none, alone, makes the list empty but not nil.
func addFailOn(p *Policy, text string) error {
	words, err := commaList(text, func(word string) error {
		switch {
		case word == "ok":
			return errors.New("ok cannot fail a run: leave it out")
		case word != "none" && !slices.Contains(verdicts, word):
			return fmt.Errorf("unknown verdict %s: use %s, or none", show(word), strings.Join(verdicts, ", "))
		}
		return nil
	})
	if err != nil {
		return err
	}
	none := slices.Contains(words, "none")
	if none && (len(words) > 1 || len(p.FailOn) > 0) || !none && p.FailOn != nil && len(p.FailOn) == 0 {
		return errors.New("none stands alone: leave it or the other verdicts out")
	}
	if none {
		p.FailOn = []string{}
		return nil
	}
	p.FailOn = addNew(p.FailOn, words)
	return nil
}

func addExpect(p *Policy, text string) error {
	legs, err := commaList(text, checkName)
	if err != nil {
		return err
	}
	for i, l := range legs {
		if slices.Contains(legs[:i], l) {
			return fmt.Errorf("%s is listed twice: a leg's name stands once, or one result would hide another", show(l))
		}
	}
	p.Expect = addNew(p.Expect, legs)
	return nil
}

// commaList splits and checks words; spaces around them do not count.
func commaList(text string, check func(string) error) ([]string, error) {
	var words []string
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			return nil, fmt.Errorf("%s has an empty entry: write words with one comma between them", show(text))
		}
		if err := check(word); err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	return words, nil
}

// addNew appends those that the list does not have yet.
func addNew(list, words []string) []string {
	for _, w := range words {
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}
