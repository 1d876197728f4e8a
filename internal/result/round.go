package result

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	benchmark = "BenchmarkPBKDF2/target="
	procs     = "-1" // GOMAXPROCS of a benchmark's name: one core
)

// Significant digits of a figure in a file: about ten times finer than what a
// round resolves.
const (
	digitsNsPerOp = 7
	digitsRelCost = 5
	digitsNs      = 4
	digitsShare   = 3
	digitsCounted = 6 // nothing disturbs it
)

// The figures of a round in the order of its line, with their limits.
var figures = []struct {
	unit   string
	digits int
	lo, hi float64 // lo <= figure <= hi
	of     func(*Round) *float64
}{
	{"ns/op", digitsNsPerOp, 1, 9.999999e12, func(r *Round) *float64 { return &r.NsPerOp }},
	{"relcost", digitsRelCost, MinRelCost, 1e12, func(r *Round) *float64 { return &r.RelCost }},
	{"chain-ns", digitsNs, 1e-3, 1e9, func(r *Round) *float64 { return &r.ChainNs }},
	{"lanes-ns", digitsNs, 1e-3, 1e9, func(r *Round) *float64 { return &r.LanesNs }},
	{"clean", digitsShare, 1e-6, 1, func(r *Round) *float64 { return &r.CleanShare }},
}

// MinRelCost is the least relative cost that a file carries: a thousandth of
// what one lane of the yardstick needs, which no core comes near.
const MinRelCost = 1e-3

// significant rounds x to n significant digits. Rounding twice is rounding
// once.
func significant(x float64, n int) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', n-1, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// rounded returns the run as a file carries it.
func (r Run) rounded() Run {
	rounds := make([]Round, len(r.Rounds))
	copy(rounds, r.Rounds)
	for i := range rounds {
		for _, f := range figures {
			p := f.of(&rounds[i])
			*p = significant(*p, f.digits)
		}
	}
	r.Rounds = rounds
	for _, p := range []*float64{&r.Instructions, &r.Cycles} {
		*p = significant(*p, digitsCounted)
	}
	for _, p := range r.Spent.parts() {
		*p.d = p.d.Truncate(time.Millisecond)
	}
	return r
}

// validate checks a rounded round against the plan that it was made by.
func (r *Round) validate(p Plan) error {
	if err := inRange(r.Clean, 1, p.Slices); err != nil {
		return fmt.Errorf("the count of clean slices %w (the plan's slices)", err)
	}
	for _, f := range figures {
		x := *f.of(r)
		if !(x >= f.lo && x <= f.hi) { // catches NaN
			return fmt.Errorf("%s %v is out of range: use %v to %v", f.unit, x, f.lo, f.hi)
		}
	}
	// A round may keep fewer slices than planned, never more.
	if kept := float64(r.Clean) / r.CleanShare; kept > float64(p.Slices)*(1+math.Pow10(1-digitsShare)) {
		return fmt.Errorf("%d clean slices and a clean share of %v need more slices than the plan's %d: correct one of them", r.Clean, r.CleanShare, p.Slices)
	}
	return nil
}

func appendRound(b []byte, target string, r Round) []byte {
	b = append(b, benchmark...)
	b = append(b, target...)
	b = append(b, procs...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(r.Clean), 10)
	for _, f := range figures {
		b = append(b, ' ')
		b = strconv.AppendFloat(b, *f.of(&r), 'f', -1, 64)
		b = append(b, ' ')
		b = append(b, f.unit...)
	}
	return append(b, '\n')
}

var errRound = errors.New("a round is not of the form `" + benchmark + "NAME" + procs +
	" COUNT N ns/op N relcost N chain-ns N lanes-ns N clean`: restore the line or measure again")

// parseRound reads the line of one round of the target.
func parseRound(line, target string) (Round, error) {
	var r Round
	name, rest, _ := strings.Cut(line, " ")
	if of, ok := strings.CutSuffix(strings.TrimPrefix(name, benchmark), procs); !ok || !strings.HasPrefix(name, benchmark) {
		return r, errRound
	} else if of != target {
		return r, fmt.Errorf("a round of target %s in a block of target %s: move it or correct the name", quote(of), quote(target))
	}
	count, rest, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(count)
	if err != nil || strconv.Itoa(n) != count {
		return r, errRound
	}
	r.Clean = n
	for i, f := range figures {
		var number, unit string
		number, rest, _ = strings.Cut(rest, " ")
		unit, rest, _ = strings.Cut(rest, " ")
		if unit != f.unit || (rest == "") != (i == len(figures)-1) {
			return r, errRound
		}
		x, err := parseFigure(number)
		if err != nil {
			return r, err
		}
		*f.of(&r) = significant(x, f.digits)
	}
	if strings.HasSuffix(line, " ") {
		return r, errRound
	}
	return r, nil
}

// parseFigure reads a decimal number; benchfmt writes large ones with an
// exponent.
func parseFigure(s string) (float64, error) {
	if s == "" || !only(s, digits+".e+-") {
		return 0, fmt.Errorf("%s is not a number: restore the line or measure again", quote(s))
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is not a number in range: restore the line or measure again", quote(s))
	}
	return x, nil
}
