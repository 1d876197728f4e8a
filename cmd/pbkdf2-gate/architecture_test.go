package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
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
	err = filepath.WalkDir(filepath.Join(root, "internal"), func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			return err
		}
		// A package of tests alone is held to its row by them.
		if code := slices.DeleteFunc(slices.Clone(files), isTest); len(code) > 0 {
			files = code
		}
		pkg := filepath.Base(dir)
		seen[pkg] = true
		if _, ok := allowed[pkg]; !ok {
			t.Errorf("package %s has no row", pkg)
		}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, i := range f.Imports {
				name, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module)
				if ours && pkg != "cli" && !slices.Contains(allowed[pkg], path.Base(name)) {
					t.Errorf("%s imports %s, which the table does not allow", file, name)
				}
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

func isTest(path string) bool { return strings.HasSuffix(path, "_test.go") }
