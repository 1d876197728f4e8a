package githubtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// call is one request to the API.
type call struct {
	*Server
	w    http.ResponseWriter
	r    *http.Request
	base string // of URLs in answers
	path string // below the API's prefix
	body []byte
	word string // what the path names: the route's group
	id   int64  // as a number
}

var routes = []struct {
	method  string
	pattern *regexp.Regexp // below the repository; its group is the word
	serve   func(*call)
}{
	{"GET", regexp.MustCompile(`^/issues/(\d+)/comments$`), (*call).listComments},
	{"POST", regexp.MustCompile(`^/issues/(\d+)/comments$`), (*call).createComment},
	{"GET", regexp.MustCompile(`^/issues/comments/(\d+)$`), (*call).oneComment},
	{"PATCH", regexp.MustCompile(`^/issues/comments/(\d+)$`), (*call).oneComment},
	{"DELETE", regexp.MustCompile(`^/issues/comments/(\d+)$`), (*call).oneComment},
	{"GET", regexp.MustCompile(`^/pulls$`), (*call).listPulls},
	{"POST", regexp.MustCompile(`^/pulls$`), (*call).createPull},
	{"GET", regexp.MustCompile(`^/pulls/(\d+)$`), (*call).getPull},
	{"PATCH", regexp.MustCompile(`^/pulls/(\d+)$`), (*call).editPull},
	{"GET", regexp.MustCompile(`^$`), (*call).getRepo},
	{"GET", regexp.MustCompile(`^/git/ref/(heads/.+)$`), (*call).getRef},
	{"POST", regexp.MustCompile(`^/git/refs$`), (*call).createRef},
	{"PATCH", regexp.MustCompile(`^/git/refs/(heads/.+)$`), (*call).updateRef},
	{"GET", regexp.MustCompile(`^/git/commits/([0-9a-f]+)$`), (*call).getCommit},
	{"POST", regexp.MustCompile(`^/git/commits$`), (*call).createCommit},
	{"GET", regexp.MustCompile(`^/git/trees/([0-9a-f]+)$`), (*call).getTree},
	{"POST", regexp.MustCompile(`^/git/trees$`), (*call).createTree},
	{"GET", regexp.MustCompile(`^/git/blobs/([0-9a-f]+)$`), (*call).getBlob},
	{"POST", regexp.MustCompile(`^/git/blobs$`), (*call).createBlob},
	{"GET", regexp.MustCompile(`^/actions/runs/(\d+)$`), (*call).getRun},
	{"GET", regexp.MustCompile(`^/actions/runs/(\d+)/artifacts$`), (*call).listArtifacts},
	{"GET", regexp.MustCompile(`^/actions/artifacts/(\d+)/zip$`), (*call).getArtifact},
}

const store = "/_store/"

