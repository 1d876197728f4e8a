package github

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Marker says which report a comment holds. It is the comment's first line,
// hidden in an HTML comment.
type Marker struct {
	Key     string // tells the gates of one repository apart; [A-Za-z0-9._+-]{1,64}
	HeadSHA string // the commit that was measured
	RunID   int64  // the run that measured it
	Attempt int    // of that run, from 1
}

const maxAttempt = 999_999_999

var (
	keyPattern    = regexp.MustCompile(`^[A-Za-z0-9._+-]{1,64}$`)
	markerPattern = regexp.MustCompile(`^<!-- pbkdf2-gate/1 key=([A-Za-z0-9._+-]{1,64}) head=([0-9a-f]{40}|[0-9a-f]{64}) run=([1-9][0-9]{0,18}) attempt=([1-9][0-9]{0,8}) -->$`)
)

func (m Marker) check() error {
	switch {
	case !keyPattern.MatchString(m.Key):
		return fmt.Errorf("the key %q is no name: use 1 to 64 letters, digits and . _ + -", clean(m.Key))
	case !shaPattern.MatchString(m.HeadSHA):
		return fmt.Errorf("the measured head is %q: that is no commit", clean(m.HeadSHA))
	case m.RunID <= 0 || m.Attempt <= 0 || m.Attempt > maxAttempt:
		return errors.New("run and attempt must be positive numbers")
	}
	return nil
}

func (m Marker) String() string {
	return fmt.Sprintf("<!-- pbkdf2-gate/1 key=%s head=%s run=%d attempt=%d -->", m.Key, m.HeadSHA, m.RunID, m.Attempt)
}

// parseMarker looks at the first line only: what follows is report, and may
// quote anything.
func parseMarker(text string) (Marker, bool) {
	line, _, _ := strings.Cut(text, "\n")
	f := markerPattern.FindStringSubmatch(strings.TrimSuffix(line, "\r"))
	if f == nil {
		return Marker{}, false
	}
	m := Marker{Key: f[1], HeadSHA: f[2]}
	var err error
	if m.RunID, err = strconv.ParseInt(f[3], 10, 64); err != nil {
		return Marker{}, false
	}
	m.Attempt, _ = strconv.Atoi(f[4]) // nine digits
	return m, true
}

// compare orders the reports of one key by the runs that made them.
func (m Marker) compare(o Marker) int {
	return cmp.Or(cmp.Compare(m.RunID, o.RunID), cmp.Compare(m.Attempt, o.Attempt))
}
