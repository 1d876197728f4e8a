package github

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// ChangeRequest is a change of files under one folder of a branch.
type ChangeRequest struct {
	Repo   Repo
	Branch string // that it is for
	Folder string // from the repository's root, with slashes
	// Topic is the branch that carries the change until a pull request is
	// merged. It is the caller's own: whatever else it held, it becomes Branch
	// and the change.
	Topic string
	// Direct commits to Branch itself, and to Topic only where Branch does not
	// take it.
	Direct    bool
	ServerURL string // for links; https://github.com when empty
	// Amend makes the change: from what Branch has and, where it carries a
	// change already, what Topic has (else nil). It is called again whenever
	// a branch has moved meanwhile.
	Amend func(ctx context.Context, branch, topic *Folder) (Amendment, error)
}

// Amendment is a change as one commit and one pull request.
type Amendment struct {
	Files       map[string][]byte // by path below the folder; one that is as it was is no change
	Message     string            // of the commit
	Title, Body string            // of the pull request
}

// ChangeResult is what Change did.
type ChangeResult struct {
	// Outcome is Created with a new topic branch, Updated where a branch got a
	// commit, Unchanged where it had all this.
	Outcome Outcome
	Branch  string // that has the change; empty where there is none to make
	// Pull is what became of the pull request: Created, Updated, Unchanged, or
	// Skipped, where Reason says why and what to do at URL; empty where none is
	// needed.
	Pull   Outcome
	Reason string
	URL    string // of the pull request, else of a page that opens one
}

const (
	changeTries = 12
	lostTries   = 4 // of those, after writes whose answer was lost
	firstWait   = 250 * time.Millisecond
	longestWait = 8 * time.Second
)

func (r ChangeRequest) check() error {
	if err := r.Repo.check(); err != nil {
		return err
	}
	for _, b := range []string{r.Branch, r.Topic} {
		if err := ValidBranch(b); err != nil {
			return fmt.Errorf("branch %q: %w", clean(b), err)
		}
	}
	if r.Branch == r.Topic {
		return fmt.Errorf("the branch %s is where the change is kept for review: name the branch that it is for", r.Topic)
	}
	return nil
}

// movedError says that a branch is no longer what was read.
type movedError struct{ branch string }

func (e *movedError) Error() string { return e.branch + " has moved" }

// lostError is a failed write that may have been made all the same.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// refusedError is a branch that does not take commits: it is protected.
type refusedError struct{ reason string }

func (e *refusedError) Error() string { return e.reason }

// Change brings a change of files onto a branch, or onto a topic branch with a
// pull request. Nothing is forced: where a branch moves meanwhile, all is read
// and made anew, for a bounded number of times. A change that is there already
// makes no commit.
func (c *Client) Change(ctx context.Context, req ChangeRequest) (ChangeResult, error) {
	if err := req.check(); err != nil {
		return ChangeResult{}, err
	}
	req.ServerURL = strings.TrimRight(cmp.Or(req.ServerURL, "https://github.com"), "/")
	ctx, cancel := context.WithTimeout(ctx, methodTimeout)
	defer cancel()
	w := &change{Client: c, req: req}
	var last error
	lost := 0
	for try := range changeTries {
		if try > 0 {
			// Jittered, so that two who collided do not collide again.
			wait := min(firstWait<<(try-1), longestWait)
			if err := c.options.Sleep(ctx, wait/2+rand.N(wait)); err != nil {
				return ChangeResult{}, c.explain(w.to("write"), err)
			}
		}
		done, err := w.pass(ctx)
		if err == nil {
			return done, nil
		}
		var moved *movedError
		var maybe *lostError
		switch {
		case errors.As(err, &moved):
			last = c.explain(w.to("write"), &answerError{text: fmt.Sprintf("%s moved each time, %d times", moved.branch, changeTries), hint: "run the job again"})
		case errors.As(err, &maybe):
			last = maybe.error
			if lost++; lost == lostTries {
				return ChangeResult{}, last
			}
		default:
			return ChangeResult{}, err
		}
	}
	return ChangeResult{}, last
}

// change is one call of Change.
type change struct {
	*Client
	req     ChangeRequest
	refused string // why Branch takes no commit; empty: not known to
}

func (w *change) to(verb string) action {
	return action{fmt.Sprintf("%s %s of %s", verb, w.req.Folder, w.req.Repo), "contents: write"}
}

// pass reads the branches and makes what is missing.
func (w *change) pass(ctx context.Context) (ChangeResult, error) {
	base, ok, err := w.tip(ctx, w.req.Repo, w.req.Branch)
	if err != nil {
		return ChangeResult{}, err
	}
	if !ok {
		return ChangeResult{}, w.explain(action{fmt.Sprintf("read the branch %s of %s", w.req.Branch, w.req.Repo), "contents: read"},
			&answerError{text: "there is no such branch, or not any more", hint: "name one that is there"})
	}
	folder, err := w.folder(ctx, w.req.Repo, w.req.Branch, base.tree, w.req.Folder)
	if err != nil {
		return ChangeResult{}, err
	}
	if w.req.Direct && w.refused == "" {
		done, err := w.direct(ctx, base, folder)
		var refused *refusedError
		if !errors.As(err, &refused) {
			return done, err
		}
		w.refused = refused.reason
	}
	return w.topic(ctx, base, folder)
}

