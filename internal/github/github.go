// Package github is what the gate needs of GitHub: the event that started a
// workflow, one comment on a pull request, the artifacts of a run, and the
// commands that a job speaks to its runner. Plain data goes in and out.
//
// Nothing that comes from a pull request is trusted: not the artifacts, not
// the comments of others, not the number of the pull request. The token goes
// to the API's own host only and appears in no error.
package github

import (
	"fmt"
	"regexp"
	"strings"
)

// Repo names a repository. ID is 0 where it is not known.
type Repo struct {
	Owner, Name string
	ID          int64
}

func (r Repo) String() string { return r.Owner + "/" + r.Name }

func (r Repo) check() error {
	if !namePattern.MatchString(r.Owner) || !namePattern.MatchString(r.Name) || strings.Trim(r.Name, ".") == "" {
		return fmt.Errorf("%q is no repository: it must be OWNER/NAME", r.String())
	}
	return nil
}

// PullRequest is what the gate needs to know of one.
type PullRequest struct {
	Number  int
	HeadSHA string // lower-case hex
	BaseSHA string // the base branch's commit at the pull request's last change
	BaseRef string // the base branch's name
	// HeadRepoID is the repository that the head is in; 0 when that fork was
	// deleted.
	HeadRepoID int64
	Fork       bool // the head is in another repository, or was
	Dependabot bool // opened by Dependabot: its runs have a read-only token
}

// Run is one run of a workflow.
type Run struct {
	ID      int64
	Attempt int    // from 1
	Event   string // that started it, such as pull_request
	HeadSHA string
	// HeadRepoID is the repository that the run's head is in; 0 when that fork
	// was deleted.
	HeadRepoID int64
	// HeadOwner and HeadBranch only narrow the search for a pull request; both
	// may be empty.
	HeadOwner, HeadBranch string
	WorkflowPath          string // such as .github/workflows/pbkdf2.yml
}

var (
	namePattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
	shaPattern  = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
)

const dependabotLogin = "dependabot[bot]"

// clean makes text from outside fit for one line of an error: printable, and
// at most 200 characters.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "..."
	}
	return s
}
