package elapsed

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

const us, ms = time.Microsecond, time.Millisecond

func TestParse(t *testing.T) {
	for output, want := range map[string]time.Duration{
		// Rust, println!("Elapsed: {:?}", time.elapsed())
		"Elapsed: 66.1ms\n":            66100 * us,
		"Elapsed: 66.123456ms\n":       66123456,
		"Elapsed: 103ms\n":             103 * ms,
		"Elapsed: 1.5s\n":              1500 * ms,
		"Elapsed: 2.000000001s\n":      2000000001,
		"Elapsed: 1s\n":                time.Second,
		"Elapsed: 123.456\u00b5s\n":    123456,
		"Elapsed: 999ns\n":             999,
		"Elapsed: 100.000000001s\r\n":  100000000001,
		"\tElapsed:\t66.1ms":           66100 * us,
		"Elapsed: +66.1ms":             66100 * us, // {:+?}
		"Elapsed:   66.1ms":            66100 * us, // {:9?}
		"[src/main.rs:9:5] t = 66.1ms": 66100 * us, // dbg!(t)
		// Odin, fmt.printfln("Time elapsed is: {}ms", ms): the shortest form
		"Time elapsed is: 98.3ms\n":              98300 * us,
		"Time elapsed is: 98.324517ms\n":         98324517,
		"Time elapsed is: 98.32451699999999ms\n": 98324517,
		"Time elapsed is: 123ms\n":               123 * ms,
		"Time elapsed is: 1.234567891e+06ms\n":   1234567891 * us,
		"Time elapsed is: 4.1e-05ms\n":           41,
		"Time elapsed is: 1e+06ms\n":             1000 * time.Second,
		"Time elapsed is: 1e-09s (1ns)\n":        1,
		// Zig, print("Time elapsed is: {d:.3}ms\n", .{...})
		"Time elapsed is: 171.123ms\n": 171123 * us,
		"Time elapsed is: 0.012ms\n":   12 * us,
		"Time elapsed is: 1024.000ms":  1024 * ms,
		// Go
		"66.123ms":                 66123 * us,
		"took 1m2.5s":              62500 * ms,
		"took 1m0s":                time.Minute,
		"1h0m0.5s":                 time.Hour + 500*ms,
		"elapsed=1m2.5s":           62500 * ms,
		"\"elapsed\":\"1m2.5s\"":   62500 * ms,
		"2562047h47m16.854775807s": 1<<63 - 1,
		// others
		"took 0.066 s\n":                         66 * ms,
		"took 0.066\u00a0s":                      66 * ms,
		"took 66\u202fms.":                       66 * ms,
		"took 12.5 us":                           12500,
		"took 12.5 \u00b5s, 3 times":             12500,
		"took 12.5 \u03bcs!":                     12500,
		"took 12.5\u03bcs":                       12500,
		"time:66ms;":                             66 * ms,
		"t='66ms'":                               66 * ms,
		"(66ms)":                                 66 * ms,
		"**66ms**":                               66 * ms,
		"~66ms":                                  66 * ms,
		"pbkdf2,sha,66.1ms,ok":                   66100 * us,
		"{\"ms\": 5, \"elapsed\": \"66ms\"}":     66 * ms,
		"\x1b[1;32m66.1ms\x1b[0m":                66100 * us,
		"10%\r50%\r100% in 66ms":                 66 * ms,
		"66ms (66000us)":                         66 * ms,
		"66ms, 66000000 ns":                      66 * ms,
		"Elapsed: 66ms (5.1 ns/op)":              66 * ms,
		"2026-08-01T12:00:00Z done in 66ms":      66 * ms,
		"sha256 500000 66ms":                     66 * ms,
		"sha256 x86_64 \xff\xfe 66ms":            66 * ms,
		"SHA-256 s: 66ms":                        66 * ms,
		"0ms":                                    0,
		"000.5s":                                 500 * ms,
		"real\t0m0.066s\n":                       66 * ms,
		strings.Repeat("5 s/op ", 9999) + "66ms": 66 * ms,
		// the last one
		"first 5ms\nsecond 66ms\n":            66 * ms,
		"1.234.5ms\n12 ms 300 us\n66ms":       66 * ms,
		"66ms\niterations: 500000\n\n":        66 * ms,
		"66ms\nsalt 16 bytes, 2 min ago, 5 m": 66 * ms,
	} {
		d, line, err := Parse([]byte(output))
		if d != want || line == "" || err != nil {
			t.Errorf("%q: %v, %v, %v; want %v", output, d, line, err, want)
		}
	}
}

func TestNothing(t *testing.T) {
	for _, output := range []string{
		"", "\n\n", "done", "66.1", "Elapsed: 66.1\n", "500000 iterations", "64 bytes", "sha256 s", "sha256s",
		"5 ns/op", "100 ops/s", "1.2 MB/s", "5/s", "x1s", "v1.5s", "sha-256 ms", "sha_256 ms", "2 min", "1m", "1h",
		"12 seconds", "66 msec", "66 Ms", "66MS", "66 S", "s", "ms: 66", "took s", "3: ms", "66ms2", "66ms_2", "66m s",
		"key 0a5s0b", "\u0666\u0666ms", "\x1b[31m", "it's 5",
	} {
		if d, line, err := Parse([]byte(output)); d != 0 || line != "" || err != nil {
			t.Errorf("%q: %v, %v, %v; want nothing", output, d, line, err)
		}
	}
}

