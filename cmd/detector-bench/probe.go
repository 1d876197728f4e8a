package main

import (
	"context"
	"flag"
	"math"
	"os"
	"runtime/debug"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/goprobe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// extraProbe is the built-in probe with a drift of known size: it derives
// the key as asked and then some iterations more, both inside its timed
// section.
func extraProbe(_ context.Context, fs *flag.FlagSet, args []string) error {
	extra := fs.Float64("extra", 0, "per cent of the iterations to do once more")
	fs.Parse(args)
	debug.SetGCPercent(-1)
	derive := workload.Key
	return goprobe.Serve(os.Stdin, os.Stdout, "pbkdf2-probe/1 go-extra", func(name, password string, salt []byte, iterations, keyBytes int) ([]byte, error) {
		prf := workload.PRF(name)
		key, err := derive(prf, password, salt, iterations, keyBytes)
		if more := int(math.Round(float64(iterations) * *extra / 100)); err == nil && more > 0 {
			_, err = derive(prf, password, salt, more, keyBytes)
		}
		return key, err
	})
}
