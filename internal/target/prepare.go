package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
)

// Side is a tree, and what its targets are built and run with.
type Side struct {
	Self    string    // absolute path of the program that has the built-in probe
	Dir     string    // the tree, or the folder of it that the targets are in
	Temp    string    // folder for what is built here; must outlive the targets
	Environ []string  // "NAME=VALUE"; passed through Environ
	Build   string    // command that builds the tree, split as a shell would; empty: none
	Log     io.Writer // gets what builds print; nil: nothing does
	Debug   io.Writer // see probe.Command
}

// Built is a target of a side, ready to be started or not.
type Built struct {
	Spec   Spec
	Parent string // the target that this is a benchmark of; else empty
	// Unlisted says of a GoBench that failed that its benchmarks, or those after
	// this one, are not known.
	Unlisted bool
	// Once is set instead of Commands for a program without the protocol: it
	// runs it a single time, on the calling thread's core.
	Once func(context.Context) (Once, error)
	// Commands start it; several are builds of one program that differ in
	// nothing but where the linker put its parts, to be started in turn.
	Commands []probe.Command
	Err      error // why it cannot be started; nil otherwise
	// Fallback says why a Go target is the gate's own build of the probe and
	// not the module's; empty where it is the module's, or there is none.
	Fallback string
	Note     string // what else is to be known of how it was built
	// Program stands for all that the target is, its bytes and its arguments,
	// where it is a program without parts elsewhere; empty where that cannot
	// be told. Equal values are equal programs.
	Program string
	Took    time.Duration // to build it

	// InModule: a Go target that was compiled inside the side's module.
	InModule bool
	command  probe.Command // of a Probe or Time
}

// Once is what one run of a program came to.
type Once struct {
	Elapsed time.Duration     // by its own word; 0 where it gave none
	Line    string            // where that stands, quoted; empty where there is none, or it is a benchmark's
	Words   map[string]string // what is known of it, as of a probe's first line
}

// Prepare builds the side's tree and its targets, in the order of specs; each
// benchmark of a GoBench is a target of its own. That one cannot be built is
// not an error; an error is ctx's.
func (s Side) Prepare(ctx context.Context, specs []Spec) ([]Built, error) {
	s.Environ = Environ(s.Environ)
	temp, err := filepath.Abs(s.Temp)
	if err != nil {
		return nil, err
	}
	s.Temp = temp
	start := time.Now()
	broken := s.build(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var all []Built
	for i, spec := range specs {
		if i > 0 {
			start = time.Now()
		}
		b := Built{Spec: spec}
		var more []Built
		switch spec.Kind {
		case Go:
			s.goTarget(ctx, &b, filepath.Join(s.Temp, fmt.Sprintf("go%d", i)))
		case Probe:
			s.probeTarget(&b)
		case Time:
			s.timeTarget(&b)
		case GoBench:
			if broken == nil {
				more, b.Err = s.benchTargets(ctx, spec, filepath.Join(s.Temp, fmt.Sprintf("bench%d", i)))
			}
		default:
			b.Err = fmt.Errorf("target %s: unknown kind %q: use %s", spec.Name, spec.Kind, kinds)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if broken != nil {
			b.Err = broken
		}
		b.Unlisted = spec.Kind == GoBench && b.Err != nil
		if b.Err == nil && len(b.Commands) > 0 {
			b.Program = identity(b.Commands)
		}
		if b.Took = time.Since(start); len(more) > 0 {
			more[0].Took = b.Took
			all = append(all, more...)
			continue
		}
		all = append(all, b)
	}
	return all, nil
}

// build runs the command that builds the tree.
func (s Side) build(ctx context.Context) error {
	if s.Build == "" {
		return nil
	}
	args, err := split(s.Build)
	if err != nil {
		return fmt.Errorf("build command %q: %w", s.Build, err)
	}
	err = program{args: args, dir: s.Dir, env: s.Environ, limit: buildLimit, log: s.Log, sweep: true,
		explain: "the build must end by itself"}.run(ctx)
	if err != nil {
		return fmt.Errorf("the build command %q failed: %w", s.Build, err)
	}
	return nil
}

// CheckBuild says what is wrong with a build command.
func CheckBuild(command string) error {
	if command == "" {
		return nil
	}
	_, err := split(command)
	return err
}

func (s Side) probeTarget(b *Built) {
	args, err := split(b.Spec.Rest)
	if err != nil {
		b.Err = fmt.Errorf("target %s: command %q: %w", b.Spec.Name, b.Spec.Rest, err)
		return
	}
	b.command = s.command(args...)
	b.Commands = []probe.Command{b.command}
}

// goTarget compiles the built-in probe inside the side's module, or takes the
// gate's own.
func (s Side) goTarget(ctx context.Context, b *Built, temp string) {
	paths, note, err := s.compile(ctx, b.Spec.Rest == XCrypto, temp)
	switch {
	case errors.Is(err, errNoModule):
		s.gateBuild(b)
	case err != nil:
		s.gateBuild(b)
		b.Fallback = err.Error()
	default:
		b.Note = note
		b.InModule = true
		for _, p := range paths {
			b.Commands = append(b.Commands, s.command(p))
		}
	}
}

// gateBuild makes b, a Go target, the gate's own build of the probe.
func (s Side) gateBuild(b *Built) {
	if !filepath.IsAbs(s.Self) {
		b.Err = fmt.Errorf("target %s: the built-in probe needs the absolute path of this program, not %q", b.Spec.Name, s.Self)
		return
	}
	args := []string{s.Self, "probe"}
	if b.Spec.Rest == XCrypto {
		args = append(args, "--x-crypto")
	}
	b.Commands = []probe.Command{s.command(args...)}
}

// command is a program of the side, whose environment Prepare has cleaned.
func (s Side) command(args ...string) probe.Command {
	return probe.Command{Args: args, Dir: s.Dir, Env: s.Environ, Debug: s.Debug, Evict: true}
}