// direct commits to the branch itself.
func (w *change) direct(ctx context.Context, base tip, folder *Folder) (ChangeResult, error) {
	a, err := w.req.Amend(ctx, folder, nil)
	if err != nil {
		return ChangeResult{}, err
	}
	files, err := differing(ctx, folder, a.Files)
	if err != nil {
		return ChangeResult{}, err
	}
	if len(files) == 0 {
		return ChangeResult{Outcome: Unchanged, Branch: w.req.Branch}, nil
	}
	commit, err := w.commit(ctx, base.tree, files, a.Message, base.commit)
	if err != nil {
		return ChangeResult{}, err
	}
	if err := w.move(ctx, w.req.Branch, base.commit, commit); err != nil {
		return ChangeResult{}, err
	}
	return ChangeResult{Outcome: Updated, Branch: w.req.Branch, URL: w.link("commit", commit)}, nil
}

// topic commits to the topic branch, and sees to the pull request.
func (w *change) topic(ctx context.Context, base tip, folder *Folder) (ChangeResult, error) {
	old, exists, err := w.tip(ctx, w.req.Repo, w.req.Topic)
	if err != nil {
		return ChangeResult{}, err
	}
	var there *Folder
	if exists {
		if there, err = w.folder(ctx, w.req.Repo, w.req.Topic, old.tree, w.req.Folder); err != nil {
			return ChangeResult{}, err
		}
	}
	a, err := w.req.Amend(ctx, folder, there)
	if err != nil {
		return ChangeResult{}, err
	}
	files, err := differing(ctx, folder, a.Files)
	if err != nil {
		return ChangeResult{}, err
	}
	if len(files) == 0 {
		return ChangeResult{Outcome: Unchanged}, nil
	}
	done := ChangeResult{Outcome: Unchanged, Branch: w.req.Topic}
	has, err := holds(ctx, there, folder, files)
	if err != nil {
		return ChangeResult{}, err
	}
	switch {
	case has:
	case exists:
		// With the branch as a parent too, so that a pull request shows the
		// change alone and can be merged.
		parents := []string{old.commit}
		if !slices.Contains(old.parents, base.commit) && old.commit != base.commit {
			parents = append(parents, base.commit)
		}
		commit, err := w.commit(ctx, base.tree, files, a.Message, parents...)
		if err != nil {
			return ChangeResult{}, err
		}
		if err := w.move(ctx, w.req.Topic, old.commit, commit); err != nil {
			return ChangeResult{}, w.topicError(err)
		}
		done.Outcome = Updated
	default:
		commit, err := w.commit(ctx, base.tree, files, a.Message, base.commit)
		if err != nil {
			return ChangeResult{}, err
		}
		if err := w.begin(ctx, commit); err != nil {
			return ChangeResult{}, err
		}
		done.Outcome = Created
	}
	if w.req.Direct {
		done.Pull, done.URL = Skipped, w.compareLink()
		done.Reason = fmt.Sprintf("%s does not take the commit (%s): open a pull request", w.req.Branch, w.refused)
		return done, nil
	}
	return done, w.pull(ctx, a, &done)
}

func (w *change) topicError(err error) error {
	var refused *refusedError
	if errors.As(err, &refused) {
		return w.explain(w.to("write"), &answerError{
			text: fmt.Sprintf("the branch %s does not take commits (%s)", w.req.Topic, refused.reason), hint: "leave branches pbkdf2-gate/* out of the rule"})
	}
	return err
}

// differing are those of the files that are not in the folder like this.
func differing(ctx context.Context, folder *Folder, files map[string][]byte) (map[string][]byte, error) {
	out := map[string][]byte{}
	for name, data := range files {
		// A file below what is no folder would take its place.
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if folder.entries[dir] != nil {
				return nil, folder.c.explain(action{"write " + folder.Where(name) + " of " + folder.repo.String(), "contents: write"},
					&answerError{text: folder.Where(dir) + " is no folder but a file, a symbolic link or a submodule", hint: "commit a folder in its place"})
			}
		}
		if folder.entries[name] != nil {
			old, err := folder.Read(ctx, name)
			if err != nil {
				return nil, err
			}
			if bytes.Equal(old, data) {
				continue
			}
		}
		out[name] = data
	}
	return out, nil
}

// holds reports whether the topic's folder is the branch's with the files.
func holds(ctx context.Context, topic, branch *Folder, files map[string][]byte) (bool, error) {
	if topic == nil {
		return false, nil
	}
	for name := range maps.Keys(files) {
		if topic.entries[name] == nil {
			return false, nil
		}
	}
	for _, name := range append(topic.Names(), branch.Names()...) {
		data, changed := files[name]
		switch {
		case !changed && !topic.SameAs(branch, name):
			return false, nil
		case changed:
			old, err := topic.Read(ctx, name)
			if err != nil || !bytes.Equal(old, data) {
				return false, err
			}
		}
	}
	return true, nil
}

func (w *change) link(kind, rest string) string {
	return fmt.Sprintf("%s/%s/%s/%s", w.req.ServerURL, w.req.Repo, kind, rest)
}

// compareLink is the page that opens a pull request of the topic branch.
func (w *change) compareLink() string {
	escape := func(branch string) string {
		parts := strings.Split(branch, "/")
		for i := range parts {
			parts[i] = url.PathEscape(parts[i])
		}
		return strings.Join(parts, "/")
	}
	return w.link("compare", escape(w.req.Branch)+"..."+escape(w.req.Topic)+"?expand=1")
}
