package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/baseline"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/host"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/stats"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/yardstick"
)

var baselineList = subcommand{
	name:     "baseline list",
	summary:  "list the platforms and targets that have a baseline",
	help:     "--format json is for scripts: times in ns.",
	settings: []string{"baselines", "format"},
	run: func(c *Command, ctx context.Context, in *invocation) error {
		if err := in.noArgs(); err != nil {
			return err
		}
		if in.folder && in.latest {
			return usageError("baseline list: --folder or --latest: give one of them")
		}
		if in.folder {
			fmt.Fprintln(c.Stdout, in.policy.Baselines)
			return nil
		}
		store, err := baseline.Open(c.path(in.policy.Baselines))
		if err != nil {
			return err
		}
		if in.latest {
			files, err := store.All()
			if err != nil {
				return err
			}
			if name := baseline.Latest(files); name != "" {
				fmt.Fprintln(c.Stdout, name)
			}
			return nil
		}
		entries, err := store.List()
		if err != nil {
			return err
		}
		rows := []listRow{}
		for _, e := range entries {
			rows = append(rows, listRow{e.Platform.GOOS, e.Platform.GOARCH, e.Platform.CPUID, e.CPU, e.Target, workloadOf(e.Workload), e.Latest, e.Date, e.Releases, e.Replicas, e.NsPerOp})
		}
		switch in.policy.Format {
		case "json":
			return writeJSON(c.Stdout, rows)
		case "text":
		default:
			return usageError("baseline list: --format %s is not for this: use text or json", in.policy.Format)
		}
		if len(rows) == 0 {
			fmt.Fprintf(c.Stdout, "%s holds no baselines: record one with `pbkdf2-gate measure --out result.txt` and `pbkdf2-gate baseline update --release NAME result.txt`\n", in.policy.Baselines)
			return nil
		}
		w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "platform\tcpu-id\ttarget\tworkload\trelease\tdate\treplicas\tone hash\treleases")
		for _, r := range rows {
			fmt.Fprintf(w, "%s/%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%d\n", r.GOOS, r.GOARCH, r.CPUID, r.Target, r.Workload.short(), r.Release, r.Date.Format(time.DateOnly), r.Replicas, hashTime(r.NsPerHash), r.Releases)
		}
		return w.Flush()
	},
}

var baselineShow = subcommand{
	name:     "baseline show",
	synopsis: "[CPU-ID]",
	summary:  "show the releases recorded for this machine's platform, or for CPU-ID",
	help: `What applies to a run: the latest release, and the anchor, against which small
steps add up. --format json is for scripts: times in ns.`,
	settings: []string{"baselines", "format"},
	run: func(c *Command, ctx context.Context, in *invocation) error {
		if len(in.args) > 1 {
			return usageError("baseline show: one CPU-ID at most, got %d words", len(in.args))
		}
		if f := in.policy.Format; f != "json" && f != "text" {
			return usageError("baseline show: --format %s is not for this: use text or json", f)
		}
		store, err := baseline.Open(c.path(in.policy.Baselines))
		if err != nil {
			return err
		}
		files, err := store.All()
		if err != nil {
			return err
		}
		var name string
		var want func(host.Platform) bool
		if len(in.args) == 1 {
			name = in.args[0]
			want = func(p host.Platform) bool { return p.CPUID == name }
		} else {
			here := c.Host().Platform()
			name = "this machine (" + here.CPUID + ")"
			want = func(p host.Platform) bool { return p == here }
		}
		files = slices.DeleteFunc(files, func(f baseline.File) bool { return !want(f.Platform) })
		if len(files) == 0 {
			return usageError("%s has no baselines in %s: `pbkdf2-gate baseline list` lists what there is", name, in.policy.Baselines)
		}
		if in.policy.Format == "json" {
			rows := []showRow{}
			for _, f := range files {
				rows = append(rows, showRows(f, in.policy.BaselineThreshold)...)
			}
			return writeJSON(c.Stdout, rows)
		}
		for i, f := range files {
			if i > 0 {
				fmt.Fprintln(c.Stdout)
			}
			fmt.Fprintf(c.Stdout, "%s/%s %s (%s)\n", f.Platform.GOOS, f.Platform.GOARCH, f.Runs[len(f.Runs)-1].Host.CPU, f.Platform.CPUID)
			w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "target\tworkload\trelease\tdate\tone hash\tof the chain\trounds\ttoolchain\tleg\trun\tapplies")
			for _, r := range showRows(f, in.policy.BaselineThreshold) {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.3f\t%d\t%s\t%s\t%s\t%s\n", r.Target, r.Workload.short(), r.Release, r.Date.Format(time.DateOnly),
					hashTime(r.NsPerHash), r.RelativeCost, r.Rounds, r.Toolchain, dash(r.Leg), r.Run, dash(strings.Join(r.Applies, ", ")))
			}
			if err := w.Flush(); err != nil {
				return err
			}
		}
		return nil
	},
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

type listRow struct {
	GOOS      string       `json:"goos"`
	GOARCH    string       `json:"goarch"`
	CPUID     string       `json:"cpu_id"`
	CPU       string       `json:"cpu"`
	Target    string       `json:"target"`
	Workload  workloadText `json:"workload"`
	Release   string       `json:"release"`
	Date      time.Time    `json:"date"`
	Releases  int          `json:"releases"`
	Replicas  int          `json:"replicas"`
	NsPerHash float64      `json:"ns_per_hash"`
}

type showRow struct {
	GOOS         string       `json:"goos"`
	GOARCH       string       `json:"goarch"`
	CPUID        string       `json:"cpu_id"`
	Target       string       `json:"target"`
	Workload     workloadText `json:"workload"`
	Release      string       `json:"release"`
	Date         time.Time    `json:"date"`
	Commit       string       `json:"commit"`
	Run          string       `json:"run"`
	Leg          string       `json:"leg"`
	Toolchain    string       `json:"toolchain"`
	Rounds       int          `json:"rounds"`
	NsPerHash    float64      `json:"ns_per_hash"`
	RelativeCost float64      `json:"relative_cost"`
	Applies      []string     `json:"applies"` // latest, anchor: as what a run is held against it
}

func showRows(f baseline.File, threshold float64) []showRow {
	var rows []showRow
	version := result.Run{Yardstick: yardstick.ID()}.YardstickVersion()
	for _, r := range f.Runs {
		var rel []float64
		for _, x := range r.Rounds {
			rel = append(rel, x.RelCost)
		}
		sel := baseline.Select(f.Runs, r.Target, r.Workload, version, threshold)
		applies := []string{}
		for _, s := range []struct {
			as   string
			runs []result.Run
		}{{"latest", sel.Latest}, {"anchor", sel.Anchor}} {
			if slices.ContainsFunc(s.runs, func(x result.Run) bool { return x.Release == r.Release && x.ID == r.ID && x.Plan == r.Plan }) {
				applies = append(applies, s.as)
			}
		}
		rows = append(rows, showRow{f.Platform.GOOS, f.Platform.GOARCH, f.Platform.CPUID, r.Target, workloadOf(r.Workload), r.Release, r.Date, r.Commit, r.ID, r.Leg,
			r.Toolchain, len(r.Rounds), medianOf(r), stats.Median(rel), applies})
	}
	return rows
}
