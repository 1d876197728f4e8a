package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

var (
	epyc = host.Fingerprint{GOOS: "linux", GOARCH: "amd64", CPU: "AMD EPYC 7763 64-Core Processor", CPUID: "amd-epyc-7763-f25m1s1-sha",
		SHA: "sha_ni", HostID: "h4f1d2c", Image: "ubuntu-24.04 20261102.1", Kernel: "6.14.0-1012-azure"}
	n2 = host.Fingerprint{GOOS: "linux", GOARCH: "arm64", CPU: "Neoverse-N2", CPUID: "arm-0x41-0xd49-r0p0-sha2",
		SHA: "sha1+sha2", HostID: "h77aa01", Image: "ubuntu-24.04 20261102.1", Kernel: "6.14.0-1012-azure"}
	m1 = host.Fingerprint{GOOS: "darwin", GOARCH: "arm64", CPU: "Apple M1 (Virtual)", CPUID: "apple-m1-virtual",
		SHA: "sha1+sha2+sha512", HostID: "h0c91be", Image: "macos-15.7", Kernel: "24.6.0"}
	machines = []struct {
		leg  string
		host host.Fingerprint
		ns   float64 // Go's time of the reference workload
	}{{"ubuntu-24.04", epyc, 154.8e6}, {"ubuntu-24.04-arm", n2, 181.2e6}, {"macos-15", m1, 139.4e6}}
)

// measured is a run with 30 rounds of ns each.
func measured(f host.Fingerprint, leg, target, side string, ns float64) *result.Run {
	w := workload.Reference()
	r := &result.Run{
		Host: f, Yardstick: "1 sha-ni", Workload: w,
		Plan:   result.Plan{SliceIterations: 3200, Slices: 120, WarmUp: 8, Yardstick: 400 * time.Microsecond},
		Target: target, Side: side, Leg: leg, ID: "18104441776-1",
		Toolchain: "go1.26.8", TargetVersion: "go1.26.8", Mode: "GOAMD64=v1",
		Outcome: result.Measured, Commit: "3f2a9c1b7d5e8f60a1b2c3d4e5f60718293a4b5c",
		Date: time.Date(2026, 11, 3, 9, 30, 0, 0, time.UTC), Disturbed: 2,
		Spent: result.Spent{Build: 1820 * time.Millisecond, Open: 640 * time.Millisecond, Slices: 5210 * time.Millisecond, Yardsticks: 3620 * time.Millisecond, Around: 310 * time.Millisecond},
	}
	if side == result.Base {
		r.Commit = "9d8c7b6a5f4e3d2c1b0a99887766554433221100"
	}
	for i := range 30 {
		r.Rounds = append(r.Rounds, result.Round{Clean: 80 + i%5, NsPerOp: ns, RelCost: ns / w.Compressions() / 37, ChainNs: 37.02, LanesNs: 19.41, CleanShare: float64(80+i%5) / 120})
	}
	return r
}

// of is a measured target, ok until with or its fields say otherwise.
func of(machine int, name string, ns float64) verdict.Target {
	m := machines[machine]
	run := measured(m.host, m.leg, name, result.Head, ns)
	return verdict.Target{Name: name, Leg: m.leg, Host: m.host, Kind: verdict.OK, Head: run,
		NsPerOp: ns, RelCost: run.Rounds[0].RelCost}
}

// against is a comparison whose estimate lies half apart from its bounds.
func against(what string, kind verdict.Kind, ns, est, half float64) verdict.Comparison {
	i := verdict.Interval{Est: est, Lo: est - half, Hi: est + half}
	limit := 0.05
	if what == "base" {
		limit = 0.03
	}
	halves := verdict.Interval{Est: 0.0004, Lo: -0.0021, Hi: 0.0029}
	return verdict.Comparison{Against: what, Kind: kind, Threshold: limit, Raw: i, Relative: i, Expected: 1,
		Smallest: limit + half, Halves: halves, ThenNs: ns / (1 + est), NowNs: ns, Decides: true}
}

// with holds the target against references; the first one decides.
func with(t verdict.Target, cs ...verdict.Comparison) verdict.Target {
	for i := range cs {
		cs[i].Decides = i == 0
	}
	t.Comparisons, t.Kind = cs, cs[0].Kind
	if cs[0].Against == "base" {
		t.Base = measured(t.Host, t.Leg, t.Name, result.Base, cs[0].ThenNs)
	}
	return t
}

func input(exit int, overall verdict.Kind, ts ...verdict.Target) Input {
	return Input{ToolVersion: "v0.1.0", Targets: ts, Overall: overall, Exit: exit,
		Threshold: 0.03, BaselineThreshold: 0.05, Workload: workload.Reference()}
}

