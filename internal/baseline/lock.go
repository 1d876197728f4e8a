package baseline

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the folder for one writer at a time and returns what gives it
// back. The lock is the kernel's, on the folder itself: it leaves no file and
// ends with the process.
func lock(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("lock baselines: %w: make the folder readable", err)
	}
	for {
		err = unix.Flock(int(d.Fd()), unix.LOCK_EX)
		if err == nil {
			return func() { d.Close() }, nil
		}
		if !errors.Is(err, unix.EINTR) {
			d.Close()
			return nil, fmt.Errorf("lock baselines %s: %w: use a folder on a local disk", dir, err)
		}
	}
}

// checkWritable says why a file in dir could not be replaced, before anything
// is. A folder that does not exist yet is made where its parent allows it.
func checkWritable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write baselines: %w: make the folder writable", err)
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("write baselines: %s: %w: make the folder writable", dir, err)
	}
	return nil
}
