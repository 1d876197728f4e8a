package report

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/verdict"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/workload"
)

func fold(b *bytes.Buffer, title string) {
	fmt.Fprintf(b, "\n<details><summary>%s</summary>\n\n", title)
}

func unfold(b *bytes.Buffer) { b.WriteString("\n</details>\n") }

// markdownMeasurement folds away how each target was measured, and where.
func (r Report) markdownMeasurement(b *bytes.Buffer, order []int) {
	var rows bytes.Buffer
	for _, i := range order {
		if t := r.Targets[i]; t.Head != nil && t.Head.Rounds+t.Head.DisturbedRounds > 0 {
			r.markdownEvidence(&rows, t)
		}
	}
	if rows.Len() == 0 {
		return
	}
	fold(b, "Rounds, clean share, smallest visible change, yardsticks")
	b.WriteString("| Target | Seen from | Rounds | Dropped | Clean, % | Own halves | Hashes/s/core | Relative cost | Chain, lanes | Built with |\n")
	b.WriteString("| :-- | --: | --: | --: | --: | --: | --: | --: | --: | :-- |\n")
	b.Write(rows.Bytes())
	b.WriteString("\nSeen from: the smallest slowdown that would have been called one. " +
		"Dropped: rounds with too few clean slices. Clean: the share of slices that nothing disturbed. " +
		"Own halves: what two halves of the head's own rounds, drawn at random, differ by. " +
		"Chain, lanes: the yardsticks on the same core, ns a compression. Where there are two figures: head, base.\n")
	if r.Spent != nil {
		fmt.Fprintf(b, "\nTime: %s.\n", r.Spent.words("head"))
	}
	unfold(b)
	r.markdownCosts(b, order)
	r.markdownInstructions(b, order)

	fold(b, "Machines and plans")
	for _, m := range r.remarks(order, func(t Target) []string { return []string{t.fingerprint()} }) {
		fmt.Fprintf(b, "- %s: %s\n", r.whom(m.at, escapeName), m.text)
	}
	quiet := r.remarks(order, func(t Target) []string {
		if t.Verdict != verdict.OK {
			return nil
		}
		return t.differences(escapeName)
	})
	for _, m := range quiet {
		fmt.Fprintf(b, "- %s, differs %s\n", r.whom(m.at, escapeName), m.text)
	}
	r.markdownCoverage(b)
	unfold(b)
}

func (r Report) markdownEvidence(b *bytes.Buffer, t Target) {
	sides := []*Side{t.Head}
	if t.Base != nil {
		sides = append(sides, t.Base)
	}
	each := func(figure func(*Side) string) string {
		var s []string
		for _, side := range sides {
			s = append(s, figure(side))
		}
		return strings.Join(s, ",&nbsp;")
	}
	seen, halves, cost, yardsticks := "–", "–", "–", "–"
	if c := t.decider(); c != nil {
		seen = nowrap(visible(c.SmallestVisiblePercent))
		if c.HeadHalvesPercent != nil {
			halves = nowrap(c.HeadHalvesPercent.String())
		}
	}
	if t.RelativeCost > 0 {
		cost = three(t.RelativeCost)
	}
	if h := t.Head; h.Rounds > 0 {
		yardsticks = fixed(h.ChainNsPerCompression, 1) + ",&nbsp;" + fixed(h.LanesNsPerCompression, 1)
	}
	name := escapeName(t.Name)
	if t.Leg != "" {
		name += "<br><sub>" + escapeName(t.Leg) + "</sub>"
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", name, seen,
		each(func(s *Side) string { return strconv.Itoa(s.Rounds) }),
		each(func(s *Side) string { return strconv.Itoa(s.DisturbedRounds) }),
		each(func(s *Side) string {
			if s.Contended {
				return "–"
			}
			return fixed(s.CleanPercent, 0)
		}),
		halves, rate(t.HashesPerSecondPerCore), cost, yardsticks, t.Head.builtWith(escapeName))
}

// fingerprint is the machine and the plan in a line, escaped.
func (t Target) fingerprint() string {
	if t.Host.GOOS == "" {
		return ""
	}
	var s []string
	add := func(name, value string) {
		if value != "" {
			s = append(s, strings.TrimSpace(name+" "+escapeName(value)))
		}
	}
	h := t.Host
	add("", t.Platform)
	add("cpu-id", h.CPUID)
	add("sha", h.SHA)
	add("image", h.Image)
	add("kernel", h.Kernel)
	add("host", h.HostID)
	add("emulated by", h.Emulated)
	if t.Head != nil {
		add("yardstick", t.Head.Yardstick)
		add("run", t.Head.RunID)
		add("commit", shortCommit(t.Head.Commit))
		if p := t.Head.Plan; p.Slices > 0 {
			s = append(s, fmt.Sprintf("%d slices of %s iterations after %d to warm up, yardsticks of %s",
				p.Slices, workload.Group(p.SliceIterations), p.WarmUpSlices, duration(float64(p.YardstickNs))))
		}
	}
	if t.Base != nil {
		add("base", shortCommit(t.Base.Commit))
	}
	return strings.Join(s, "; ")
}

func shortCommit(s string) string { return clip(s[:min(12, len(s))], 12) }

// markdownHow folds away how to accept an intended change and how to see the
// same at home.
func (r Report) markdownHow(b *bytes.Buffer) {
	fold(b, "Accept an intended change, or reproduce it")
	fmt.Fprintf(b, "To accept it, record new baselines on each platform and merge them; the baselines of the base commit are what counts:\n\n```sh\n%s\n%s\n```\n", measureCommand, recordCommand)
	w := r.Workload
	prf, err := workload.ParsePRF(w.PRF)
	if err != nil {
		prf = "PRF"
	}
	flags := fmt.Sprintf("--prf %s --iterations %d --salt-bytes %d --key-bytes %d", prf, w.Iterations, w.SaltBytes, w.KeyBytes)
	for _, t := range r.Targets {
		if t.Base != nil {
			flags += " --base-ref " + commitWord(t.Base.Commit)
			break
		}
	}
	fmt.Fprintf(b, "\nTo reproduce it, on a machine with such a CPU:\n\n```sh\npbkdf2-gate check %s\n```\n", flags)
	unfold(b)
}
