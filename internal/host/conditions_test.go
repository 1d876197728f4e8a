package host

import (
	"errors"
	"strings"
	"testing"
)

func TestConditions(t *testing.T) {
	busy := linux("amd64", files{
		"proc/cpuinfo":                  epyc9004,
		"proc/loadavg":                  "1.50 0.75 0.30 2/150 4242\n",
		"proc/stat":                     "cpu  600 100 200 9000 50 0 0 100 0 0\ncpu0 1 2 3\nbtime 5\n",
		"sys/devices/system/cpu/online": "0-3\n",
		"sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0-1\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":      "schedutil\n",
		"sys/devices/system/cpu/cpufreq/boost":                      "1\n",
		"proc/self/cgroup":                                          "0::/a/b\n",
		"sys/fs/cgroup/a/b/cpu.max":                                 "max 100000\n",
		"sys/fs/cgroup/a/cpu.max":                                   "150000 100000\n",
		"sys/fs/cgroup/cpu.max":                                     "190000 100000\n",
	})
	busy.affinity = func() error { return errors.New("operation not permitted") }
	quiet := linux("amd64", files{
		"proc/loadavg":                  "0.10 0.20 0.30 1/150 4242\n",
		"proc/stat":                     "cpu  600 100 200 9000 50 0 0 0 0 0\n",
		"sys/devices/system/cpu/online": "0-1\n",
		"sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":      "performance\n",
		"sys/devices/system/cpu/intel_pstate/no_turbo":              "1\n",
		"proc/self/cgroup":                    "2:cpuacct,cpu:/\n1:memory:/x\n",
		"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  "-1\n",
		"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
	})
	oldQuota := linux("amd64", files{
		"proc/self/cgroup":                    "3:cpu,cpuacct:/docker/x\n",
		"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  "50000\n",
		"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
	})
	alone := linux("amd64", nil)
	alone.cpus = 1
	for _, c := range []struct {
		name string
		s    source
		want string // the values, without what they mean
	}{
		{"busy", busy, "cpus: 2 of 4 online; affinity: none: operation not permitted; cpu quota: 1.50 CPUs; load: 1.50 over 1 minute, 0.75 over 5; steal: 10.0 % of the busy time since boot; frequency governor: schedutil; turbo: on; smt: on, CPUs 0-1 are one core; hypervisor: yes"},
		{"quiet", quiet, "cpus: 2; affinity: can be set; load: 0.10 over 1 minute, 0.20 over 5; steal: 0.0 % of the busy time since boot; frequency governor: performance; turbo: off; smt: off"},
		{"version 1 groups", oldQuota, "cpus: 2; affinity: can be set; cpu quota: 0.50 CPUs"},
		{"nothing to read", alone, "cpus: 1; affinity: can be set"},
		{"emulated", linux("arm64", files{"proc/cpuinfo": qemuMax}), "cpus: 2; affinity: can be set; emulated: by qemu"},
		{"Mac", appleM1(), "cpus: 2 of 3 online; affinity: none: no call for it; hypervisor: yes"},
		{"nonsense", linux("amd64", files{"proc/loadavg": "a b c", "proc/stat": "cpu -1 2 3 4 5 6 7 8", "sys/devices/system/cpu/online": "9-", "proc/self/cgroup": "::\n:::\n../..\n"}), "cpus: 2; affinity: can be set"},
	} {
		var got []string
		for _, line := range c.s.conditions() {
			value, meaning, ok := strings.Cut(line, " (")
			if !ok || !strings.HasSuffix(meaning, ")") {
				t.Errorf("%s: %q does not say what it means", c.name, line)
			}
			got = append(got, value)
		}
		if g := strings.Join(got, "; "); g != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, g, c.want)
		}
	}
	if len(Conditions()) < 2 {
		t.Errorf("this machine: %q", Conditions())
	}
}

func TestCountList(t *testing.T) {
	for list, want := range map[string]int{"0": 1, "0-3": 4, "0-1,4,6-7": 5, "": 0, "x": 0, "1-": 0, "5-2": 0} {
		if got := countList(list); got != want {
			t.Errorf("%q: %d, want %d", list, got, want)
		}
	}
}
