package cli

import (
	"context"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/goprobe"
)

var builtinProbe = subcommand{
	name:    "probe",
	summary: "be the built-in Go probe: derive keys that standard input asks for",
	help:    "The protocol is documented in docs/protocol.md; it ends with standard input.",
	run: func(c *Command, ctx context.Context, in *invocation) error {
		if err := in.noArgs(); err != nil {
			return err
		}
		return goprobe.Run(c.Stdin, c.Stdout, in.xcrypto)
	},
}
