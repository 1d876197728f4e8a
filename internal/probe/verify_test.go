package probe

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

func TestVerify(t *testing.T) {
	r := Request{workload.SHA256, 3000, 20, []byte("salt"), []byte("password")}
	key, err := workload.Key(r.PRF, "password", r.Salt, r.Iterations, r.KeyBytes)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Verify(key); err != nil {
		t.Error(err)
	}
	for _, got := range [][]byte{key[:19], append(bytes.Clone(key), 0), bytes.Repeat([]byte{0}, 20), nil} {
		err := r.Verify(got)
		var wrong *KeyError
		if !errors.As(err, &wrong) || !bytes.Equal(wrong.Got, got) || !bytes.Equal(wrong.Want, key) {
			t.Errorf("Verify(%x) = %v", got, err)
		}
		if !errorHas(err, "(sha256, 3,000 iterations, 8-byte password)") {
			t.Error(err)
		}
	}
	r.PRF = "md5"
	if err := r.Verify(key); !errorHas(err, "unknown prf") {
		t.Error(err)
	}
}

func TestLimit(t *testing.T) {
	r := Request{PRF: workload.SHA256, Iterations: 500_000, KeyBytes: 64}
	for iteration, want := range map[float64]time.Duration{
		0:                DefaultLimit,
		200:              DefaultLimit,
		UnknownIteration: 20 * time.Second,
		1e6:              10_000 * time.Second,
	} {
		if got := r.Limit(iteration); got != want {
			t.Errorf("Limit(%v) = %v, want %v", iteration, got, want)
		}
	}
}

func TestFits(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	for _, c := range []struct {
		own, wall, tick time.Duration
		want            bool
	}{
		{0, 1, 0, true},
		{ms, ms, 0, true},
		{ms + 150*us, ms, 0, true},
		{ms + 151*us, ms, 0, false},
		{16 * ms, ms, 16 * ms, true},
		{105*ms + 101*us, 100 * ms, 0, false},
	} {
		if got := (Answer{Elapsed: c.own}).Fits(c.wall, c.tick); got != c.want {
			t.Errorf("%v within %v, tick %v: %v", c.own, c.wall, c.tick, got)
		}
	}
}

func TestTick(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		own  []time.Duration
		want time.Duration
	}{
		{[]time.Duration{1000003, 1000040, 999983}, 0},
		{[]time.Duration{ms, 2 * ms, ms}, ms},
		{[]time.Duration{16 * ms, 0, 32 * ms}, 16 * ms},
		{[]time.Duration{0, 0}, 0},
		{nil, 0},
		{[]time.Duration{1005000, 1010000}, 5000},
	} {
		if got := Tick(c.own); got != c.want {
			t.Errorf("Tick(%v) = %v, want %v", c.own, got, c.want)
		}
	}
}
