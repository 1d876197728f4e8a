//go:build !amd64 && !(arm64 && (linux || darwin))

package yardstick

const hardwareKind = "portable"

func detect() bool { return false }

func chainHardware(l *Lane, n int) { chainPortable(l, n) }

func lanesHardware(l *[NumLanes]Lane, n int) { lanesPortable(l, n) }
