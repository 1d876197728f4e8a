package target

import (
	"context"
	"fmt"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/elapsed"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/probe"
)

// onceLimit is how long one run of a program without the protocol may take.
const onceLimit = 2 * time.Minute

// timeTarget runs a program and reads the time that it prints, on standard
// output or else on standard error, where some languages print.
func (s Side) timeTarget(b *Built) {
	args, err := split(b.Spec.Rest)
	if err != nil {
		b.Err = fmt.Errorf("target %s: command %q: %w", b.Spec.Name, b.Spec.Rest, err)
		return
	}
	b.command = s.command(args...)
	b.Once = func(ctx context.Context) (Once, error) {
		var stdout, stderr tailWriter
		if err := s.once(ctx, args, s.Dir, &stdout, &stderr, nil); err != nil {
			return Once{}, err
		}
		for _, out := range []*tailWriter{&stdout, &stderr} {
			d, line, err := elapsed.Parse(out.buf)
			if err != nil {
				return Once{}, fmt.Errorf("its elapsed time cannot be read: %w", err)
			}
			if line != "" {
				return Once{Elapsed: d, Line: line}, nil
			}
		}
		return Once{}, nil
	}
}

// once runs a program a single time.
func (s Side) once(ctx context.Context, args []string, dir string, stdout, stderr *tailWriter, quote func([]string) []string) error {
	probe.Command{Args: args, Dir: dir, Env: s.Environ}.EvictProgram() // as before each start of a probe
	return program{args: args, dir: dir, env: s.Environ, limit: onceLimit, stdout: stdout, stderr: stderr,
		explain: "it must end by itself", quote: quote}.run(ctx)
}
