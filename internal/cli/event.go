package cli

import (
	"os"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/github"
)

// event is what started the workflow that this runs in; nil outside one.
func (c *Command) event() (*github.Event, error) {
	if c.getenv("GITHUB_ACTIONS") != "true" {
		return nil, nil
	}
	e, err := github.ReadEvent(c.getenv, os.ReadFile)
	if err != nil {
		return nil, err
	}
	return &e, nil
}

// pullRequest is the pull request that the workflow runs for; nil for none.
func (in *invocation) pullRequest() *pullRequest {
	switch {
	case in.other != nil:
		return &pullRequest{head: in.other.pull.HeadSHA, base: in.other.pull.BaseSHA}
	case in.event == nil || in.event.Pull == nil:
		return nil
	}
	return &pullRequest{head: in.event.Pull.HeadSHA, base: in.event.Pull.BaseSHA, here: true}
}
