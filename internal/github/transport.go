package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// exchange makes one attempt at a request: it adds the token, waits for at
// most its timeout, and reads the whole answer, so that a cut one is known
// before anything is made of it.
type exchange struct {
	base    http.RoundTripper
	timeout time.Duration
	limit   int64    // bytes of an answer
	json    bool     // a successful answer with content must be JSON
	origin  *url.URL // where the token may go
	token   string   // none when empty
}

// An answerError is an answer that asking again would not better.
type answerError struct{ text, hint string }

func (e *answerError) Error() string { return e.text }

func (x *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), x.timeout)
	defer cancel()
	sent := req.Clone(ctx)
	if req.Body != nil {
		defer req.Body.Close()
	}
	// The rate limiter sends one request several times without rewinding it.
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		sent.Body = body
	}
	sent.Header.Del("Authorization")
	if x.token != "" && req.URL.Scheme == x.origin.Scheme && req.URL.Host == x.origin.Host {
		sent.Header.Set("Authorization", "Bearer "+x.token)
	}
	late := func(err error) error {
		if ctx.Err() != nil && req.Context().Err() == nil {
			return fmt.Errorf("no whole answer within %v", x.timeout)
		}
		return err
	}

	resp, err := x.base.RoundTrip(sent)
	if err != nil {
		return nil, late(err)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, x.limit+1))
	resp.Body.Close()
	if err != nil {
		return nil, late(fmt.Errorf("the answer was cut short: %w", err))
	}
	if int64(len(data)) > x.limit {
		return nil, &answerError{text: fmt.Sprintf("the answer has more than %d bytes", x.limit)}
	}
	if x.json && (resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusCreated) {
		if err := checkJSON(resp.Header.Get("Content-Type"), data); err != nil {
			return nil, err
		}
	}
	dropPastReset(resp.Header)
	resp.Request = req // without the token
	resp.ContentLength = int64(len(data))
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return resp, nil
}

// checkJSON also refuses an empty answer and null, which go-github takes for
// an empty list: a comment would be written a second time.
func checkJSON(contentType string, data []byte) error {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return errors.New("the answer was empty")
	case data[0] != '{' && data[0] != '[':
		return &answerError{
			text: fmt.Sprintf("the answer is no JSON but %q", clean(contentType)),
			hint: "check that GITHUB_API_URL is the API of this server, and whether a proxy or a login page answers",
		}
	case !json.Valid(data):
		return errors.New("the answer was cut short: it is not whole JSON")
	}
	return nil
}

// dropPastReset keeps the rate limiter from asking again at once, and without
// end, where an answer names a time that has passed.
func dropPastReset(h http.Header) {
	const reset = "X-Ratelimit-Reset"
	if at, err := strconv.ParseInt(h.Get(reset), 10, 64); err == nil && !time.Unix(at, 0).After(time.Now()) {
		h.Del(reset)
	}
}

// retry asks again, a few times and ever later, where that can help: after 429
// whatever the request was; after an answer of 500 and more, a cut one or none
// only where the request is idempotent.
type retry struct {
	next  http.RoundTripper
	sleep func(context.Context, time.Duration) error

	mu     sync.Mutex
	waited time.Duration
}

const (
	maxTries = 4
	maxWait  = 2 * time.Minute // for all requests of a client together
)

func (r *retry) RoundTrip(req *http.Request) (*http.Response, error) {
	for try := 1; ; try++ {
		resp, err := r.next.RoundTrip(req)
		if stopped := req.Context().Err(); stopped != nil {
			return nil, stopped // rather than what failed before
		}
		if try == maxTries || !mayRetry(req, resp, err) {
			return resp, err
		}
		wait := time.Second << (try - 1)
		if resp != nil {
			wait = max(wait, retryAfter(resp.Header))
		}
		if !r.spend(wait) || r.sleep(req.Context(), wait) != nil {
			return resp, err
		}
	}
}

func mayRetry(req *http.Request, resp *http.Response, err error) bool {
	idempotent := req.Method != http.MethodPost
	if err != nil {
		var final *answerError
		return idempotent && !errors.As(err, &final)
	}
	return resp.StatusCode == http.StatusTooManyRequests || idempotent && resp.StatusCode >= 500
}

// spend says whether the client may wait that much longer.
func (r *retry) spend(d time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waited+d > maxWait {
		return false
	}
	r.waited += d
	return true
}

// retryAfter is how long an answer asks to wait; 0 where it says nothing.
func retryAfter(h http.Header) time.Duration {
	if s, err := strconv.ParseUint(strings.TrimSpace(h.Get("Retry-After")), 10, 31); err == nil {
		return time.Duration(s) * time.Second
	}
	if h.Get("X-Ratelimit-Remaining") == "0" {
		if at, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); err == nil {
			return time.Until(time.Unix(at, 0))
		}
	}
	return 0
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
