package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table of docs/architecture.md is what the code does.
func TestImportsFollowTheTable(t *testing.T) {
	const root, module = "../..", "github.com/pbkdf2-gate/pbkdf2-gate/internal/"
	doc, err := os.ReadFile(filepath.Join(root, "docs/architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "## Who may import whom")
	allowed := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([a-z]+) \| ([a-z, ]*)\|$`).FindAllStringSubmatch(table, -1) {
		if m[1] != "package" && m[1] != "module" {
			allowed[m[1]] = strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || r == ' ' })
		}
	}
	if len(allowed) < 10 {
		t.Fatalf("the table has %d rows: %v", len(allowed), allowed)
	}

	seen := map[string]bool{}
	err = filepath.WalkDir(filepath.Join(root, "internal"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		pkg := filepath.Base(filepath.Dir(path))
		seen[pkg] = true
		if _, ok := allowed[pkg]; !ok {
			t.Errorf("package %s has no row", pkg)
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			name, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module)
			if ours && pkg != "cli" && !slices.Contains(allowed[pkg], name) {
				t.Errorf("%s imports %s, which the table does not allow", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range allowed {
		if !seen[pkg] {
			t.Errorf("the table has %s, which does not exist", pkg)
		}
	}
}
