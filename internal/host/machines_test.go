package host

import (
	"errors"
	"testing/fstest"
)

// Machines as their files and sysctls describe them; lines that nothing here
// reads are left out.

const epyc9004 = `processor	: 0
vendor_id	: AuthenticAMD
cpu family	: 25
model		: 17
model name	: AMD EPYC
stepping	: 1
microcode	: 0xa101148
flags		: fpu vme sse sse2 ht hypervisor avx2 sha_ni xsaveopt avx512_bf16
bogomips	: 6000.00

processor	: 1
vendor_id	: AuthenticAMD
cpu family	: 25
model		: 17
model name	: AMD EPYC
stepping	: 1
flags		: fpu vme sse sse2 ht hypervisor avx2 sha_ni xsaveopt avx512_bf16
`

const epyc7763 = `processor	: 0
vendor_id	: AuthenticAMD
cpu family	: 25
model		: 1
model name	: AMD EPYC 7763 64-Core Processor
stepping	: 1
flags		: fpu sse2 hypervisor sha_ni
`

const xeon8272 = `processor	: 0
vendor_id	: GenuineIntel
cpu family	: 6
model		: 85
model name	: Intel(R) Xeon(R) Platinum 8272CL CPU @ 2.60GHz
stepping	: 7
flags		: fpu sse2 hypervisor avx512f avx512vl
`

const qemuVirtual = `processor	: 0
vendor_id	: AuthenticAMD
cpu family	: 15
model		: 107
model name	: QEMU Virtual CPU version 2.5+
stepping	: 1
flags		: fpu sse2 hypervisor
`

const neoverseN2 = `processor	: 0
BogoMIPS	: 2000.00
Features	: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics sha3 asimddp sha512 sve
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x0
CPU part	: 0xd49
CPU revision	: 3

processor	: 1
BogoMIPS	: 2000.00
Features	: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics sha3 asimddp sha512 sve
CPU implementer	: 0x41
CPU architecture: 8
CPU variant	: 0x0
CPU part	: 0xd49
CPU revision	: 3
`

const bigLittle = `processor	: 0
Features	: fp asimd aes pmull sha1 sha2 crc32
CPU implementer	: 0x41
CPU variant	: 0x0
CPU part	: 0xd08
CPU revision	: 3

processor	: 1
Features	: fp asimd aes pmull sha1 sha2 crc32
CPU implementer	: 0x41
CPU variant	: 0x0
CPU part	: 0xd03
CPU revision	: 4

processor	: 2
Features	: fp asimd aes pmull sha1 sha2 crc32
CPU implementer	: 0x41
CPU variant	: 0x0
CPU part	: 0xd03
CPU revision	: 4
`

const unknownArm = `processor	: 0
Features	: fp asimd
CPU implementer	: 0x77
CPU variant	: 0x1
CPU part	: 0x123
CPU revision	: 10
`

const qemuMax = `processor	: 0
Features	: fp asimd sha1 sha2
CPU implementer	: 0x0
CPU variant	: 0x0
CPU part	: 0x051
CPU revision	: 0
`

const (
	realStat = "41 (a) b.test) R 40 41 7 0 -1 4194304 102 0 0 0 0 0 0 0 20 0 1 0 104149 3133440 364 18446744073709551615\n"
	qemuStat = "8913 (ha) 0 7832 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 85545 0 0 0 0 0 365080610864\n"
)

// qemuAuxv is AT_PHNUM, then AT_HWCAP with every SHA instruction, as
// qemu-aarch64 7.2 gives them; the first byte is white space on purpose.
const qemuAuxv = "\x09\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00" +
	"\x10\x00\x00\x00\x00\x00\x00\x00\xfb\xff\xff\xec\x00\x00\x00\x00"

type files map[string]string

// linux is a source that has these files and nothing else.
func linux(goarch string, f files) source {
	root := fstest.MapFS{}
	for name, text := range f {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return source{
		goos:      "linux",
		goarch:    goarch,
		cpus:      2,
		root:      root,
		getenv:    func(string) string { return "" },
		hostname:  func() (string, error) { return "host", nil },
		sysctl:    func(string) string { return "" },
		sysctlInt: func(string) (uint64, bool) { return 0, false },
		affinity:  func() error { return nil },
	}
}

// darwin is a source that answers these sysctls and nothing else.
func darwin(goarch string, texts map[string]string, ints map[string]uint64) source {
	s := linux(goarch, nil)
	s.goos = "darwin"
	s.sysctl = func(name string) string { return texts[name] }
	s.sysctlInt = func(name string) (uint64, bool) { n, ok := ints[name]; return n, ok }
	s.affinity = func() error { return errors.New("no call for it") }
	return s
}

func appleM1() source {
	return darwin("arm64", map[string]string{
		"machdep.cpu.brand_string": "Apple M1 (Virtual)",
		"kern.osproductversion":    "15.1",
		"kern.osrelease":           "24.1.0",
		"kern.bootsessionuuid":     "A0A0A0A0-0000-4000-8000-000000000000",
	}, map[string]uint64{
		"hw.cpufamily":                0x1b588bb3,
		"hw.activecpu":                3,
		"hw.optional.arm.FEAT_SHA1":   1,
		"hw.optional.arm.FEAT_SHA256": 1,
		"hw.optional.arm.FEAT_SHA512": 1,
		"hw.optional.arm.FEAT_SHA3":   1,
		"kern.hv_vmm_present":         1,
		"sysctl.proc_translated":      0,
	})
}

func macIntel(translated uint64) source {
	return darwin("amd64", map[string]string{
		"machdep.cpu.brand_string":   "Intel(R) Core(TM) i7-8700B CPU @ 3.20GHz",
		"machdep.cpu.vendor":         "GenuineIntel",
		"machdep.cpu.leaf7_features": "RDWRFSGS TSC_THREAD_OFFSET SGX BMI1 AVX2",
	}, map[string]uint64{
		"machdep.cpu.family":     6,
		"machdep.cpu.model":      158,
		"machdep.cpu.stepping":   10,
		"sysctl.proc_translated": translated,
	})
}
