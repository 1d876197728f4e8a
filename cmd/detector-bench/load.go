package main

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// load keeps cores busy in bursts of one to three seconds with pauses of up
// to 0.9 s, each core on its own, from a seed: 70 % of the bursts hash, the
// others sweep memory.
func load(ctx context.Context, fs *flag.FlagSet, args []string) error {
	seed := fs.Uint64("seed", 1, "of the bursts")
	cores := fs.Int("cores", runtime.NumCPU(), "threads that burn")
	length := fs.Duration("for", time.Minute, "how long")
	after := fs.Duration("after", 0, "be idle for this long at first")
	fs.Parse(args)
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(*after):
	}
	ctx, cancel := context.WithTimeout(ctx, *length)
	defer cancel()
	burn(ctx, *seed, *cores)
	return nil
}

// startLoad runs load in another process until it is stopped.
func startLoad(ctx context.Context, flags ...string) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"load"}, flags...)...)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() { cmd.Process.Kill(); cmd.Wait() }, nil
}

func burn(ctx context.Context, seed uint64, cores int) {
	var wg sync.WaitGroup
	for core := range cores {
		wg.Go(func() {
			runtime.LockOSThread()
			r := rand.New(rand.NewPCG(seed, uint64(core)))
			memory := make([]byte, 64<<20)
			for ctx.Err() == nil {
				end := time.Now().Add(time.Second + time.Duration(r.Int64N(int64(2*time.Second))))
				hash := r.Float64() < 0.7
				for time.Now().Before(end) && ctx.Err() == nil {
					if hash {
						_, _ = pbkdf2.Key(sha256.New, "x", []byte("saltsalt"), 5000, 32)
					} else {
						clear(memory)
					}
				}
				select {
				case <-ctx.Done():
				case <-time.After(time.Duration(r.Int64N(int64(900 * time.Millisecond)))):
				}
			}
		})
	}
	wg.Wait()
}
