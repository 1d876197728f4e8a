// Package githubtest is a GitHub for tests: it keeps branches, pull requests,
// comments, runs and artifacts of one repository, answers as the REST API does, fails on
// request, and records what it was asked.
//
// A Server is an http.RoundTripper, so that tests need no network and can run
// on a fake clock; Listen serves it on a loopback address. Where the
// environment variable PBKDF2_GATE_OPENAPI names GitHub's OpenAPI description,
// every request and every answer is held against it.
package githubtest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Token is the only one that a Server accepts.
const Token = "ghs_0123456789TheTokenOfTheTest"

// URL is the API's address for clients that use a Server as their transport.
const URL = "https://api.github.test"

// Bot is the author of the comments that are written with Token.
const Bot = "github-actions[bot]"

// Repo is a repository.
type Repo struct {
	ID          int64
	Owner, Name string
}

// Side is the head or the base of a pull request.
type Side struct {
	Repo *Repo // nil where the fork was deleted
	Ref  string
	SHA  string
}

// Pull is a pull request.
type Pull struct {
	Number     int
	State      string // open or closed; open when empty
	Author     string
	Title      string // "A change" when empty
	Body       string
	Head, Base Side
}

// Comment is a comment on a pull request.
type Comment struct {
	ID               int64
	Pull             int
	Author, Body     string
	Created, Updated time.Time
}

// Run is a run of a workflow.
type Run struct {
	ID             int64
	Attempt        int
	Event          string
	HeadSHA        string
	HeadBranch     string
	HeadRepository *Repo // nil where the fork was deleted
	Path           string
}

// Artifact is an artifact of a run.
type Artifact struct {
	ID, RunID int64
	Name      string
	Data      []byte
	Size      int64 // as listed; the length of Data when 0
	Expired   bool
	Created   time.Time
}

// Request is a request as the server saw it.
type Request struct {
	Method, Path, Query string
	Body                string
	Authorized          bool // it carried Token
}

// Failure makes requests fail.
type Failure struct {
	Method string // empty: any
	Path   string // a part of the path; empty: any
	Skip   int    // so many matching requests pass first
	Times  int    // so many fail; 0: all

	Status int
	Header map[string]string
	Body   string // JSON unless Header says otherwise
	Cut    bool   // the answer ends in its middle; Status 0: the true answer
	Done   bool   // the request is carried out all the same
}

// Server is a GitHub with one repository.
type Server struct {
	Repo Repo

	tb   testing.TB
	spec *spec

	mu        sync.Mutex
	nextID    int64
	pulls     []Pull
	comments  []Comment
	runs      []Run
	artifacts []Artifact
	git       git
	requests  []Request
	failures  []*Failure
	hooks     []func(*http.Request)
	readOnly  bool
	noPulls   bool
}

// New returns a server of the repository octo/hello. What does not fit the API
// fails tb.
func New(tb testing.TB) *Server {
	tb.Helper()
	return &Server{
		Repo: Repo{ID: 4711, Owner: "octo", Name: "hello"},
		tb:   tb, spec: loadSpec(tb), nextID: 1000, git: newGit(),
	}
}

// Listen serves on a loopback address until the test ends, and returns the URL
// for GITHUB_API_URL.
func (s *Server) Listen() string {
	l := httptest.NewServer(s)
	s.tb.Cleanup(l.Close)
	return l.URL
}

// SetPull adds a pull request or changes the one of its number.
func (s *Server) SetPull(p Pull) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.State == "" {
		p.State = "open"
	}
	s.pulls = slices.DeleteFunc(s.pulls, func(q Pull) bool { return q.Number == p.Number })
	s.pulls = append(s.pulls, p)
}

// AddComment adds a comment and returns its id.
func (s *Server) AddComment(pull int, author, body string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addComment(pull, author, body).ID
}

func (s *Server) addComment(pull int, author, body string) Comment {
	s.nextID++
	now := time.Now()
	c := Comment{ID: s.nextID, Pull: pull, Author: author, Body: body, Created: now, Updated: now}
	s.comments = append(s.comments, c)
	return c
}

