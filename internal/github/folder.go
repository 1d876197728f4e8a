package github

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

// Folder is a folder of a branch as it was at one commit. Its files are read
// through the API when they are asked for.
type Folder struct {
	c       *Client
	repo    Repo
	where   string // "baselines on main"
	entries map[string]*gh.TreeEntry
	data    map[string][]byte // read already
	left    int               // bytes that may still be read
}

// maxFolder bounds what is read of one folder, in bytes.
const maxFolder = 64 << 20

// Names has the paths of what is in the folder, below it and ordered.
func (f *Folder) Names() []string { return slices.Sorted(maps.Keys(f.entries)) }

// SameAs reports whether a name stands for the same content in both.
func (f *Folder) SameAs(o *Folder, name string) bool {
	a, b := f.entries[name], o.entries[name]
	if a == nil || b == nil {
		return a == b
	}
	return a.GetSHA() == b.GetSHA() && a.GetMode() == b.GetMode()
}

// Where names a file of the folder in an error.
func (f *Folder) Where(name string) string { return f.where + "/" + name }

// Read returns a file of the folder. One that is not there is
// fs.ErrNotExist; what is no plain file is an error.
func (f *Folder) Read(ctx context.Context, name string) ([]byte, error) {
	if data, ok := f.data[name]; ok {
		return data, nil
	}
	e := f.entries[name]
	if e == nil {
		return nil, fmt.Errorf("%s: %w", f.Where(name), fs.ErrNotExist)
	}
	todo := action{fmt.Sprintf("read %s of %s", f.Where(name), f.repo), "contents: read"}
	if m := e.GetMode(); m != "100644" && m != "100755" {
		return nil, f.c.explain(todo, &answerError{text: "it is a symbolic link or a submodule", hint: "commit the file itself"})
	}
	if e.GetSize() > f.left {
		return nil, f.c.explain(todo, &answerError{text: fmt.Sprintf("it has %d bytes, of %d that may be read", e.GetSize(), f.left)})
	}
	blob, _, err := f.c.api.Git.GetBlob(ctx, f.repo.Owner, f.repo.Name, e.GetSHA())
	if err != nil {
		return nil, f.c.explain(todo, err)
	}
	data, err := decodeBlob(blob, e.GetSHA())
	if err != nil {
		return nil, f.c.explain(todo, err)
	}
	f.left -= len(data)
	f.data[name] = data
	return data, nil
}

func decodeBlob(blob *gh.Blob, id string) ([]byte, error) {
	if blob.GetEncoding() != "base64" {
		return nil, &answerError{text: fmt.Sprintf("the answer is encoded as %q, not base64", clean(blob.GetEncoding()))}
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(blob.GetContent(), "\n", ""))
	if err != nil {
		return nil, &answerError{text: "the answer is no base64"}
	}
	// The id is the content's: a wrong or cut answer cannot pass for the file.
	if len(id) == 2*sha1.Size && blobID(data) != id {
		return nil, &answerError{text: "the answer is not that file's content", hint: "run the job again"}
	}
	return data, nil
}

func blobID(data []byte) string {
	sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(data)), data...))
	return hex.EncodeToString(sum[:])
}

