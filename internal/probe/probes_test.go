package probe

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/goprobe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// roleVar makes the test binary play a probe.
const roleVar = "PROBE_TEST_ROLE"

const hello = "pbkdf2-probe/1 fake version=1.2"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	play, ok := roles[role]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such role:", role)
		os.Exit(99)
	}
	play()
	os.Exit(0)
}

// scripted is a probe that says hello and answers every request with answer,
// as it stands.
func scripted(answer string) func() {
	return func() {
		fmt.Println(hello)
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			io.WriteString(os.Stdout, answer)
		}
	}
}

// after is a probe that does something of its own with the first request.
func after(do func()) func() {
	return func() {
		fmt.Println(hello)
		if bufio.NewScanner(os.Stdin).Scan() {
			do()
		}
	}
}

func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// child starts this binary in another role; its standard streams are ours
// when it holds, and /dev/null otherwise.
func child(role string, holds bool, attr *syscall.SysProcAttr) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), roleVar+"="+role)
	c.SysProcAttr = attr
	if holds {
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
	}
	if err := c.Start(); err != nil {
		panic(err)
	}
}

func serve() {
	err := goprobe.Serve(os.Stdin, os.Stdout, "pbkdf2-probe/1 fake version=1.2", func(prf, password string, salt []byte, iterations, keyBytes int) ([]byte, error) {
		return workload.Key(workload.PRF(prf), password, salt, iterations, keyBytes)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var roles = map[string]func(){
	"good":    serve,
	"forever": forever,

	"hang at start":   forever,
	"hang on request": after(forever),
	"exit 3 at once":  func() { fmt.Fprintln(os.Stderr, "no library"); os.Exit(3) },
	"exit 3":          after(func() { fmt.Fprintln(os.Stderr, "out of luck\nreally"); os.Exit(3) }),
	"exit 0":          after(func() {}),
	"killed":          after(func() { syscall.Kill(os.Getpid(), syscall.SIGKILL); forever() }),
	"segfault": after(func() {
		syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -SEGV $$"}, os.Environ())
	}),

	"usage as hello": func() { fmt.Println("usage: probe FILE"); os.Exit(2) },
	"hello/2":        func() { fmt.Println("pbkdf2-probe/2 fake"); forever() },
	"hello CRLF":     func() { fmt.Print("pbkdf2-probe/1 fake\r\n"); forever() },
	"hello no name":  func() { fmt.Println("pbkdf2-probe/1"); forever() },
	"hello no LF":    func() { fmt.Print(hello) },
	"hello no flush": func() { fmt.Print(hello); forever() },
	"hello twice":    func() { fmt.Print(hello + "\n" + hello + "\n"); forever() },
	"stderr only":    func() { fmt.Fprintln(os.Stderr, hello); forever() },
	"binary hello":   func() { os.Stdout.Write([]byte{0x7f, 'E', 'L', 'F', 0, 1, '\n'}); forever() },

	"garbage":     scripted("hello yourself\n"),
	"empty line":  scripted("\n"),
	"truncated":   after(func() { fmt.Print("key 0102030405060708 ns 12") }),
	"cut":         after(func() { fmt.Print("key 0102"); forever() }),
	"long line":   scripted("key " + strings.Repeat("00", 50<<10) + " ns 5\n"),
	"wrong word":  scripted("kez 0102030405060708 ns 5\n"),
	"no ns":       scripted("key 0102030405060708 5\n"),
	"negative":    scripted("key 0102030405060708 ns -5\n"),
	"zero":        scripted("key 0102030405060708 ns 0\n"),
	"huge":        scripted("key 0102030405060708 ns 9223372036854775808\n"),
	"fraction":    scripted("key 0102030405060708 ns 5.5\n"),
	"uppercase":   scripted("key 010203040506070A ns 5\n"),
	"not hex":     scripted("key 010203040506070g ns 5\n"),
	"short key":   scripted("key 01020304050607 ns 5\n"),
	"long key":    scripted("key 010203040506070809 ns 5\n"),
	"no key":      scripted("key  ns 5\n"),
	"CRLF":        scripted("key 0102030405060708 ns 5\r\n"),
	"NUL":         scripted("key 0102030405060708 ns 5 \x00\n"),
	"two answers": scripted("key 0102030405060708 ns 5\nkey 0102030405060708 ns 5\n"),
	"more later": after(func() {
		fmt.Println("key 0102030405060708 ns 5")
		time.Sleep(20 * time.Millisecond)
		fmt.Println("done")
		forever()
	}),
	"trailing":     scripted("key 0102030405060708 ns 5 cycles=7  \n"),
	"refuses":      scripted("error no \x1b[31msuch\tthing " + strings.Repeat("é", 200) + "\n"),
	"refuses CRLF": scripted("error no\r\n"),
	"slow trickle": after(func() {
		os.Stdout.WriteString("k")
		time.Sleep(30 * time.Millisecond)
		os.Stdout.WriteString("ey 0102030405060708")
		time.Sleep(30 * time.Millisecond)
		os.Stdout.WriteString(" ns 5\n")
		io.Copy(io.Discard, os.Stdin)
	}),
	"floods stdout": after(func() { flood(os.Stdout, strings.Repeat("key 0102030405060708 ns 5\n", 100)) }),
	"floods zeros":  after(func() { flood(os.Stdout, strings.Repeat("\x00", 4096)) }),
	"floods stderr": after(func() { flood(os.Stderr, strings.Repeat("warning\n", 512)) }),
	"chatty": func() {
		fmt.Fprint(os.Stderr, strings.Repeat("warning: old library\n", 20000)) // 420 kB, over any pipe's room
		serve()
	},

	"closes stdout": after(func() { os.Stdout.Close(); forever() }),
	"closes stdin":  func() { fmt.Println(hello); os.Stdin.Close(); forever() },
	"ignores the end": func() {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		serve()
		forever()
	},
	"exit 7 at the end": func() { serve(); fmt.Fprintln(os.Stderr, "leaking"); os.Exit(7) },
	"bye":               func() { serve(); fmt.Println("bye") },
	"slow end":          func() { serve(); time.Sleep(200 * time.Millisecond) },

	"child holds":             func() { child("forever", true, nil); serve() },
	"child holds, dies":       func() { child("forever", true, nil); after(func() { os.Exit(3) })() },
	"grandchild":              func() { child("forever", false, &syscall.SysProcAttr{Setsid: true}); serve() },
	"grandchild holds":        func() { child("forever", true, &syscall.SysProcAttr{Setsid: true}); serve() },
	"grandchild, hangs":       func() { child("forever", false, &syscall.SysProcAttr{Setsid: true}); after(forever)() },
	"grandchild floods after": func() { child("flooder", true, &syscall.SysProcAttr{Setsid: true}); serve() },
	"flooder":                 func() { io.ReadAll(os.Stdin); time.Sleep(50 * time.Millisecond); flood(os.Stderr, "x") },
}

func flood(w io.Writer, s string) {
	for {
		if _, err := io.WriteString(w, s); err != nil {
			os.Exit(1)
		}
	}
}
