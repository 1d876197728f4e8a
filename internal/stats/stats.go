// Package stats has the order statistics that the gate rests on: quantiles,
// and confidence intervals for a median and for a shift. All functions are pure and leave
// their arguments as they are; times are any unit.
package stats

import (
	"math"
	"slices"
)

// Quantile is the q-quantile of v, 0 <= q <= 1, interpolated between order
// statistics; NaN for no values.
func Quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	at := q * float64(len(s)-1)
	i := int(at)
	if i+1 >= len(s) {
		return s[len(s)-1]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

// Median is the 0.5-quantile.
func Median(v []float64) float64 { return Quantile(v, 0.5) }

// MinForInterval is the least number of values for which a 95 % interval of
// the median exists: with five, even the whole range covers it only 94 % of
// the time.
const MinForInterval = 6

// MedianInterval is the 95 % confidence interval of the median that v was
// drawn from, without an assumption on the distribution: order statistics,
// interpolated so that the coverage does not jump with the sample's size
// (Hettmansperger and Sheather, 1986). ok is false under MinForInterval.
func MedianInterval(v []float64) (lo, hi float64, ok bool) {
	const level = 0.95
	n := len(v)
	if n < MinForInterval {
		return math.NaN(), math.NaN(), false
	}
	s := slices.Sorted(slices.Values(v))
	// coverage of [s(d), s(n-d+1)], d counted from 1: 1 - 2 P(B(n, 1/2) < d)
	d, cover := 0, 1.0
	p := math.Exp2(-float64(n)) // P(B = d)
	next := cover - 2*p
	for next >= level {
		d++
		cover = next
		p *= float64(n-d+1) / float64(d)
		next = cover - 2*p
	}
	i := (cover - level) / (cover - next)
	l := float64(n-d) * i / (float64(d) + float64(n-2*d)*i)
	lo = (1-l)*s[d-1] + l*s[d]
	hi = (1-l)*s[n-d] + l*s[n-d-1]
	return lo, hi, true
}

// Shift is by how much b lies above a, and its 95 % confidence interval: the
// median of all differences (Hodges and Lehmann, 1963) and those differences
// that a Mann-Whitney test would not reject. It assumes that the two
// distributions have one shape, of whatever kind; where outliers do not come
// alike it stays robust, and it needs a third fewer values than two medians do
// (whose shapes would not matter). Both must have MinForInterval values.
func Shift(a, b []float64) (at, lo, hi float64) {
	const z = 1.959964
	n, m := len(a), len(b)
	d := make([]float64, 0, n*m)
	for _, x := range a {
		for _, y := range b {
			d = append(d, y-x)
		}
	}
	slices.Sort(d)
	at = (d[(len(d)-1)/2] + d[len(d)/2]) / 2
	// normal approximation, rounded outwards: from six values on its coverage is
	// 95 % or more
	k := max(1, int(float64(n*m)/2-z*math.Sqrt(float64(n*m*(n+m+1))/12)))
	return at, d[k-1], d[n*m-k]
}

// student is the two-sided 95 % quantile of Student's t by degrees of
// freedom, from 1.
var student = []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
	2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086}

// StudentT is the two-sided 95 % quantile of Student's t for df degrees of
// freedom, df >= 1.
func StudentT(df int) float64 {
	if df <= len(student) {
		return student[df-1]
	}
	// Cornish-Fisher about the normal quantile: within 0.001 from here on.
	z := 1.959964
	z3, z5, n := z*z*z, z*z*z*z*z, float64(df)
	return z + (z3+z)/(4*n) + (5*z5+16*z3+3*z)/(96*n*n)
}
