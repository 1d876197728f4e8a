package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// round keeps a number to some decimals, so that reports of one result are
// equal on every architecture; what is not a number becomes 0.
func round(x float64, decimals int) float64 {
	p := math.Pow10(decimals)
	y := math.Round(x*p) / p
	if math.IsNaN(y) || math.IsInf(y, 0) {
		return 0
	}
	return y
}

func perCent(x float64) float64 { return round(100*x, 4) }

// duration writes a time of ns nanoseconds with three digits: 66.1 ms.
func duration(ns float64) string {
	if !(ns > 0) {
		return "-"
	}
	unit := "s"
	for _, u := range []struct {
		name string
		ns   float64
	}{{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}} {
		if ns < 999.5*u.ns {
			unit, ns = u.name, ns/u.ns
			return three(ns) + " " + unit
		}
	}
	return three(ns/1e9) + " " + unit
}

// three writes x > 0 with three digits, or all those before the point.
func three(x float64) string {
	switch {
	case x >= 1e15:
		return strconv.FormatFloat(x, 'g', 3, 64)
	case x >= 99.95:
		return workload.Group(int(math.Round(x)))
	case x >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case x >= 0.0995:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

// rate writes hashes per second and core.
func rate(perSecond float64) string {
	if !(perSecond > 0) {
		return "-"
	}
	return three(perSecond)
}

// percent writes a limit or share as short as it is: 5 %, 0.5 %.
func percent(p float64) string {
	return strconv.FormatFloat(round(p, 2), 'f', -1, 64) + " %"
}

// visible writes the smallest change that could have been seen; its digits
// round up, for what was not seen may not be claimed.
func visible(p float64) string {
	switch {
	case !(p > 0):
		return "-"
	case p < 10:
		return strconv.FormatFloat(math.Ceil(p*10-1e-6)/10, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(math.Ceil(p-1e-6), 'f', 0, 64) + " %"
}

// Changes from here on are told as a factor: "+100 %" and "-50 %" still read
// well, "-79.3 %" hides that it is 4.8 times faster.
const (
	slowerFactor = 100
	fasterFactor = -50
)

// figure and interval write a change: "+3.02 %" and "[+2.71, +3.30]", or
// "4.8x faster" and "[4.7, 4.9]". Digits are those that the interval
// supports.
func (c Change) figure() string {
	if c.byFactor() {
		d := c.factorDecimals()
		return fixed(c.factor(c.Est), d) + "x " + c.direction()
	}
	return signed(c.Est, c.decimals()) + " %"
}

func (c Change) interval() string {
	if c.byFactor() {
		a, b, d := c.factor(c.Lo), c.factor(c.Hi), c.factorDecimals()
		return fmt.Sprintf("[%s, %s]", fixed(min(a, b), d), fixed(max(a, b), d))
	}
	d := c.decimals()
	return fmt.Sprintf("[%s, %s]", signed(c.Lo, d), signed(c.Hi, d))
}

func (c Change) String() string { return c.figure() + " " + c.interval() }

// words writes the change without a sign: "12.1 % slower".
func (c Change) words() string {
	if c.byFactor() {
		return c.figure()
	}
	return fixed(math.Abs(c.Est), c.decimals()) + " % " + c.direction()
}

func (c Change) direction() string {
	if c.Est < 0 {
		return "faster"
	}
	return "slower"
}

// byFactor reports whether the change is told as a factor: it is large, and
// its interval leaves none of the three figures without one.
func (c Change) byFactor() bool {
	return (c.Est >= slowerFactor || c.Est <= fasterFactor) && min(c.Est, c.Lo, c.Hi) > -100
}

// factor is how many times slower or faster p per cent are, in the direction
// of the estimate.
func (c Change) factor(p float64) float64 {
	f := 1 + p/100
	if c.Est < 0 {
		return 1 / f
	}
	return f
}

// decimals gives the interval's half-width two digits, but the change never
// more than three, and nothing more than hundredths of a per cent.
func (c Change) decimals() int {
	switch half := math.Abs(c.Hi-c.Lo) / 2; {
	case half >= 9.95:
		return 0
	case half >= 0.995 || math.Abs(c.Est) >= 9.995:
		return 1
	}
	return 2
}

// factorDecimals gives the interval's half-width one digit, but never more
// than three to the factor.
func (c Change) factorDecimals() int {
	most := 2
	switch f := c.factor(c.Est); {
	case f >= 99.5:
		most = 0
	case f >= 9.95:
		most = 1
	}
	switch half := math.Abs(c.factor(c.Hi)-c.factor(c.Lo)) / 2; {
	case half >= 0.95:
		return 0
	case half >= 0.095:
		return min(most, 1)
	}
	return most
}

func signed(x float64, decimals int) string {
	s := fixed(x, decimals)
	if strings.HasPrefix(s, "-") {
		return s
	}
	return "+" + s
}

// fixed writes x with some decimals, grouped, and never a negative zero.
func fixed(x float64, decimals int) string {
	if math.Abs(x) >= 1e15 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	if decimals == 0 {
		return workload.Group(int(math.Round(x)))
	}
	return s
}

// digits rounds x to n significant digits: 2,410,714 is 2,400,000 with two.
func digits(x float64, n int) int {
	if !(x >= 1) || x > 1e15 {
		return 0
	}
	p := math.Pow10(max(0, int(math.Floor(math.Log10(x)))-n+1))
	return int(math.Round(x/p) * p)
}
