package yardstick

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

// kernel is one pair of kernels: tests run every one that this CPU can.
type kernel struct {
	kind  string
	chain func(*Lane, int)
	lanes func(*[NumLanes]Lane, int)
}

func kernels() []kernel {
	all := []kernel{
		{"chosen", Chain, Lanes},
		{"portable", chainPortable, lanesPortable},
	}
	if hardware {
		all = append(all, kernel{hardwareKind, chainHardware, lanesHardware})
	}
	return all
}

// derive is Derive by one kernel, in chunks whose sizes repeat: block by block
// through chain, or through lanes with the blocks of the key in turn.
func (k kernel) derive(password, salt []byte, iterations, keyBytes int, chunks []int, lanes bool) []byte {
	key := NewKey(password)
	run := func(f func(n int)) {
		for i, left := 0, iterations-1; left > 0; i++ {
			n := min(chunks[i%len(chunks)], left)
			f(n)
			left -= n
		}
	}
	var out []byte
	for block := uint32(1); len(out) < keyBytes; {
		if !lanes {
			l := key.Start(salt, block)
			run(func(n int) { k.chain(&l, n) })
			b := l.Sum()
			out = append(out, b[:]...)
			block++
			continue
		}
		var set [NumLanes]Lane
		for i := range set {
			set[i] = key.Start(salt, block)
			block++
		}
		run(func(n int) { k.lanes(&set, n) })
		for i := range set {
			b := set[i].Sum()
			out = append(out, b[:]...)
		}
	}
	return out[:keyBytes]
}

func TestKnownAnswers(t *testing.T) {
	t.Parallel()
	rows := 0
	for _, a := range workload.Answers() {
		if a.PRF != workload.SHA256 {
			continue
		}
		rows++
		long := a.Iterations > 100_000
		if testing.Short() && long {
			continue
		}
		t.Run(fmt.Sprintf("%d %s", a.Iterations, a.Source), func(t *testing.T) {
			t.Parallel()
			check := func(by string, key []byte) {
				if !bytes.Equal(key, a.Key) {
					t.Errorf("%s: key %x, want %x", by, key, a.Key)
				}
			}
			check("Derive", Derive(a.Password, a.Salt, a.Iterations, len(a.Key)))
			for _, k := range kernels() {
				check(k.kind+" lanes", k.derive(a.Password, a.Salt, a.Iterations, len(a.Key), []int{maxRun}, true))
				if k.kind == "portable" && long {
					continue // slow, and its lanes are its chain
				}
				check(k.kind+" chain", k.derive(a.Password, a.Salt, a.Iterations, len(a.Key), []int{maxRun}, false))
			}
		})
	}
	if rows == 0 {
		t.Error("no known answers for sha256")
	}
}

