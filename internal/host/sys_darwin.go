package host

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

func sysctl(name string) string {
	s, _ := unix.Sysctl(name)
	return s
}

func sysctlInt(name string) (uint64, bool) {
	b, err := unix.SysctlRaw(name)
	switch {
	case err != nil:
		return 0, false
	case len(b) == 4:
		return uint64(binary.LittleEndian.Uint32(b)), true
	case len(b) == 8:
		return binary.LittleEndian.Uint64(b), true
	}
	return 0, false
}

func affinity() error { return errors.New("macOS has no call for it") }
