package result

import (
	"errors"
	"strings"
	"testing"
)

// Each broken file is a good one (a run of two rounds) with one edit; a line
// of it is where result.go's fields stand.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	good := encode(t, sample(2))
	replace := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("nothing to replace: %q", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	value := func(key, value string) string {
		lines := strings.SplitAfter(good, "\n")
		for i, l := range lines {
			if strings.HasPrefix(l, key+":") {
				lines[i] = key + ": " + value + "\n"
			}
		}
		return strings.Join(lines, "")
	}
	lines := strings.SplitAfter(good, "\n") // and an empty string
	cut := func(n int) string { return strings.Join(lines[:n], "") }
	round := lines[len(lines)-2]

	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "x.txt:1: the file holds no block"},
		{"blank", "\n\n# text\n", "x.txt:3: the file holds no block"},
		{"huge", strings.Repeat("#\n", MaxFile/2+1), "x.txt:1: the file is larger than 4194304 bytes"},
		{"long line", "# " + strings.Repeat("x", MaxLine) + "\n", "x.txt:1: the line is longer than 4096 bytes"},
		{"not ours", "hello\n", "x.txt:1: neither `key: value` nor a round"},
		{"a benchmark's output", "goos: linux\nBenchmarkX 1 2 ns/op\n", "x.txt:1: a key before the first `format: pbkdf2-gate/1`"},
		{"round first", round + good, "x.txt:1: a round before the first"},
		{"newer", value("format", "pbkdf2-gate/2"), `x.txt:1: format "pbkdf2-gate/2" is newer than this pbkdf2-gate reads (pbkdf2-gate/1): update pbkdf2-gate`},
		{"newer, second block", good + "\nformat: pbkdf2-gate/10\n", `x.txt:44: format "pbkdf2-gate/10" is newer`},
		{"other format", value("format", "gobench/1"), `x.txt:1: format "gobench/1" is not one that pbkdf2-gate wrote`},
		{"format 0", value("format", "pbkdf2-gate/0"), `x.txt:1: format "pbkdf2-gate/0" is not one`},
		{"format empty", replace("format: pbkdf2-gate/1", "format:"), `x.txt:1: format "" is not one`},

		{"cut in a round", good[:len(good)-20], "x.txt:42: the last line does not end with a line feed: the file was cut short"},
		{"cut before the last line feed", good[:len(good)-1], "x.txt:42: the last line does not end"},
		{"cut after a round", cut(41), "x.txt:41: the block ends after 1 of the 2 rounds that line 40 announces"},
		{"cut before the rounds", cut(40), "x.txt:40: the block ends after 0 of the 2 rounds"},
		{"cut in the keys", cut(32), "x.txt:32: the block that starts at line 1 has no `date:`"},
		{"cut before rounds", cut(39), "x.txt:39: the block that starts at line 1 has no `rounds:`"},
		{"cut, another after", cut(41) + "\n" + good, "x.txt:43: the block ends after 1 of the 2 rounds"},
		{"a round too many", good + round, "x.txt:43: more rounds than the 2 that line 40 announces"},
		{"key after the rounds", good + "notes: x\n", "x.txt:43: a key after the rounds of a block"},

		{"conflict", "<<<<<<< HEAD\n" + good + "=======\n" + good + ">>>>>>> theirs\n", "x.txt:1: a merge conflict marker"},
		{"conflict in the middle", cut(41) + "=======\n" + round, "x.txt:42: a merge conflict marker"},
		{"conflict, base", cut(41) + "||||||| 1234\n", "x.txt:42: a merge conflict marker"},
		{"carriage returns", strings.ReplaceAll(good, "\n", "\r\n"), "x.txt:1: the line ends with a carriage return"},
		{"control character", replace("AMD EPYC", "AMD\x1b[31m"), "x.txt:4: a character that is not printable ASCII"},
		{"not ASCII", replace("Ubuntu", "Übuntu"), "x.txt:7: a character that is not printable ASCII"},
		{"not ASCII in a comment", "# ü\n" + good, "x.txt:1: a character that is not printable ASCII"},

		{"unknown key", replace("leg: ", "legs: "), `x.txt:22: unknown key "legs": another version of pbkdf2-gate`},
		{"upper-case key", replace("leg: ", "Leg: "), "x.txt:22: neither `key: value` nor a round"},
		{"no space", replace("leg: ", "leg:"), "x.txt:22: neither `key: value` nor a round"},
		{"two spaces", replace("leg: ", "leg:  "), "x.txt:22: leg \" ubuntu-24.04\" is not an id"},
		{"key twice", replace("leg: ", "goos: linux\nleg: "), `x.txt:22: key "goos" is in this block already (line 2)`},
		{"key missing", replace("run: r-20260831-7f3a91\n", ""), "x.txt:40: the block that starts at line 1 has no `run:`"},
		{"key empty", replace("run: r-20260831-7f3a91\n", "run:\n"), "x.txt:23: run is empty"},

		{"goos", value("goos", "linux-gnu"), `x.txt:2: goos "linux-gnu" is not a system's name`},
		{"goarch", value("goarch", "../x"), `x.txt:3: goarch "../x" is not`},
		{"cpu", value("cpu", strings.Repeat("x", 301)), "x.txt:4: cpu is 301 bytes long"},
		{"cpu-id", value("cpu-id", "../../etc/passwd"), `x.txt:5: cpu-id "../../etc/passwd" is not an id`},
		{"host-id", value("host-id", "<script>"), `x.txt:10: host-id "<script>" is not an id`},
		{"yardstick", value("yardstick", "sha-ni"), `x.txt:11: yardstick "sha-ni" is not a version and a kind`},
		{"prf", value("prf", "md5"), `x.txt:12: prf "md5" is unknown: use sha1, sha256, sha512`},
		{"iterations", value("iterations", "0"), "x.txt:13: iterations 0 is out of range"},
		{"iterations in words", value("iterations", "5e5"), `x.txt:13: iterations "5e5" is not a whole number`},
		{"iterations, too large", value("iterations", "1000000000000"), "x.txt:13: iterations 1000000000000 is out of range"},
		{"iterations, overflow", value("iterations", "99999999999999999999"), `x.txt:13: iterations "99999999999999999999" is not a whole number`},
		{"too much work", strings.Replace(value("iterations", "100000000"), "key-bytes: 64", "key-bytes: 1024", 1), "x.txt:13: iterations of this workload are refused: 100,000,000 iterations"},
		{"salt-bytes", value("salt-bytes", "-1"), "x.txt:14: salt-bytes -1 is out of range"},
		{"key-bytes", value("key-bytes", "1025"), "x.txt:15: key-bytes 1025 is out of range"},
		{"slice-iterations", value("slice-iterations", "0"), "x.txt:16: slice-iterations 0 is out of range"},
		{"slices", value("slices", "200000"), "x.txt:17: slices 200000 is out of range"},
		{"warm-up", value("warm-up", "-2"), "x.txt:18: warm-up -2 is out of range"},
		{"yardstick-ns", value("yardstick-ns", "0"), "x.txt:19: yardstick-ns 0 is out of range"},
		{"target", value("target", "go-1"), `x.txt:20: target "go-1" ends in a hyphen`},
		{"side", value("side", "tail"), `x.txt:21: side "tail" is unknown: use head, base`},
		{"leg", value("leg", "a leg"), `x.txt:22: leg "a leg" is not an id`},
		{"verified", value("verified", "maybe"), `x.txt:27: verified "maybe" is neither yes nor no`},
		{"program", value("program", "a b"), `x.txt:28: program "a b" is not an id`},
		{"spent", value("spent-ms", "7"), `x.txt:29: spent-ms "7" is not where time went`},
		{"spent, of nothing", value("spent-ms", "build=0 open=0 slices=0 yardsticks=0 around=0"), `x.txt:29: spent-ms "build=0`},
		{"spent, negative", value("spent-ms", "build=-1 open=2 slices=3 yardsticks=4 around=5"), `x.txt:29: spent-ms "build=-1`},
		{"instructions, none", value("instructions", "0"), `x.txt:38: instructions 0 is no count: leave it empty`},
		{"instructions, a word", value("instructions", "many"), `x.txt:38: instructions "many" is not a number`},
		{"instructions, negative", value("instructions", "-61.2"), `x.txt:38: instructions -61.2 is out of range`},
		{"cycles, too many", value("cycles", "2e9"), `x.txt:39: cycles 2e+09 is out of range: use 0.001 to 1e+09`},
		{"spent, a part more", value("spent-ms", "build=1 open=2 slices=3 yardsticks=4 around=5 idle=6"), `x.txt:29: spent-ms "build=1`},
		{"outcome", value("outcome", "great"), `x.txt:30: outcome "great" is unknown`},
		{"outcome with rounds", value("outcome", "failed"), "x.txt:31: message is empty: a run that is failed says why"},
		{"outcome and message with rounds", strings.Replace(value("outcome", "failed"), "message:", "message: died", 1), "x.txt:40: rounds 2 is wrong: a run that is failed has none"},
		{"notes, bar", value("notes", "a|b"), "x.txt:32: notes has a bar"},
		{"notes, backslash", value("notes", `a\b`), "x.txt:32: notes has a lone backslash"},
		{"notes, empty", value("notes", "a |  | b"), "x.txt:32: notes has an empty note"},
		{"commit", value("commit", "main branch"), `x.txt:33: commit "main branch" is not an id`},
		{"release", value("release", "../x"), `x.txt:34: release "../x" is not a release's name`},
		{"date", value("date", "yesterday"), `x.txt:35: date "yesterday" is not a date`},
		{"date with fractions", value("date", "2026-08-31T09:12:44.5Z"), "x.txt:35: date"},
		{"date with a zone", value("date", "2026-08-31T09:12:44+02:00"), "x.txt:35: date"},
		{"disturbed", value("disturbed", "-1"), "x.txt:36: disturbed -1 is out of range"},
		{"contended", value("contended", "no"), "x.txt:37: contended must be yes, or empty"},
		{"contended slices", value("contended", "yes"), "x.txt:37: contended yes is wrong: only whole runs are"},
		{"rounds", value("rounds", "many"), `x.txt:40: rounds "many" is not a whole number from 0 to 1000`},
		{"rounds, too many", value("rounds", "1001"), `x.txt:40: rounds "1001" is not`},

		{"round of another", replace("target=go-1 60", "target=node-1 60"), `x.txt:41: a round of target "node" in a block of target "go"`},
		{"round of two cores", replace("target=go-1 60", "target=go-2 60"), "x.txt:41: a round is not of the form"},
		{"other benchmark", replace("PBKDF2/target", "Scrypt/target"), "x.txt:41: a round is not of the form"},
		{"other unit", replace("ns/op", "ms/op"), "x.txt:41: a round is not of the form"},
		{"unit more", replace(" clean\n", " clean 1 B/op\n"), "x.txt:41: a round is not of the form"},
		{"space more", replace(" clean\n", " clean \n"), "x.txt:41: a round is not of the form"},
		{"unit less", replace(" 0.5 clean\n", "\n"), "x.txt:41: a round is not of the form"},
		{"count", replace("go-1 60 ", "go-1 6e1 "), "x.txt:41: a round is not of the form"},
		{"no clean slice", replace("go-1 60 ", "go-1 0 "), "x.txt:41: the count of clean slices 0 is out of range: use 1 to 120"},
		{"too many clean slices", replace("go-1 60 ", "go-1 121 "), "x.txt:41: the count of clean slices 121 is out of range"},
		{"negative time", replace("154012300 ns", "-154012300 ns"), "x.txt:41: ns/op -1.540123e+08 is out of range"},
		{"no time", replace("154012300 ns", "0 ns"), "x.txt:41: ns/op 0 is out of range"},
		{"impossible time", replace("154012300 ns", "10000000000000 ns"), "x.txt:41: ns/op 1e+13 is out of range"},
		{"NaN", replace("2.0804", "NaN"), `x.txt:41: "NaN" is not a number`},
		{"infinite", replace("2.0804", "Inf"), `x.txt:41: "Inf" is not a number`},
		{"overflow", replace("2.0804", "1e999"), `x.txt:41: "1e999" is not a number in range`},
		{"hexadecimal", replace("2.0804", "0x2"), `x.txt:41: "0x2" is not a number`},
		{"relcost", replace("2.0804", "0"), "x.txt:41: relcost 0 is out of range"},
		{"chain-ns", replace("37.01", "-37.01"), "x.txt:41: chain-ns -37.01 is out of range"},
		{"share over 1", replace("0.5 clean", "1.5 clean"), "x.txt:41: clean 1.5 is out of range"},
		{"share of nothing", replace("0.5 clean", "0 clean"), "x.txt:41: clean 0 is out of range"},
		{"share off the count", replace("0.5 clean", "0.4 clean"), "x.txt:41: 60 clean slices and a clean share of 0.4 need more slices than the plan's 120"},
		{"too many blocks", strings.Repeat(encode(t, failed()), MaxBlocks+1), "x.txt:163841: more than 4096 blocks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			runs, err := Read(strings.NewReader(c.file), "x.txt")
			if err == nil {
				t.Fatalf("accepted: %d runs", len(runs))
			}
			if _, ok := errors.AsType[*SyntaxError](err); !ok || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if len(err.Error()) > 400 || !printable(err.Error()) {
				t.Errorf("long or unprintable: %q", err)
			}
		})
	}
}

