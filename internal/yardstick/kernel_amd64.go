package yardstick

const hardwareKind = "sha-ni"

// chainHardware runs n iterations, n > 0.
//
//go:noescape
func chainHardware(l *Lane, n int)

// lanesHardware runs n iterations of each lane, n > 0.
//
//go:noescape
func lanesHardware(l *[NumLanes]Lane, n int)

// cpuid executes CPUID for a leaf and its subleaf 0.
func cpuid(leaf uint32) (eax, ebx, ecx uint32)

// detect asks CPUID itself: golang.org/x/sys/cpu has no word for SHA on amd64
// and follows GODEBUG.
func detect() bool {
	const (
		ssse3 = 1 << 9  // leaf 1, ECX
		sse41 = 1 << 19 // leaf 1, ECX
		sha   = 1 << 29 // leaf 7, EBX
	)
	if last, _, _ := cpuid(0); last < 7 {
		return false
	}
	_, _, ecx := cpuid(1)
	_, ebx, _ := cpuid(7)
	return ecx&ssse3 != 0 && ecx&sse41 != 0 && ebx&sha != 0
}
