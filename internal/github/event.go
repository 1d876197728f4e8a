package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"
)

// Event is what started the workflow that we run in.
type Event struct {
	Name      string // such as pull_request
	Repo      Repo
	SHA       string // GITHUB_SHA; on a pull request its test merge, not its head
	RunID     int64
	Attempt   int    // of the run, from 1
	ServerURL string // such as https://github.com
	APIURL    string // such as https://api.github.com
	// Pull is set for the events of a pull request.
	Pull *PullRequest
	// Run is set for workflow_run: the run that has ended.
	Run *Run
}

// maxEvent bounds the event's file: GitHub's own limit is 25 MB.
const maxEvent = 32 << 20

var pullEvents = []string{"pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment"}

// ReadEvent reads the event from the environment of a workflow and, for events
// of pull requests and for workflow_run, from the file that GITHUB_EVENT_PATH
// names. Other events' files are not looked at.
func ReadEvent(getenv func(string) string, readFile func(string) ([]byte, error)) (Event, error) {
	if getenv("GITHUB_EVENT_NAME") == "" {
		return Event{}, errors.New("GITHUB_EVENT_NAME is not set: this only works in a GitHub workflow")
	}
	// The library would read the event's file without a limit.
	job, err := githubactions.New(githubactions.WithGetenv(func(name string) string {
		if name == "GITHUB_EVENT_PATH" {
			return ""
		}
		return getenv(name)
	})).Context()
	if err != nil {
		return Event{}, fmt.Errorf("the workflow's environment cannot be read: %s", clean(err.Error()))
	}
	e := Event{
		Name: job.EventName, SHA: job.SHA, RunID: job.RunID, Attempt: int(job.RunAttempt),
		ServerURL: job.ServerURL, APIURL: job.APIURL,
	}
	e.Repo.Owner, e.Repo.Name = job.Repo()
	if err := e.check(); err != nil {
		return Event{}, err
	}
	if v := getenv("GITHUB_REPOSITORY_ID"); v != "" {
		if e.Repo.ID, err = strconv.ParseInt(v, 10, 64); err != nil || e.Repo.ID <= 0 {
			return Event{}, fmt.Errorf("GITHUB_REPOSITORY_ID is %q: it must be a positive number", clean(v))
		}
	}

	ofPull := slices.Contains(pullEvents, e.Name)
	if !ofPull && e.Name != "workflow_run" {
		return e, nil
	}
	path := getenv("GITHUB_EVENT_PATH")
	if path == "" {
		return Event{}, fmt.Errorf("GITHUB_EVENT_PATH is not set: the event %s cannot be understood without its file", e.Name)
	}
	data, err := readFile(path)
	if err != nil {
		return Event{}, fmt.Errorf("the event's file cannot be read: %w", err)
	}
	if err := e.read(data, ofPull); err != nil {
		return Event{}, fmt.Errorf("%s: no file of the event %s: %w", path, e.Name, err)
	}
	return e, nil
}

func (e Event) check() error {
	if !namePattern.MatchString(e.Name) {
		return fmt.Errorf("GITHUB_EVENT_NAME is %q: that is no event", clean(e.Name))
	}
	if err := e.Repo.check(); err != nil {
		return fmt.Errorf("GITHUB_REPOSITORY: %w", err)
	}
	if e.RunID <= 0 {
		return errors.New("GITHUB_RUN_ID must be a positive number")
	}
	if e.Attempt <= 0 || e.Attempt > maxAttempt {
		return fmt.Errorf("GITHUB_RUN_ATTEMPT must be a number from 1 to %d", maxAttempt)
	}
	if e.SHA != "" && !shaPattern.MatchString(e.SHA) {
		return fmt.Errorf("GITHUB_SHA is %q: that is no commit", clean(e.SHA))
	}
	return nil
}

type eventRepo struct {
	ID    int64
	Owner struct{ Login string }
}

