package host

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Read reads the fingerprint of this machine. It never fails: what cannot be
// read stays empty.
func Read() Fingerprint { return machine().read() }

func (s source) read() Fingerprint {
	c := s.cpu()
	by := s.translator()
	switch by {
	case "":
		by = s.machineEmulator()
	case "rosetta": // tells of a CPU of its own
	default:
		c = s.behind(by, c)
	}
	return Fingerprint{
		GOOS:     s.goos,
		GOARCH:   s.goarch,
		CPU:      clean(c.brand),
		CPUID:    c.id(),
		SHA:      c.shaText(),
		HostID:   s.hostID(),
		Image:    clean(s.image()),
		Kernel:   clean(s.kernel()),
		Emulated: clean(by),
	}
}

// hostID hashes what identifies this boot, so that files do not carry the
// identity itself. A machine that does not tell gets an id that equals no
// other: a wrong match would narrow the noise that is allowed for.
func (s source) hostID() string {
	boot := s.file("proc/sys/kernel/random/boot_id")
	if boot == "" {
		boot = s.sysctl("kern.bootsessionuuid")
	}
	if boot == "" {
		if since := stat(s.file("proc/stat"), "btime"); len(since) == 1 {
			name, _ := s.hostname()
			boot = name + " " + since[0]
		}
	}
	if boot == "" {
		boot = rand.Text()
	}
	sum := sha256.Sum256([]byte("pbkdf2-gate host\n" + boot))
	return hex.EncodeToString(sum[:8])
}

// image is the runner image of a hosted runner, else the distribution.
func (s source) image() string {
	if os := s.getenv("ImageOS"); os != "" {
		return strings.TrimSpace(os + " " + s.getenv("ImageVersion"))
	}
	if s.goos == "darwin" {
		if v := s.sysctl("kern.osproductversion"); v != "" {
			return "macOS " + v
		}
		return ""
	}
	for _, name := range []string{"etc/os-release", "usr/lib/os-release"} {
		for line := range strings.Lines(s.file(name)) {
			v, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME=")
			if !ok {
				continue
			}
			if len(v) > 1 && (v[0] == '"' || v[0] == '\'') && v[len(v)-1] == v[0] {
				v = v[1 : len(v)-1]
			}
			return v
		}
	}
	return ""
}

func (s source) kernel() string {
	if s.goos == "darwin" {
		return s.sysctl("kern.osrelease")
	}
	return s.file("proc/sys/kernel/osrelease")
}

// stat has the values of one line of /proc/stat.
func stat(text, name string) []string {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			return f[1:]
		}
	}
	return nil
}

// translator says what runs this program's instructions on another CPU, from
// signs that were seen to hold. Under qemu-aarch64 7.2 on x86-64, uname says
// aarch64 and /proc/self/exe, maps and cmdline are the program's, but
// /proc/cpuinfo and /proc/sys/kernel/arch are the real machine's,
// /proc/self/status names qemu (not when binfmt_misc started it), and
// /proc/self/stat has a virtual size of 0, which no live process has. The
// auxiliary vector shows nothing but an absent vDSO. Newer versions write an
// Arm /proc/cpuinfo, which machineEmulator would recognise.
func (s source) translator() string {
	if v, _ := s.sysctlInt("sysctl.proc_translated"); v == 1 {
		return "rosetta"
	}
	if s.goos != "linux" {
		return ""
	}
	info := parseCPUInfo(s.file("proc/cpuinfo"))
	if strings.HasPrefix(info.x86["model name"], "VirtualApple") {
		return "rosetta"
	}
	if strings.HasPrefix(s.file("proc/self/status"), "Name:\tqemu-") {
		return "qemu"
	}
	// What follows the program's name starts with field 3; vsize is field 23.
	line := s.file("proc/self/stat")
	if f := strings.Fields(line[strings.LastIndexByte(line, ')')+1:]); len(f) > 20 && f[20] == "0" {
		return "qemu"
	}
	kernel := s.file("proc/sys/kernel/arch") // since Linux 6.1
	switch {
	case s.goarch == "arm64" && (kernel == "x86_64" || info.x86 != nil),
		s.goarch == "amd64" && (kernel == "aarch64" || info.x86 == nil && info.arm != nil):
		return "unknown emulator"
	}
	return ""
}

// machineEmulator says what emulates the whole machine.
func (s source) machineEmulator() string {
	info := parseCPUInfo(s.file("proc/cpuinfo"))
	brand := info.x86["model name"]
	if strings.HasPrefix(brand, "QEMU TCG") {
		return "qemu"
	}
	// The generic model is given to guests on real CPUs too; they have a
	// clock of their hypervisor.
	clocks := s.file("sys/devices/system/clocksource/clocksource0/available_clocksource")
	if strings.HasPrefix(brand, "QEMU Virtual CPU") && !strings.Contains(clocks, "kvm-clock") {
		return "qemu"
	}
	for _, c := range info.arm {
		if c.implementer == 0 && c.part == 'Q' {
			return "qemu"
		}
	}
	return ""
}
