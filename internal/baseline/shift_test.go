package baseline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

func TestShifts(t *testing.T) {
	t.Parallel()
	other := func(r *result.Run) { r.Plan.SliceIterations = 9 }
	file := func(runs ...result.Run) []File { return []File{{zen, "linux-amd64/x.txt", runs}} }
	three := history("go", 100, 103, 104)
	for name, c := range map[string]struct {
		before, after []File
		want          string
	}{
		"nothing":               {file(three...), file(three...), ""},
		"first":                 {nil, file(three[:1]...), "go: nothing -> v1 100, anchor v1"},
		"a release":             {file(three[:2]...), file(three...), "go: v2 103, anchor v1 -> v3 104, anchor v1"},
		"past the threshold":    {file(three...), file(append(history("go", 100, 103, 104), released("v4", "r", day(4), 120))...), "go: v3 104, anchor v1 -> v4 120, anchor v4"},
		"a replica more":        {file(three...), file(append(history("go", 100, 103, 104), released("v3", "s", day(3), 106))...), "go: v3 104, anchor v1 -> v3 105, anchor v1"},
		"the anchor alone":      {file(three...), file(three[1:]...), "go: v3 104, anchor v1 -> v3 104, anchor v2"},
		"in between":            {file(three...), file(three[0], three[2]), ""},
		"taken away":            {file(three...), nil, "go: v3 104, anchor v1 -> nothing"},
		"another plan":          {file(three...), file(append(history("go", 100, 103, 104), with(released("v4", "r", day(4), 50), other))...), "go: v3 104, anchor v1 -> v4 50, anchor v4 incomparable"},
		"an older one, late":    {file(three[1:]...), file(append(three[1:2:2], three[2], released("v0", "r", day(0), 103))...), "go: v3 104, anchor v2 -> v3 104, anchor v0"},
		"another target beside": {file(three...), file(append(history("node", 50), three...)...), "node: nothing -> v1 50, anchor v1"},
	} {
		var got []string
		for _, s := range Shifts(c.before, c.after, 0.05) {
			text := func(a Applies) string {
				if a.Latest.Release == "" {
					return "nothing"
				}
				return fmt.Sprintf("%s %.0f, anchor %s", a.Latest.Release, a.Latest.NsPerOp/1e6, a.Anchor.Release)
			}
			line := s.Target + ": " + text(s.Then) + " -> " + text(s.Now)
			if s.Incomparable {
				line += " incomparable"
			}
			got = append(got, line)
			if s.CPU == "" || s.Platform != zen {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, strings.Join(got, "; "), c.want)
		}
	}
}
