package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestQuantile(t *testing.T) {
	v := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0: 1, 1: 4, 0.5: 2.5, 0.25: 1.75} {
		if got := Quantile(v, q); got != want {
			t.Errorf("Quantile(%v) = %v, want %v", q, got, want)
		}
	}
	if v[0] != 4 {
		t.Error("the argument was sorted in place")
	}
	if !math.IsNaN(Median(nil)) {
		t.Error("the median of nothing is a number")
	}
}

// The interval covers the true median about 95 times in 100, whatever the
// size and a skewed distribution.
func TestMedianIntervalCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{6, 8, 11, 30, 40} {
		const trials = 20000
		covered := 0
		for range trials {
			v := make([]float64, n)
			for i := range v {
				v[i] = r.ExpFloat64()
			}
			lo, hi, ok := MedianInterval(v)
			if !ok {
				t.Fatalf("n = %d: no interval", n)
			}
			if lo <= math.Ln2 && math.Ln2 <= hi {
				covered++
			}
		}
		if share := float64(covered) / trials; share < 0.94 || share > 0.975 {
			t.Errorf("n = %d: covered %.3f", n, share)
		}
	}
}

func TestMedianIntervalSmall(t *testing.T) {
	if _, _, ok := MedianInterval([]float64{1, 2, 3, 4, 5}); ok {
		t.Error("five values have an interval")
	}
	lo, hi, _ := MedianInterval([]float64{1, 2, 3, 4, 5, 100})
	if lo < 1 || lo > 1.5 || hi < 60 || hi > 100 {
		t.Errorf("six values: [%v, %v], want almost their range", lo, hi)
	}
}

func TestStudentT(t *testing.T) {
	for df, want := range map[int]float64{1: 12.706, 2: 4.303, 20: 2.086, 30: 2.042, 120: 1.980} {
		if got := StudentT(df); math.Abs(got-want) > 0.001 {
			t.Errorf("StudentT(%d) = %.4f, want %.3f", df, got, want)
		}
	}
}

// Known values: the differences of small samples by hand, and R's
// wilcox.test(b, a, conf.int = TRUE) with the same approximation.
func TestShift(t *testing.T) {
	a := []float64{1, 2, 3, 4, 5, 6}
	b := []float64{11, 12, 13, 14, 15, 16}
	if at, lo, hi := Shift(a, b); at != 10 || lo != 7 || hi != 13 {
		t.Errorf("%v [%v, %v], want 10 [7, 13]", at, lo, hi)
	}
	at, lo, hi := Shift(b, a)
	if at != -10 || lo != -13 || hi != -7 {
		t.Errorf("mirrored: %v [%v, %v]", at, lo, hi)
	}
	a, b = append(a, a...), append(b, b...)
	b[5] = 1e9 // one outlier moves nothing much
	if at, lo, hi := Shift(a, b); at > 11 || lo < 8 || hi > 12 {
		t.Errorf("with an outlier: %v [%v, %v]", at, lo, hi)
	}
}

// The interval covers the truth as often as it promises, for rounds with a
// tail to one side as measurements have it.
func TestShiftCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = r.NormFloat64() + 2*r.ExpFloat64()
		}
		return v
	}
	for _, n := range []int{6, 8, 12, 30, 50} {
		const trials = 3000
		misses := 0
		for range trials {
			if _, lo, hi := Shift(draw(n), draw(n)); lo > 0 || hi < 0 {
				misses++
			}
		}
		if share := float64(misses) / trials; share > 0.062 {
			t.Errorf("%d values: %.1f %% of the intervals miss", n, 100*share)
		}
	}
}
