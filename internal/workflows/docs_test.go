package workflows

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
)

// The tables of docs/github.md are the inputs and outputs.
func TestDocs(t *testing.T) {
	doc := read(t, "docs/github.md", nil)
	row := regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (?:(?:`(.*)`)? ?\\| )?(.*) \\|$")
	var inputs, outputs []map[string]port
	for _, block := range regexp.MustCompile(`(?s)\| (?:input|output) \|.*?\n\n`).FindAllString(doc, -1) {
		table := map[string]port{}
		for _, m := range row.FindAllStringSubmatch(block, -1) {
			table[m[1]] = port{Default: m[2], Description: m[3]}
		}
		if strings.HasPrefix(block, "| input |") {
			inputs = append(inputs, table)
		} else {
			outputs = append(outputs, table)
		}
	}
	if len(inputs) != 4 || len(outputs) != 1 {
		t.Fatalf("%d tables of inputs, %d of outputs", len(inputs), len(outputs))
	}
	for i, f := range []string{"gate.yml", "comment.yml", "baseline.yml"} {
		var w workflow
		read(t, ".github/workflows/"+f, &w)
		var c call
		if err := w.On.Decode(&c); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.WorkflowCall.Inputs, inputs[i]); d != "" {
			t.Errorf("inputs of %s (-yaml +table):\n%s", f, d)
		}
		for name, out := range c.WorkflowCall.Outputs {
			job := map[bool]string{true: "record", false: "report"}[f == "baseline.yml"]
			if out.Value != "${{ jobs."+job+".outputs."+name+" }}" || !strings.Contains(doc, "`"+name+"`") {
				t.Errorf("%s output %s is %s, or is not documented", f, name, out.Value)
			}
		}
	}
	var a action
	read(t, "action.yml", &a)
	for _, s := range policy.Settings {
		if in, ok := a.Inputs[s.Name]; ok {
			in.Default = s.Default
			a.Inputs[s.Name] = in
		}
	}
	if d := cmp.Diff(a.Inputs, inputs[3]); d != "" {
		t.Errorf("inputs of action.yml (-yaml +table):\n%s", d)
	}
	for name, out := range a.Outputs {
		a.Outputs[name] = port{Description: out.Description}
	}
	if d := cmp.Diff(a.Outputs, outputs[0]); d != "" {
		t.Errorf("outputs of action.yml (-yaml +table):\n%s", d)
	}

	// The README has the action's tables too, word for word.
	readme := read(t, "README.md", nil)
	_, own, _ := strings.Cut(doc, "## Your own matrix")
	for _, block := range regexp.MustCompile(`(?s)\| (?:input|output) \|.*?\n\n`).FindAllString(own, -1) {
		if !strings.Contains(readme, block) {
			t.Errorf("README.md lacks this table of docs/github.md:\n%s", block)
		}
	}
}

// actionlint finds nothing, neither in the workflows nor in the examples.
func TestActionlint(t *testing.T) {
	require(t, "actionlint")
	lint := func(args ...string) {
		t.Helper()
		// Without helpers, which are not the same everywhere.
		cmd := exec.Command("actionlint", append([]string{"-shellcheck=", "-pyflakes="}, args...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("actionlint: %v\n%s", err, out)
		}
	}
	var files []string
	for _, name := range []string{"gate", "full", "comment", "baseline", "token", "steps"} {
		file := filepath.Join(t.TempDir(), name+".yml")
		if err := os.WriteFile(file, []byte(example(t, name)), 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	lint(append([]string{"-config-file", ".github/actionlint.yaml"}, files...)...)
	for _, f := range workflowFiles(t) {
		lint("-config-file", ".github/actionlint.yaml", f)
	}
}

// example is the block of docs/github.md below the comment that names it.
func example(t *testing.T, name string) string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/github.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(doc), "<!-- example: "+name+" -->\n")
	rest, ok2 := strings.CutPrefix(strings.TrimLeft(rest, "\n"), "```yaml\n")
	block, _, ok3 := strings.Cut(rest, "```\n")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("docs/github.md has no example %s", name)
	}
	return block
}
