package host

import (
	"errors"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestCPU(t *testing.T) {
	cpuinfo := func(goarch, text string) source { return linux(goarch, files{"proc/cpuinfo": text}) }
	for _, c := range []struct {
		name                     string
		s                        source
		brand, id, sha, emulated string
	}{
		{"EPYC 9004", cpuinfo("amd64", epyc9004), "AMD EPYC", "amd-epyc-f25m17s1-sha", "sha_ni", ""},
		{"EPYC 7763", cpuinfo("amd64", epyc7763), "AMD EPYC 7763 64-Core Processor", "amd-epyc-7763-f25m1s1-sha", "sha_ni", ""},
		{"Xeon 8272CL", cpuinfo("amd64", xeon8272), "Intel(R) Xeon(R) Platinum 8272CL CPU @ 2.60GHz", "intel-xeon-platinum-8272cl-f6m85s7-nosha", "none", ""},
		{"SHA-512 as well", cpuinfo("amd64", strings.ReplaceAll(epyc7763, "sha_ni", "sha512 sha_ni")), "AMD EPYC 7763 64-Core Processor", "amd-epyc-7763-f25m1s1-sha+sha512", "sha_ni+sha512", ""},
		{"no flags", cpuinfo("amd64", strings.ReplaceAll(epyc7763, "flags", "flug")), "AMD EPYC 7763 64-Core Processor", "amd-epyc-7763-f25m1s1-unknown", "", ""},
		{"a model that is no number", cpuinfo("amd64", strings.ReplaceAll(epyc7763, "model		: 1", "model		: ../x")), "AMD EPYC 7763 64-Core Processor", "amd-epyc-7763-f25mxs1-sha", "sha_ni", ""},
		{"unknown vendor", cpuinfo("amd64", strings.ReplaceAll(epyc7763, "AuthenticAMD", "  ../Shanghai  ")), "AMD EPYC 7763 64-Core Processor", "shanghai-amd-epyc-7763-f25m1s1-sha", "sha_ni", ""},
		{"Neoverse N2", cpuinfo("arm64", neoverseN2), "Neoverse N2 r0p3", "neoverse-n2-41d49v0r3-sha2+sha512+sha3", "sha1+sha2+sha512+sha3", ""},
		{"two kinds of core", cpuinfo("arm64", bigLittle), "Cortex-A53 r0p4 + Cortex-A72 r0p3", "cortex-a53+cortex-a72-41d03v0r4+41d08v0r3-sha2", "sha1+sha2", ""},
		{"unknown Arm", cpuinfo("arm64", unknownArm), "Arm 0x77/0x123 r1p10", "arm-77-123-77123v1ra-nosha", "none", ""},
		{"SHA-2 alone", cpuinfo("arm64", strings.ReplaceAll(bigLittle, "sha1 ", "")), "Cortex-A53 r0p4 + Cortex-A72 r0p3", "cortex-a53+cortex-a72-41d03v0r4+41d08v0r3-nosha1+sha2", "sha2", ""},
		{"no files", linux("amd64", nil), "", "unknown-x-unknown", "", ""},
		{"not a cpuinfo", cpuinfo("arm64", "\x00\xff: :\n::::\nprocessor\n"), "", "unknown-x-unknown", "", ""},
		{"Apple M1", appleM1(), "Apple M1 (Virtual)", "apple-m1-virtual-1b588bb3-sha2+sha512+sha3", "sha1+sha2+sha512+sha3", ""},
		{"Intel Mac", macIntel(0), "Intel(R) Core(TM) i7-8700B CPU @ 3.20GHz", "intel-core-i7-8700b-f6m158s10-nosha", "none", ""},
		{"Rosetta", macIntel(1), "Intel(R) Core(TM) i7-8700B CPU @ 3.20GHz", "intel-core-i7-8700b-f6m158s10-nosha", "none", "rosetta"},
		{"a Mac that tells nothing", darwin("arm64", nil, nil), "", "apple-x-unknown", "", ""},

		{"qemu-aarch64 on x86-64", linux("arm64", files{"proc/cpuinfo": epyc7763, "proc/self/stat": qemuStat, "proc/self/auxv": qemuAuxv}),
			"qemu on AMD EPYC 7763 64-Core Processor", "qemu-on-amd-epyc-7763-f25m1s1-sha2+sha512+sha3", "sha1+sha2+sha512+sha3", "qemu"},
		{"by its name only", linux("arm64", files{"proc/cpuinfo": neoverseN2, "proc/self/stat": realStat, "proc/self/status": "Name:\tqemu-aarch64-st\nUmask:\t0022\n"}),
			"qemu on Neoverse N2 r0p3", "qemu-on-neoverse-n2-41d49v0r3-unknown", "", "qemu"},
		{"qemu-x86_64 on x86-64", linux("amd64", files{"proc/cpuinfo": epyc7763, "proc/self/stat": qemuStat}),
			"qemu on AMD EPYC 7763 64-Core Processor", "qemu-on-amd-epyc-7763-f25m1s1-unknown", "", "qemu"},
		{"x86 lines in an arm64 program", linux("arm64", files{"proc/cpuinfo": epyc7763, "proc/self/stat": realStat}),
			"unknown emulator on AMD EPYC 7763 64-Core Processor", "unknown-emulator-on-amd-epyc-7763-f25m1s1-unknown", "", "unknown emulator"},
		{"Arm lines in an amd64 program", cpuinfo("amd64", neoverseN2),
			"unknown emulator on Neoverse N2 r0p3", "unknown-emulator-on-neoverse-n2-41d49v0r3-unknown", "", "unknown emulator"},
		{"the kernel's own word", linux("amd64", files{"proc/cpuinfo": epyc7763, "proc/sys/kernel/arch": "aarch64\n"}),
			"unknown emulator on AMD EPYC 7763 64-Core Processor", "unknown-emulator-on-amd-epyc-7763-f25m1s1-unknown", "", "unknown emulator"},
		{"Rosetta in a Linux guest", linux("amd64", files{"proc/cpuinfo": strings.ReplaceAll(strings.ReplaceAll(xeon8272, "GenuineIntel", "VirtualApple"), "Intel(R) Xeon(R) Platinum 8272CL CPU", "VirtualApple"), "proc/sys/kernel/arch": "aarch64\n"}),
			"VirtualApple @ 2.60GHz", "virtualapple-f6m85s7-nosha", "none", "rosetta"},
		{"a generic CPU, emulated", linux("amd64", files{"proc/cpuinfo": qemuVirtual, "sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm \n"}),
			"QEMU Virtual CPU version 2.5+", "amd-qemu-virtual-version-2.5+-f15m107s1-nosha", "none", "qemu"},
		{"a generic CPU under KVM", linux("amd64", files{"proc/cpuinfo": qemuVirtual, "sys/devices/system/clocksource/clocksource0/available_clocksource": "kvm-clock tsc \n"}),
			"QEMU Virtual CPU version 2.5+", "amd-qemu-virtual-version-2.5+-f15m107s1-nosha", "none", ""},
		{"emulated with everything", cpuinfo("amd64", strings.ReplaceAll(qemuVirtual, "Virtual", "TCG")),
			"QEMU TCG CPU version 2.5+", "amd-qemu-tcg-version-2.5+-f15m107s1-nosha", "none", "qemu"},
		{"an Arm that nobody made", cpuinfo("arm64", qemuMax), "Arm 0x00/0x051 r0p0", "arm-00-051-00051v0r0-sha2", "sha1+sha2", "qemu"},
		{"a name with brackets", linux("amd64", files{"proc/cpuinfo": epyc7763, "proc/self/stat": realStat, "proc/self/status": "Name:\ta) b.test\n", "proc/sys/kernel/arch": "x86_64\n"}),
			"AMD EPYC 7763 64-Core Processor", "amd-epyc-7763-f25m1s1-sha", "sha_ni", ""},
	} {
		f := c.s.read()
		if f.CPU != c.brand || f.CPUID != c.id || f.SHA != c.sha || f.Emulated != c.emulated {
			t.Errorf("%s:\n got %q %q %q %q\nwant %q %q %q %q", c.name, f.CPU, f.CPUID, f.SHA, f.Emulated, c.brand, c.id, c.sha, c.emulated)
		}
		if err := contract(f); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Any change to what identifies a CPU must change its id.
func TestIDsDiffer(t *testing.T) {
	seen := map[string]string{}
	see := func(what, goarch, text string) {
		id := linux(goarch, files{"proc/cpuinfo": text}).read().CPUID
		if before, ok := seen[id]; ok {
			t.Errorf("%s has the id %s of %s", what, id, before)
		}
		seen[id] = what
	}
	see("amd64", "amd64", epyc7763)
	for _, change := range [][2]string{
		{"AuthenticAMD", "HygonGenuine"}, {"AuthenticAMD", "GenuineIntel"},
		{"family	: 25", "family	: 2"}, {"family	: 25", "family	: 26"},
		{"model		: 1", "model		: 11"}, {"model		: 1", "model		: 17"},
		{"stepping	: 1", "stepping	: 0"}, {"stepping	: 1", "stepping	: 11"},
		{" sha_ni", ""}, {" sha_ni", " sha512"}, {" sha_ni", " sha_ni sha512"}, {"flags", "flug"},
		{"EPYC 7763", "EPYC 7713"}, {"EPYC 7763", "EPYC 7763-f25m1s1-sha"}, {"EPYC 7763", "EPYC"},
		{"EPYC 7763", "EPYC 7763" + strings.Repeat("x", 200)}, {"EPYC 7763", "EPYC 7763" + strings.Repeat("x", 90) + "y"},
	} {
		changed := strings.Replace(epyc7763, change[0], change[1], 1)
		if changed == epyc7763 {
			t.Fatalf("%q changes nothing", change)
		}
		see(change[0]+" -> "+change[1], "amd64", changed)
	}
	see("arm64", "arm64", neoverseN2)
	for _, change := range [][2]string{
		{"0x41", "0x6d"}, {"0xd49", "0xd4f"}, {"0xd49", "0xd99"}, {"variant	: 0x0", "variant	: 0x1"}, {"revision	: 3", "revision	: 4"},
		{" sha512", ""}, {" sha3", ""}, {" sha1", ""}, {" sha2", ""}, {" sha1 sha2", ""},
	} {
		see(change[0]+" -> "+change[1], "arm64", strings.ReplaceAll(neoverseN2, change[0], change[1]))
	}
	see("one core of another kind", "arm64", strings.Replace(neoverseN2, "0xd49", "0xd40", 1))
}

func TestSlug(t *testing.T) {
	for brand, want := range map[string]string{
		"AMD EPYC 9V74 80-Core Processor":                 "amd-epyc-9v74",
		"INTEL(R) XEON(R) PLATINUM 8573C":                 "intel-xeon-platinum-8573c",
		"Intel(R) Xeon(R) 6973P-C CPU @ 2.80GHz":          "intel-xeon-6973p-c",
		"11th Gen Intel(R) Core(TM) i7-1185G7 @ 3.00GHz":  "intel-core-i7-1185g7",
		"AMD Ryzen 7 5700G with Radeon Graphics         ": "amd-ryzen-7-5700g",
		"AMD Ryzen AI 9 HX 370 w/ Radeon 890M":            "amd-ryzen-ai-9-hx-370",
		"AMD Ryzen Threadripper PRO 5995WX 64-Cores":      "amd-ryzen-threadripper-pro-5995wx",
		"Quad-Core AMD Opteron(tm) Processor 2376":        "amd-opteron-2376",
		"Intel Core Processor (Haswell, no TSX, IBRS)":    "intel-core-haswell-no-tsx-ibrs",
		"Apple M1 (Virtual)":                              "apple-m1-virtual",
		"../../etc/passwd":                                "..-..-etc-passwd",
		"":                                                "",
		"Processor":                                       "",
		"läng\x00\n":                                      "l-ng",
	} {
		if got := slug(brand); got != want {
			t.Errorf("slug(%q) = %q, want %q", brand, got, want)
		}
	}
}

func TestHostID(t *testing.T) {
	const boot = "63b25fec-ef4f-4d59-a806-ce1456cda59d"
	id := func(f files) string { return linux("amd64", f).hostID() }
	a := id(files{"proc/sys/kernel/random/boot_id": boot + "\n"})
	if a != id(files{"proc/sys/kernel/random/boot_id": boot, "proc/stat": "btime 5\n"}) {
		t.Error("one boot has two ids")
	}
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(a) || strings.Contains(boot, a[:8]) {
		t.Errorf("id %s", a)
	}
	if a == id(files{"proc/sys/kernel/random/boot_id": strings.Replace(boot, "6", "7", 1)}) {
		t.Error("two boots have one id")
	}
	at := func(second string) string { return id(files{"proc/stat": "cpu 1 2 3\nbtime " + second + "\n"}) }
	five, again := at("5"), at("5")
	if five != again || five == at("6") {
		t.Error("without a boot id the time of the boot must decide")
	}
	other := linux("amd64", files{"proc/stat": "btime 5\n"})
	other.hostname = func() (string, error) { return "", errors.New("none") }
	if five == other.hostID() {
		t.Error("two hosts that booted in one second have one id")
	}
	if a, b := id(nil), id(nil); a == b {
		t.Error("machines that tell nothing must not look like one")
	}
	if a, b := appleM1().hostID(), appleM1().hostID(); a != b {
		t.Error("one boot of a Mac has two ids")
	}
}

func TestImageAndKernel(t *testing.T) {
	release := func(text string) source { return linux("amd64", files{"etc/os-release": text}) }
	runner := release("PRETTY_NAME=\"Ubuntu 24.04\"\n")
	runner.getenv = func(name string) string {
		return map[string]string{"ImageOS": "ubuntu24", "ImageVersion": "20261115.1"}[name]
	}
	for _, c := range []struct {
		s             source
		image, kernel string
	}{
		{runner, "ubuntu24 20261115.1", ""},
		{release("NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"), "Debian GNU/Linux 12 (bookworm)", ""},
		{release("PRETTY_NAME=Alpine"), "Alpine", ""},
		{release("PRETTY_NAME='"), "'", ""},
		{release("PRETTY_NAME=\"a\tb\x1b[31m\u00e9\""), "a b [31m?", ""},
		{linux("amd64", files{"usr/lib/os-release": "PRETTY_NAME=\"Clear\"", "proc/sys/kernel/osrelease": "6.8.0-1\n"}), "Clear", "6.8.0-1"},
		{linux("amd64", nil), "", ""},
		{appleM1(), "macOS 15.1", "24.1.0"},
		{darwin("arm64", nil, nil), "", ""},
	} {
		if f := c.s.read(); f.Image != c.image || f.Kernel != c.kernel {
			t.Errorf("image %q, kernel %q; want %q, %q", f.Image, f.Kernel, c.image, c.kernel)
		}
	}
}

func TestDiff(t *testing.T) {
	then := linux("amd64", files{"proc/cpuinfo": epyc7763}).read()
	if d := Diff(then, linux("amd64", files{"proc/cpuinfo": epyc7763}).read()); d != nil {
		t.Errorf("another boot: %v", d)
	}
	var names []string
	for _, d := range Diff(then, linux("arm64", files{"proc/cpuinfo": neoverseN2}).read()) {
		names = append(names, d.Name)
	}
	if got := strings.Join(names, " "); got != "arch cpu cpu-id sha" {
		t.Errorf("differ in %q", got)
	}
	if p := then.Platform(); p.String() != "linux/amd64 amd-epyc-7763-f25m1s1-sha" {
		t.Errorf("platform %v", p)
	}
}

func TestThisMachine(t *testing.T) {
	f := Read()
	t.Logf("%+v", f)
	if err := contract(f); err != nil {
		t.Error(err)
	}
	if f.GOOS != runtime.GOOS || f.GOARCH != runtime.GOARCH || f.Kernel == "" || strings.HasPrefix(f.CPUID, "unknown") {
		t.Errorf("%+v", f)
	}
	if g := Read(); g != f {
		t.Errorf("read twice: %+v, %+v", f, g)
	}
	if slices.Contains(strings.Split(os.Getenv("PBKDF2_GATE_REQUIRE"), ","), "qemu") && f.Emulated != "qemu" {
		t.Errorf("emulated by %q, want qemu", f.Emulated)
	}
}

var (
	idForm   = regexp.MustCompile(`^[a-z0-9][a-z0-9._+-]{0,127}$`)
	textForm = regexp.MustCompile(`^([!-~]([ -~]{0,118}[!-~])?)?$`)
)

// contract holds a fingerprint to what the type promises.
func contract(f Fingerprint) error {
	for _, id := range []string{f.CPUID, f.HostID} {
		if !idForm.MatchString(id) {
			return errors.New("bad id " + id)
		}
	}
	for _, text := range []string{f.CPU, f.SHA, f.Image, f.Kernel, f.Emulated} {
		if !textForm.MatchString(text) || strings.Contains(text, "  ") {
			return errors.New("bad text " + text)
		}
	}
	return nil
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{epyc9004, xeon8272, neoverseN2, bigLittle, qemuMax, "vendor_id: ..\nmodel name: ..", "PRETTY_NAME=\""} {
		f.Add("arm64", text, qemuStat, qemuAuxv)
		f.Add("amd64", text, realStat, text)
	}
	f.Fuzz(func(t *testing.T, goarch, text, stat, auxv string) {
		s := linux(goarch, files{
			"proc/cpuinfo": text, "proc/self/stat": stat, "proc/self/auxv": auxv, "proc/stat": stat,
			"etc/os-release": text, "proc/sys/kernel/osrelease": text, "proc/self/status": text,
			"proc/loadavg": stat, "proc/self/cgroup": text, "sys/fs/cgroup/cpu.max": stat,
			"sys/devices/system/cpu/online": stat, "sys/devices/system/cpu/cpu0/topology/thread_siblings_list": text,
		})
		if err := contract(s.read()); err != nil {
			t.Error(err)
		}
		for _, line := range s.conditions() {
			if len(line) > maxText+40 || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("bad line %q", line)
			}
		}
		mac := darwin(goarch, map[string]string{"machdep.cpu.brand_string": text, "machdep.cpu.vendor": stat, "kern.osproductversion": text}, nil)
		if err := contract(mac.read()); err != nil {
			t.Error(err)
		}
	})
}
