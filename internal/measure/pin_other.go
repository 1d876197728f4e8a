//go:build !linux

package measure

import (
	"fmt"
	"runtime"
)

// PinThread says that this system binds no thread to a core.
func PinThread() (undo func(), err error) {
	return nil, fmt.Errorf("%s has no processor affinity", runtime.GOOS)
}
