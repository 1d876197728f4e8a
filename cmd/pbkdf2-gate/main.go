// Command pbkdf2-gate measures what one PBKDF2 password hash costs and says
// when that drifts. See the README, or run it with help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	code := cli.System().Run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
