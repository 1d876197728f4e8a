package cli

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/goprobe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// The scripts run the real command, which is this test binary under another
// name, as are the probes that misbehave.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"pbkdf2-gate": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			code := System().Run(ctx, os.Args[1:])
			stop()
			os.Exit(code)
		},
		"badprobe":  badProbe,
		"teamprobe": teamProbe,
		"oddprobe":  oddProbe,
	})
}

// waiting are the scripts that wait more than they measure.
var (
	waiting   = map[string]bool{"script-hang": true, "script-usage": true, "script-golden": true, "script-silentprobes": true, "script-lists": true, "script-badresults": true}
	measuring sync.Mutex
)

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			// golden result files, and no git repository above
			e.Setenv("GOLDEN", filepath.Join(mustAbs("../result/testdata")))
			e.Setenv("GIT_CEILING_DIRECTORIES", "/")
			// go finds what it has built and downloaded, and where to download
			for name, value := range goEnv() {
				e.Setenv(name, value)
			}
			for name, value := range map[string]string{
				"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "e@example.com",
				"GIT_COMMITTER_NAME": "n", "GIT_COMMITTER_EMAIL": "e@example.com",
			} {
				e.Setenv(name, value)
			}
			// Scripts that measure would disturb each other.
			if !waiting[filepath.Base(e.WorkDir)] {
				measuring.Lock()
				e.Defer(measuring.Unlock)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "settles": settles, "answers": answers, "left": left, "pull": pull,
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "modules":
				return modules()
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// goEnv is what a script's go needs of ours; empty where there is none.
var goEnv = sync.OnceValue(func() map[string]string {
	env := map[string]string{}
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOTOOLCHAIN").Output()
	if err == nil {
		err = json.Unmarshal(out, &env)
	}
	if err != nil {
		return nil
	}
	return env
})

// modules reports whether modules can be downloaded. PBKDF2_GATE_REQUIRE makes
// that a must.
func modules() (bool, error) {
	cmd := exec.Command("go", "mod", "download", "golang.org/x/crypto@v0.51.0", "golang.org/x/crypto@v0.52.0")
	cmd.Dir = os.TempDir()
	out, err := cmd.CombinedOutput()
	if err != nil && slices.Contains(strings.Split(os.Getenv("PBKDF2_GATE_REQUIRE"), ","), "modules") {
		return false, fmt.Errorf("modules are required: %w: %s", err, out)
	}
	return err == nil, nil
}

func mustAbs(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		panic(err)
	}
	return abs
}

// exits CODE COMMAND...: the command ends with exactly this code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if want, got := exitCodes(ts, neg, args); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// settles CODE COMMAND...: as exits, the command run again while its verdict is
// that of a busy minute.
func settles(ts *testscript.TestScript, neg bool, args []string) {
	for range 5 {
		want, got := exitCodes(ts, neg, args)
		if strings.Contains(ts.ReadFile("stdout"), "inconclusive") {
			continue
		}
		if got != want {
			ts.Fatalf("exit code %d, want %d", got, want)
		}
		return
	}
	ts.Fatalf("inconclusive five times: this machine is too busy to measure on")
}

// exitCodes runs CODE COMMAND... and returns the code wanted and had.
func exitCodes(ts *testscript.TestScript, neg bool, args []string) (want, got int) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits|settles CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return want, exit.ExitCode()
	}
	ts.Check(err)
	return want, 0
}

// answers ARGS...: pbkdf2-gate probe ARGS answers every known request
// rightly.
func answers(ts *testscript.TestScript, neg bool, args []string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := probe.Command{Args: append([]string{"pbkdf2-gate", "probe"}, args...), Env: []string{"PATH=" + ts.Getenv("PATH")}}
	p, err := cmd.Start(context.Background())
	ts.Check(err)
	defer p.Kill()
	for _, a := range workload.Answers() {
		got, err := p.Derive(context.Background(), probe.Request{PRF: a.PRF, Iterations: a.Iterations, KeyBytes: len(a.Key), Salt: a.Salt, Password: a.Password}, time.Minute)
		ts.Check(err)
		if hex.EncodeToString(got.Key) != hex.EncodeToString(a.Key) {
			ts.Fatalf("%s, %d iterations (%s): key %x, want %x", a.PRF, a.Iterations, a.Source, got.Key, a.Key)
		}
	}
	ts.Check(p.Close())
}