func TestChunks(t *testing.T) {
	t.Parallel()
	salt := []byte("some salt")
	for _, length := range []int{0, 1, 63, 64, 65, 4096} {
		password := bytes.Repeat([]byte("p"), length)
		for _, iterations := range []int{1, 2, 3, 50, 331} {
			want, err := pbkdf2.Key(sha256.New, string(password), salt, iterations, 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, chunks := range [][]int{{1}, {2}, {7}, {1, 2, 7, 40}, {1000}} {
				for _, k := range kernels() {
					for _, lanes := range []bool{false, true} {
						got := k.derive(password, salt, iterations, len(want), chunks, lanes)
						if !bytes.Equal(got, want) {
							t.Errorf("%s, lanes %t, password of %d, %d iterations in chunks of %v: key %x, want %x",
								k.kind, lanes, length, iterations, chunks, got, want)
						}
					}
				}
			}
		}
	}
}

// TestLongRun crosses the limit of one call of a kernel.
func TestLongRun(t *testing.T) {
	t.Parallel()
	const iterations = maxRun + 3
	want, err := pbkdf2.Key(sha256.New, "password", []byte("salt"), iterations, 70)
	if err != nil {
		t.Fatal(err)
	}
	if got := Derive([]byte("password"), []byte("salt"), iterations, len(want)); !bytes.Equal(got, want) {
		t.Errorf("key %x, want %x", got, want)
	}
}

// TestSalts holds Start's padding against the library at every length that
// could end a block.
func TestSalts(t *testing.T) {
	t.Parallel()
	for n := range 2*blockSize + 2 {
		salt := bytes.Repeat([]byte{0xa5}, n)
		want, err := pbkdf2.Key(sha256.New, "password", salt, 2, 65)
		if err != nil {
			t.Fatal(err)
		}
		if got := Derive([]byte("password"), salt, 2, len(want)); !bytes.Equal(got, want) {
			t.Errorf("salt of %d bytes: key %x, want %x", n, got, want)
		}
	}
}

// TestDistinctLanes gives each lane its own key: nothing may be shared.
func TestDistinctLanes(t *testing.T) {
	t.Parallel()
	for _, k := range kernels() {
		var lanes, want [NumLanes]Lane
		for i := range lanes {
			key := NewKey(fmt.Appendf(nil, "password %d", i))
			lanes[i] = key.Start(fmt.Appendf(nil, "salt %d", i), uint32(i+5))
			want[i] = lanes[i]
			chainPortable(&want[i], 9)
		}
		if k.lanes(&lanes, 9); lanes != want {
			t.Errorf("%s: lanes %v, want %v", k.kind, lanes, want)
		}
	}
}

func TestNothingToDo(t *testing.T) {
	t.Parallel()
	key := NewKey([]byte("password"))
	start := key.Start([]byte("salt"), 1)
	for _, n := range []int{0, -1, -maxRun, -1 << 62} {
		l, set := start, [NumLanes]Lane{start, start}
		Chain(&l, n)
		Lanes(&set, n)
		if l != start || set != [NumLanes]Lane{start, start} {
			t.Errorf("n = %d changed a lane", n)
		}
	}
	want := Derive([]byte("password"), []byte("salt"), 1, 40)
	for _, n := range []int{0, -1, -1 << 62} {
		if got := Derive([]byte("password"), []byte("salt"), n, 40); !bytes.Equal(got, want) {
			t.Errorf("%d iterations: key %x, want that of one", n, got)
		}
		if got := Derive([]byte("password"), []byte("salt"), 1, n); len(got) != 0 {
			t.Errorf("key of %d bytes: %x, want none", n, got)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	password, salt := []byte("password"), make([]byte, 100)
	n := testing.AllocsPerRun(20, func() {
		key := NewKey(password)
		var set [NumLanes]Lane
		for i := range set {
			set[i] = key.Start(salt, uint32(i+1))
			Chain(&set[i], 3)
		}
		Lanes(&set, 3)
		_ = set[0].Sum()
	})
	if n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// TestKind fails, where PBKDF2_GATE_REQUIRE names sha2-kernel, on a machine
// that runs the portable kernel: so a run elsewhere proves which it tested.
func TestKind(t *testing.T) {
	t.Parallel()
	if slices.Contains(strings.Split(os.Getenv("PBKDF2_GATE_REQUIRE"), ","), "sha2-kernel") && !Hardware() {
		t.Errorf("the kernel is %s: PBKDF2_GATE_REQUIRE asks for SHA-256 instructions", Kind())
	}
	if Hardware() == (Kind() == "portable") {
		t.Errorf("Hardware() = %t, Kind() = %q", Hardware(), Kind())
	}
	if want := fmt.Sprintf("%d %s", Version, Kind()); ID() != want {
		t.Errorf("ID() = %q, want %q", ID(), want)
	}
	t.Log(ID())
}

// sources are the files whose code the kernels are.
var sources = []string{"kernel_amd64.s", "kernel_arm64.s", "portable.go", "table.s"}

// digests has, for each version, the digest of the sources' code: comments
// and blank space do not count.
var digests = map[int]string{
	1: "6dd7e30245c4957d2445205ef1394af1fec41c6da4e145fb2a9ef57a8c476986",
}

func TestVersion(t *testing.T) {
	t.Parallel()
	h := sha256.New()
	for _, name := range sources {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(h, name)
		for line := range strings.Lines(string(text)) {
			code, _, _ := strings.Cut(line, "//")
			if words := strings.Fields(code); len(words) > 0 {
				fmt.Fprintln(h, strings.Join(words, " "))
			}
		}
	}
	switch got := hex.EncodeToString(h.Sum(nil)); {
	case digests[Version] == "":
		t.Errorf("version %d has no digest: add\n\t%d: %q,\nto digests", Version, Version, got)
	case digests[Version] != got:
		t.Errorf("the code of a kernel (%s) changed, but Version is still %d, and costs in its unit are on record: raise Version and add to digests\n\t%d: %q,",
			strings.Join(sources, ", "), Version, Version+1, got)
	}
}

func FuzzDerive(f *testing.F) {
	f.Add([]byte("password"), []byte("salt"), uint8(1), uint8(32))
	f.Add([]byte(""), []byte(""), uint8(0), uint8(0))
	f.Add(bytes.Repeat([]byte("p"), 65), bytes.Repeat([]byte("s"), 51), uint8(9), uint8(65))
	f.Add(bytes.Repeat([]byte("p"), 64), bytes.Repeat([]byte("s"), 52), uint8(2), uint8(200))
	f.Fuzz(func(t *testing.T, password, salt []byte, iterations, keyBytes uint8) {
		n, size := int(iterations)+1, int(keyBytes)+1
		want, err := pbkdf2.Key(sha256.New, string(password), salt, n, size)
		if err != nil {
			t.Skip(err)
		}
		if got := Derive(password, salt, n, size); !bytes.Equal(got, want) {
			t.Errorf("key %x, want %x", got, want)
		}
		for _, k := range kernels() {
			if got := k.derive(password, salt, n, size, []int{3, 1}, true); !bytes.Equal(got, want) {
				t.Errorf("%s: key %x, want %x", k.kind, got, want)
			}
		}
	})
}
