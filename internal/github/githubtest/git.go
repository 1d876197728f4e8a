package githubtest

import (
	"cmp"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// object ids are git's own, so that a client may check what it reads.
func objectID(kind string, data []byte) string {
	sum := sha1.Sum(append([]byte(fmt.Sprintf("%s %d\x00", kind, len(data))), data...))
	return hex.EncodeToString(sum[:])
}

// treeEntry is a file or folder of a tree.
type treeEntry struct{ mode, kind, sha string }

// Commit is a commit of the repository.
type Commit struct {
	SHA     string
	Parents []string
	Message string

	tree string
	made time.Time
}

// git is the repository's objects and branches.
type git struct {
	blobs     map[string][]byte
	trees     map[string]map[string]treeEntry // by name
	commits   map[string]Commit
	branches  map[string]string // to the head's commit
	protected map[string]string // to what GitHub says of a push there
}

func newGit() git {
	return git{map[string][]byte{}, map[string]map[string]treeEntry{}, map[string]Commit{}, map[string]string{}, map[string]string{}}
}

// SetBranch makes a commit on the branch, which begins with it where there is
// none, and returns its id. files is all that the commit has, by path; a text
// that starts with "-> " is a symbolic link.
func (s *Server) SetBranch(branch string, files map[string]string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	root := s.git.addTree(nil)
	for path, text := range files {
		e := treeEntry{"100644", "blob", ""}
		if to, ok := strings.CutPrefix(text, "-> "); ok {
			e.mode, text = "120000", to
		}
		e.sha = s.git.addBlob([]byte(text))
		root = s.git.withEntry(root, path, e)
	}
	var parents []string
	if head, ok := s.git.branches[branch]; ok {
		parents = []string{head}
	}
	s.git.branches[branch] = s.git.addCommit(root, parents, "set by the test")
	return s.git.branches[branch]
}

// Files returns what the branch's head has, by path; nil without a branch.
func (s *Server) Files(branch string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	head, ok := s.git.branches[branch]
	if !ok {
		return nil
	}
	files := map[string]string{}
	s.git.walk(s.git.commits[head].tree, "", func(path string, e treeEntry) {
		if e.kind == "blob" {
			files[path] = string(s.git.blobs[e.sha])
		}
	})
	return files
}

// Commits returns the commits of the branch, its head first, along first
// parents.
func (s *Server) Commits(branch string) []Commit {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Commit
	for at := s.git.branches[branch]; at != ""; {
		c := s.git.commits[at]
		all = append(all, c)
		at = ""
		if len(c.Parents) > 0 {
			at = c.Parents[0]
		}
	}
	return all
}

// DeleteBranch removes a branch.
func (s *Server) DeleteBranch(branch string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.git.branches, branch)
}

// Protect refuses updates of a branch, saying so.
func (s *Server) Protect(branch, saying string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.git.protected[branch] = saying
}

func (g *git) addBlob(data []byte) string {
	id := objectID("blob", data)
	g.blobs[id] = data
	return id
}

func (g *git) addTree(entries map[string]treeEntry) string {
	// Git orders folders as if their names ended in a slash.
	names := slices.SortedFunc(maps.Keys(entries), func(a, b string) int {
		key := func(n string) string {
			if entries[n].kind == "tree" {
				return n + "/"
			}
			return n
		}
		return cmp.Compare(key(a), key(b))
	})
	var data []byte
	for _, n := range names {
		raw, _ := hex.DecodeString(entries[n].sha)
		data = append(data, strings.TrimPrefix(entries[n].mode, "0")+" "+n+"\x00"...)
		data = append(data, raw...)
	}
	id := objectID("tree", data)
	g.trees[id] = entries
	return id
}

func (g *git) addCommit(tree string, parents []string, message string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	now := time.Now().UTC().Truncate(time.Second)
	// The number keeps commits of one second apart, as their authors would.
	fmt.Fprintf(&b, "author %s <%d@example.com> %d +0000\n\n%s", Bot, len(g.commits), now.Unix(), message)
	id := objectID("commit", []byte(b.String()))
	g.commits[id] = Commit{id, parents, message, tree, now}
	return id
}

// withEntry returns the tree with the entry at a path in it.
func (g *git) withEntry(tree, path string, e treeEntry) string {
	entries := maps.Clone(g.trees[tree])
	if entries == nil {
		entries = map[string]treeEntry{}
	}
	first, rest, deep := strings.Cut(path, "/")
	if deep {
		below := ""
		if old := entries[first]; old.kind == "tree" {
			below = old.sha
		}
		e = treeEntry{"040000", "tree", g.withEntry(below, rest, e)}
	}
	entries[first] = e
	return g.addTree(entries)
}

// walk visits all entries below a tree, a folder before what is in it.
func (g *git) walk(tree, prefix string, visit func(path string, e treeEntry)) {
	for _, name := range slices.Sorted(maps.Keys(g.trees[tree])) {
		e := g.trees[tree][name]
		visit(prefix+name, e)
		if e.kind == "tree" {
			g.walk(e.sha, prefix+name+"/", visit)
		}
	}
}

// reaches says whether the commit has the other one among its ancestors.
func (g *git) reaches(from, to string) bool {
	if from == to {
		return true
	}
	return slices.ContainsFunc(g.commits[from].Parents, func(p string) bool { return g.reaches(p, to) })
}