func because(t verdict.Target, fails bool, reason string) verdict.Target {
	t.Fails, t.Reason = fails, reason
	return t
}

// scenarios are the reports whose output is kept under testdata.
var scenarios = map[string]func() Input{
	"ok": func() Input {
		in := input(0, verdict.OK,
			with(of(0, "go", 154.8e6), against("v1.4.0", verdict.OK, 154.8e6, 0.0031, 0.0021), against("v1.0.0 (anchor)", verdict.OK, 154.8e6, -0.0112, 0.0024)),
			with(of(0, "go-x-crypto", 155.1e6), against("v1.4.0", verdict.OK, 155.1e6, -0.0007, 0.0022)))
		for i := range in.Targets {
			in.Targets[i].Leg = ""
		}
		return in
	},
	"slower": func() Input {
		bad := with(of(0, "node", 177.3e6), against("base", verdict.Slower, 177.3e6, 0.1214, 0.0031), against("v1.4.0", verdict.Slower, 177.3e6, 0.1302, 0.019))
		bad.Comparisons[0].Differs = []host.Difference{{Name: "toolchain", Then: "node v16.20.2, OpenSSL 1.1.1", Now: "node v18.20.8, OpenSSL 3.0"}, {Name: "lock file", Then: "a81f0c", Now: "77d2e9"}}
		return input(1, verdict.Slower,
			with(of(0, "go", 154.8e6), against("base", verdict.OK, 154.8e6, 0.0005, 0.0015), against("v1.4.0", verdict.OK, 154.8e6, 0.0044, 0.011)),
			because(bad, true, "its whole interval lies past 3 %, while the other targets and the yardsticks are where they were"),
			with(of(0, "python", 224.1e6), against("base", verdict.OK, 224.1e6, -0.0021, 0.0061), against("v1.4.0", verdict.OK, 224.1e6, 0.0101, 0.0145)))
	},
	"instructions": func() Input {
		counted := func(t verdict.Target, thens ...float64) verdict.Target {
			t.Head.Instructions, t.Head.Cycles = thens[0], 40.1*t.NsPerOp/154.8e6
			for i, then := range thens[1:] {
				t.Comparisons[i].Instructions = verdict.Instructions{Then: then, Now: thens[0]}
				if t.Comparisons[i].Against == "base" {
					t.Base.Instructions, t.Base.Cycles = then, 40.1*t.Comparisons[i].ThenNs/154.8e6
				}
			}
			return t
		}
		const past = "its whole interval lies past 3 %"
		return input(1, verdict.Slower,
			counted(with(of(1, "go", 154.8e6), against("base", verdict.OK, 154.8e6, 0.0005, 0.0015), against("v1.4.0", verdict.OK, 154.8e6, 0.0044, 0.011)), 61.2501, 61.2498),
			because(counted(with(of(1, "node", 177.3e6), against("base", verdict.Slower, 177.3e6, 0.1214, 0.0031), against("v1.4.0", verdict.Slower, 177.3e6, 0.1302, 0.019)), 77.0123, 68.9456, 68.8702), true, past),
			because(counted(with(of(1, "python", 235.1e6), against("base", verdict.Slower, 235.1e6, 0.0491, 0.0061)), 84.2204, 84.2117), true, past),
			because(counted(with(of(1, "java", 506.2e6), against("base", verdict.Inconclusive, 506.2e6, 0.027, 0.038)), 142.06, 142.11), false, "the interval reaches past 3 %"),
			counted(with(of(1, "ruby", 231.3e6), against("base", verdict.OK, 231.3e6, -0.0021, 0.0061)), 85.1))
	},
	"same-program": func() Input {
		t := with(of(0, "go", 154.8e6), against("base", verdict.OK, 154.8e6, 0.0008, 0.0061))
		t.Comparisons[0].Same = true
		other := with(of(0, "lib", 154.8e6), against("base", verdict.Slower, 154.8e6, 0.0508, 0.0061))
		other.Comparisons[0].Same = true
		return input(1, verdict.Slower, because(t, false, "both sides are the same program"),
			because(other, true, "both sides run the same program file, and yet differ: by something else that it reads, or the machine was not itself"))
	},
	"faster": func() Input {
		t := with(of(0, "php", 28.12e6), against("v8.3.0", verdict.Faster, 28.12e6, -0.7921, 0.0021))
		t.Comparisons[0].Differs = []host.Difference{{Name: "toolchain", Then: "php 8.3.0", Now: "php 8.4.0"}}
		t.Head.Unverified = true
		return input(0, verdict.Faster, because(t, false, "its whole interval lies past -5 %"))
	},
	"inconclusive": func() Input {
		t := with(of(0, "java", 506.2e6), against("v1.4.0", verdict.Inconclusive, 506.2e6, 0.027, 0.038))
		t.Notes = []string{"12 of 20 rounds had too few clean slices", "helper threads used 31 % of the processor time"}
		t.Head.Disturbed = 12
		return input(0, verdict.Inconclusive, because(t, false, "the interval reaches past 5 %"),
			with(of(0, "go", 154.8e6), against("v1.4.0", verdict.OK, 154.8e6, 0.0044, 0.011)))
	},
	"first-run": func() Input {
		t := of(0, "go", 154.8e6)
		t.Kind, t.Reason = verdict.NoBaseline, "the baselines folder holds nothing for this platform"
		in := input(0, verdict.NoBaseline, t)
		in.Notices = []string{"no base commit: the defaults are used, and no baselines"}
		return in
	},
	"uncovered": func() Input {
		t := of(0, "go", 154.8e6)
		t.Host.CPU, t.Host.CPUID = "AMD EPYC 9V74 80-Core Processor", "amd-epyc-9v74-f25m17s1-sha"
		t.Kind, t.Reason = verdict.NoBaseline, "no release is recorded for this target on this platform"
		in := input(0, verdict.NoBaseline, t, with(of(1, "go", 181.2e6), against("v1.4.0", verdict.OK, 181.2e6, 0.0044, 0.011)))
		in.Coverage = []Coverage{
			{"ubuntu-24.04", "v1.4.0", []CoveredCPU{{"amd-epyc-7763-f25m1s1-sha", true}, {"amd-epyc-9v74-f25m17s1-sha", false}, {"intel-8272cl-f6m85s7-nosha", false},
				{"intel-8370c-f6m106s6-sha", true}, {"intel-8573c-f6m207s2-sha", true}}, 15, 11},
			{"ubuntu-24.04-arm", "v1.4.0", []CoveredCPU{{"arm-0x41-0xd49-r0p0-sha2", true}, {"arm-0x41-0xd4f-r0p1-sha2", false}}, 7, 6},
			{"macos-15", "", []CoveredCPU{{"apple-m1-virtual", false}}, 1, 0},
		}
		return in
	},
	"other-cpu": func() Input {
		var ts []verdict.Target
		for _, n := range []string{"go", "node"} {
			t := with(of(0, n, 309.6e6), against("v1.4.0", verdict.NotComparable, 309.6e6, 1, 0))
			c := &t.Comparisons[0]
			c.Raw, c.Relative = verdict.Interval{}, verdict.Interval{}
			c.Differs = []host.Difference{{Name: "cpu", Then: "AMD EPYC 7763 64-Core Processor", Now: "Intel(R) Xeon(R) Platinum 8272CL CPU @ 2.60GHz"}, {Name: "sha", Then: "sha_ni", Now: "none"}}
			t.Host.CPU, t.Host.SHA, t.Host.CPUID = "Intel(R) Xeon(R) Platinum 8272CL CPU @ 2.60GHz", "none", "intel-xeon-8272cl-f6m85s7"
			t.Head.Host, t.Head.Yardstick = t.Host, "1 portable"
			ts = append(ts, because(t, false, "the CPU is not the baseline's: every target moved with it"))
		}
		return input(0, verdict.NotComparable, ts...)
	},
	"broken": func() Input {
		wrong := of(0, "crypto-js", 0)
		wrong.Kind, wrong.Fails, wrong.Reason, wrong.NsPerOp, wrong.RelCost = verdict.WrongKey, true, "iteration 2 derives another key: want 3b1f..., got 0000...", 0, 0
		wrong.Head.Outcome, wrong.Head.Rounds = result.WrongKey, nil
		failed := of(0, "ring", 0)
		failed.Kind, failed.Fails, failed.Reason, failed.NsPerOp, failed.RelCost = verdict.Failed, true, "exit status 101 before its first line; standard error: thread 'main' panicked at src/main.rs:14", 0, 0
		failed.Head.Outcome, failed.Head.Rounds = result.Failed, nil
		return input(1, verdict.WrongKey,
			with(of(0, "go", 154.8e6), against("v1.4.0", verdict.OK, 154.8e6, 0.0044, 0.011)), wrong, failed,
			verdict.Target{Name: "python", Leg: "ubuntu-24.04", Host: epyc, Kind: verdict.Missing, Fails: true, Reason: verdict.NoResult},
			verdict.Target{Leg: "macos-15", Kind: verdict.Missing, Fails: true, Reason: "the leg is expected and sent no result"})
	},
	"workload-changed": func() Input {
		t := with(of(0, "django", 190.2e6), against("v1.4.0", verdict.WorkloadChanged, 190.2e6, 0.0213, 0.0081))
		c := &t.Comparisons[0]
		c.Expected, c.ThenNs = 1.2, 155.2e6
		c.Differs = []host.Difference{{Name: "iterations", Then: "600,000", Now: "720,000"}}
		t.Head.Workload.Iterations = 720_000
		in := input(0, verdict.WorkloadChanged, because(t, false, "720,000 iterations instead of 600,000 explain 20 %; the rest is inside 5 %"))
		in.Workload.Iterations = 720_000
		return in
	},
	"host-slower": func() Input {
		t := with(of(0, "go", 185.8e6), against("v1.4.0", verdict.OK, 185.8e6, 0.2003, 0.011))
		t.Comparisons[0].Relative = verdict.Interval{Est: -0.0011, Lo: -0.0042, Hi: 0.002}
		return input(0, verdict.OK, because(t, false, "the yardsticks are 20 % slower too: the host is slower, the code is not"))
	},
	"emulated": func() Input {
		t := with(of(1, "go", 3.412e9), against("v1.4.0", verdict.NotComparable, 3.412e9, 0, 0))
		t.Comparisons[0].Raw, t.Comparisons[0].Relative = verdict.Interval{}, verdict.Interval{}
		t.Comparisons[0].Differs = []host.Difference{{Name: "emulated", Then: "", Now: "qemu"}}
		t.Host.Emulated = "qemu"
		return input(0, verdict.NotComparable, because(t, false, "the CPU is emulated"))
	},
	"matrix": func() Input {
		var ts []verdict.Target
		for m, machine := range machines {
			for i, name := range []string{"go", "go-x-crypto", "node", "python", "argon-wrapper"} {
				ns := machine.ns * (1 + 0.21*float64(i))
				est := 0.0003 * float64(3*i-5*m)
				t := with(of(m, name, ns), against("base", verdict.OK, ns, est, 0.0019), against("v1.4.0", verdict.OK, ns, est+0.0061, 0.012))
				if name == "node" && m < 2 {
					ns *= 1.36
					t = with(of(m, name, ns), against("base", verdict.Slower, ns, 0.36+0.05*float64(m), 0.0112), against("v1.4.0", verdict.Slower, ns, 0.37, 0.021))
					t.Comparisons[0].Differs = []host.Difference{{Name: "toolchain", Then: "node v16.20.2", Now: "node v18.20.8"}}
					t = because(t, true, "its whole interval lies past 3 %")
				}
				ts = append(ts, t)
			}
		}
		return input(1, verdict.Slower, ts...)
	},
	"hostile": func() Input {
		evil := "@octocat #1 GH-2 :tada: www.evil.example https://evil.example/?a=b&c <img src=x onerror=alert(1)> &lt;b&gt; |a|b| `x` **b** [l](http://e.example) $x^2$\n\n- item\n\x1b[31mred\u202e\x00 a@b.example"
		t := with(of(0, evil, 154.8e6), against(evil, verdict.Slower, 154.8e6, 0.12, 0.01))
		t.Comparisons[0].Differs = []host.Difference{{Name: evil, Then: evil, Now: evil}}
		t.Leg, t.Notes = evil, []string{evil}
		t.Host = host.Fingerprint{GOOS: evil, GOARCH: evil, CPU: evil, CPUID: evil, SHA: evil, HostID: evil, Image: evil, Kernel: evil, Emulated: evil}
		t.Head.Yardstick, t.Head.Toolchain, t.Head.TargetVersion, t.Head.Mode = evil, evil, evil, evil
		t.Head.Commit, t.Head.ID, t.Head.Message, t.Head.Unverified = evil, evil, evil, true
		in := input(1, verdict.Slower, because(t, true, evil), because(with(of(1, "go", 181e6), against("base", verdict.OK, 181e6, 0.001, 0.002)), false, ""))
		in.Notices, in.ToolVersion = []string{evil}, evil
		return in
	},
	"huge": func() Input { return huge(100, 5, 40) },
}

// huge is legs x targets, one in every so many slower.
func huge(legs, targets, every int) Input {
	in := input(1, verdict.Slower)
	for l := range legs {
		m := l % len(machines)
		for i := range targets {
			ns := machines[m].ns * (1 + 0.1*float64(i))
			n := l*targets + i
			t := with(of(m, fmt.Sprintf("target-%c", 'a'+i%26), ns), against("base", verdict.OK, ns, 0.0001*float64(n%37-18), 0.002), against("v1.4.0", verdict.OK, ns, 0.0002*float64(n%31-15), 0.012))
			if n%every == 0 {
				t = because(with(of(m, t.Name, ns), against("base", verdict.Slower, ns, 0.04+0.0005*float64(n), 0.004)), true, "its whole interval lies past 3 %")
			}
			t.Leg = fmt.Sprintf("runner-%03d-%s", l, strings.Repeat("x", l%9))
			in.Targets = append(in.Targets, t)
		}
	}
	return in
}
