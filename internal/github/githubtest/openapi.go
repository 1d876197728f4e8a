package githubtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// spec is GitHub's description of the operations that are served here; nil
// where none is to be had.
type spec struct{ router routers.Router }

var readSpec = sync.OnceValues(func() (*spec, error) {
	path := os.Getenv("PBKDF2_GATE_OPENAPI")
	if path == "" {
		if strings.Contains(os.Getenv("PBKDF2_GATE_REQUIRE"), "openapi") {
			return nil, fmt.Errorf("PBKDF2_GATE_OPENAPI is not set: name generated/api.github.com.json of the npm package @octokit/openapi")
		}
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseSpec(data)
})

func loadSpec(tb testing.TB) *spec {
	tb.Helper()
	s, err := readSpec()
	if err != nil {
		tb.Fatalf("githubtest: GitHub's OpenAPI description: %v", err)
	}
	return s
}

// used are the paths of the description that are served here.
var used = []string{
	"/repos/{owner}/{repo}/issues/{issue_number}/comments",
	"/repos/{owner}/{repo}/issues/comments/{comment_id}",
	"/repos/{owner}/{repo}/pulls",
	"/repos/{owner}/{repo}/pulls/{pull_number}",
	"/repos/{owner}/{repo}",
	"/repos/{owner}/{repo}/git/ref/{ref}",
	"/repos/{owner}/{repo}/git/refs",
	"/repos/{owner}/{repo}/git/refs/{ref}",
	"/repos/{owner}/{repo}/git/commits",
	"/repos/{owner}/{repo}/git/commits/{commit_sha}",
	"/repos/{owner}/{repo}/git/trees",
	"/repos/{owner}/{repo}/git/trees/{tree_sha}",
	"/repos/{owner}/{repo}/git/blobs",
	"/repos/{owner}/{repo}/git/blobs/{file_sha}",
	"/repos/{owner}/{repo}/actions/runs/{run_id}",
	"/repos/{owner}/{repo}/actions/runs/{run_id}/artifacts",
	"/repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}",
}

// parseSpec keeps only what the used paths need: the whole takes kin-openapi
// many seconds.
func parseSpec(data []byte) (*spec, error) {
	var whole struct {
		OpenAPI    string                                `json:"openapi"`
		Info       json.RawMessage                       `json:"info"`
		Paths      map[string]json.RawMessage            `json:"paths"`
		Components map[string]map[string]json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, err
	}
	components := map[string]map[string]json.RawMessage{}
	var keep func(json.RawMessage)
	keep = func(part json.RawMessage) {
		for _, m := range reference.FindAllSubmatch(part, -1) {
			kind, name := string(m[1]), string(m[2])
			if components[kind] == nil {
				components[kind] = map[string]json.RawMessage{}
			}
			if _, ok := components[kind][name]; !ok {
				components[kind][name] = mayBeNull(kind, name, whole.Components[kind][name])
				keep(components[kind][name])
			}
		}
	}
	paths := map[string]json.RawMessage{}
	for _, path := range used {
		item, ok := whole.Paths[path]
		if !ok {
			return nil, fmt.Errorf("it does not describe %s", path)
		}
		// A ref may hold slashes.
		paths[strings.ReplaceAll(path, "{ref}", "{ref:.+}")] = item
		keep(item)
	}
	small, err := json.Marshal(map[string]any{
		"openapi": whole.OpenAPI, "info": whole.Info, "paths": paths, "components": components,
	})
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(small)
	if err != nil {
		return nil, err
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}
	return &spec{router}, nil
}

var (
	reference = regexp.MustCompile(`"\$ref":\s*"#/components/([^/"]+)/([^/"]+)"`)
	headRepo  = regexp.MustCompile(`("(?:repo|head_repository)":\s*)(\{"\$ref":\s*"#/components/schemas/(?:minimal-)?repository"\})`)
)

// mayBeNull corrects the description: where a fork was deleted, GitHub answers
// with null for the head's repository.
func mayBeNull(kind, name string, part json.RawMessage) json.RawMessage {
	if kind == "schemas" && (strings.HasPrefix(name, "pull-request") || name == "workflow-run") {
		var compact bytes.Buffer
		if json.Compact(&compact, part) == nil {
			return headRepo.ReplaceAll(compact.Bytes(), []byte(`$1{"nullable":true,"allOf":[$2]}`))
		}
	}
	return part
}

// check fails the test where a request or its answer is not as described.
func (s *spec) check(tb testing.TB, c *call, rec *httptest.ResponseRecorder) {
	if s == nil {
		return
	}
	asked := &http.Request{
		Method: c.r.Method, Header: c.r.Header, ContentLength: int64(len(c.body)),
		URL:  &url.URL{Path: c.path, RawQuery: c.r.URL.RawQuery},
		Body: io.NopCloser(bytes.NewReader(c.body)),
	}
	route, params, err := s.router.FindRoute(asked)
	if err != nil {
		tb.Errorf("githubtest: %s %s is not in GitHub's description: %v", c.r.Method, c.path, err)
		return
	}
	options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, MultiError: true}
	in := &openapi3filter.RequestValidationInput{Request: asked, PathParams: params, Route: route, Options: options}
	if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
		tb.Errorf("githubtest: the request %s %s is not as GitHub describes it: %v", c.r.Method, c.path, err)
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: rec.Code, Header: rec.Header(), Options: options,
		Body: io.NopCloser(bytes.NewReader(rec.Body.Bytes())),
	}
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		tb.Errorf("githubtest: our answer %d to %s %s is not as GitHub describes it: %v", rec.Code, c.r.Method, c.path, err)
	}
}
