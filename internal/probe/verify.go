package probe

import (
	"bytes"
	"fmt"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// KeyError is a key that is not the one asked for.
type KeyError struct {
	Request   Request
	Got, Want []byte
}

func (e *KeyError) Error() string {
	show := func(k []byte) string {
		if len(k) > 8 {
			return fmt.Sprintf("%x... (%d bytes)", k[:8], len(k))
		}
		return fmt.Sprintf("%x", k)
	}
	return fmt.Sprintf("derived %s where %s is right (%s, %s iterations, %d-byte password): the function, its parameters or a cache are wrong",
		show(e.Got), show(e.Want), e.Request.PRF, workload.Group(e.Request.Iterations), len(e.Request.Password))
}

// Verify derives the request with the standard library. The error is a
// *KeyError, with copies of both keys, where got is another key.
func (r Request) Verify(got []byte) error {
	want, err := workload.Key(r.PRF, string(r.Password), r.Salt, r.Iterations, r.KeyBytes)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		return &KeyError{r, bytes.Clone(got), want}
	}
	return nil
}

// UnknownIteration is assumed for an implementation that was not timed yet,
// ns of an iteration and block: ten times Go's library.
const UnknownIteration = 2000

// Limit is how long the answer may take: 10 s, or ten times what its
// iterations should, by what one iteration and block is known to take, ns.
func (r Request) Limit(iteration float64) time.Duration {
	blocks := workload.Params{PRF: r.PRF, KeyBytes: r.KeyBytes}.Blocks()
	return max(DefaultLimit, time.Duration(10*iteration*float64(r.Iterations*blocks)))
}

// Fits holds the probe's own time against the time that passed here, wall: no
// disturbance makes the inner one longer, but the tick of its clock may.
func (a Answer) Fits(wall, tick time.Duration) bool {
	return a.Elapsed <= wall+wall/20+tick+100*time.Microsecond
}

// CoarsestTick is the coarsest clock that a probe may time with: it must
// tell slices of at most 10 ms apart by 0.4 %.
const CoarsestTick = 40 * time.Microsecond

// Tick is the resolution of the clock that the times come from: their
// greatest common divisor, 0 where it is under a microsecond.
func Tick(own []time.Duration) time.Duration {
	var g time.Duration
	for _, a := range own {
		for a != 0 {
			g, a = a, g%a
		}
	}
	if g < time.Microsecond {
		return 0
	}
	return g
}