func TestNotClear(t *testing.T) {
	for output, why := range map[string]string{
		"1.234.5ms":                             "1.234.5 is not one number",
		"took 12 ms 300 us":                     "two different times",
		"66,1ms":                                "66,1 is not one number",
		"66,1 ms":                               "66,1 is not one number",
		"1,234.5ms":                             "not one number",
		"1'234ms":                               "not one number",
		"1_234ms":                               "not one number",
		"1\u202f234 ms":                         "not one number",
		"1\u00a0234\u00a0ms":                    "not one number",
		"66.ms":                                 "not a number",
		".5ms":                                  "not one number",
		"took...66ms":                           "not one number",
		"-5ms":                                  "-5 is not one number",
		"\u22125ms":                             "not one number",
		"<1ms":                                  "not one number",
		"10-20ms":                               "not one number",
		"10\u201320 ms":                         "not one number",
		"10 - 20 ms":                            "more than one number",
		"10 to 20 ms":                           "more than one number",
		"66\u00b12ms":                           "not one number",
		"66 \u00b1 2 ms":                        "more than one number",
		"66 +/- 2 ms":                           "more than one number",
		"66ms \u00b12ms":                        "not one number",
		"3*66ms":                                "not one number",
		"3 x 66ms":                              "more than one number",
		"3/10 s":                                "not one number",
		"66ms-70ms":                             "run into each other",
		"66ms - 70ms":                           "two different times",
		"66ms,70ms":                             "two different times",
		"1s500ms":                               "run into each other",
		"1s 500ms":                              "two different times",
		"1m 2.5s":                               "parts of several units",
		"1 min 2.5 s":                           "parts of several units",
		"1 minute and 2.5 s":                    "parts of several units",
		"1h, 2s":                                "parts of several units",
		"1m2.5ms":                               "run into each other",
		"1m2.5 s":                               "run into each other",
		"1.5m2s":                                "run into each other",
		"1m2e3s":                                "not a duration",
		"00:01.5s":                              "00:01.5 is not one number",
		"1:02 s":                                "not one number",
		"1e400s":                                "out of range",
		"1e10s":                                 "out of range",
		"99999999999999999999s":                 "out of range",
		"9999999999h0m0s":                       "not a duration",
		"Elapsed: 66ms (total 70ms)":            "two different times",
		"sha256,66.1ms":                         "256,66.1 is not one number",
		"66ms\n1.234.5ms\nthat was it":          "\"1.234.5ms\"",
		"66,1ms " + strings.Repeat("\xff", 500): "...",
	} {
		d, line, err := Parse([]byte(output))
		if d != 0 || line != "" || err == nil {
			t.Errorf("%q: %v, %v, %v; want an error", output, d, line, err)
			continue
		}
		if s := err.Error(); !strings.Contains(s, why) || !strings.Contains(s, "print one as the last") || strings.ContainsAny(s, "\n\r\x1b") {
			t.Errorf("%q: error %q, want %q", output, s, why)
		}
	}
}

// A line without end is read in time that grows with its length alone.
func TestLongLine(t *testing.T) {
	d, line, err := Parse([]byte(strings.Repeat("1s ", 1<<15)))
	if d != time.Second || line == "" || err != nil {
		t.Errorf("%v, %v, %v", d, line, err)
	}
}

// What Go prints of a duration is read as it was.
func FuzzDuration(f *testing.F) {
	for _, d := range []int64{0, 1, 999, 66_123_456, 62_500_000_000, 3_600_000_000_000, 1<<63 - 1} {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		d := time.Duration(n)
		got, line, err := Parse([]byte("took " + d.String() + "\n"))
		switch {
		case d < 0:
			if line != "" || err == nil {
				t.Errorf("%v: %v, %v", d, got, err)
			}
		case got != d || line == "" || err != nil:
			t.Errorf("%v: %v, %v, %v", d, got, line, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"Elapsed: 66.1ms\n", "took 1m2.5s", "1.234.5ms", "12 ms 300 us", "66,1ms", "5\u00b5s", "1 min 2 s", "10-20ms", "\x1b[1m6s", "1e+06ms", "a\r1s"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		d, line, err := Parse(output)
		if d < 0 || d != 0 && line == "" || err != nil && line != "" {
			t.Errorf("%v, %v, %v", d, line, err)
		}
		if err != nil && (!utf8.ValidString(err.Error()) || strings.ContainsAny(err.Error(), "\n\r\x00\x1b")) {
			t.Errorf("error %q", err)
		}
		if (line != "" || err != nil) && !strings.ContainsFunc(string(output), isDigit) {
			t.Errorf("%v, %v, without a digit", d, err)
		}
		// the last line decides
		if d, line, err := Parse(append(output[:len(output):len(output)], "\nElapsed: 66.1ms\n"...)); d != 66100*us || line == "" || err != nil {
			t.Errorf("then 66.1ms: %v, %v, %v", d, line, err)
		}
	})
}

// The line that a time is from is quoted, cut between characters.
func TestQuoted(t *testing.T) {
	for output, want := range map[string]string{
		"a\ntook 45ms, \u00b5\n":                    "\"took 45ms, \u00b5\"",
		"took 33s " + strings.Repeat("\u00b5", 100): "\"took 33s " + strings.Repeat("\u00b5", 55) + "\"...",
	} {
		if _, line, err := Parse([]byte(output)); line != want || err != nil {
			t.Errorf("%q: %s, %v; want %s", output, line, err, want)
		}
	}
}