// answer carries a request out and holds both against the API's description.
func (s *Server) answer(rec *httptest.ResponseRecorder, r *http.Request, body []byte) {
	c := &call{Server: s, w: rec, r: r, body: body, base: "http://" + r.Host}
	if r.URL.Scheme != "" {
		c.base = r.URL.Scheme + "://" + r.Host
	}
	if _, id, ok := strings.Cut(r.URL.Path, store); ok {
		c.fromStore(id)
		return
	}
	prefix, rest, ok := strings.Cut(r.URL.Path, "/repos/")
	if !ok {
		s.tb.Errorf("githubtest: %s %s is not served here", r.Method, r.URL.Path)
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	c.base += prefix
	c.path = "/repos/" + rest
	defer func() { s.spec.check(s.tb, c, rec) }()
	if r.Header.Get("Authorization") != "Bearer "+Token {
		c.fail(http.StatusUnauthorized, "Bad credentials")
		return
	}
	below, ok := strings.CutPrefix(c.path, fmt.Sprintf("/repos/%s/%s", s.Repo.Owner, s.Repo.Name))
	if !ok {
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, route := range routes {
		m := route.pattern.FindStringSubmatch(below)
		if m == nil || route.method != r.Method {
			continue
		}
		if len(m) > 1 {
			c.word = m[1]
			c.id, _ = strconv.ParseInt(m[1], 10, 64)
		}
		if s.readOnly && r.Method != http.MethodGet {
			c.fail(http.StatusForbidden, "Resource not accessible by integration")
			return
		}
		route.serve(c)
		return
	}
	s.tb.Errorf("githubtest: %s %s is not served here", r.Method, r.URL.Path)
	c.fail(http.StatusNotFound, "Not Found")
}

func (c *call) send(code int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	c.w.WriteHeader(code)
	_, _ = c.w.Write(data)
}

func (c *call) fail(code int, message string) {
	c.send(code, object{
		"message": message, "status": strconv.Itoa(code),
		"documentation_url": "https://docs.github.com/rest",
	})
}

// page returns the bounds of the asked page in a list of n, and sends the
// links to the others.
func (c *call) page(n int) (from, to int) {
	number := func(name string, otherwise, most int) int {
		v, err := strconv.Atoi(c.r.URL.Query().Get(name))
		if err != nil || v < 1 {
			return otherwise
		}
		return min(v, most)
	}
	size, page := number("per_page", 30, 100), number("page", 1, 1<<20)
	last := max((n+size-1)/size, 1)
	link := func(page int, rel string) string {
		q := c.r.URL.Query()
		q.Set("page", strconv.Itoa(page))
		return fmt.Sprintf("<%s%s?%s>; rel=%q", c.base, c.path, q.Encode(), rel)
	}
	if page < last {
		c.w.Header().Set("Link", link(page+1, "next")+", "+link(last, "last"))
	} else if page > 1 {
		c.w.Header().Set("Link", link(page-1, "prev")+", "+link(1, "first"))
	}
	from = min((page-1)*size, n)
	return from, min(from+size, n)
}

func (c *call) pull() *Pull {
	for i := range c.pulls {
		if int64(c.pulls[i].Number) == c.id {
			return &c.pulls[i]
		}
	}
	return nil
}

func (c *call) listComments() {
	if c.pull() == nil {
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	all := c.commentsOn(int(c.id))
	from, to := c.page(len(all))
	answer := []object{}
	for _, comment := range all[from:to] {
		answer = append(answer, c.comment(comment))
	}
	c.send(http.StatusOK, answer)
}

// text is the comment's body in a request, or has failed the call.
func (c *call) text() (string, bool) {
	var in struct{ Body *string }
	if err := json.Unmarshal(c.body, &in); err != nil || in.Body == nil || strings.TrimSpace(*in.Body) == "" {
		c.fail(http.StatusUnprocessableEntity, "Validation Failed")
		return "", false
	}
	if utf8.RuneCountInString(*in.Body) > 65536 {
		c.send(http.StatusUnprocessableEntity, object{
			"message": "Validation Failed", "documentation_url": "https://docs.github.com/rest", "status": "422",
			"errors": []object{{"resource": "IssueComment", "code": "unprocessable", "field": "data",
				"message": "Body is too long (maximum is 65536 characters)"}},
		})
		return "", false
	}
	return *in.Body, true
}

func (c *call) createComment() {
	if c.pull() == nil {
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	if text, ok := c.text(); ok {
		comment := c.comment(c.addComment(int(c.id), Bot, text))
		c.w.Header().Set("Location", comment["url"].(string))
		c.send(http.StatusCreated, comment)
	}
}

func (c *call) oneComment() {
	i := slices.IndexFunc(c.comments, func(k Comment) bool { return k.ID == c.id })
	if i < 0 {
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	switch c.r.Method {
	case "DELETE":
		c.comments = slices.Delete(c.comments, i, i+1)
		c.w.WriteHeader(http.StatusNoContent)
		return
	case "PATCH":
		if text, ok := c.text(); ok {
			c.comments[i].Body, c.comments[i].Updated = text, time.Now()
		} else {
			return
		}
	}
	c.send(http.StatusOK, c.comment(c.comments[i]))
}

func (c *call) listPulls() {
	q := c.r.URL.Query()
	state, head, base := q.Get("state"), q.Get("head"), q.Get("base")
	var match []Pull
	for _, p := range c.pulls {
		if state != "all" && p.State != state && (state != "" || p.State != "open") {
			continue
		}
		if head != "" && (p.Head.Repo == nil || head != p.Head.Repo.Owner+":"+p.Head.Ref) {
			continue
		}
		if base != "" && base != p.Base.Ref {
			continue
		}
		match = append(match, p)
	}
	slices.SortFunc(match, func(a, b Pull) int { return b.Number - a.Number })
	from, to := c.page(len(match))
	answer := []object{}
	for _, p := range match[from:to] {
		answer = append(answer, c.pullRequest(p))
	}
	c.send(http.StatusOK, answer)
}

func (c *call) getPull() {
	p := c.pull()
	if p == nil {
		c.fail(http.StatusNotFound, "Not Found")
		return
	}
	c.send(http.StatusOK, c.pullRequest(*p))
}

func (c *call) getRun() {
	for _, r := range c.runs {
		if r.ID == c.id {
			c.send(http.StatusOK, c.run(r))
			return
		}
	}
	c.fail(http.StatusNotFound, "Not Found")
}

func (c *call) listArtifacts() {
	var match []Artifact
	for _, a := range c.artifacts {
		if a.RunID == c.id {
			match = append(match, a)
		}
	}
	from, to := c.page(len(match))
	list := []object{}
	for _, a := range match[from:to] {
		list = append(list, c.artifact(a))
	}
	c.send(http.StatusOK, object{"total_count": len(match), "artifacts": list})
}

func (c *call) getArtifact() {
	for _, a := range c.artifacts {
		if a.ID == c.id {
			if a.Expired {
				c.fail(http.StatusGone, "Artifact has expired")
				return
			}
			c.w.Header().Set("Location", fmt.Sprintf("%s%s%d?sig=Signature", c.base, store, a.ID))
			c.w.WriteHeader(http.StatusFound)
			return
		}
	}
	c.fail(http.StatusNotFound, "Not Found")
}

// fromStore is another server in the real world, and must not see the token.
func (c *call) fromStore(id string) {
	if c.r.Header.Get("Authorization") != "" {
		c.tb.Errorf("githubtest: the token was sent to the store of artifacts")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.artifacts {
		if strconv.FormatInt(a.ID, 10) == id && c.r.URL.Query().Get("sig") == "Signature" {
			c.w.Header().Set("Content-Type", "application/zip")
			_, _ = c.w.Write(a.Data)
			return
		}
	}
	c.w.WriteHeader(http.StatusForbidden)
}
