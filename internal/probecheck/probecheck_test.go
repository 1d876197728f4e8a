package probecheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

func TestHonest(t *testing.T) {
	w := &world{}
	var names []string
	cfg := w.config("")
	cfg.Progress = func(name string) { names = append(names, name) }
	res, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Checks) != len(steps) || len(names) != len(steps) || res.Count(OK) != len(steps) {
		t.Errorf("%d checks, %d begun, %d of %d ok: %+v", len(res.Checks), len(names), res.Count(OK), len(steps), res)
	}
	for i, c := range res.Checks {
		if c.Name != steps[i].name || c.Text == "" || len(c.Findings) > 0 || c.Findings == nil {
			t.Errorf("%+v", c)
		}
	}
	if w.open != 0 {
		t.Errorf("%d processes left", w.open)
	}
}

// upTo runs the checks that come first for any, and the named one.
func (s script) upTo(t *testing.T, prf workload.PRF, name string) Check {
	t.Helper()
	w := &world{script: s}
	r := &run{Config: w.config(prf), ctx: t.Context(), given: map[string]bool{}}
	defer func() {
		r.kill()
		if w.open != 0 {
			t.Errorf("%d processes left", w.open)
		}
	}()
	for i, s := range steps {
		if i >= 2 && s.name != name {
			continue
		}
		c := Check{Name: s.name, Outcome: OK}
		if r.stop != "" {
			c.Outcome, c.Text = NotRun, r.stop
		} else {
			s.do(r, &c)
		}
		if s.name == name {
			return c
		}
	}
	t.Fatalf("no check %s", name)
	return Check{}
}

