// Command detector-bench measures the gate itself: what its figures spread
// by, and whether it finds a drift of known size under load. It is a tool of
// this repository and no part of the product.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage: detector-bench COMMAND [FLAGS]

  record      trials of known truth, by the gate and by others, into a folder
  judge       what each rule says of recorded trials, and how far estimates are off
  export      a recorded pair as a result file
  estimator   spread of a round's cost by several estimators
  drift       verdicts of pbkdf2-gate on probes of known drift
  probe       be a probe that does some per cent more work than it is asked for
  hash        hash once and print the key
  load        keep every core busy in bursts

COMMAND -h lists its flags.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	commands := map[string]func(context.Context, *flag.FlagSet, []string) error{
		"estimator": estimator, "drift": drift, "record": record, "judge": judge, "export": export, "probe": extraProbe, "hash": hashOnce, "load": load,
	}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	fs := flag.NewFlagSet("detector-bench "+os.Args[1], flag.ExitOnError)
	if err := commands[os.Args[1]](ctx, fs, os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "detector-bench: %v\n", err)
		os.Exit(1)
	}
}