// Wherever a file is cut, it is an error, save between two blocks.
func TestReadCut(t *testing.T) {
	t.Parallel()
	first := encode(t, sample(2))
	file := first + "\n" + encode(t, failed())
	for n := range len(file) {
		_, err := Read(strings.NewReader(file[:n]), "x.txt")
		if between := n == len(first) || n == len(first)+1; (err == nil) != between {
			t.Errorf("cut after %d of %d bytes: %v", n, len(file), err)
		}
	}
}

func TestReadAccepts(t *testing.T) {
	t.Parallel()
	good := encode(t, sample(2))
	for name, file := range map[string]string{
		"comments and blank lines": "# measured by hand\n\n" + strings.ReplaceAll(good, "\nrounds", "\n\n# rounds follow\nrounds") + "\n# end\n",
		"optional keys left out":   strings.NewReplacer("emulated:\n", "", "message:\n", "", "notes:\n", "", "release:\n", "").Replace(good),
		"keys in another order":    strings.Replace(strings.Replace(good, "prf: sha256\n", "", 1), "goos:", "prf: sha256\ngoos:", 1),
		"an exponent":              strings.Replace(good, "154012300 ns", "1.540123e+08 ns", 1),
	} {
		runs, err := Read(strings.NewReader(file), "x.txt")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := encode(t, runs...); got != good {
			t.Errorf("%s: becomes\n%s", name, got)
		}
	}
}

func TestReadChecked(t *testing.T) {
	t.Parallel()
	file := encode(t, sample(1), failed())
	for want, err := range map[string]error{
		"x.txt:76: release is not set": &FieldError{"release", "is not set"},
		"x.txt:43: no":                 errors.New("no"),
	} {
		_, got := ReadChecked(strings.NewReader(file), "x.txt", func(r *Run) error {
			if r.Outcome == Measured {
				return nil
			}
			return err
		})
		if got == nil || got.Error() != want {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}
