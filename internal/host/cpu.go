package host

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// cpu is what identifies a CPU model.
type cpu struct {
	brand   string   // for people
	slug    string   // vendor and brand without the noise: [a-z0-9][a-z0-9._+-]*
	numbers string   // family, model and stepping, or what stands for them: [a-z0-9+]+
	sha     []string // SHA instructions; nil where unknown, empty where none
}

// maxID is the longest CPUID.
const maxID = 128

// id joins what identifies the CPU. Neither numbers nor the SHA part has a
// hyphen, so two CPUs that differ in any part have different ids.
func (c cpu) id() string {
	sha := "nosha"
	switch {
	case c.sha == nil:
		sha = "unknown"
	case len(c.sha) > 0:
		sha = strings.Join(c.sha, "+")
		// The usual sets, short.
		if rest, ok := strings.CutPrefix(sha, "sha_ni"); ok {
			sha = "sha" + rest
		} else if rest, ok := strings.CutPrefix(sha, "sha1+sha2"); ok {
			sha = "sha2" + rest
		} else if strings.HasPrefix(sha, "sha2") {
			sha = "nosha1+" + sha
		}
	}
	rest := shorten("-"+c.numbers+"-"+sha, maxID/2)
	return shorten(c.slug, maxID-len(rest)) + rest
}

// shorten cuts s to n bytes; a hash of the whole keeps it apart from others.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return s[:n-9] + "." + hex.EncodeToString(sum[:4])
}

func (c cpu) shaText() string {
	switch {
	case c.sha == nil:
		return ""
	case len(c.sha) == 0:
		return "none"
	}
	return strings.Join(c.sha, "+")
}

// cpu reads what identifies the CPU that the files or sysctls describe.
func (s source) cpu() cpu {
	if s.goos == "darwin" {
		return s.appleCPU()
	}
	info := parseCPUInfo(s.file("proc/cpuinfo"))
	switch {
	case info.x86 != nil:
		return x86CPU(info.x86)
	case info.arm != nil:
		c := armCPU(info.arm)
		c.sha = only(info.features, armSHA)
		if info.features == nil {
			c.sha = s.auxvSHA()
		}
		return c
	}
	return cpu{slug: "unknown", numbers: "x"}
}

// behind is the identity of a CPU that a program emulates on the CPU c: what
// a hash costs there depends on both. Only arm64 tells which SHA instructions
// the emulated one has; the flags of /proc/cpuinfo are those of the real one.
func (s source) behind(emulator string, c cpu) cpu {
	c.brand = strings.TrimSpace(emulator + " on " + c.brand)
	c.slug = slug(emulator) + "-on-" + c.slug
	c.sha = nil
	if s.goarch == "arm64" {
		c.sha = s.auxvSHA()
	}
	return c
}

var x86SHA = []string{"sha_ni", "sha512"}

func x86CPU(info map[string]string) cpu {
	number := func(name string) string {
		n, err := strconv.ParseUint(info[name], 10, 32)
		if err != nil {
			return "x"
		}
		return fmt.Sprint(n)
	}
	c := cpu{
		brand:   info["model name"],
		slug:    vendorSlug(info["vendor_id"], info["model name"]),
		numbers: "f" + number("cpu family") + "m" + number("model") + "s" + number("stepping"),
	}
	if flags, ok := info["flags"]; ok {
		c.sha = only(strings.Fields(flags), x86SHA)
	}
	return c
}

// only has those of the known flags that the CPU has, in the known order;
// never nil.
func only(flags, known []string) []string {
	has := []string{}
	for _, f := range known {
		if slices.Contains(flags, f) {
			has = append(has, f)
		}
	}
	return has
}

var armSHA = []string{"sha1", "sha2", "sha512", "sha3"}

// auxvSHA reads the SHA instructions that the kernel, or what emulates it,
// announces to the program.
func (s source) auxvSHA() []string {
	const atHWCAP = 16
	bits := map[string]uint64{"sha1": 1 << 5, "sha2": 1 << 6, "sha3": 1 << 17, "sha512": 1 << 21}
	b := s.raw("proc/self/auxv")
	for ; len(b) >= 16; b = b[16:] {
		if binary.LittleEndian.Uint64(b) != atHWCAP {
			continue
		}
		v, has := binary.LittleEndian.Uint64(b[8:]), []string{}
		for _, f := range armSHA {
			if v&bits[f] != 0 {
				has = append(has, f)
			}
		}
		return has
	}
	return nil
}

// noise is what brands carry besides the model.
var noise = regexp.MustCompile(`\((r|tm|c)\)|@.*|\bw(ith|/) radeon.*|\b\d+(st|nd|rd|th) gen\b|\b(\d+|dual|quad|six|eight)-cores?\b|\b(cpu|processor)\b`)

var between = regexp.MustCompile(`[^a-z0-9._+]+`)

// slug is a brand as part of an id: lower case, without noise; may be empty.
func slug(brand string) string {
	s := noise.ReplaceAllString(strings.ToLower(clean(brand)), " ")
	return strings.Trim(between.ReplaceAllString(s, "-"), "-")
}

var vendors = map[string]string{"AuthenticAMD": "amd", "GenuineIntel": "intel", "HygonGenuine": "hygon"}

var notAlphanumeric = regexp.MustCompile(`[^a-z0-9]+`)

// vendorSlug is the slug of a brand, with the vendor in front where the brand
// does not start with it.
func vendorSlug(vendor, brand string) string {
	v := vendors[vendor]
	if v == "" {
		v = notAlphanumeric.ReplaceAllString(strings.ToLower(vendor), "")
	}
	if v == "" {
		v = "unknown"
	}
	switch b := slug(brand); {
	case b == "":
		return v
	case b == v || strings.HasPrefix(b, v+"-"):
		return b
	default:
		return v + "-" + b
	}
}

func (s source) appleCPU() cpu {
	c := cpu{brand: s.sysctl("machdep.cpu.brand_string"), numbers: "x"}
	if s.goarch == "amd64" {
		c.slug = vendorSlug(s.sysctl("machdep.cpu.vendor"), c.brand)
		c.numbers = ""
		for _, f := range []struct{ letter, name string }{{"f", "family"}, {"m", "model"}, {"s", "stepping"}} {
			c.numbers += f.letter
			if n, ok := s.sysctlInt("machdep.cpu." + f.name); ok {
				c.numbers += fmt.Sprint(n)
			} else {
				c.numbers += "x"
			}
		}
		if flags := s.sysctl("machdep.cpu.leaf7_features"); flags != "" {
			c.sha = []string{}
			if slices.Contains(strings.Fields(flags), "SHA") {
				c.sha = []string{"sha_ni"}
			}
		}
		return c
	}
	c.slug = vendorSlug("Apple", c.brand)
	if n, ok := s.sysctlInt("hw.cpufamily"); ok {
		c.numbers = fmt.Sprintf("%08x", n)
	}
	for i, name := range []string{"SHA1", "SHA256", "SHA512", "SHA3"} {
		v, ok := s.sysctlInt("hw.optional.arm.FEAT_" + name)
		if ok && c.sha == nil {
			c.sha = []string{}
		}
		if v == 1 {
			c.sha = append(c.sha, armSHA[i])
		}
	}
	return c
}