// Comments returns the comments on a pull request, oldest first.
func (s *Server) Comments(pull int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commentsOn(pull)
}

func (s *Server) commentsOn(pull int) []Comment {
	var on []Comment
	for _, c := range s.comments {
		if c.Pull == pull {
			on = append(on, c)
		}
	}
	return on
}

// AddRun adds a run.
func (s *Server) AddRun(r Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append(s.runs, r)
}

// AddArtifact adds an artifact; where its ID is 0 it gets one.
func (s *Server) AddArtifact(a Artifact) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.ID == 0 {
		s.nextID++
		a.ID = s.nextID
	}
	if a.Size == 0 {
		a.Size = int64(len(a.Data))
	}
	if a.Created.IsZero() {
		a.Created = time.Now()
	}
	s.artifacts = append(s.artifacts, a)
}

// ReadOnly makes Token one that cannot write, as on a fork's pull request.
func (s *Server) ReadOnly(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readOnly = yes
}

// NoPulls keeps Token from opening pull requests, as a repository's settings do
// unless they are changed.
func (s *Server) NoPulls(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noPulls = yes
}

// Pulls returns all pull requests, oldest first.
func (s *Server) Pulls() []Pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.pulls)
}

// Fail adds a failure; of several that match a request, the first counts.
func (s *Server) Fail(f Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, &f)
}

// On calls f before each request is carried out. f may change the server.
func (s *Server) On(f func(*http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks = append(s.hooks, f)
}

// Requests returns all requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Writes returns the requests so far that would change something.
func (s *Server) Writes() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Method == http.MethodGet })
}

// RoundTrip serves a request without a network.
func (s *Server) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	in := req.Clone(req.Context())
	if in.Body == nil {
		in.Body = http.NoBody
	}
	in.Host = req.URL.Host
	rec := httptest.NewRecorder()
	aborted := func() (aborted bool) {
		defer func() {
			if r := recover(); r != nil {
				if err, ok := r.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
					panic(r)
				}
				aborted = true
			}
		}()
		s.ServeHTTP(rec, in)
		return false
	}()
	resp := rec.Result()
	if aborted {
		resp.Body = io.NopCloser(io.MultiReader(resp.Body, cutReader{}))
	}
	resp.Request = req
	return resp, nil
}

type cutReader struct{}

func (cutReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// ServeHTTP serves one request, below any prefix such as /api/v3.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	r.Body = io.NopCloser(bytes.NewReader(body))

	s.mu.Lock()
	s.requests = append(s.requests, Request{
		Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Body: string(body),
		Authorized: r.Header.Get("Authorization") == "Bearer "+Token,
	})
	failure := s.failureFor(r)
	hooks := slices.Clone(s.hooks)
	s.mu.Unlock()
	for _, hook := range hooks {
		hook(r)
	}

	rec := httptest.NewRecorder()
	if failure == nil || failure.Done || failure.Status == 0 {
		s.answer(rec, r, body)
	}
	code, header, content := rec.Code, rec.Header(), rec.Body.Bytes()
	if failure != nil && failure.Status != 0 {
		code, content = failure.Status, []byte(failure.Body)
		header = http.Header{"Content-Type": {"application/json; charset=utf-8"}}
		for k, v := range failure.Header {
			header.Set(k, v)
		}
	}
	for k, v := range header {
		w.Header()[k] = v
	}
	if failure != nil && failure.Cut {
		w.Header().Set("Content-Length", "1000000")
		w.WriteHeader(code)
		_, _ = w.Write(content[:len(content)/2])
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(code)
	_, _ = w.Write(content)
}

func (s *Server) failureFor(r *http.Request) *Failure {
	for _, f := range s.failures {
		if f.Method != "" && f.Method != r.Method || !strings.Contains(r.URL.Path, f.Path) || f.Times < 0 {
			continue
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				f.Times = -1
			}
		}
		return f
	}
	return nil
}
