package cli

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/goprobe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// oddProbe is an honest probe but for the ways that its first argument lists,
// joined by commas.
func oddProbe() {
	var ways []string
	if len(os.Args) > 1 {
		ways = strings.Split(os.Args[1], ",")
	}
	is := func(way string) bool { return slices.Contains(ways, way) }
	say := func(line string) { fmt.Println(line) }

	switch {
	case is("silent"):
		time.Sleep(time.Hour)
	case is("usage"):
		say("usage: oddprobe FILE")
		os.Exit(2)
	case is("version-2"):
		say("pbkdf2-probe/2 odd")
		time.Sleep(time.Hour)
	case is("dies-at-once"):
		fmt.Fprintln(os.Stderr, "cannot load libfast.so")
		os.Exit(127)
	case is("bare"):
		say("pbkdf2-probe/1 odd")
	case is("crlf"):
		say("pbkdf2-probe/1 odd\r")
	default:
		say("pbkdf2-probe/1 odd version=1 toolchain=test mode=test")
	}
	if is("leaves-child") {
		// in a session of its own, which no process group reaches
		child := exec.Command("sh", "-c", "sleep 3600; : left-by-oddprobe")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			panic(err)
		}
	}

	kept := map[string]string{}
	var first []byte
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, probe.MaxLine), probe.MaxLine)
	for in.Scan() {
		line := in.Text()
		if is("cache") && kept[line] != "" {
			say(kept[line])
			continue
		}
		r, err := parseRequest([]byte(line))
		switch {
		case is("hangs") && strings.Contains(line, "derive"):
			time.Sleep(time.Hour)
		case is("dies-at-odd") && err != nil && strings.Contains(line, "sha257"):
			fmt.Fprintln(os.Stderr, "assertion failed: prf != nil")
			os.Exit(7)
		case is("ignores-odd") && line == "hello":
			continue
		case is("odd-is-default") && err != nil && strings.Contains(line, "sha257"):
			r, err = parseRequest([]byte(strings.Replace(line, "sha257", "sha256", 1)))
		case is("lenient") && err != nil && strings.Contains(line, " 2x "):
			r, err = parseRequest([]byte(strings.Replace(line, " 2x ", " 2 ", 1)))
		case is("minds-words") && len(strings.Fields(line)) > 6:
			say("error 6 words, please")
			continue
		case is("chatty"):
			say("deriving...")
		case is("floods"):
			say(strings.Repeat("x", probe.MaxLine))
		case is("floods-stderr"):
			fmt.Fprint(os.Stderr, strings.Repeat("warning: old library\n", 60_000))
		case is("sha512-only") && r.PRF != workload.SHA512 && err == nil:
			err = fmt.Errorf("no %s here", r.PRF)
		}
		if err != nil {
			say("error " + err.Error())
			continue
		}

		began := time.Now()
		raw, err := workload.Key(r.PRF, string(r.Password), r.Salt, r.Iterations, r.KeyBytes)
		if err != nil {
			panic(err)
		}
		took := time.Since(began)
		if is("wrong-late") && r.Iterations > 100_000 {
			raw[0] ^= 1
		}
		if is("zero") {
			clear(raw)
		}
		if is("first-key") {
			if first == nil {
				first = slices.Repeat(raw, 64)
			}
			raw = first[:len(raw)]
		}
		ns := fmt.Sprint(took.Nanoseconds())
		switch {
		case is("constant"):
			ns = "1000000"
		case is("third"):
			ns = fmt.Sprint(took.Nanoseconds() / 3)
		case is("fraction"):
			ns += ".5"
		case is("negative"):
			ns = "-" + ns
		case is("twice"):
			ns = fmt.Sprint(took.Nanoseconds() * 2)
		case is("clock-1ms"):
			ns = fmt.Sprint(took.Truncate(time.Millisecond).Nanoseconds())
		}
		key := hex.EncodeToString(raw)
		if is("upper") {
			key = strings.ToUpper(key)
		}
		answer := "key " + key + " ns " + ns
		kept[line] = answer
		say(answer)
		if is("two-lines") {
			say("ok")
		}
	}
	switch {
	case is("runs-on"):
		time.Sleep(time.Hour)
	case is("exit-7"):
		fmt.Fprintln(os.Stderr, "leaking")
		os.Exit(7)
	case is("bye"):
		say("bye")
	}
}

// parseRequest reads a request as the built-in probe does.
func parseRequest(line []byte) (probe.Request, error) {
	r, err := goprobe.ParseRequest(line)
	if err != nil {
		return probe.Request{}, err
	}
	prf, err := workload.ParsePRF(r.PRF)
	return probe.Request{PRF: prf, Iterations: r.Iterations, KeyBytes: r.KeyBytes, Salt: r.Salt, Password: []byte(r.Password)}, err
}
