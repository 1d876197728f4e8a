package githubtest

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// object is a JSON object. Answers hold all that the API's description
// requires, mostly as placeholders.
type object map[string]any

// urls sets NAME_url, and url where a name is empty, for each of names.
func (o object) urls(base string, names string) object {
	for name := range strings.FieldsSeq(names) {
		o[name+"_url"] = base + "/" + name
	}
	o["url"] = base
	return o
}

func (o object) with(name string, value any) object {
	o[name] = value
	return o
}

func (c *call) user(login string) any {
	if login == "" {
		return nil
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(login))
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	return object{
		"login": login, "id": h.Sum32(), "node_id": "U_" + login, "gravatar_id": "", "type": kind, "site_admin": false,
	}.urls(c.base+"/users/"+strings.Trim(login, "[]"),
		"avatar events followers following gists html organizations received_events repos starred subscriptions")
}

func (c *call) repository(r *Repo) any {
	if r == nil {
		return nil
	}
	at := fmt.Sprintf("%s/repos/%s/%s", c.base, r.Owner, r.Name)
	created := stamp(time.Time{})
	o := object{
		"id": r.ID, "node_id": fmt.Sprintf("R_%d", r.ID), "name": r.Name, "full_name": r.Owner + "/" + r.Name,
		"owner": c.user(r.Owner), "private": false, "fork": r.ID != c.Repo.ID, "description": nil,
		"default_branch": "main", "forks": 0, "forks_count": 0, "has_downloads": true, "has_issues": true,
		"has_projects": false, "has_wiki": false, "has_pages": false, "homepage": nil, "language": "Go",
		"archived": false, "disabled": false, "open_issues": 0, "open_issues_count": 0, "license": nil,
		"pushed_at": created, "created_at": created, "updated_at": created, "size": 1,
		"stargazers_count": 0, "watchers": 0, "watchers_count": 0,
	}.urls(at, "archive assignees blobs branches clone collaborators comments commits compare contents contributors "+
		"deployments downloads events forks git git_commits git_refs git_tags hooks html issue_comment issue_events "+
		"issues keys labels languages merges milestones notifications pulls releases ssh stargazers statuses "+
		"subscribers subscription svn tags teams trees")
	o["mirror_url"] = nil
	return o
}

// wholeRepository is what the repository itself answers with: more than where
// it is a part of something.
func (c *call) wholeRepository() any {
	o := c.repository(&c.Repo).(object)
	o["network_count"], o["subscribers_count"], o["has_discussions"] = 0, 0, false
	return o
}

func stamp(t time.Time) string {
	if t.IsZero() {
		t = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	}
	return t.UTC().Format(time.RFC3339)
}

func (c *call) comment(k Comment) object {
	at := fmt.Sprintf("%s/repos/%s/%s/issues", c.base, c.Repo.Owner, c.Repo.Name)
	return object{
		"id": k.ID, "node_id": fmt.Sprintf("IC_%d", k.ID), "body": k.Body, "user": c.user(k.Author),
		"created_at": stamp(k.Created), "updated_at": stamp(k.Updated), "author_association": "NONE",
		"url":       fmt.Sprintf("%s/comments/%d", at, k.ID),
		"issue_url": fmt.Sprintf("%s/%d", at, k.Pull),
		"html_url":  fmt.Sprintf("https://github.test/%s/%s/pull/%d#issuecomment-%d", c.Repo.Owner, c.Repo.Name, k.Pull, k.ID),
	}
}

func (c *call) side(s Side) object {
	owner := c.Repo.Owner
	if s.Repo != nil {
		owner = s.Repo.Owner
	}
	return object{"label": owner + ":" + s.Ref, "ref": s.Ref, "sha": s.SHA, "repo": c.repository(s.Repo), "user": c.user(owner)}
}

func (c *call) pullRequest(p Pull) object {
	at := fmt.Sprintf("%s/repos/%s/%s/pulls/%d", c.base, c.Repo.Owner, c.Repo.Name, p.Number)
	link := object{"href": at}
	author := p.Author
	if author == "" {
		author = "mona"
	}
	title, body := p.Title, any(p.Body)
	if title == "" {
		title = "A change"
	}
	if p.Body == "" {
		body = nil
	}
	base := p.Base
	if base.Repo == nil {
		base.Repo = &c.Repo
	}
	return object{
		"id": int64(p.Number) + 100_000, "node_id": fmt.Sprintf("PR_%d", p.Number), "number": p.Number,
		"state": p.State, "locked": false, "title": title, "body": body, "user": c.user(author),
		"created_at": stamp(time.Time{}), "updated_at": stamp(time.Time{}), "closed_at": nil, "merged_at": nil,
		"merge_commit_sha": nil, "assignee": nil, "labels": []any{}, "milestone": nil, "author_association": "NONE",
		"auto_merge": nil, "head": c.side(p.Head), "base": c.side(base),
		"_links": object{"comments": link, "commits": link, "statuses": link, "html": link, "issue": link,
			"review_comments": link, "review_comment": link, "self": link},
		"additions": 1, "changed_files": 1, "comments": 0, "commits": 1, "deletions": 0, "mergeable": nil,
		"mergeable_state": "unknown", "merged": false, "maintainer_can_modify": false, "merged_by": nil, "review_comments": 0,
	}.urls(at, "comments commits diff issue patch review_comment review_comments statuses").
		with("html_url", fmt.Sprintf("https://github.test/%s/%s/pull/%d", c.Repo.Owner, c.Repo.Name, p.Number))
}

func (c *call) run(r Run) object {
	at := fmt.Sprintf("%s/repos/%s/%s/actions/runs/%d", c.base, c.Repo.Owner, c.Repo.Name, r.ID)
	who := object{"name": "mona", "email": "mona@example.com"}
	return object{
		"id": r.ID, "node_id": fmt.Sprintf("WFR_%d", r.ID), "head_branch": r.HeadBranch, "head_sha": r.HeadSHA,
		"run_number": 1, "run_attempt": r.Attempt, "display_title": "A change", "event": r.Event, "path": r.Path,
		"status": "completed", "conclusion": "success", "workflow_id": 7, "pull_requests": []any{},
		"created_at": stamp(time.Time{}), "updated_at": stamp(time.Time{}),
		"head_commit": object{"id": r.HeadSHA, "tree_id": r.HeadSHA, "message": "A change",
			"timestamp": stamp(time.Time{}), "author": who, "committer": who},
		"repository": c.repository(&c.Repo), "head_repository": c.repository(r.HeadRepository),
	}.urls(at, "artifacts cancel check_suite html jobs logs rerun workflow")
}

func (c *call) artifact(a Artifact) object {
	at := fmt.Sprintf("%s/repos/%s/%s/actions/artifacts/%d", c.base, c.Repo.Owner, c.Repo.Name, a.ID)
	return object{
		"id": a.ID, "node_id": fmt.Sprintf("A_%d", a.ID), "name": a.Name, "size_in_bytes": a.Size, "url": at,
		"archive_download_url": at + "/zip", "expired": a.Expired,
		"created_at": stamp(a.Created), "updated_at": stamp(a.Created), "expires_at": stamp(a.Created.Add(90 * 24 * time.Hour)),
	}
}