func TestMisbehaviour(t *testing.T) {
	for name, c := range map[string]struct {
		script script
		check  string
		want   Outcome
		texts  []string // in what it found
	}{
		"no words": {script{hello: "pbkdf2-probe/1 bare"}, "first line", Note, []string{"no version", "no toolchain", "no mode", "put a drift down"}},
		"blanks in a word": {script{hello: goodHello + " toolchain=gcc flags=-O3 -g"}, "first line", Note,
			[]string{"the word -g is ignored"}},
		"a word twice": {script{hello: goodHello + " mode=debug"}, "first line", Note, []string{"mode=debug is ignored"}},

		"dies":            {script{asked: on("derive", "", died)}, "answers", Failed, []string{"exit status 7", "assertion failed", "catch what goes wrong"}},
		"silent":          {script{asked: on("derive", "", silent)}, "answers", Failed, []string{"none within 10s", "flush"}},
		"garbage":         {script{asked: on("derive", "segmentation fault", nil)}, "answers", Failed, []string{`"segmentation fault"`, "key KEY_HEX ns N"}},
		"negative":        {script{text: withTime("-5")}, "answers", Failed, []string{"ns -5", "not a count of nanoseconds", "whole number of nanoseconds"}},
		"fraction":        {script{text: withTime("5.5")}, "answers", Failed, []string{"ns 5.5", "not a count of nanoseconds"}},
		"exponent":        {script{text: withTime("1e6")}, "answers", Failed, []string{"not a count of nanoseconds"}},
		"upper case":      {script{text: func(a probe.Answer, _ probe.Request) string { return fmt.Sprintf("key %X ns 5", a.Key) }}, "answers", Failed, []string{"lower-case hex"}},
		"CR LF":           {script{text: withTime("5\r")}, "answers", Failed, []string{"CR LF", `\r`, "line feed alone"}},
		"two blanks":      {script{text: withTime(" 5")}, "answers", Failed, []string{"one space between words"}},
		"nothing but no":  {script{refuse: func(probe.Request) bool { return true }}, "answers", Failed, []string{"error not for me", "at least one prf"}},
		"one prf":         {script{refuse: func(r probe.Request) bool { return r.PRF != workload.SHA512 }}, "answers", Note, []string{"keys for sha512; refuses sha256, sha1", "derive sha256", "error not for me"}},
		"dies of one prf": {script{asked: on("derive sha1 ", "", died)}, "answers", Failed, []string{"derive sha1 3000", "exit status 7"}},

		"one block again and again": {script{key: func(r probe.Request, key []byte) []byte {
			return bytes.Repeat(key[:min(len(key), r.PRF.Size())], 40)[:len(key)]
		}}, "known answers", Failed, []string{"only its first block is right"}},
		"all zero":              {script{key: func(_ probe.Request, key []byte) []byte { return make([]byte, len(key)) }}, "known answers", Failed, []string{"0000000000000000..(20 bytes)", "all zero"}},
		"short key":             {script{key: func(_ probe.Request, key []byte) []byte { return key[:1] }}, "known answers", Failed, []string{"answer with a key of 20 bytes"}},
		"one too few":           {script{request: func(r *probe.Request) { r.Iterations = max(1, r.Iterations-1) }}, "known answers", Failed, []string{"one iteration too few"}},
		"one too many":          {script{request: func(r *probe.Request) { r.Iterations++ }}, "known answers", Failed, []string{"one iteration too many"}},
		"swapped":               {script{request: func(r *probe.Request) { r.Salt, r.Password = r.Password, r.Salt }}, "known answers", Failed, []string{"swapped"}},
		"salt in hex":           {script{request: func(r *probe.Request) { r.Salt = hexText(r.Salt) }}, "known answers", Failed, []string{"salt was used as it is written"}},
		"password in hex":       {script{request: func(r *probe.Request) { r.Password = hexText(r.Password) }}, "known answers", Failed, []string{"password was used as it is written"}},
		"dash taken as it is":   {script{request: func(r *probe.Request) { dash(&r.Salt); dash(&r.Password) }}, "passwords", Failed, []string{"read - as none"}},
		"dash as salt":          {script{request: func(r *probe.Request) { dash(&r.Salt) }}, "salts", Failed, []string{"read - as none"}},
		"password to its zero":  {script{request: func(r *probe.Request) { cutAt(&r.Password, bytes.IndexByte(r.Password, 0)) }}, "known answers", Failed, []string{"cut at its zero byte"}},
		"password of 64 bytes":  {script{request: func(r *probe.Request) { cutAt(&r.Password, 64) }}, "passwords", Failed, []string{"(65 bytes)", "cut to 64 bytes"}},
		"always sha256":         {script{request: func(r *probe.Request) { r.PRF = workload.SHA256 }}, "known answers", Failed, []string{"derive sha1", "it is the key of sha256"}},
		"the first key for all": {script{key: first()}, "known answers", Failed, []string{"key of an earlier request"}},
		"a count of its own":    {script{request: func(r *probe.Request) { r.Iterations = 1000 }}, "iterations", Failed, []string{"derive sha256 1 64", "check the order and the meaning"}},
		"wrong from 2 on":       {script{key: wrongFrom(2)}, "iterations", Failed, []string{"derive sha256 2 64"}},
		"wrong from 3000 on":    {script{key: wrongFrom(3000)}, "iterations", Failed, []string{"derive sha256 3000 64"}},
		"wrong from 70000 on":   {script{key: wrongFrom(70000)}, "known answers", Failed, []string{"derive sha256 80000 64"}},
		"wrong from 200000 on":  {script{key: wrongFrom(200_000)}, timeLong, Failed, []string{"derive sha256 200000 32"}},
		"refuses 1 iteration":   {script{refuse: func(r probe.Request) bool { return r.Iterations == 1 }}, "iterations", Failed, []string{"error not for me", "the gate asks for 1, 2 and 3,000"}},
		"dies of 1 iteration":   {script{asked: on(" 1 64 ", "", died)}, "iterations", Failed, []string{"exit status 7"}},
		"no empty password":     {script{refuse: func(r probe.Request) bool { return len(r.Password) == 0 }}, "passwords", Note, []string{"derive sha256 2 32", " -", "on purpose"}},
		"no short salt":         {script{refuse: func(r probe.Request) bool { return len(r.Salt) < 16 }}, "salts", Note, []string{"error not for me"}},
		"no short key":          {script{refuse: func(r probe.Request) bool { return r.KeyBytes < 14 }}, "key lengths", Note, []string{"derive sha256 2 1 "}},
		"wrong beyond a block": {script{key: func(r probe.Request, key []byte) []byte {
			if len(key) > r.PRF.Size() {
				key[len(key)-1] ^= 1
			}
			return key
		}}, "key lengths", Failed, []string{"derive sha256 2 33", "only its first block"}},

		"a key for sha257":       {script{asked: on("sha257", "key 00 ns 5", nil)}, "unknown prf", Failed, []string{"derive sha257 2 32", "key 00 ns 5", "there is no such function"}},
		"dies of sha257":         {script{asked: on("sha257", "", died)}, "unknown prf", Failed, []string{"exit status 7"}},
		"garbage for sha257":     {script{asked: on("sha257", "Traceback", nil)}, "unknown prf", Failed, []string{`"Traceback"`, "answer `error MESSAGE`"}},
		"ends after sha257":      {script{asked: then("sha257", "error sha257?", died)}, "unknown prf", Failed, []string{"and then a request in order", "exit status 7"}},
		"hangs at hello":         {script{asked: on("hello", "", silent)}, "unknown request", Failed, []string{"hello", "none within 10s"}},
		"a key for derived":      {script{asked: on("derived", "key 00 ns 5", nil)}, "unknown request", Failed, []string{"derived sha256 2 32"}},
		"dies of a short line":   {script{asked: exactly("derive", died)}, "unknown request", Failed, []string{"exit status 7"}},
		"lenient hex":            {script{asked: on("001122zz", "key 00 ns 5", nil)}, "malformed hex", Note, []string{"001122zz", "a mistake becomes a key"}},
		"dies of hex":            {script{asked: exactly("derive sha256 2 32 00112233445566778899aabbccddeeff 7061737", died)}, "malformed hex", Failed, []string{"exit status 7"}},
		"lenient numbers":        {script{asked: on(" 2x ", "key 00 ns 5", nil)}, "malformed number", Note, []string{"derive sha256 2x 32", "decimals from 1"}},
		"hangs at 2^32":          {script{asked: on(" 4294967296 ", "", silent)}, "malformed number", Failed, []string{"none within 10s"}},
		"no key for no bytes":    {script{asked: on(" 2 0 ", "key  ns 5", nil)}, "malformed number", Failed, []string{`"key  ns 5"`}},
		"minds more words":       {script{asked: on("hint=1", "error too many words", nil)}, "unknown words", Failed, []string{"error too many words", "ignore what follows the password"}},
		"dies of more words":     {script{asked: on("hint=1", "", died)}, "unknown words", Failed, []string{"exit status 7"}},
		"minds a long line":      {script{refuse: func(r probe.Request) bool { return len(r.Password) > 30_000 }}, "long request", Note, []string{"(32,400 bytes)", "error not for me"}},
		"cuts a long line":       {script{request: func(r *probe.Request) { cutAt(&r.Password, 16_000) }}, "long request", Failed, []string{"is right"}},
		"dies of a long line":    {script{asked: on(strings.Repeat("6c6f6e672d", 3000), "", died)}, "long request", Failed, []string{"exit status 7"}},
		"once at a time":         {script{startErr: nth(2, &probe.Failure{What: "no answer", Status: "exit status 1", Stderr: "address in use"})}, "several processes", Failed, []string{"beside another", "address in use"}},
		"another name each time": {script{hello: goodHello + " pid=PROCESS"}, "several processes", Note, []string{"pid=2", "say the same every time"}},

		"runs on":        {script{close: func(int) (time.Duration, error) { return 2 * time.Second, errors.New("still running") }}, "end of input", Failed, []string{"still running"}},
		"ends badly":     {script{close: func(int) (time.Duration, error) { return 0, died }}, "end of input", Failed, []string{"the end of its input, after its requests", "exit status 7"}},
		"runs on once":   {script{close: runsOnOnce()}, "end of input", OK, nil},
		"silent once":    {script{asked: once(silent)}, "answers", OK, nil},
		"dies once":      {script{asked: once(died)}, "answers", Failed, []string{"exit status 7"}},
		"times run dry":  {script{asked: on(" 200000 ", "error too much", nil)}, timeLong, Failed, []string{"derive sha256 200000 32", "error too much", "answer with a key"}},
		"no times, then": {script{asked: on(" 5000 ", "", died)}, timeLong, Failed, []string{"derive sha256 5000 32", "exit status 7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prf := workload.PRF("")
			if c.check == "known answers" && !strings.HasPrefix(name, "wrong from") {
				prf = workload.SHA1 // whose are cheap
			}
			got := c.script.upTo(t, prf, c.check)
			found := fmt.Sprintf("%s %+v", got.Text, got.Findings)
			if got.Outcome != c.want {
				t.Errorf("%s, want %s: %+v", got.Outcome, c.want, got)
			}
			for _, text := range c.texts {
				if !strings.Contains(found, text) {
					t.Errorf("%q is not in %s", text, found)
				}
			}
			if got.Text == "" || (got.Outcome == OK) != (len(got.Findings) == 0) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A probe that answers nothing costs two silences, and one whose first line
// is no good nothing else.
func TestGivingUp(t *testing.T) {
	for name, c := range map[string]struct {
		script script
		prf    workload.PRF
		notRun int
		limit  time.Duration
	}{
		"silent":           {script{asked: on("", "", silent)}, workload.SHA256, len(steps) - 2, 21 * time.Second},
		"silent when odd":  {script{asked: on("zz", "", silent), refuse: func(r probe.Request) bool { return r.Iterations > few }}, workload.SHA256, 6, 21 * time.Second},
		"silent at a word": {script{asked: on("99999999999999999999", "", silent), refuse: func(r probe.Request) bool { return r.Iterations > few }}, workload.SHA256, len(steps) - 11, 31 * time.Second},
		"another line":     {script{asked: on("sha512", "", unasked)}, "", len(steps) - 2, time.Second},
		"first line":       {script{startErr: nth(1, died)}, workload.SHA256, len(steps) - 1, 0},
		"no first line":    {script{startErr: nth(1, silent)}, workload.SHA256, len(steps) - 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{script: c.script}
			res, err := Run(t.Context(), w.config(c.prf))
			if err != nil {
				t.Fatal(err)
			}
			if res.Count(NotRun) != c.notRun || res.Count(Failed) == 0 || len(res.Checks) != len(steps) || w.open != 0 {
				t.Errorf("%d not run, want %d; %d open: %+v", res.Count(NotRun), c.notRun, w.open, res)
			}
			if w.now > c.limit {
				t.Errorf("took %v", w.now)
			}
		})
	}
}

func TestCannotStart(t *testing.T) {
	absent := &probe.Failure{What: "no program", Absent: true}
	w := &world{script: script{startErr: nth(1, absent)}}
	if res, err := Run(t.Context(), w.config("")); err != error(absent) || res.Checks != nil {
		t.Errorf("%v, %+v", err, res)
	}
}

func TestOnePRF(t *testing.T) {
	only := script{refuse: func(r probe.Request) bool { return r.PRF != workload.SHA1 }}
	if c := only.upTo(t, workload.SHA1, "answers"); c.Outcome != OK || c.Text != "keys for sha1" {
		t.Errorf("%+v", c)
	}
	if c := only.upTo(t, workload.SHA512, "answers"); c.Outcome != Failed || !strings.Contains(c.Findings[0].Mend, "at least one prf of sha512") {
		t.Errorf("%+v", c)
	}
	if c := only.upTo(t, "", "known answers"); c.Outcome != OK || c.Text != "8 of 8 right" {
		t.Errorf("%+v", c)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := &world{}
	w.asked = func(line string) (string, error) {
		if strings.Contains(line, "sha257") {
			cancel()
		}
		return "", nil
	}
	if _, err := Run(ctx, w.config(workload.SHA1)); err != context.Canceled || w.open != 0 {
		t.Errorf("%v, %d open", err, w.open)
	}
}

// A wrong key is told where keys are checked, and by no check after those.
func TestWrongKeyIsToldOnce(t *testing.T) {
	w := &world{script: script{key: wrongFrom(0)}}
	res, err := Run(t.Context(), w.config(workload.SHA1))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range res.Checks {
		if c.Outcome != OK {
			got = append(got, string(c.Outcome)+" "+c.Name)
		}
	}
	want := []string{"failed known answers", "failed iterations", "failed passwords", "failed salts", "failed key lengths",
		"not-run " + timeLong, "not-run " + timeRepeated, "not-run " + timeOver, "not-run " + timeWhole, "not-run " + timeGrows, "not-run " + timeClock, "not-run " + timeProcessor}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if c := res.Checks[2]; len(c.Findings) != maxFindings || c.More == 0 {
		t.Errorf("%d findings, %d more", len(c.Findings), c.More)
	}
}

// The table of docs/protocol.md lists the checks.
func TestDocs(t *testing.T) {
	doc, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, s := range steps {
		want = append(want, s.name)
	}
	_, table, _ := strings.Cut(string(doc), "## Testing a probe")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z: ]+)` \\|").FindAllStringSubmatch(table, -1) {
		got = append(got, m[1])
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("checks (-code +table):\n%s", d)
	}
}

func TestBrief(t *testing.T) {
	for line, want := range map[string]string{
		"derive sha256 2 32 - 7070":                      "derive sha256 2 32 - 7070",
		"derive sha256 2 32 " + strings.Repeat("ab", 16): "derive sha256 2 32 abababab..(16 bytes)",
		"key " + strings.Repeat("ab", 64) + " ns 5":      "key abababab.. ns 5",
		"a\x1b\xff": "a??",
	} {
		if got := brief([]byte(line)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
