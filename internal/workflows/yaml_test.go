// Package workflows has no code: its tests hold action.yml, the workflows and
// docs/github.md to their rules, and run them.
package workflows

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/policy"
)

const root = "../.."

type step struct {
	Name  string            `yaml:"name"`
	ID    string            `yaml:"id"`
	If    string            `yaml:"if"`
	Uses  string            `yaml:"uses"`
	Run   string            `yaml:"run"`
	Shell string            `yaml:"shell"`
	With  map[string]string `yaml:"with"`
	Env   map[string]string `yaml:"env"`
}

type job struct {
	Uses        string            `yaml:"uses"`
	If          string            `yaml:"if"`
	Timeout     int               `yaml:"timeout-minutes"`
	Permissions map[string]string `yaml:"permissions"`
	Outputs     map[string]string `yaml:"outputs"`
	Env         map[string]string `yaml:"env"`
	Steps       []step            `yaml:"steps"`
}

type port struct {
	Description string `yaml:"description"`
	Default     string `yaml:"default"`
	Value       string `yaml:"value"`
}

type workflow struct {
	On          yaml.Node         `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Concurrency yaml.Node         `yaml:"concurrency"`
	Jobs        map[string]job    `yaml:"jobs"`
}

type call struct {
	WorkflowCall struct {
		Inputs  map[string]port `yaml:"inputs"`
		Outputs map[string]port `yaml:"outputs"`
	} `yaml:"workflow_call"`
}

type action struct {
	Inputs  map[string]port `yaml:"inputs"`
	Outputs map[string]port `yaml:"outputs"`
	Runs    struct {
		Using string `yaml:"using"`
		Steps []step `yaml:"steps"`
	} `yaml:"runs"`
}

func read(t *testing.T, name string, to any) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	if to != nil {
		if err := yaml.Unmarshal(data, to); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return string(data)
}

// workflowFiles are the workflows' paths from the root.
func workflowFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, ".github/workflows/*"))
	if err != nil || len(files) < 5 {
		t.Fatalf("workflows: %v, %v", files, err)
	}
	for i := range files {
		files[i] = ".github/workflows/" + filepath.Base(files[i])
	}
	return files
}

func inputEnv(name string) string {
	return "INPUT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Every input is a setting, reaches the command by one variable, and no
// variable comes from elsewhere; every output is the command's.
func TestAction(t *testing.T) {
	var a action
	read(t, "action.yml", &a)
	if a.Runs.Using != "composite" {
		t.Errorf("using %s", a.Runs.Using)
	}
	settings := map[string]bool{}
	for _, s := range policy.Settings {
		settings[s.Name] = true
	}
	want := map[string]string{}
	for name, in := range a.Inputs {
		if !settings[name] {
			t.Errorf("input %s is no setting", name)
		}
		if in.Default != "" {
			t.Errorf("input %s has a default, which would hide the policy file's", name)
		}
		want[inputEnv(name)] = "${{ inputs." + name + " }}"
	}
	calls := 0
	for _, s := range a.Runs.Steps {
		if s.ID == "gate" {
			calls++
			if d := cmp.Diff(want, s.Env); d != "" {
				t.Errorf("env of the call (-want +got):\n%s", d)
			}
			if s.Run != `"$RUNNER_TEMP/pbkdf2-gate/bin/pbkdf2-gate" action` {
				t.Errorf("the call is %s", s.Run)
			}
		} else if len(s.Env) > 0 {
			t.Errorf("step %s has an env: only the call needs inputs", s.Name)
		}
	}
	if calls != 1 || len(a.Inputs) == 0 || len(a.Outputs) == 0 {
		t.Errorf("%d calls, %d inputs, %d outputs", calls, len(a.Inputs), len(a.Outputs))
	}
	for name, out := range a.Outputs {
		if out.Value != "${{ steps.gate.outputs."+name+" }}" {
			t.Errorf("output %s is %s", name, out.Value)
		}
	}
}

var (
	pinned = regexp.MustCompile(`^[a-z0-9-]+/[a-z0-9-]+@[0-9a-f]{40}$`)
	tagged = regexp.MustCompile(`^\s*(- )?uses: \S+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$`)
)

// checkSteps holds what is true of every step anywhere.
func checkSteps(t *testing.T, where string, steps []step) {
	t.Helper()
	for i, s := range steps {
		where := fmt.Sprintf("%s step %d %s", where, i+1, s.Name)
		if s.Run != "" && s.Shell != "bash" {
			t.Errorf("%s: shell %q", where, s.Shell)
		}
		if strings.Contains(s.Run, "${{") {
			t.Errorf("%s: a workflow's value inside a script is code: give it by env", where)
		}
		if s.Uses != "" && !strings.HasPrefix(s.Uses, "./") && !pinned.MatchString(s.Uses) {
			t.Errorf("%s: %s is not pinned to a commit", where, s.Uses)
		}
		if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
			t.Errorf("%s: leaves the token in the clone", where)
		}
		if repo := s.With["repository"]; repo != "" && (!strings.Contains(repo, "||") || !strings.Contains(s.With["ref"], "||")) {
			t.Errorf("%s: without a fallback, %q at %q may be the caller's", where, repo, s.With["ref"])
		}
	}
}

func TestSteps(t *testing.T) {
	var a action
	read(t, "action.yml", &a)
	checkSteps(t, "action.yml", a.Runs.Steps)
	for _, f := range workflowFiles(t) {
		var w workflow
		text := read(t, f, &w)
		if len(w.Jobs) == 0 {
			t.Errorf("%s has no jobs", f)
		}
		for name, j := range w.Jobs {
			checkSteps(t, f+" job "+name, j.Steps)
			switch {
			case j.Uses != "" && !strings.HasPrefix(j.Uses, "./"):
				t.Errorf("%s job %s: calls %s", f, name, j.Uses)
			case j.Uses == "" && (j.Timeout < 1 || j.Timeout > 60):
				t.Errorf("%s job %s: timeout of %d minutes", f, name, j.Timeout)
			}
		}
		for i, line := range strings.Split(text, "\n") {
			if strings.Contains(line, "uses: ") && strings.Contains(line, "@") && !tagged.MatchString(line) {
				t.Errorf("%s:%d: no commit with its tag in a comment: %s", f, i+1, strings.TrimSpace(line))
			}
		}
	}
}

// What each job may do, and see.
func TestRoles(t *testing.T) {
	type may map[string]string
	read1 := may{"contents": "read"}
	write := may{"contents": "read", "pull-requests": "write"}
	third := may{"actions": "read", "contents": "read", "pull-requests": "write"}
	want := map[string]map[string]may{ // by file and job; "" is the top
		"ci.yml":             {"": read1, "test": nil, "checks": nil},
		"pbkdf2.yml":         {"": write, "gate": nil},
		"pbkdf2-comment.yml": {"": third, "comment": nil},
		"gate.yml":           {"": nil, "measure": read1, "report": nil},
		"comment.yml":        {"": nil, "comment": third},
		// What record may do is the caller's to give.
		"baseline.yml":        {"": nil, "plan": read1, "measure": read1, "record": nil},
		"pbkdf2-baseline.yml": {"": may{"contents": "write", "pull-requests": "write"}, "baseline": nil},
	}
	tokens := []string{"gate.yml report Report", "comment.yml comment Comment", "baseline.yml record Record"}
	const ours, orAnApps = "GITHUB_TOKEN: ${{ github.token }}", "GITHUB_TOKEN: ${{ secrets.token || github.token }}"
	got := map[string]map[string]may{}
	var seen []string
	for _, f := range workflowFiles(t) {
		var w workflow
		text := read(t, f, &w)
		base := filepath.Base(f)
		got[base] = map[string]may{"": w.Permissions}
		for name, j := range w.Jobs {
			got[base][name] = j.Permissions
			if len(j.Env) > 0 {
				t.Errorf("%s job %s: an env for all steps", f, name)
			}
			for _, s := range j.Steps {
				if _, ok := s.Env["GITHUB_TOKEN"]; ok {
					seen = append(seen, base+" "+name+" "+s.Name)
				}
			}
		}
		if n := strings.Count(text, "github.token") + strings.Count(text, "secrets."); n != strings.Count(text, ours)+2*strings.Count(text, orAnApps) {
			t.Errorf("%s: the token is given elsewhere", f)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("permissions (-want +got):\n%s", d)
	}
	slices.Sort(seen)
	slices.Sort(tokens)
	if d := cmp.Diff(tokens, seen); d != "" {
		t.Errorf("steps with a token (-want +got):\n%s", d)
	}
}

func TestGateRules(t *testing.T) {
	var w workflow
	read(t, ".github/workflows/gate.yml", &w)
	if w.Concurrency.Kind != 0 {
		t.Error("a concurrency at the top is in the caller's group")
	}
	if got := w.Jobs["report"].If; got != "${{ !cancelled() }}" {
		t.Errorf("report runs if %s", got)
	}
	if len(w.Jobs["measure"].Outputs) > 0 {
		t.Error("outputs of a matrix are those of its last leg")
	}
	report := w.Jobs["report"].Steps
	last := report[len(report)-1]
	if last.If != "${{ !cancelled() }}" || last.Env["MEASURED"] != "${{ needs.measure.result }}" {
		t.Errorf("the last step does not judge the legs: %+v", last)
	}
	for _, s := range report {
		if strings.HasPrefix(s.Uses, "./") {
			t.Errorf("the report runs %s of the workspace", s.Uses)
		}
	}
	var own struct {
		On map[string]yaml.Node `yaml:"on"`
	}
	for _, f := range []string{"ci.yml", "pbkdf2.yml"} {
		read(t, ".github/workflows/"+f, &own)
		for _, event := range []string{"pull_request", "merge_group", "push"} {
			if _, ok := own.On[event]; !ok {
				t.Errorf("%s does not run on %s", f, event)
			}
		}
	}
}

// What baseline.yml has of gate.yml is the same, and it keeps to its rules.
func TestBaselineRules(t *testing.T) {
	var gate, w workflow
	read(t, ".github/workflows/gate.yml", &gate)
	read(t, ".github/workflows/baseline.yml", &w)
	if w.Concurrency.Kind != 0 {
		t.Error("a concurrency at the top is in the caller's group")
	}
	same := func(name string, theirs, ours []step) {
		t.Helper()
		find := func(steps []step) step {
			i := slices.IndexFunc(steps, func(s step) bool { return s.Name == name })
			if i < 0 {
				t.Fatalf("no step %q", name)
			}
			return steps[i]
		}
		if d := cmp.Diff(find(theirs), find(ours)); d != "" {
			t.Errorf("step %q (-gate +baseline):\n%s", name, d)
		}
	}
	for _, name := range []string{"Check out pbkdf2-gate", "Build pbkdf2-gate", "Find the setup action", "Setup"} {
		same(name, gate.Jobs["measure"].Steps, w.Jobs["measure"].Steps)
	}
	for _, name := range []string{"Check out pbkdf2-gate", "Build pbkdf2-gate"} {
		same(name, gate.Jobs["report"].Steps, w.Jobs["record"].Steps)
	}
	if got := w.Jobs["record"].If; got != "${{ !cancelled() && needs.plan.outputs.release != '' }}" {
		t.Errorf("record runs if %s: a failed leg must not keep it", got)
	}
	if len(w.Jobs["measure"].Outputs) > 0 {
		t.Error("outputs of a matrix are those of its last leg")
	}
	for _, job := range []string{"plan", "record"} {
		for _, s := range w.Jobs[job].Steps {
			if strings.HasPrefix(s.Uses, "./") {
				t.Errorf("%s runs %s of the workspace", job, s.Uses)
			}
		}
	}
}
