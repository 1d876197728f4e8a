package probes

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
	"github.com/pbkdf2-gate/pbkdf2-gate/internal/target"
)

// config is what the probe's README says to write into .pbkdf2-gate.yaml.
func config(t *testing.T, folder string) (build string, spec target.Spec) {
	t.Helper()
	readme := read(t, folder+"/README.md")
	_, rest, ok := strings.Cut(readme, "\n```yaml\n")
	block, rest, ok2 := strings.Cut(rest, "\n```\n")
	if !ok || !ok2 || strings.Contains(rest, "```yaml") {
		t.Fatalf("%s/README.md does not have one block of YAML", folder)
	}
	values, err := policy.Load([]byte(block), folder+"/README.md")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Resolve(values)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Targets) != 1 {
		t.Fatalf("%s/README.md names %d targets", folder, len(p.Targets))
	}
	if spec, err = target.ParseSpec(p.Targets[0]); err != nil {
		t.Fatal(err)
	}
	return p.Build, spec
}

// The READMEs name what is there.
func TestReadmes(t *testing.T) {
	var folders []string
	entries, err := os.ReadDir(filepath.Join(root, "probes"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, e.Name())
		}
	}
	var want []string
	for folder := range known {
		want = append(want, folder)
	}
	slices.Sort(want)
	if d := cmp.Diff(want, folders); d != "" {
		t.Errorf("folders (-known +there):\n%s", d)
	}
	table := table(t)
	for _, folder := range want {
		if len(table[folder]) == 0 {
			t.Errorf("the table in probes/README.md lacks %s", folder)
		}
		build, spec := config(t, folder)
		if want := "./probes/build.sh " + folder; build != want {
			t.Errorf("%s/README.md: build is %q, want %q", folder, build, want)
		}
		if spec.Kind != target.Probe || !strings.Contains(spec.Rest, "probes/"+folder+"/") {
			t.Errorf("%s/README.md: target %s", folder, spec)
		}
		if readme := read(t, folder+"/README.md"); !strings.Contains(strings.ToLower(readme), "copy") {
			t.Errorf("%s/README.md does not say what to copy", folder)
		}
	}
	if len(table) != len(want) {
		t.Errorf("the table in probes/README.md has %d rows, want %d", len(table), len(want))
	}
}

// table is the table in probes/README.md: prfs by folder.
func table(t *testing.T) map[string][]string {
	t.Helper()
	prfs := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| \[([a-z-]+)\]\(([a-z-]+)\).* \| ([a-z0-9, ]+) \|$`).FindAllStringSubmatch(read(t, "README.md"), -1) {
		if m[1] != m[2] {
			t.Errorf("the link of %s leads to %s", m[1], m[2])
		}
		prfs[m[1]] = strings.Split(m[3], ", ")
	}
	return prfs
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "probes", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
