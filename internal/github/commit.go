package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

// commit makes a commit of a tree with the files in it; no branch has it yet.
func (w *change) commit(ctx context.Context, tree string, files map[string][]byte, message string, parents ...string) (string, error) {
	owner, name := w.req.Repo.Owner, w.req.Repo.Name
	var entries []*gh.TreeEntry
	for _, file := range slices.Sorted(maps.Keys(files)) {
		blob, _, err := w.api.Git.CreateBlob(ctx, owner, name, &gh.Blob{Content: gh.String(string(files[file])), Encoding: gh.String("utf-8")})
		if err != nil {
			return "", w.wrote(ctx, err)
		}
		entries = append(entries, &gh.TreeEntry{Path: gh.String(path.Join(w.req.Folder, file)), Mode: gh.String("100644"), Type: gh.String("blob"), SHA: blob.SHA})
	}
	made, _, err := w.api.Git.CreateTree(ctx, owner, name, tree, entries)
	if err != nil {
		return "", w.wrote(ctx, err)
	}
	commit := &gh.Commit{Message: &message, Tree: made}
	for _, p := range parents {
		commit.Parents = append(commit.Parents, &gh.Commit{SHA: gh.String(p)})
	}
	// Without an author GitHub takes the token's, and signs.
	got, _, err := w.api.Git.CreateCommit(ctx, owner, name, commit, nil)
	if err != nil {
		return "", w.wrote(ctx, err)
	}
	if !shaPattern.MatchString(got.GetSHA()) {
		return "", w.explain(w.to("write"), &answerError{text: "the answer names no commit"})
	}
	return got.GetSHA(), nil
}

// wrote explains a failed write, and says whether it may have been made.
func (w *change) wrote(ctx context.Context, err error) error {
	err = w.explain(w.to("write"), err)
	if s := status(err); ctx.Err() == nil && (s == 0 || s >= 500) {
		return &lostError{err}
	}
	return err
}

// move sets a branch from one commit to the next.
func (w *change) move(ctx context.Context, branch, from, to string) error {
	_, _, err := w.api.Git.UpdateRef(ctx, w.req.Repo.Owner, w.req.Repo.Name,
		&gh.Reference{Ref: gh.String("refs/heads/" + branch), Object: &gh.GitObject{SHA: &to}}, false)
	if err == nil {
		return nil
	}
	said := answer(err)
	err = w.wrote(ctx, err)
	switch status(err) {
	case http.StatusConflict:
		return &movedError{branch}
	case http.StatusForbidden:
		// That the token may write has been seen: the commit was made.
		return &refusedError{cmp.Or(said, "GitHub answered 403")}
	case http.StatusUnprocessableEntity:
		if strings.Contains(said, "fast forward") || strings.Contains(said, "does not exist") {
			return &movedError{branch}
		}
		// Whatever the words: a branch that stands where it stood refuses.
		now, ok, e := w.tip(ctx, w.req.Repo, branch)
		switch {
		case e != nil:
			return e
		case !ok || now.commit != from:
			return &movedError{branch}
		}
		return &refusedError{said}
	}
	return err
}

// answer is what GitHub said with an error.
func answer(err error) string {
	var a *gh.ErrorResponse
	if errors.As(err, &a) {
		return details(a)
	}
	return ""
}

// begin makes the topic branch.
func (w *change) begin(ctx context.Context, commit string) error {
	_, _, err := w.api.Git.CreateRef(ctx, w.req.Repo.Owner, w.req.Repo.Name,
		&gh.Reference{Ref: gh.String("refs/heads/" + w.req.Topic), Object: &gh.GitObject{SHA: &commit}})
	if err == nil {
		return nil
	}
	said := answer(err)
	err = w.wrote(ctx, err)
	if s := status(err); s == http.StatusConflict || s == http.StatusUnprocessableEntity && strings.Contains(said, "already exists") {
		return &movedError{w.req.Topic}
	} else if s == http.StatusUnprocessableEntity {
		return w.explain(w.to("write"), &answerError{text: fmt.Sprintf("the branch %s cannot be made (%s)", w.req.Topic, said),
			hint: "is there a branch whose name is a part of that one, or a rule against new branches?"})
	}
	return err
}
