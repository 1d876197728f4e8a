// Package cli is the command: one file per subcommand. It reads what the
// caller gave, calls the packages that know, and turns what they return into
// output and an exit code.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/baseline"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// Exit codes.
const (
	exitOK       = 0 // no verdict that fails
	exitFound    = 1 // a verdict that fails
	exitUsage    = 2 // usage, configuration, a baseline file that cannot be read as one
	exitTroubled = 3 // could not reach, run or write what it must
)

// Command is what the command touches of the outside.
type Command struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string               // KEY=value
	Dir            string                 // working directory
	Self           func() (string, error) // path of this program, for the built-in probe
	Now            func() time.Time
	Host           func() host.Fingerprint
	Terminal       bool // Stderr is a terminal: progress may overwrite itself
}

// System is the command on this process's streams and machine.
func System() *Command {
	return &Command{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Environ:  os.Environ(),
		Dir:      ".",
		Self:     os.Executable,
		Now:      time.Now,
		Host:     host.Read,
		Terminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
}

func (c *Command) getenv(name string) string {
	for i := len(c.Environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(c.Environ[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// subcommand is one word of the command line.
type subcommand struct {
	name     string
	synopsis string // after the name
	summary  string // one line
	help     string // what the summary leaves open; may be empty
	// settings are the flags that it takes, of policy's table.
	settings []string
	judges   bool // what it does rests on a pull request's base, where there is one
	measures bool // it runs the tree's code: refused where a token that can write is near
	inputs   bool // it takes settings from the workflow's inputs too
	verbatim bool // what follows its first argument is not its own, flags included
	run      func(c *Command, ctx context.Context, in *invocation) error
}

func (c *Command) subcommands() []subcommand {
	return []subcommand{check, measureOnly, compare, baselineUpdate, baselineList, baselineShow, baselinePrune, reportFiles, hostFacts, builtinProbe, probeCheck, action, version}
}

// Run runs the command with its arguments and returns the exit code.
func (c *Command) Run(ctx context.Context, args []string) int {
	err := c.dispatch(ctx, args)
	var exit *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, new(*github.NoPullError)):
		// another workflow's run that was for no pull request, as most are
		fmt.Fprintf(c.Stdout, "nothing to comment on: %v\n", err)
		return exitOK
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintf(c.Stderr, "pbkdf2-gate: %v\n", exit.err)
		}
		return exit.code
	case ctx.Err() != nil:
		fmt.Fprintf(c.Stderr, "pbkdf2-gate: stopped: nothing was judged or written\n")
		return exitTroubled
	case errors.As(err, new(*result.SyntaxError)), errors.As(err, new(*baseline.InputError)):
		fmt.Fprintf(c.Stderr, "pbkdf2-gate: %v\n", err)
		return exitUsage
	}
	fmt.Fprintf(c.Stderr, "pbkdf2-gate: %v\n", err)
	return exitTroubled
}

// exitError ends the command with a code; without err the reason is already
// on the screen.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

func (c *Command) dispatch(ctx context.Context, args []string) error {
	all := c.subcommands()
	if len(args) > 0 {
		switch args[0] {
		case "help", "-h", "--help", "-help":
			return c.help(all, args[1:])
		case "--version", "-version":
			args = append([]string{"version"}, args[1:]...)
		}
	}
	s, rest, err := find(all, args)
	if err != nil {
		return err
	}
	return c.invoke(ctx, s, rest)
}

// find takes the subcommand from the arguments: one word, or two.
func find(all []subcommand, args []string) (subcommand, []string, error) {
	if len(args) == 0 {
		return subcommand{}, nil, usageError("no command given: see `pbkdf2-gate help`; `pbkdf2-gate check` is the usual one")
	}
	var inner []string
	for _, s := range all {
		first, second, two := strings.Cut(s.name, " ")
		switch {
		case first != args[0]:
		case !two:
			return s, args[1:], nil
		case len(args) > 1 && second == args[1]:
			return s, args[2:], nil
		default:
			inner = append(inner, second)
		}
	}
	if inner != nil {
		return subcommand{}, nil, usageError("%s: which? Use one of %s %s", args[0], args[0], strings.Join(inner, ", "))
	}
	return subcommand{}, nil, usageError("unknown command %q: see `pbkdf2-gate help`", args[0])
}

func (c *Command) help(all []subcommand, args []string) error {
	if len(args) > 0 {
		var found bool
		for _, s := range all {
			if s.name == strings.Join(args, " ") || strings.HasPrefix(s.name, args[0]+" ") && len(args) == 1 {
				if found {
					fmt.Fprintln(c.Stdout)
				}
				found = true
				c.usage(c.Stdout, s)
			}
		}
		if !found {
			return usageError("unknown command %q: see `pbkdf2-gate help`", strings.Join(args, " "))
		}
		return nil
	}
	fmt.Fprint(c.Stdout, `pbkdf2-gate measures what one PBKDF2 password hash costs on this machine, holds
it against baselines in the repository, and says when it drifts.

Usage: pbkdf2-gate COMMAND [FLAGS]

Commands:
`)
	for _, s := range all {
		fmt.Fprintf(c.Stdout, "  %-16s %s\n", s.name, s.summary)
	}
	fmt.Fprint(c.Stdout, `
Settings come from flags, then from the file .pbkdf2-gate.yaml.
Exit codes: 0 no verdict that fails; 1 one does; 2 usage or configuration;
3 something could not be reached, run or written.
`+"`pbkdf2-gate help COMMAND`"+` lists a command's flags.
`)
	return nil
}
