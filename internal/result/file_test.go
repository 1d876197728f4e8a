package result

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain lets the test binary play a process on a full disk.
func TestMain(m *testing.M) {
	if path := os.Getenv("RESULT_TEST_FULL_DISK"); path != "" {
		signal.Ignore(unix.SIGXFSZ)
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1000, Max: 1000}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		if err := WriteFile(path, []Run{sample(30)}); err != nil {
			fmt.Println(err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// names lists a folder, to see that no temporary file is left.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var s []string
	for _, e := range entries {
		s = append(s, e.Name())
	}
	return strings.Join(s, " ")
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "out.txt")
	for _, r := range []Run{sample(3), sample(2)} {
		if err := WriteFile(path, []Run{r}); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != encode(t, r) {
			t.Errorf("wrote\n%s", got)
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []Run{sample(4)}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("permissions became %v (%v)", info.Mode(), err)
	}
	if err := WriteFile(path, []Run{{}}); err == nil || content(t, path) != encode(t, sample(4)) {
		t.Errorf("a run that is none: %v, and the file is\n%s", err, content(t, path))
	}
	if got := names(t, dir); got != "out.txt" {
		t.Errorf("the folder holds %s", got)
	}
}

func TestWriteFileFollowsLinks(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	target, link := filepath.Join(elsewhere, "real.txt"), filepath.Join(dir, "link.txt")
	if err := WriteFile(target, []Run{sample(1)}); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, []Run{sample(2)}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is gone: %v (%v)", info, err)
	}
	if content(t, target) != encode(t, sample(2)) {
		t.Error("the file behind the link was not written")
	}
	if got := names(t, elsewhere); got != "real.txt" {
		t.Errorf("the folder behind the link holds %s", got)
	}
}

func TestWriteFileRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dangling, loop := filepath.Join(dir, "dangling"), filepath.Join(dir, "loop")
	for link, to := range map[string]string{dangling: "nowhere", loop: "loop"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		dangling:                        "symbolic link to nothing",
		loop:                            "too many links",
		dir:                             "not a regular file",
		os.DevNull:                      "not a regular file",
		filepath.Join(dir, "no", "out"): "nothing was changed",
	} {
		if err := WriteFile(path, []Run{sample(1)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	if got := names(t, dir); got != "dangling loop" {
		t.Errorf("the folder holds %s", got)
	}
}

func TestWriteFileFullDisk(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "out.txt")
	if err := WriteFile(path, []Run{sample(1)}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "RESULT_TEST_FULL_DISK="+path)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 3 || !strings.Contains(string(out), "file too large") {
		t.Errorf("%v: %s", err, out)
	}
	if content(t, path) != encode(t, sample(1)) || names(t, dir) != "out.txt" {
		t.Errorf("left behind: %s, with\n%s", names(t, dir), content(t, path))
	}
}

func TestReadFileErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.txt")
	if err := os.WriteFile(bad, []byte("format: pbkdf2-gate/1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.txt"): "none.txt: no such file",
		dir:                            "is a directory",
		bad:                            "bad.txt:1: the block that starts at line 1 has no `goos:`",
	} {
		if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
