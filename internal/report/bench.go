package report

import (
	"io"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

// Bench writes what was measured, heads and bases, as a result file: the Go
// benchmark format, which benchstat reads.
func Bench(w io.Writer, r Report) error { return result.Write(w, r.runs) }
