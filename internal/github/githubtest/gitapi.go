package githubtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (c *call) at(path string) string {
	return fmt.Sprintf("%s/repos/%s/%s%s", c.base, c.Repo.Owner, c.Repo.Name, path)
}

// branch is the branch that a path's ref names.
func (c *call) branch() string { return strings.TrimPrefix(c.word, "heads/") }

func (c *call) ref(branch string) object {
	sha := c.git.branches[branch]
	return object{"ref": "refs/heads/" + branch, "node_id": "REF_" + branch, "url": c.at("/git/refs/heads/" + branch),
		"object": object{"type": "commit", "sha": sha, "url": c.at("/git/commits/" + sha)}}
}

func (c *call) getRepo() { c.send(http.StatusOK, c.wholeRepository()) }

func (c *call) getRef() {
	if _, ok := c.git.branches[c.branch()]; !ok {
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	c.send(http.StatusOK, c.ref(c.branch()))
}

// read decodes a request's body, or has failed the call.
func (c *call) read(to any) bool {
	if err := json.Unmarshal(c.body, to); err != nil {
		c.fail(http.StatusUnprocessableEntity, "Problems parsing JSON")
		return false
	}
	return true
}

func (c *call) createRef() {
	var in struct{ Ref, SHA string }
	if !c.read(&in) {
		return
	}
	branch, ok := strings.CutPrefix(in.Ref, "refs/heads/")
	_, exists := c.git.branches[branch]
	_, known := c.git.commits[in.SHA]
	switch {
	case !ok:
		c.fail(http.StatusUnprocessableEntity, "Reference name is malformed")
	case exists:
		c.fail(http.StatusUnprocessableEntity, "Reference already exists")
	case !known:
		c.fail(http.StatusUnprocessableEntity, "Object does not exist")
	case c.git.protected[branch] != "":
		c.fail(http.StatusUnprocessableEntity, c.git.protected[branch])
	default:
		c.git.branches[branch] = in.SHA
		c.send(http.StatusCreated, c.ref(branch))
	}
}

func (c *call) updateRef() {
	var in struct {
		SHA   string
		Force bool
	}
	if !c.read(&in) {
		return
	}
	if in.Force {
		c.tb.Errorf("githubtest: the branch %s was forced", c.branch())
	}
	head, exists := c.git.branches[c.branch()]
	_, known := c.git.commits[in.SHA]
	switch {
	case !exists:
		c.fail(http.StatusUnprocessableEntity, "Reference does not exist")
	case !known:
		c.fail(http.StatusUnprocessableEntity, "Object does not exist")
	case c.git.protected[c.branch()] != "":
		c.fail(http.StatusUnprocessableEntity, c.git.protected[c.branch()])
	case !in.Force && !c.git.reaches(in.SHA, head):
		c.fail(http.StatusUnprocessableEntity, "Update is not a fast forward")
	default:
		c.git.branches[c.branch()] = in.SHA
		for i := range c.pulls {
			if h := &c.pulls[i].Head; h.Repo != nil && h.Repo.ID == c.Repo.ID && h.Ref == c.branch() {
				h.SHA = in.SHA
			}
		}
		c.send(http.StatusOK, c.ref(c.branch()))
	}
}

func (c *call) commit(k Commit) object {
	who := object{"name": Bot, "email": "bot@example.com", "date": stamp(k.made)}
	parents := []object{}
	for _, p := range k.Parents {
		parents = append(parents, object{"sha": p, "url": c.at("/git/commits/" + p), "html_url": "https://github.test/commit/" + p})
	}
	return object{"sha": k.SHA, "node_id": "C_" + k.SHA, "url": c.at("/git/commits/" + k.SHA),
		"html_url": "https://github.test/commit/" + k.SHA, "author": who, "committer": who, "message": k.Message,
		"tree": object{"sha": k.tree, "url": c.at("/git/trees/" + k.tree)}, "parents": parents,
		"verification": object{"verified": true, "reason": "valid", "signature": "s", "payload": "p", "verified_at": stamp(k.made)}}
}

func (c *call) getCommit() {
	k, ok := c.git.commits[c.word]
	if !ok {
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	c.send(http.StatusOK, c.commit(k))
}

func (c *call) createCommit() {
	var in struct {
		Message, Tree string
		Parents       []string
	}
	if !c.read(&in) {
		return
	}
	if _, ok := c.git.trees[in.Tree]; !ok {
		c.fail(http.StatusUnprocessableEntity, "Tree SHA does not exist")
		return
	}
	for _, p := range in.Parents {
		if _, ok := c.git.commits[p]; !ok {
			c.fail(http.StatusUnprocessableEntity, "Parent SHA does not exist or is not a commit object")
			return
		}
	}
	c.send(http.StatusCreated, c.commit(c.git.commits[c.git.addCommit(in.Tree, in.Parents, in.Message)]))
}

func (c *call) tree(sha string, recursive bool) object {
	list := []object{}
	c.git.walk(sha, "", func(path string, e treeEntry) {
		if !recursive && strings.Contains(path, "/") {
			return
		}
		o := object{"path": path, "mode": e.mode, "type": e.kind, "sha": e.sha, "url": c.at("/git/" + e.kind + "s/" + e.sha)}
		if e.kind == "blob" {
			o["size"] = len(c.git.blobs[e.sha])
		}
		list = append(list, o)
	})
	return object{"sha": sha, "url": c.at("/git/trees/" + sha), "truncated": false, "tree": list}
}

func (c *call) getTree() {
	if _, ok := c.git.trees[c.word]; !ok {
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	// Any value asks for it, even 0.
	c.send(http.StatusOK, c.tree(c.word, c.r.URL.Query().Has("recursive")))
}

func (c *call) createTree() {
	var in struct {
		Base string `json:"base_tree"`
		Tree []struct{ Path, Mode, Type, SHA string }
	}
	if !c.read(&in) {
		return
	}
	tree := in.Base
	if _, ok := c.git.trees[tree]; !ok {
		c.tb.Errorf("githubtest: a tree without a base has lost every other file")
		c.fail(http.StatusUnprocessableEntity, "base_tree is not a valid tree oid")
		return
	}
	for _, e := range in.Tree {
		if _, ok := c.git.blobs[e.SHA]; !ok || e.Path == "" || strings.HasPrefix(e.Path, "/") {
			c.fail(http.StatusUnprocessableEntity, "tree.sha "+e.SHA+" is not a valid blob")
			return
		}
		tree = c.git.withEntry(tree, e.Path, treeEntry{e.Mode, e.Type, e.SHA})
	}
	c.send(http.StatusCreated, c.tree(tree, false))
}

func (c *call) getBlob() {
	data, ok := c.git.blobs[c.word]
	if !ok {
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	// As GitHub does, in lines of 60 characters.
	var lines strings.Builder
	for part := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(data)), 60) {
		lines.Write(part)
		lines.WriteByte('\n')
	}
	c.send(http.StatusOK, object{"sha": c.word, "node_id": "B_" + c.word, "url": c.at("/git/blobs/" + c.word),
		"size": len(data), "encoding": "base64", "content": lines.String()})
}

func (c *call) createBlob() {
	var in struct{ Content, Encoding string }
	if !c.read(&in) {
		return
	}
	data := []byte(in.Content)
	if in.Encoding == "base64" {
		data, _ = base64.StdEncoding.DecodeString(in.Content)
	}
	sha := c.git.addBlob(data)
	c.send(http.StatusCreated, object{"sha": sha, "url": c.at("/git/blobs/" + sha)})
}

func (c *call) createPull() {
	if c.noPulls {
		c.fail(http.StatusForbidden, "GitHub Actions is not permitted to create or approve pull requests.")
		return
	}
	var in struct{ Title, Head, Base, Body string }
	if !c.read(&in) {
		return
	}
	invalid := func(message string) {
		c.send(http.StatusUnprocessableEntity, object{
			"message": "Validation Failed", "documentation_url": "https://docs.github.com/rest", "status": "422",
			"errors": []object{{"resource": "PullRequest", "code": "custom", "message": message}},
		})
	}
	head, ok := c.git.branches[in.Head]
	base, known := c.git.branches[in.Base]
	open := slices.ContainsFunc(c.pulls, func(p Pull) bool {
		return p.State == "open" && p.Head.Repo != nil && p.Head.Repo.ID == c.Repo.ID && p.Head.Ref == in.Head && p.Base.Ref == in.Base
	})
	switch {
	case !ok || !known || in.Title == "":
		invalid("Head sha can't be blank")
	case c.git.reaches(base, head):
		invalid(fmt.Sprintf("No commits between %s and %s", in.Base, in.Head))
	case open:
		invalid(fmt.Sprintf("A pull request already exists for %s:%s.", c.Repo.Owner, in.Head))
	default:
		c.nextID++
		p := Pull{Number: int(c.nextID), State: "open", Author: Bot, Title: in.Title, Body: in.Body,
			Head: Side{Repo: &c.Repo, Ref: in.Head, SHA: head}, Base: Side{Repo: &c.Repo, Ref: in.Base, SHA: base}}
		c.pulls = append(c.pulls, p)
		c.send(http.StatusCreated, c.pullRequest(p))
	}
}

func (c *call) editPull() {
	p := c.pull()
	if p == nil {
		c.tb.Errorf("githubtest: there is no pull request %s", strconv.FormatInt(c.id, 10))
		c.fail(http.StatusUnprocessableEntity, "Validation Failed")
		return
	}
	var in struct{ Title, Body *string }
	if !c.read(&in) {
		return
	}
	if in.Title != nil {
		p.Title = *in.Title
	}
	if in.Body != nil {
		p.Body = *in.Body
	}
	c.send(http.StatusOK, c.pullRequest(*p))
}
