// Package host says what machine this is: enough to compare like with like,
// and to tell what changed when a figure moved.
package host

// Fingerprint identifies a machine as far as a hash's cost depends on it.
// Every value is one line of printable text; empty means unknown.
type Fingerprint struct {
	GOOS, GOARCH string
	CPU          string // brand, for people: "AMD EPYC 7763 64-Core Processor"
	// CPUID is the platform's identity within GOOS and GOARCH: brand, family,
	// model, stepping and SHA extensions, such as amd-epyc-7763-f25m1s1-sha;
	// [A-Za-z0-9._+-]{1,128}, opaque to readers.
	CPUID string
	// SHA lists the CPU's SHA instructions that a program can use, such as
	// "sha_ni" or "sha1+sha2+sha512"; "none" where there are none.
	SHA string
	// HostID is equal for measurements made on one boot of one machine: a
	// hash of the boot's identity; [A-Za-z0-9._+-]{1,128}.
	HostID string
	Image  string // operating system image or distribution, with version
	Kernel string
	// Emulated says by what the CPU is emulated ("qemu", "rosetta"); empty
	// on a real or virtual one.
	Emulated string
}

// Platform is what baselines are kept by.
type Platform struct{ GOOS, GOARCH, CPUID string }

// Platform returns the part of the fingerprint that baselines are kept by.
func (f Fingerprint) Platform() Platform {
	return Platform{f.GOOS, f.GOARCH, f.CPUID}
}

func (p Platform) String() string { return p.GOOS + "/" + p.GOARCH + " " + p.CPUID }

// Difference is one fact in which two fingerprints differ.
type Difference struct{ Name, Then, Now string }

// Diff lists what differs from then to now, in a fixed order. HostID is left
// out: another boot is no news.
func Diff(then, now Fingerprint) []Difference {
	var d []Difference
	for _, f := range []struct{ name, then, now string }{
		{"os", then.GOOS, now.GOOS},
		{"arch", then.GOARCH, now.GOARCH},
		{"cpu", then.CPU, now.CPU},
		{"cpu-id", then.CPUID, now.CPUID},
		{"sha", then.SHA, now.SHA},
		{"image", then.Image, now.Image},
		{"kernel", then.Kernel, now.Kernel},
		{"emulated", then.Emulated, now.Emulated},
	} {
		if f.then != f.now {
			d = append(d, Difference{f.name, f.then, f.now})
		}
	}
	return d
}
