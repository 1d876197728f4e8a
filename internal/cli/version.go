package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/yardstick"
)

var version = subcommand{
	name:    "version",
	summary: "show the version of the command and of its yardsticks",
	run: func(c *Command, ctx context.Context, in *invocation) error {
		if err := in.noArgs(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.Stdout, "pbkdf2-gate %s, yardstick %s, %s %s/%s\n", toolVersion(), yardstick.ID(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	},
}

// stamped is set by the action's build, whose source may be no repository.
var stamped string

// toolVersion is the module's version, or the commit that it was built from.
func toolVersion() string {
	if stamped != "" {
		return stamped
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return "devel"
}
