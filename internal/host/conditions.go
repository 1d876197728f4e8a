package host

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Conditions lists what could disturb a measurement here, one "name: value
// (what it means)" a line; what cannot be read is left out.
func Conditions() []string { return machine().conditions() }

func (s source) conditions() []string {
	var lines []string
	for _, c := range []struct{ name, value string }{
		{"cpus", s.cpuCount()},
		{"affinity", s.affinityText()},
		{"cpu quota", s.quota()},
		{"load", s.load()},
		{"steal", s.steal()},
		{"frequency governor", s.governor()},
		{"turbo", s.turbo()},
		{"smt", s.smt()},
		{"hypervisor", s.hypervisor()},
		{"emulated", s.emulated()},
	} {
		if c.value != "" {
			lines = append(lines, c.name+": "+clean(c.value))
		}
	}
	return lines
}

const sysCPU = "sys/devices/system/cpu/"

func (s source) cpuCount() string {
	online := 0
	if n, ok := s.sysctlInt("hw.activecpu"); ok {
		online = int(n)
	} else {
		online = countList(s.file(sysCPU + "online"))
	}
	switch {
	case s.cpus == 1:
		return "1 (the system shares it with the measurement)"
	case online > s.cpus:
		return fmt.Sprintf("%d of %d online (the others are not allowed to this process)", s.cpus, online)
	}
	return fmt.Sprintf("%d (all that are online)", s.cpus)
}

// countList counts the CPUs of a list such as 0-3,8; 0 where it is none.
func countList(list string) int {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		from, to, ranged := strings.Cut(part, "-")
		lo, err := strconv.Atoi(from)
		if err != nil {
			return 0
		}
		hi := lo
		if ranged {
			if hi, err = strconv.Atoi(to); err != nil {
				return 0
			}
		}
		n += max(hi-lo+1, 0)
	}
	return n
}

func (s source) affinityText() string {
	if err := s.affinity(); err != nil {
		return fmt.Sprintf("none: %v (program and yardsticks may run on different cores)", err)
	}
	return "can be set (program and yardsticks share one core)"
}

// quota is the least CPU time that a control group around this process
// grants, in CPUs; a process over it is stopped until the next period.
func (s source) quota() string {
	least := 0.0
	note := func(quota, period string) {
		q, err := strconv.ParseFloat(quota, 64)
		p, err2 := strconv.ParseFloat(period, 64)
		if err == nil && err2 == nil && q > 0 && p > 0 && (least == 0 || q/p < least) {
			least = q / p
		}
	}
	for line := range strings.Lines(s.file("proc/self/cgroup")) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(line, ":")
		// A container sees its own group at the top, whatever the name says.
		for group = path.Clean("/" + group); ; group = path.Dir(group) {
			if controllers == "" {
				quota, period, _ := strings.Cut(s.file(path.Join("sys/fs/cgroup", group, "cpu.max")), " ")
				note(quota, period)
			} else if strings.Contains(","+controllers+",", ",cpu,") {
				dir := path.Join("sys/fs/cgroup/cpu", group)
				note(s.file(dir+"/cpu.cfs_quota_us"), s.file(dir+"/cpu.cfs_period_us"))
			}
			if group == "/" {
				break
			}
		}
	}
	if least == 0 || least >= float64(s.cpus) {
		return ""
	}
	return fmt.Sprintf("%.2f CPUs (a process over it is stopped for part of every period)", least)
}

func (s source) load() string {
	f := strings.Fields(s.file("proc/loadavg"))
	if len(f) < 3 {
		return ""
	}
	one, err := strconv.ParseFloat(f[0], 64)
	if err != nil {
		return ""
	}
	meaning := "idle enough"
	if one > 0.5 {
		meaning = "other work runs here: expect fewer clean slices"
	}
	return fmt.Sprintf("%s over 1 minute, %s over 5 (%s)", f[0], f[1], meaning)
}

// steal is the share of the busy time, since boot, that went to other guests.
func (s source) steal() string {
	f := stat(s.file("proc/stat"), "cpu")
	if len(f) < 8 {
		return ""
	}
	var t [8]float64 // user, nice, system, idle, iowait, irq, softirq, steal
	busy := 0.0
	for i := range t {
		n, err := strconv.ParseUint(f[i], 10, 64)
		if err != nil {
			return ""
		}
		t[i] = float64(n)
		if i != 3 && i != 4 {
			busy += t[i]
		}
	}
	if busy == 0 {
		return ""
	}
	share, meaning := 100*t[7]/busy, "the host gives what it promises"
	if share >= 1 {
		meaning = "other guests take time from this one"
	}
	return fmt.Sprintf("%.1f %% of the busy time since boot (%s)", share, meaning)
}

func (s source) governor() string {
	switch g := s.file(sysCPU + "cpu0/cpufreq/scaling_governor"); g {
	case "":
		return ""
	case "performance":
		return g + " (the clock stays up)"
	default:
		return g + " (the clock follows the load; the chain yardstick shows it)"
	}
}

func (s source) turbo() string {
	boost, noTurbo := s.file(sysCPU+"cpufreq/boost"), s.file(sysCPU+"intel_pstate/no_turbo")
	switch {
	case boost == "1" || noTurbo == "0":
		return "on (the clock depends on heat and on the other cores)"
	case boost == "0" || noTurbo == "1":
		return "off (the clock is steady)"
	}
	return ""
}

func (s source) smt() string {
	siblings := s.file(sysCPU + "cpu0/topology/thread_siblings_list")
	active := s.file(sysCPU + "smt/active")
	switch {
	case countList(siblings) > 1:
		return fmt.Sprintf("on, CPUs %s are one core (a busy sibling slows a hash by a fifth; the lanes yardstick shows it)", siblings)
	case active == "" && siblings == "":
		return ""
	case s.hypervisor() != "":
		return "none that this guest can see (the host may still share the core)"
	}
	return "off (no sibling shares the core)"
}

func (s source) hypervisor() string {
	vmm, _ := s.sysctlInt("kern.hv_vmm_present")
	flags := parseCPUInfo(s.file("proc/cpuinfo")).x86["flags"]
	if vmm == 1 || strings.Contains(" "+flags+" ", " hypervisor ") {
		return "yes (a virtual machine: neighbours come and go)"
	}
	return ""
}

func (s source) emulated() string {
	by := s.translator()
	if by == "" {
		by = s.machineEmulator()
	}
	if by == "" {
		return ""
	}
	return "by " + by + " (figures say nothing about a real CPU)"
}