// folder reads what lies below a path of a commit's tree. A folder that is not
// there is empty.
func (c *Client) folder(ctx context.Context, repo Repo, branch, tree, path string) (*Folder, error) {
	f := &Folder{c: c, repo: repo, where: path + " on " + branch, entries: map[string]*gh.TreeEntry{}, data: map[string][]byte{}, left: maxFolder}
	todo := action{fmt.Sprintf("read %s of %s", f.where, repo), "contents: read"}
	list := func(recursive bool) ([]*gh.TreeEntry, error) {
		t, _, err := c.api.Git.GetTree(ctx, repo.Owner, repo.Name, tree, recursive)
		if err != nil {
			return nil, c.explain(todo, err)
		}
		if t.GetTruncated() {
			return nil, c.explain(todo, &answerError{text: "GitHub lists only a part of it: it has too many files", hint: "keep nothing but baselines in it"})
		}
		// Nothing else that is empty may pass for an empty folder.
		if t.GetSHA() != tree {
			return nil, c.explain(todo, &answerError{text: "the answer is not that folder's list", hint: "run the job again"})
		}
		return t.Entries, nil
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "." {
			continue
		}
		entries, err := list(false)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(entries, func(e *gh.TreeEntry) bool { return e.GetPath() == part })
		if at < 0 {
			return f, nil
		}
		if entries[at].GetType() != "tree" {
			return nil, c.explain(todo, &answerError{text: part + " is no folder", hint: "name the folder that holds the baselines"})
		}
		tree = entries[at].GetSHA()
	}
	entries, err := list(true)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.GetType() != "tree" {
			f.entries[e.GetPath()] = e
		}
	}
	return f, nil
}

// tip is the head of a branch.
type tip struct {
	commit, tree string
	parents      []string
}

// tip reads the head of a branch; false where there is no such branch.
func (c *Client) tip(ctx context.Context, repo Repo, branch string) (tip, bool, error) {
	todo := action{fmt.Sprintf("read the branch %s of %s", branch, repo), "contents: read"}
	ref, _, err := c.api.Git.GetRef(ctx, repo.Owner, repo.Name, "heads/"+branch)
	if err != nil {
		err = c.explain(todo, err)
		if status(err) == http.StatusNotFound {
			return tip{}, false, nil
		}
		return tip{}, false, err
	}
	t := tip{commit: ref.GetObject().GetSHA()}
	if ref.GetRef() != "refs/heads/"+branch || ref.GetObject().GetType() != "commit" || !shaPattern.MatchString(t.commit) {
		return tip{}, false, c.explain(todo, &answerError{text: "the answer names no commit of that branch"})
	}
	commit, _, err := c.api.Git.GetCommit(ctx, repo.Owner, repo.Name, t.commit)
	if err != nil {
		return tip{}, false, c.explain(todo, err)
	}
	t.tree = commit.GetTree().GetSHA()
	if !shaPattern.MatchString(t.tree) {
		return tip{}, false, c.explain(todo, &answerError{text: "the answer names no tree of that commit"})
	}
	for _, p := range commit.Parents {
		t.parents = append(t.parents, p.GetSHA())
	}
	return t, true, nil
}

// DefaultBranch is the branch that a repository's pull requests are for.
func (c *Client) DefaultBranch(ctx context.Context, repo Repo) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, methodTimeout)
	defer cancel()
	if err := repo.check(); err != nil {
		return "", err
	}
	todo := action{"read the repository " + repo.String(), "contents: read"}
	r, _, err := c.api.Repositories.Get(ctx, repo.Owner, repo.Name)
	if err != nil {
		return "", c.explain(todo, err)
	}
	if err := ValidBranch(r.GetDefaultBranch()); err != nil {
		return "", c.explain(todo, &answerError{text: "the answer names no default branch"})
	}
	return r.GetDefaultBranch(), nil
}

// ValidBranch says why a name is no branch's.
func ValidBranch(s string) error {
	bad := s == "" || len(s) > 200 || strings.ContainsAny(s, " ~^:?*[\\") || strings.Contains(s, "@{") || s[0] == '-'
	for _, r := range s {
		bad = bad || r < ' ' || r == 0x7f
	}
	for part := range strings.SplitSeq(s, "/") {
		bad = bad || part == "" || part[0] == '.' || strings.HasSuffix(part, ".") || strings.Contains(part, "..") || strings.HasSuffix(part, ".lock")
	}
	if bad || strings.HasPrefix(s, "refs/") {
		return errors.New("that is no branch's name: give one such as main, without refs/heads/")
	}
	return nil
}
