package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/baseline"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/gitrepo"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
)

// maxShifts is how many changed baselines are named one by one.
const maxShifts = 12

// shifts says from what to what a pull request that carries baselines would
// change them: folder is theirs in the repository, base what the base commit
// has there. None of it is judged by what the pull request brings.
func (g *ground) shifts(ctx context.Context, p *policy.Policy, folder, base string) []string {
	before, err := readFolder(base)
	if err != nil {
		return nil // the base's own are damaged: whoever reads them says so
	}
	head, err := os.MkdirTemp("", "pbkdf2-gate-head-")
	if err != nil {
		return []string{fmt.Sprintf("what it changes in %s cannot be said: %v", folder, err)}
	}
	g.temp = append(g.temp, head)
	commit, _, err := gitrepo.Head(ctx, g.c.Dir)
	if err == nil {
		_, err = gitrepo.Export(ctx, g.c.Dir, commit, folder, head, maxBaselines)
	}
	if err != nil {
		return []string{fmt.Sprintf("what it changes in %s cannot be said: %v", folder, err)}
	}
	after, err := readFolder(head)
	if err != nil {
		said := strings.ReplaceAll(err.Error(), head+string(filepath.Separator), folder+"/")
		return []string{"once merged, its baselines could not be read, and every check would end with exit code 2: " + said}
	}
	var notices []string
	all := baseline.Shifts(before, after, p.BaselineThreshold)
	for i, s := range all {
		if i == maxShifts {
			notices = append(notices, fmt.Sprintf("and it changes %d baselines more", len(all)-i))
			break
		}
		notices = append(notices, "merging accepts a change of a baseline: "+shiftWords(s))
	}
	return notices
}

func readFolder(dir string) ([]baseline.File, error) {
	store, err := baseline.Open(dir)
	if err != nil {
		return nil, err
	}
	return store.All()
}

// shiftWords: "go on linux/amd64 AMD EPYC 7763: v1.3.0 150 ms -> v1.4.0 161 ms
// (+7.3 %), anchor v1.0.0 -> v1.4.0".
func shiftWords(s baseline.Shift) string {
	step := baseline.Step{Platform: s.Platform, CPU: s.CPU, Target: s.Target, Workload: s.Workload, Then: s.Then.Latest, Now: s.Now.Latest}
	words := stepOf(step).Words()
	if s.Incomparable {
		// No figure of a change that is none.
		words = stepOf(baseline.Step{Platform: s.Platform, CPU: s.CPU, Target: s.Target, Then: s.Then.Latest}).Words()
		words = strings.TrimSuffix(words, "nothing") + fmt.Sprintf("%s, sampled by another plan and not comparable", s.Now.Latest.Release)
	}
	if then, now := s.Then.Anchor, s.Now.Anchor; then.Release != "" && now.Release != "" && then.Release != now.Release {
		words += fmt.Sprintf(", anchor %s -> %s", then.Release, now.Release)
	}
	return words + " (" + s.Workload.String() + ")"
}
