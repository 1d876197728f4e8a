package host

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// cpuInfo is what /proc/cpuinfo says of the CPUs.
type cpuInfo struct {
	x86      map[string]string // the first CPU's lines, on x86; else nil
	arm      []armCore         // distinct kinds of core, on Arm, in order of their numbers; else nil
	features []string          // of the first CPU, on Arm
}

// armCore is the identity of a kind of core, from its MIDR register.
type armCore struct{ implementer, part, variant, revision uint64 }

// parseCPUInfo reads what it knows and skips the rest.
func parseCPUInfo(text string) cpuInfo {
	var info cpuInfo
	block := map[string]string{}
	end := func() {
		if _, ok := block["vendor_id"]; ok && info.x86 == nil {
			info.x86 = block
		}
		if _, ok := block["CPU implementer"]; ok {
			number := func(name string) uint64 {
				n, _ := strconv.ParseUint(block["CPU "+name], 0, 32)
				return n
			}
			c := armCore{number("implementer"), number("part"), number("variant"), number("revision")}
			if !slices.Contains(info.arm, c) {
				info.arm = append(info.arm, c)
			}
			if f, ok := block["Features"]; ok && info.features == nil {
				info.features = strings.Fields(f)
			}
		}
		block = map[string]string{}
	}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(line, ":")
		name = strings.TrimSpace(name)
		if name == "processor" || name == "" {
			end()
		}
		if ok {
			block[name] = strings.TrimSpace(value)
		}
	}
	end()
	slices.SortFunc(info.arm, func(a, b armCore) int {
		return cmp.Or(cmp.Compare(a.implementer, b.implementer), cmp.Compare(a.part, b.part),
			cmp.Compare(a.variant, b.variant), cmp.Compare(a.revision, b.revision))
	})
	return info
}

// armNames are the cores that machines for builds and services have; others
// go by their numbers.
var armNames = map[[2]uint64]string{
	{0x41, 0xd03}: "Cortex-A53",
	{0x41, 0xd07}: "Cortex-A57",
	{0x41, 0xd08}: "Cortex-A72",
	{0x41, 0xd0b}: "Cortex-A76",
	{0x41, 0xd0c}: "Neoverse N1",
	{0x41, 0xd40}: "Neoverse V1",
	{0x41, 0xd49}: "Neoverse N2",
	{0x41, 0xd4f}: "Neoverse V2",
	{0x41, 0xd84}: "Neoverse V3",
	{0x41, 0xd8e}: "Neoverse N3",
	{0x6d, 0xd49}: "Azure Cobalt 100",
	{0xc0, 0xac3}: "Ampere-1",
	{0xc0, 0xac4}: "Ampere-1a",
}

// armCPU names the CPU by its kinds of core.
func armCPU(cores []armCore) cpu {
	var brands, slugs, numbers []string
	for _, c := range cores {
		brand, s := armNames[[2]uint64{c.implementer, c.part}], ""
		if brand == "" {
			brand = fmt.Sprintf("Arm 0x%02x/0x%03x", c.implementer, c.part)
			s = fmt.Sprintf("arm-%02x-%03x", c.implementer, c.part)
		} else {
			s = slug(brand)
		}
		if !slices.Contains(slugs, s) {
			slugs = append(slugs, s)
		}
		brands = append(brands, fmt.Sprintf("%s r%dp%d", brand, c.variant, c.revision))
		numbers = append(numbers, fmt.Sprintf("%02x%03xv%xr%x", c.implementer, c.part, c.variant, c.revision))
	}
	return cpu{
		brand:   strings.Join(brands, " + "),
		slug:    strings.Join(slugs, "+"),
		numbers: strings.Join(numbers, "+"),
	}
}
