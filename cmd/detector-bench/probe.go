package main

import (
	"context"
	"crypto/hmac"
	"encoding/binary"
	"flag"
	"fmt"
	"hash"
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/goprobe"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// truth is a drift of known size.
type truth struct {
	extra float64 // per cent of the iterations, done beyond those of the key
	call  int     // iterations more for each call, however long it is
	other bool    // another code path of equal work
	// some processes are slower, by this much and as often as chance has it
	seldom float64
	slower float64 // per cent
}

// callIterations is what "call" adds: a set-up of some 50 compressions.
const callIterations = 25

// parseTruth reads what a side is named by: per cent, or a word.
func parseTruth(name string) (truth, error) {
	switch name {
	case "call":
		return truth{call: callIterations}, nil
	case "path":
		return truth{other: true}, nil
	case "modes":
		return truth{seldom: 0.5, slower: 17}, nil
	case "outliers":
		return truth{seldom: 0.08, slower: 200}, nil
	}
	x, err := strconv.ParseFloat(name, 64)
	if err != nil || !(x >= 0 && x <= 1000) {
		return truth{}, fmt.Errorf("%q is no drift: give per cent, call, path, modes or outliers", name)
	}
	return truth{extra: x}, nil
}

// extraProbe is a probe with a drift of known size. Its loop goes on after the
// key is done, so that nothing but iterations is added.
func extraProbe(_ context.Context, fs *flag.FlagSet, args []string) error {
	d, err := deriverByFlag(fs, args)
	if err != nil {
		return err
	}
	debug.SetGCPercent(-1)
	return goprobe.Serve(os.Stdin, os.Stdout, "pbkdf2-probe/1 go-extra", func(name, password string, salt []byte, iterations, keyBytes int) ([]byte, error) {
		prf := workload.PRF(name)
		if prf.New() == nil {
			return nil, fmt.Errorf("unknown prf %q", name)
		}
		return d.derive(prf, password, salt, iterations, keyBytes), nil
	})
}

// deriverByFlag is the deriver that the flags ask for.
func deriverByFlag(fs *flag.FlagSet, args []string) (*deriver, error) {
	name := fs.String("extra", "0", "per cent of the iterations to add; call: some for each call; path: the same work by other code; modes, outliers: some processes are slower")
	fs.Parse(args)
	return newDeriver(*name)
}

// newDeriver is a process's of a side with that name: chance has decided
// whether it is one of the slower ones.
func newDeriver(name string) (*deriver, error) {
	t, err := parseTruth(name)
	if err != nil {
		return nil, err
	}
	if rand.Float64() < t.seldom {
		t.extra += t.slower
	}
	return &deriver{truth: t}, nil
}

// deriver derives keys, and carries what part of an iteration it still owes.
type deriver struct {
	truth
	owed float64
}

func (d *deriver) derive(prf workload.PRF, password string, salt []byte, iterations, keyBytes int) []byte {
	more := d.more(iterations)
	loop := iterate
	if d.other {
		loop = iterateToo
	}
	mac := hmac.New(prf.New(), []byte(password))
	var key []byte
	for block := uint32(1); len(key) < keyBytes; block++ {
		mac.Reset()
		mac.Write(salt)
		mac.Write(binary.BigEndian.AppendUint32(nil, block))
		u := mac.Sum(nil)
		sum := append([]byte(nil), u...)
		loop(mac, u, sum, iterations-1)
		key = append(key, sum...)
		loop(mac, u, sum, more)
	}
	return key[:keyBytes]
}

// more is how many iterations to add to these.
func (d *deriver) more(iterations int) int {
	d.owed += float64(iterations)*d.extra/100 + float64(d.call)
	whole := math.Floor(d.owed)
	d.owed -= whole
	return int(whole)
}

// iterate does n iterations on u and sums them up.
//
//go:noinline
func iterate(mac hash.Hash, u, sum []byte, n int) {
	for range n {
		mac.Reset()
		mac.Write(u)
		u = mac.Sum(u[:0])
		for i, x := range u {
			sum[i] ^= x
		}
	}
}

// iterateToo is iterate elsewhere in the program.
//
//go:noinline
func iterateToo(mac hash.Hash, u, sum []byte, n int) {
	for range n {
		mac.Reset()
		mac.Write(u)
		u = mac.Sum(u[:0])
		for i := range sum {
			sum[i] ^= u[i]
		}
	}
}