// pull HEAD BASE: what follows runs in the workflow of a pull request.
func pull(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pull HEAD BASE")
	}
	var commits [2]string
	for i, ref := range args {
		ts.Check(ts.Exec("git", "rev-parse", ref))
		commits[i] = strings.TrimSpace(ts.ReadFile("stdout"))
	}
	file := ts.MkAbs(filepath.Join(ts.Getenv("WORK"), "event.json"))
	ts.Check(os.WriteFile(file, fmt.Appendf(nil, `{"repository":{"id":1},"pull_request":{"number":7,"user":{"login":"u"},"head":{"sha":%q,"repo":{"id":1}},"base":{"sha":%q,"ref":"main","repo":{"id":1}}}}`, commits[0], commits[1]), 0o666))
	for name, value := range map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": file,
		"GITHUB_REPOSITORY": "o/r", "GITHUB_RUN_ID": "5", "GITHUB_RUN_ATTEMPT": "1",
	} {
		ts.Setenv(name, value)
	}
}

// teamProbe is an honest probe that costs so many per cent more.
func teamProbe() {
	extra, _ := strconv.Atoi(os.Args[1])
	debug.SetGCPercent(-1)
	err := goprobe.Serve(os.Stdin, os.Stdout, "pbkdf2-probe/1 team version=1", func(prf, password string, salt []byte, iterations, keyBytes int) ([]byte, error) {
		key, err := workload.Key(workload.PRF(prf), password, salt, iterations, keyBytes)
		if more := iterations * extra / 100; err == nil && more > 0 {
			_, err = workload.Key(workload.PRF(prf), password, salt, more, keyBytes)
		}
		return key, err
	})
	if err != nil {
		os.Exit(1)
	}
}

// left [WORD]: no process runs whose command line has the word.
func left(ts *testscript.TestScript, neg bool, args []string) {
	word := ts.Getenv("WORK")
	if len(args) > 0 {
		word = args[0]
	}
	for range 50 {
		if !running(word) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	ts.Fatalf("a process with %q in its command line is still running", word)
}

func running(word string) bool {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, l := range lines {
		if filepath.Dir(l) == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		if data, err := os.ReadFile(l); err == nil && strings.Contains(string(data), word) {
			return true
		}
	}
	return false
}

// badProbe is a probe that misbehaves in the way its first argument says,
// from its second argument's iterations on.
func badProbe() {
	how, from := os.Args[1], 0
	if len(os.Args) > 2 {
		from, _ = strconv.Atoi(os.Args[2])
	}
	switch how {
	case "silent":
		time.Sleep(time.Hour)
	case "stderr-only":
		fmt.Fprintln(os.Stderr, "cannot load libfast.so")
		time.Sleep(time.Hour)
	case "newer":
		fmt.Println("pbkdf2-probe/2 bad")
		time.Sleep(time.Hour)
	}
	fmt.Println("pbkdf2-probe/1 bad version=1")
	var first string
	var prf, salt, password string
	for {
		var iterations, keyBytes int
		if _, err := fmt.Scanf("derive %s %d %d %s %s\n", &prf, &iterations, &keyBytes, &salt, &password); err != nil {
			return
		}
		unhex := func(s string) []byte {
			b, _ := hex.DecodeString(strings.Trim(s, "-"))
			return b
		}
		start := time.Now()
		raw, _ := workload.Key(workload.PRF(prf), string(unhex(password)), unhex(salt), iterations, keyBytes)
		if how == "sleeps" {
			time.Sleep(2 * time.Since(start))
		}
		took := time.Since(start)
		key := hex.EncodeToString(raw)
		if iterations >= from {
			switch how {
			case "hang":
				time.Sleep(time.Hour)
			case "die":
				fmt.Fprintln(os.Stderr, "assertion failed: engine != nil")
				os.Exit(7)
			case "garbage":
				fmt.Println("segmentation fault (core dumped)")
				continue
			case "truncated":
				fmt.Print("key " + key[:10])
				os.Exit(0)
			case "negative":
				took = -took
			case "huge":
				took = 1 << 50
			case "wrong":
				key = strings.Repeat("00", keyBytes)
			case "cached":
				if first == "" {
					first = key
				}
				key = first
			case "flood":
				fmt.Println(strings.Repeat("x", 1<<20))
			case "twice":
				fmt.Printf("key %s ns %d\n", key, took.Nanoseconds())
			case "clock-1ms":
				took = took.Truncate(time.Millisecond)
			case "clock-16ms":
				took = took.Truncate(16 * time.Millisecond)
			case "refuse":
				fmt.Println("error the salt is too short for FIPS mode")
				continue
			}
		}
		fmt.Printf("key %s ns %d\n", key, took.Nanoseconds())
	}
}
