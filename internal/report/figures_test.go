package report

import (
	"math"
	"testing"
)

func TestDuration(t *testing.T) {
	for ns, want := range map[float64]string{
		0: "-", -1: "-", math.NaN(): "-", 0.5: "0.50 ns", 9.994: "9.99 ns", 812_300: "812 µs", 999_400: "999 µs", 999_600: "1.00 ms",
		66_130_000: "66.1 ms", 99_940_000: "99.9 ms", 99_960_000: "100 ms", 154_820_000: "155 ms", 999_700_000: "1.00 s",
		1_954_000_000: "1.95 s", 12_340_000_000: "12.3 s", 1_234_000_000_000: "1,234 s", 1e30: "1e+21 s",
	} {
		if got := duration(ns); got != want {
			t.Errorf("duration(%v) = %q, want %q", ns, got, want)
		}
	}
}

func TestChange(t *testing.T) {
	for _, c := range []struct {
		est, lo, hi float64
		want, words string
	}{
		{3.02, 2.71, 3.30, "+3.02 % [+2.71, +3.30]", "3.02 % slower"},
		{0, -0.004, 0.004, "+0.00 % [+0.00, +0.00]", "0.00 % slower"},
		{-0.001, -0.2, 0.2, "+0.00 % [-0.20, +0.20]", "0.00 % faster"},
		{3, 1.5, 4.5, "+3.0 % [+1.5, +4.5]", "3.0 % slower"},
		{12.143, 11.81, 12.44, "+12.1 % [+11.8, +12.4]", "12.1 % slower"},
		{20, 5, 35, "+20 % [+5, +35]", "20 % slower"},
		{-36.2, -37, -35.4, "-36.2 % [-37.0, -35.4]", "36.2 % faster"},
		{-79.21, -79.42, -79.0, "4.81x faster [4.76, 4.86]", "4.81x faster"},
		{-79.2, -80, -78, "4.8x faster [4.5, 5.0]", "4.8x faster"},
		{600, 590, 610, "7.0x slower [6.9, 7.1]", "7.0x slower"},
		{1100, 900, 1300, "12x slower [10, 14]", "12x slower"},
		{2e5, 1.99e5, 2.01e5, "2,001x slower [1,991, 2,011]", "2,001x slower"},
		{-60, -100, 20, "-60 % [-100, +20]", "60 % faster"}, // no factor for nothing
	} {
		ch := Change{c.est, c.lo, c.hi}
		if ch.String() != c.want || ch.words() != c.words {
			t.Errorf("%+v reads %q and %q, want %q and %q", ch, ch, ch.words(), c.want, c.words)
		}
	}
}

func TestVisible(t *testing.T) {
	for p, want := range map[float64]string{0: "-", 3.2: "3.2 %", 3.21: "3.3 %", 9.99: "10.0 %", 17.2: "18 %"} {
		if got := visible(p); got != want {
			t.Errorf("visible(%v) = %q, want %q", p, got, want)
		}
	}
}

func TestDigits(t *testing.T) {
	for x, want := range map[float64]int{0: 0, math.NaN(): 0, 7: 7, 2_410_714: 2_400_000, 1_250: 1_300, 99.6: 100, 1e20: 0} {
		if got := digits(x, 2); got != want {
			t.Errorf("digits(%v, 2) = %d, want %d", x, got, want)
		}
	}
}