// payload is the part of an event's file that matters here.
type payload struct {
	Repository  *eventRepo
	PullRequest *struct {
		Number int
		User   struct{ Login string }
		Head   struct {
			SHA  string
			Repo *eventRepo
		}
		Base struct {
			SHA, Ref string
			Repo     *eventRepo
		}
	} `json:"pull_request"`
	WorkflowRun *struct {
		ID             int64
		RunAttempt     int `json:"run_attempt"`
		Event          string
		HeadSHA        string     `json:"head_sha"`
		HeadBranch     string     `json:"head_branch"`
		HeadRepository *eventRepo `json:"head_repository"`
		Path           string
	} `json:"workflow_run"`
}

func (e *Event) read(data []byte, ofPull bool) error {
	if len(data) > maxEvent {
		return fmt.Errorf("it has %d bytes, more than %d", len(data), maxEvent)
	}
	var p payload
	if err := json.Unmarshal(data, &p); err != nil {
		return errors.New(clean(err.Error()))
	}
	if p.Repository != nil && p.Repository.ID > 0 {
		e.Repo.ID = p.Repository.ID
	}
	if ofPull {
		return e.readPull(p)
	}
	return e.readRun(p)
}

func (e *Event) readPull(p payload) error {
	pr := p.PullRequest
	switch {
	case pr == nil:
		return errors.New("it has no pull_request")
	case pr.Number <= 0:
		return fmt.Errorf("the pull request's number is %d", pr.Number)
	case !shaPattern.MatchString(pr.Head.SHA):
		return fmt.Errorf("the pull request's head is %q: that is no commit", clean(pr.Head.SHA))
	case !shaPattern.MatchString(pr.Base.SHA):
		return fmt.Errorf("the pull request's base is %q: that is no commit", clean(pr.Base.SHA))
	}
	base := e.Repo.ID
	if pr.Base.Repo != nil {
		base = pr.Base.Repo.ID
	}
	e.Pull = &PullRequest{
		Number: pr.Number, HeadSHA: pr.Head.SHA, BaseSHA: pr.Base.SHA, BaseRef: pr.Base.Ref,
		Fork: true, Dependabot: strings.EqualFold(pr.User.Login, dependabotLogin),
	}
	if pr.Head.Repo != nil {
		e.Pull.HeadRepoID = pr.Head.Repo.ID
		e.Pull.Fork = base <= 0 || pr.Head.Repo.ID != base
	}
	return nil
}

func (e *Event) readRun(p payload) error {
	run := p.WorkflowRun
	switch {
	case run == nil:
		return errors.New("it has no workflow_run")
	case run.ID <= 0:
		return fmt.Errorf("the run's id is %d", run.ID)
	case run.RunAttempt <= 0 || run.RunAttempt > maxAttempt:
		return fmt.Errorf("the run's attempt is %d", run.RunAttempt)
	case !shaPattern.MatchString(run.HeadSHA):
		return fmt.Errorf("the run's head is %q: that is no commit", clean(run.HeadSHA))
	}
	e.Run = &Run{
		ID: run.ID, Attempt: run.RunAttempt, Event: run.Event,
		HeadSHA: run.HeadSHA, HeadBranch: run.HeadBranch, WorkflowPath: run.Path,
	}
	if run.HeadRepository != nil {
		e.Run.HeadRepoID = run.HeadRepository.ID
		e.Run.HeadOwner = run.HeadRepository.Owner.Login
	}
	return nil
}

// MayMeasure refuses the events in whose workflows code of a pull request
// would run beside a token that can write.
func (e Event) MayMeasure() error {
	switch e.Name {
	case "pull_request_target", "workflow_run":
		return fmt.Errorf("no measuring on %s: the pull request's code would run beside a token that can write: "+
			"measure in a workflow with \"on: pull_request\"; for comments on pull requests of forks and Dependabot, "+
			"add the workflow_run file of docs/github.md, which only comments", e.Name)
	}
	return nil
}
