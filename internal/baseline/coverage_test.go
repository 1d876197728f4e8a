package baseline

import (
	"testing"

	"github.com/pbkdf2-gate/pbkdf2-gate/internal/result"
)

func TestLatest(t *testing.T) {
	t.Parallel()
	for want, files := range map[string][]File{
		"":   nil,
		"v3": {{Runs: history("go", 1, 1, 1)}, {Runs: history("go", 1, 1)}},
		// By date, wherever the newest lies.
		"v9": {{Runs: history("go", 1, 1)}, {Runs: []result.Run{released("v9", "r", day(9), 1)}}, {Runs: history("go", 1, 1, 1)}},
		// Of one commit, the one recorded last.
		"b": {{Runs: []result.Run{released("a", "r", day(1), 1)}}, {Runs: []result.Run{released("a", "r", day(1), 1), released("b", "r", day(1), 1)}}, {Runs: []result.Run{released("a", "r", day(1), 1)}}},
	} {
		if got := Latest(files); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
